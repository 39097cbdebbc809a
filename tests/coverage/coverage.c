/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the 95 % confidence intervals of a report hold the planted values: `coverage` prints the table of
 * docs/accuracy.md. Every run is a trace of its own, drawn with its own seed, and analysed from the file on.
 *
 *     coverage [--runs N] [--only NAME] [--draws N] [--least SHARE] [--verbose]
 *
 * --least SHARE: fails if the bounds of any figure hold less often than this, by more than chance explains: 4.5
 * standard deviations, which happens in less than 1 of 10,000 runs of all figures together where SHARE is right. */
#include <getopt.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/stats/compare.h"
#include "population.h"
#include "situation.h"

#define DRAWS 1500000	  /* by which the planted values are known */
#define CHANGE 0.1	  /* planted between two runs */
#define LISTED_SHARE 0.01 /* of the variance: smaller factors are of no interest */
#define IS_ALL 1e-6	  /* a share so close to 1 is of all that varies, and has no bounds */
#define FIGURES_MAX 128
#define SIGMAS 4.5

enum kind {
	KIND_MEAN,
	KIND_SHARE,
	KIND_PAIR,
	KIND_CONSTANT,
	KIND_CAUSE,
	KIND_CONTRIBUTION,
	KIND_PART,
	KIND_CHANGE,
	KIND_COUNT
};
static const char *const kind_names[KIND_COUNT] = { "mean",   "shares",	       "covariances", "if constant",
						    "causes", "contributions", "types, work", "changes" };

/* how often one figure's bounds held its planted value */
struct figure {
	enum kind kind;
	char name[64];
	double truth, width; /* sum of what the bounds are apart */
	size_t n_seen, n_stated, n_held, n_below;
};

struct tally {
	struct figure figures[FIGURES_MAX];
	size_t n, n_runs, n_inconclusive;
};

static struct figure *find_figure(struct tally *t, enum kind kind, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->figures[i].kind == kind && !strcmp(t->figures[i].name, name))
			return &t->figures[i];
	assert_true(t->n < FIGURES_MAX);
	t->figures[t->n].kind = kind;
	snprintf(t->figures[t->n].name, sizeof t->figures->name, "%s", name);
	return &t->figures[t->n++];
}

static void count(struct tally *t, enum kind kind, const char *name, double truth, double low, double high)
{
	struct figure *f;

	if (isnan(truth))
		return;
	f = find_figure(t, kind, name);
	f->truth = truth;
	f->n_seen++;
	if (isnan(low) || isnan(high))
		return;
	f->n_stated++;
	f->n_held += low <= truth && truth <= high;
	f->n_below += truth < low;
	f->width += high - low;
}

static void count_factors(struct tally *t, const struct vprof_results *r, const struct population *p)
{
	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];
		int columns[2];
		size_t n = population_find(p, f->key, columns);
		double share = n == 2 ? population_pair(p, columns[0], columns[1]) : population_share(p, columns, n);

		if (!n || fabs(share) < LISTED_SHARE || fabs(share - 1) < IS_ALL)
			continue;
		count(t, n == 2 ? KIND_PAIR : KIND_SHARE, f->key, share, f->share_low, f->share_high);
		count(t, KIND_CONSTANT, f->key, population_if_constant(p, columns, n), f->if_constant_low,
		      f->if_constant_high);
	}
}

/* A cause sums nodes, each of which is one of the situation's columns. */
static void count_causes(struct tally *t, const struct vprof_results *r, const struct population *p)
{
	for (size_t i = 0; i < r->n_causes; i++) {
		const struct vprof_cause *c = &r->causes[i];
		int columns[COLUMNS_MAX], found[2], is_known = c->n_nodes <= COLUMNS_MAX;
		char name[80];
		double share;

		for (size_t k = 0; k < c->n_nodes && is_known; k++) {
			uint32_t f = r->nodes[c->nodes[k]].factor;

			is_known = f && population_find(p, r->factors[f - 1].key, found) == 1;
			columns[k] = found[0];
		}
		share = is_known ? population_share(p, columns, c->n_nodes) : NAN;
		if (!(share >= LISTED_SHARE) || fabs(share - 1) < IS_ALL)
			continue;
		count(t, KIND_CAUSE, c->key, share, c->share_low, c->share_high);
		snprintf(name, sizeof name, "%s if constant", c->key);
		count(t, KIND_CAUSE, name, population_if_constant(p, columns, c->n_nodes), c->if_constant_low,
		      c->if_constant_high);
	}
}

