/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/ending.h"

#include <stdlib.h>
#include <string.h>

#include "cli/drilldown/decide.h"
#include "common/text.h"
#include "report/format_value.h"

#define NAMED 3
#define SAME_CHOICES 3
#define SAME_WAYS 2
#define SAME_WAYS_UNSURE 3

/* The choice at a look, one key a line; NULL: no memory. */
static char *choice_of(const struct vprof_results *r, const struct vprof_session *s)
{
	uint32_t chosen[VPROF_K_MAX];
	size_t n = vprof_decide_choose(r, s, chosen, (size_t)s->k);
	struct vprof_text text = VPROF_TEXT_INIT;

	for (size_t i = 1; i < n; i++) /* by key: the order within the choice decides nothing */
		for (size_t k = i; k > 0 && strcmp(r->factors[chosen[k]].key, r->factors[chosen[k - 1]].key) < 0; k--) {
			uint32_t swap = chosen[k];

			chosen[k] = chosen[k - 1];
			chosen[k - 1] = swap;
		}
	for (size_t i = 0; i < n; i++)
		vprof_text_addf(&text, "%s\n", r->factors[chosen[i]].key);
	return vprof_text_detach(&text);
}

/* The first choice that will be broken down, by key; "": none; NULL: no memory. */
static char *way_down_of(const struct vprof_ask *ask)
{
	size_t first;

	if (vprof_ask_way_down(ask, &first))
		return NULL;
	return strdup(first < ask->results->n_factors ? ask->results->factors[first].key : "");
}

/* At how many looks it came first, this one included; 0: it is none; or NOMEM. */
static int count_way(struct vprof_looks *looks, const char *way)
{
	uint32_t i = *way ? vprof_strings_number(&looks->ways, way) : 0;

	looks->last = NULL;
	if (!*way)
		return 0;
	if (i == VPROF_NONE || (i == looks->n_first.n && !VPROF_PUSH(&looks->n_first)))
		return VPROF_ERR_NOMEM;
	looks->last = &looks->n_first.v[i];
	return ++*looks->last;
}

void vprof_looks_take_back(struct vprof_looks *looks)
{
	looks->n_same--;
	if (looks->last)
		--*looks->last;
}

void vprof_looks_release(struct vprof_looks *looks)
{
	VPROF_ARRAY_RELEASE(&looks->n_first);
	free(looks->choice);
	looks->choice = NULL;
	vprof_strings_release(&looks->ways);
}

int vprof_looks_judge(struct vprof_looks *looks, const struct vprof_ask *ask, int *is_enough)
{
	char *choice = choice_of(ask->results, ask->session), *way = way_down_of(ask);
	int n_first = choice && way ? count_way(looks, way) : VPROF_ERR_NOMEM;

	looks->n_same = choice && looks->choice && !strcmp(choice, looks->choice) ? looks->n_same + 1 : 1;
	free(looks->choice);
	free(way);
	looks->choice = choice;
	*is_enough = !looks->is_told && n_first >= (ask->results->inconclusive ? SAME_WAYS_UNSURE : SAME_WAYS);
	if (!ask->results->inconclusive)
		*is_enough |= ask->session->n_rounds == 1 ||
			      looks->n_same >= (ask->results->n_to_settle ? SAME_CHOICES : 2);
	return n_first < 0 ? n_first : VPROF_OK;
}

enum vprof_ending vprof_ending_of(const struct vprof_results *r, const struct vprof_session *s)
{
	char *seen = calloc(r->n_factors + 1, 1);
	enum vprof_ending ending = VPROF_ENDING_NONE;

	if (seen)
		ending = vprof_decide_left_open(r, s, seen) < r->n_factors ? VPROF_ENDING_CHOSEN :
									     VPROF_ENDING_ALL_MEASURED;
	free(seen);
	return ending;
}

/* "filter, 32 % (10 callees not measured)", up to NAMED of them, the heaviest first. Returns how many. */
static size_t add_open(const struct vprof_results *r, const struct vprof_session *s, char *seen, struct vprof_text *out)
{
	size_t n = 0, i;

	while (n < NAMED && (i = vprof_decide_left_open(r, s, seen)) < r->n_factors) {
		const struct vprof_factor *f = &r->factors[i];

		seen[i] = 1;
		vprof_text_add(out, n++ ? "; " : "; still open: ");
		vprof_format_cut(out, f->name, 60, 1, 0);
		vprof_text_addf(out, "%s, %s", f->is_blame ? " (others' work)" : "", vprof_format_percent(f->share).s);
		if (f->n_unmeasured)
			vprof_text_addf(out, " (%s callee%s not measured)", vprof_format_count(f->n_unmeasured).s,
					f->n_unmeasured == 1 ? "" : "s");
	}
	return n;
}

char *vprof_ending_tell(const struct vprof_results *r, const struct vprof_session *s)
{
	char *seen = r && s->ending ? calloc(r->n_factors + 1, 1) : NULL;
	struct vprof_text out = VPROF_TEXT_INIT;

	vprof_text_add(&out, vprof_ending_texts[s->ending]);
	if (seen && add_open(r, s, seen, &out))
		vprof_text_addf(&out, ". To go on: vprof iterate %s",
				s->ending == VPROF_ENDING_MAX ? "with a larger --max" :
				s->ending == VPROF_ENDING_UNSETTLED || s->ending == VPROF_ENDING_REPEATED ?
								"--repeat N" :
								"with a larger --k");
	free(seen);
	return vprof_text_detach(&out);
}
