/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/compare/compared_causes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The cause's variance in each of the side's runs that have it, ns2[*n] unless NULL, and their mean; NaN: none has. */
static double take_variances(double *ns2, const struct vprof_compared_side *side, const char *key, size_t *n)
{
	double sum = 0;

	*n = 0;
	for (size_t k = 0; k < side->n; k++) {
		const struct vprof_cause *c = find(side->runs[k], key);

		if (!c)
			continue;
		if (ns2)
			ns2[*n] = c->sd_ns * c->sd_ns;
		sum += c->sd_ns * c->sd_ns;
		++*n;
	}
	return *n ? sum / (double)*n : NAN;
}

struct compared_cause {
	const struct vprof_results *r; /* of the run in which it was met first */
	const struct vprof_cause *cause;
	double base_ns, new_ns; /* standard deviations */
	double change;		/* of its variance, as a share of the base's; NaN: a run lacks it */
	double low, high;	/* 95 % bounds from runs, of this cause by itself; NaN with single runs */
};

/* Does each side have several runs, so that it is known how they differ? */
static int has_bounds(const struct vprof_comparison *c)
{
	return c->sides[0].n >= VPROF_COMPARE_RUNS_MIN && c->sides[1].n >= VPROF_COMPARE_RUNS_MIN;
}

/* `ns2`: room for a variance of each run of both sides; NULL: there are no bounds. */
static struct compared_cause compare_cause(const struct vprof_comparison *c, const struct vprof_results *r,
					   const struct vprof_cause *cause, double *ns2)
{
	const struct vprof_compared_side *a = &c->sides[0], *b = &c->sides[1];
	double total = vprof_compared_side_variance(a), base, new, half = NAN;
	struct compared_cause x = { .r = r, .cause = cause, .change = NAN, .low = NAN, .high = NAN };
	size_t n_base, n_new;

	base = take_variances(ns2, a, cause->key, &n_base);
	new = take_variances(ns2 ? ns2 + a->n : NULL, b, cause->key, &n_new);
	x.base_ns = sqrt(base);
	x.new_ns = sqrt(new);
	if (n_base != a->n || n_new != b->n || !(total > 0))
		return x;
	if (ns2 && has_bounds(c))
		half = vprof_runs_half_width(ns2, a->n, ns2 + a->n, b->n, c->is_in_turn, VPROF_COMPARE_PART_ERROR) /
		       total;
	x.change = (new - base) / total;
	x.low = x.change - half;
	x.high = x.change + half;
	return x;
}

/* Is it told of an earlier run: of the base's, or before run k of the same side? */
static int is_met(const struct vprof_comparison *c, size_t side, size_t k, const char *key)
{
	for (size_t s = 0; s <= side; s++)
		for (size_t before = 0; before < (s == side ? k : c->sides[s].n); before++)
			if (find(c->sides[s].runs[before], key))
				return 1;
	return 0;
}

/* Calls `take` for each cause of either side once, in the order of the runs. */
static void each_cause(const struct vprof_comparison *c, void (*take)(const struct compared_cause *, void *), void *arg)
{
	double *ns2 = calloc(c->sides[0].n + c->sides[1].n, sizeof *ns2);

	for (size_t s = 0; s < 2; s++)
		for (size_t k = 0; k < c->sides[s].n; k++) {
			const struct vprof_results *r = c->sides[s].runs[k];

			for (size_t i = 0; i < r->n_causes; i++) {
				const struct vprof_cause *cause = &r->causes[i];
				struct compared_cause x;

				if ((cause->share < SHOWN && cause->if_constant < SHOWN) || is_met(c, s, k, cause->key))
					continue;
				x = compare_cause(c, r, cause, ns2);
				take(&x, arg);
			}
		}
	free(ns2);
}

struct printing {
	size_t top, shown;
	int has_bounds;
};

static void print_one(const struct compared_cause *x, void *arg)
{
	struct printing *p = arg;
	struct vprof_text sentence = VPROF_TEXT_INIT, line = VPROF_TEXT_INIT;
	char change[32] = "", bounds[72] = "";

	if (p->shown++ >= p->top)
		return;
	if (p->shown == 1)
		printf("\n%-12s%-14s%-14s%s%s\n", "sd base", "sd new", "variance",
		       p->has_bounds ? "of base, 95 %       " : "", "cause");
	if (isfinite(x->change))
		vprof_compared_percent(change, sizeof change, x->change);
	if (isfinite(x->low))
		vprof_compared_bounds(bounds, sizeof bounds, x->low, x->high);
	vprof_report_cause_sentence(x->r, x->cause, &sentence);
	vprof_text_addf(&line, "%-12s", isnan(x->base_ns) ? "no cause" : vprof_format_duration(x->base_ns).s);
	vprof_text_addf(&line, "%-14s", isnan(x->new_ns) ? "no cause" : vprof_format_duration(x->new_ns).s);
	vprof_text_addf(&line, "%-13s ", change);
	if (p->has_bounds)
		vprof_text_addf(&line, "%-19s ", bounds);
	vprof_format_wrap(&line, sentence.s, vprof_format_columns(line.s), 12, COLUMNS);
	fputs(line.s, stdout);
	vprof_text_release(&line);
	vprof_text_release(&sentence);
}

void vprof_compared_causes_print(const struct vprof_comparison *c, size_t top)
{
	struct printing p = { .top = top, .has_bounds = has_bounds(c) };

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
	vprof_json_add_number(o, "low", x->low);
	vprof_json_add_number(o, "high", x->high);
	cJSON_AddItemToArray(arg, o);
	vprof_text_release(&sentence);
}

void vprof_compared_causes_add(cJSON *list, const struct vprof_comparison *c)
{
	each_cause(c, add_one, list);
}