/* Undivided time beside a body is its own or that of hot functions, so the body's mean may be more by as much. */
static double undivided_beside(const struct vprof_results *r, const struct vprof_factor *f)
{
	double ns = 0;

	for (size_t i = 0; i < f->n_nodes && f->kind == VPROF_FACTOR_VARIANCE; i++) {
		const struct vprof_node *body = &r->nodes[f->nodes[i]], *parent = &r->nodes[body->parent];

		for (uint32_t c = 0; c < parent->n_children && body->kind == VPROF_NODE_BODY; c++)
			if (r->nodes[parent->first_child + c].kind == VPROF_NODE_UNDIVIDED)
				ns += r->nodes[parent->first_child + c].mean_ns;
	}
	return ns;
}

/* A contribution is what is left without the preempted time in it. */
static double preempted_in(const struct population *p, const struct situation *of, int column)
{
	double ns = 0;

	for (size_t i = 1; i < p->n_columns; i++)
		if (p->columns[i].parent == column && of->parts[p->columns[i].part].kind == PART_PREEMPTED)
			ns += p->mean[i];
	return ns;
}

static void count_results(struct tally *t, const struct vprof_results *r, const struct population *p,
			  const struct situation *of)
{
	t->n_runs++;
	if (r->inconclusive) {
		t->n_inconclusive++;
		return;
	}
	count(t, KIND_MEAN, "latency", p->mean[0], r->mean_low, r->mean_high);
	count_factors(t, r, p);
	count_causes(t, r, p);
	for (size_t i = 0; i < r->n_contributions; i++) {
		const struct vprof_contribution *c = &r->contributions[i];
		const struct vprof_factor *f = c->factor ? &r->factors[c->factor - 1] : NULL;
		const char *key = f ? f->key : "";
		int columns[2];

		if (f && c->mean_high > c->mean_low && population_find(p, key, columns))
			count(t, KIND_CONTRIBUTION, key, p->mean[columns[0]] - preempted_in(p, of, columns[0]),
			      c->mean_low, c->mean_high + undivided_beside(r, f));
	}
	if (of->has_types)
		count(t, KIND_PART, "between types", p->between, r->between_low, r->between_high);
	if (of->has_work)
		count(t, KIND_PART, "work", p->work, r->work_low, r->work_high);
}

/* The second run's requests take CHANGE longer, all of them. */
static void count_changes(struct tally *t, double *base, size_t n_base, double *new, size_t n_new)
{
	struct vprof_change changes[VPROF_FIGURE_COUNT];
	struct vprof_latencies a = { base, n_base }, b = { new, n_new };

	for (size_t i = 0; i < n_new; i++)
		new[i] *= 1 + CHANGE;
	if (vprof_compare(&a, &b, changes, NULL))
		return;
	for (int f = 0; f < VPROF_FIGURE_COUNT; f++)
		count(t, KIND_CHANGE, vprof_figure_names[f],
		      f == VPROF_FIGURE_VARIANCE ? (1 + CHANGE) * (1 + CHANGE) - 1 : CHANGE, changes[f].low,
		      changes[f].high);
}

static void run_situation(struct tally *t, const struct situation *of, const struct population *p, size_t n_runs)
{
	double *ns[2] = { calloc(of->n, sizeof(double)), calloc(of->n, sizeof(double)) };
	size_t n[2] = { 0 };
	struct vprof_plan *plan = hand_plan(6);

	for (size_t i = 0; i < n_runs; i++) {
		struct vprof_results *r = NULL;
		struct vprof_error err = { "" };
		struct vprof_analyze_options o = { .plan = plan, .k = 3, .n_threads = 1 };
		struct hand_trace h;

		hand_init(&h);
		n[i % 2] = situation_write(&h, of, 1000003 * (i + 1), ns[i % 2]);
		o.trace_dir = h.dir;
		if (vprof_analyze(&r, &o, &err))
			fail_msg("%s", err.message);
		count_results(t, r, p, of);
		vprof_results_free(r);
		hand_release(&h);
		if (i % 2)
			count_changes(t, ns[0], n[0], ns[1], n[1]);
	}
	vprof_plan_free(plan);
	free(ns[0]);
	free(ns[1]);
}

