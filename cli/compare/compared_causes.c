/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/compare/compared_causes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/results/results_json.h"
#include "report/format_value.h"
#include "report/report.h"

#define COLUMNS 100
#define SHOWN 0.005 /* of the variance */

static const struct vprof_cause *find(const struct vprof_results *r, const char *key)
{
	for (size_t i = 0; i < r->n_causes; i++)
		if (!strcmp(r->causes[i].key, key))
			return &r->causes[i];
	return NULL;
}

/* The cause's mean variance over the side's runs that have it, *n of them; NaN: none has. */
static double variance_of(const struct vprof_compared_side *side, const char *key, size_t *n_runs)
{
	double sum = 0;
	size_t n = 0;

	for (size_t k = 0; k < side->n; k++) {
		const struct vprof_cause *c = find(side->runs[k], key);

		if (c) {
			sum += c->sd_ns * c->sd_ns;
			n++;
		}
	}
	*n_runs = n;
	return n ? sum / (double)n : NAN;
}

struct compared_cause {
	const struct vprof_results *r; /* of the run in which it was met first */
	const struct vprof_cause *cause;
	double base_ns, new_ns; /* standard deviations */
	double change;		/* of its variance, as a share of the base's; NaN: a run lacks it */
};

/* Calls `take` for each cause of either side once, in the order of the runs. */
static void each_cause(const struct vprof_comparison *c, void (*take)(const struct compared_cause *, void *), void *arg)
{
	const struct vprof_compared_side *a = &c->sides[0], *b = &c->sides[1];
	double total = vprof_compared_side_variance(a);

	for (size_t s = 0; s < 2; s++)
		for (size_t k = 0; k < c->sides[s].n; k++) {
			const struct vprof_results *r = c->sides[s].runs[k];

			for (size_t i = 0; i < r->n_causes; i++) {
				const char *key = r->causes[i].key;
				size_t n_base, n_new;
				double base = variance_of(a, key, &n_base), new = variance_of(b, key, &n_new);
				double change = n_base == a->n && n_new == b->n ? (new - base) / total : NAN;
				int is_met = s == 1 && isfinite(base);

				for (size_t before = 0; before < k && !is_met; before++)
					is_met = find(c->sides[s].runs[before], key) != NULL;
				if (!is_met && (r->causes[i].share >= SHOWN || r->causes[i].if_constant >= SHOWN))
					take(&(struct compared_cause){ r, &r->causes[i], sqrt(base), sqrt(new),
								       change },
					     arg);
			}
		}
}

struct printing {
	size_t top, shown;
};

static void print_one(const struct compared_cause *x, void *arg)
{
	struct printing *p = arg;
	struct vprof_text sentence = VPROF_TEXT_INIT, line = VPROF_TEXT_INIT;
	char change[48] = "";

	if (p->shown++ >= p->top)
		return;
	if (p->shown == 1)
		printf("\n%-12s%-14s%-14s%s\n", "sd base", "sd new", "variance", "cause");
	if (isfinite(x->change))
		snprintf(change, sizeof change, "%+.3g %%", 100 * x->change);
	vprof_report_cause_sentence(x->r, x->cause, &sentence);
	vprof_text_addf(&line, "%-12s", isnan(x->base_ns) ? "no cause" : vprof_format_duration(x->base_ns).s);
	vprof_text_addf(&line, "%-14s", isnan(x->new_ns) ? "no cause" : vprof_format_duration(x->new_ns).s);
	vprof_text_addf(&line, "%-14s", change);
	vprof_format_wrap(&line, sentence.s, 40, 12, COLUMNS);
	fputs(line.s, stdout);
	vprof_text_release(&line);
	vprof_text_release(&sentence);
}

void vprof_compared_causes_print(const struct vprof_comparison *c, size_t top)
{
	struct printing p = { .top = top };

	each_cause(c, print_one, &p);
}

static void add_one(const struct compared_cause *x, void *arg)
{
	struct vprof_text sentence = VPROF_TEXT_INIT;
	cJSON *o = cJSON_CreateObject();

	vprof_report_cause_sentence(x->r, x->cause, &sentence);
	cJSON_AddStringToObject(o, "key", x->cause->key);
	cJSON_AddStringToObject(o, "name", x->cause->name);
	cJSON_AddStringToObject(o, "sentence", sentence.s);
	vprof_json_add_number(o, "base_sd_ns", x->base_ns);
	vprof_json_add_number(o, "new_sd_ns", x->new_ns);
	vprof_json_add_number(o, "change", x->change);
	cJSON_AddItemToArray(arg, o);
	vprof_text_release(&sentence);
}

void vprof_compared_causes_add(cJSON *list, const struct vprof_comparison *c)
{
	each_cause(c, add_one, list);
}
