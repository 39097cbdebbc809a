/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's data: what --json prints, with the words of the text report. Of the requests those that are shown: an
 * example of each pattern, the slowest, and some of all latencies. */
#include "report/paths/paths_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_fill.h"
#include "report/page_template.h"
#include "report/paths/paths_answer.h"

#define N_SLOWEST 40
#define N_SPREAD 60
#define PATTERNS_DRAWN 12
#define VISITS_MOST 400 /* of a request that is shown */

struct shown {
	struct vprof_requests_one **sorted; /* slowest first */
	size_t n;
	struct vprof_requests_one *chosen;
	unsigned char *is_chosen; /* of sorted */
	size_t n_chosen;
};

static int slowest_first(const void *a, const void *b)
{
	const struct vprof_requests_one *x = *(struct vprof_requests_one *const *)a;
	const struct vprof_requests_one *y = *(struct vprof_requests_one *const *)b;

	if (x->latency_ns != y->latency_ns)
		return x->latency_ns > y->latency_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void choose(struct shown *s, size_t i)
{
	if (s->is_chosen[i])
		return;
	s->is_chosen[i] = 1;
	s->chosen[s->n_chosen++] = *s->sorted[i];
}

/* Of each pattern the request whose latency is closest to its median. Paths of patterns are cut where they are long. */
static void choose_examples(struct shown *s, const struct vprof_requests_results *r)
{
	for (size_t p = 0; p < r->n_patterns && p < PATTERNS_DRAWN; p++) {
		size_t best = s->n;
		double gap, least = INFINITY;

		for (size_t i = 0; i < s->n; i++) {
			gap = fabs(s->sorted[i]->latency_ns - r->patterns[p].latency.p50_ns);
			if (gap < least && !strcmp(s->sorted[i]->path, r->patterns[p].path)) {
				least = gap;
				best = i;
			}
		}
		if (best < s->n)
			choose(s, best);
	}
}

static int choose_all(struct shown *s, const struct vprof_requests_results *r)
{
	s->sorted = calloc(r->n_listed + 1, sizeof *s->sorted);
	s->chosen = calloc(PATTERNS_DRAWN + N_SLOWEST + N_SPREAD + 1, sizeof *s->chosen);
	s->is_chosen = calloc(r->n_listed + 1, 1);
	if (!s->sorted || !s->chosen || !s->is_chosen)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r->n_listed; i++)
		if (r->requests[i].is_whole && r->requests[i].n_visits <= VISITS_MOST &&
		    r->requests[i].state != VPROF_REQUEST_AMBIGUOUS)
			s->sorted[s->n++] = &r->requests[i];
	qsort(s->sorted, s->n, sizeof *s->sorted, slowest_first);
	choose_examples(s, r);
	for (size_t i = 0; i < N_SLOWEST && i < s->n; i++)
		choose(s, i);
	for (size_t i = 0; i < N_SPREAD && s->n; i++)
		choose(s, i * (s->n - 1) / (N_SPREAD - 1));
	return VPROF_OK;
}

cJSON *vprof_paths_page_data(const struct vprof_requests_results *r, const struct vprof_page_origin *origin)
{
	struct vprof_answer answer = VPROF_ANSWER_INIT;
	struct vprof_requests_results shown = *r;
	struct shown s = { .n = 0 };
	cJSON *data = NULL;

	vprof_paths_answer(r, &answer);
	if (!choose_all(&s, r)) {
		shown.requests = s.chosen;
		shown.n_listed = s.n_chosen;
		data = vprof_answer_page_data(vprof_requests_results_json(&shown), &answer, origin);
	}
	vprof_answer_release(&answer);
	free(s.sorted);
	free(s.chosen);
	free(s.is_chosen);
	return data;
}

int vprof_report_paths_page(const struct vprof_requests_results *r, const struct vprof_page_origin *origin,
			    struct vprof_text *out, struct vprof_error *err)
{
	cJSON *data = vprof_paths_page_data(r, origin);
	int ret = vprof_page_fill(vprof_paths_page_template, data, out, err);

	cJSON_Delete(data);
	return ret;
}