/* Other figures are reported only where they came out large by chance, so their bounds cannot hold as often. */
static int is_usual(const struct tally *t, const struct figure *f)
{
	size_t n = f->kind == KIND_CHANGE ? t->n_runs / 2 : t->n_runs - t->n_inconclusive;

	return 10 * f->n_stated >= 9 * n;
}

static void print_cell(const struct tally *t, enum kind kind)
{
	size_t n_held = 0, n_stated = 0;
	double least = 2;

	for (size_t i = 0; i < t->n; i++) {
		const struct figure *f = &t->figures[i];

		if (f->kind != kind || !f->n_stated)
			continue;
		n_held += f->n_held;
		n_stated += f->n_stated;
		if (is_usual(t, f))
			least = fmin(least, (double)f->n_held / (double)f->n_stated);
	}
	if (!n_stated)
		printf(" |");
	else
		printf(" %.1f (%.1f) |", 100.0 * (double)n_held / (double)n_stated, 100 * least);
}

static void print_figures(const struct tally *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct figure *f = &t->figures[i];
		double n = f->n_stated ? (double)f->n_stated : NAN;

		printf("    %-13s %-28s planted %10.4g  stated %5.1f %%  held %5.1f %%  below %4.1f %%  width %.3g\n",
		       kind_names[f->kind], f->name, f->truth, 100.0 * (double)f->n_stated / (double)f->n_seen,
		       100.0 * (double)f->n_held / n, 100.0 * (double)f->n_below / n, f->width / n);
	}
}

static int n_failures(const struct tally *t, const char *name, double least)
{
	int n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct figure *f = &t->figures[i];
		double stated = (double)f->n_stated;

		if (f->n_stated && is_usual(t, f) &&
		    (double)f->n_held < stated * least - SIGMAS * sqrt(stated * least * (1 - least))) {
			printf("FAIL %s: bounds of %s %s hold the planted value in %zu of %zu runs\n", name,
			       kind_names[f->kind], f->name, f->n_held, f->n_stated);
			n++;
		}
	}
	return n;
}

static void print_head(void)
{
	printf("| situation | requests | conclusive |");
	for (int k = 0; k < KIND_COUNT; k++)
		printf(" %s |", kind_names[k]);
	printf("\n|---|---|---|");
	for (int k = 0; k < KIND_COUNT; k++)
		printf("---|");
	printf("\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "runs", required_argument, NULL, 'n' },  { "only", required_argument, NULL, 'o' },
		{ "least", required_argument, NULL, 'l' }, { "draws", required_argument, NULL, 'd' },
		{ "verbose", no_argument, NULL, 'v' },	   { 0 }
	};
	const char *only = NULL;
	size_t n_runs = 200, n_draws = DRAWS;
	double least = 0;
	int is_verbose = 0, failures = 0;

	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (c == 'n')
			n_runs = strtoul(optarg, NULL, 10);
		else if (c == 'o')
			only = optarg;
		else if (c == 'd')
			n_draws = strtoul(optarg, NULL, 10);
		else if (c == 'l')
			least = strtod(optarg, NULL);
		else if (c == 'v')
			is_verbose = 1;
		else
			return 2;
	}
	print_head();
	for (size_t i = 0; i < n_situations; i++) {
		const struct situation *of = &situations[i];
		static struct population p;
		static struct tally t;

		if (only && strcmp(only, of->name) != 0)
			continue;
		memset(&t, 0, sizeof t);
		population_take(&p, of, n_draws);
		run_situation(&t, of, &p, n_runs);
		printf("| %s: %s | %zu | %.1f |", of->name, of->what, of->n,
		       100.0 * (double)(t.n_runs - t.n_inconclusive) / (double)t.n_runs);
		for (int k = 0; k < KIND_COUNT; k++)
			print_cell(&t, (enum kind)k);
		printf("\n");
		if (is_verbose)
			print_figures(&t);
		failures += n_failures(&t, of->name, least);
		fflush(stdout);
	}
	return failures != 0;
}
