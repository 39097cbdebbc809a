/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold for any program with hot functions: nothing takes less than no time, parts are not longer than the
 * whole, and shares are those of the program without probes, within their bounds. Seeds are fixed, so the outcome is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/variance/hot_programs.h"

#define PROGRAMS 30
/* of 95 % bounds around an estimate, for 4.1 standard errors: outside lies one figure in 25,000 */
#define BOUNDS_WIDENED 2.1
#define SHARE_RESOLUTION 0.005

static double variance(const double *x)
{
	double mean = 0, squares = 0;

	for (int i = 0; i < HOT_INTERVALS; i++)
		mean += x[i] / HOT_INTERVALS;
	for (int i = 0; i < HOT_INTERVALS; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	return squares / (HOT_INTERVALS - 1);
}

static double variance_without(const double *x, const double *f)
{
	double rest[HOT_INTERVALS];

	for (int i = 0; i < HOT_INTERVALS; i++)
		rest[i] = x[i] - f[i];
	return variance(rest);
}

static struct vprof_results *analyze(const struct hand_trace *h, const struct vprof_plan *plan, double baseline_ns)
{
	const struct vprof_analyze_options o = { .trace_dir = h->dir,
						 .plan = plan,
						 .k = 3,
						 .min_intervals = 2,
						 .baseline_mean_ns = baseline_ns,
						 .baseline_low = 0.995 * baseline_ns,
						 .baseline_high = 1.005 * baseline_ns };
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };

	if (vprof_analyze(&r, &o, &err))
		fail_msg("%s", err.message);
	return r;
}

static int check_tiling(const struct vprof_results *r, int seed)
{
	int n_bad = 0;

	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];
		double sum = 0;

		if (n->mean_ns < -1e-6 * r->mean_ns) {
			printf("program %d: %s takes %g ns\n", seed, n->name, n->mean_ns);
			n_bad++;
		}
		for (uint32_t c = n->first_child; c < n->first_child + n->n_children; c++)
			sum += r->nodes[c].mean_ns;
		if (n->n_children && fabs(sum - n->mean_ns) > 1e-6 * r->mean_ns) {
			printf("program %d: %s takes %g ns, its children %g\n", seed, n->name, n->mean_ns, sum);
			n_bad++;
		}
	}
	return n_bad;
}

struct counts {
	int n, n_in_bounds, n_bad;
};

/* a figure of the results with its bounds; NaN: not estimated */
struct found {
	double value, low, high;
};

static void check_figure(struct counts *c, int seed, const char *what, double planted, struct found found)
{
	double low = found.value - BOUNDS_WIDENED * (found.value - found.low) - SHARE_RESOLUTION;
	double high = found.value + BOUNDS_WIDENED * (found.high - found.value) + SHARE_RESOLUTION;

	if (isnan(found.low)) /* not among those whose bounds are estimated */
		return;
	c->n++;
	c->n_in_bounds += planted >= found.low - SHARE_RESOLUTION && planted <= found.high + SHARE_RESOLUTION;
	if (planted >= low && planted <= high)
		return;
	printf("program %d: %s has %.4f, found %.4f (%.4f .. %.4f)\n", seed, what, planted, found.value, found.low,
	       found.high);
	c->n_bad++;
}

static void check_share(struct counts *c, const struct vprof_results *r, int seed, const char *key, double share)
{
	const struct vprof_factor *f = hand_factor(r, key);

	if (f)
		check_figure(c, seed, key, share, (struct found){ f->share, f->share_low, f->share_high });
}

/* 1 - Var(T - f) / Var(T), of factors, and of causes that are all of a function (not what is left beside another) */
static void check_constant(struct counts *c, const struct vprof_results *r, int seed, const char *key, double planted)
{
	const struct vprof_factor *f = hand_factor(r, key);
	char what[96];

	snprintf(what, sizeof what, "%s, if constant,", key);
	if (f)
		check_figure(c, seed, what, planted,
			     (struct found){ f->if_constant, f->if_constant_low, f->if_constant_high });
	for (size_t i = 0; i < r->n_causes; i++) {
		const struct vprof_cause *cause = &r->causes[i];

		if (f && cause->n_nodes == f->n_nodes && !memcmp(cause->nodes, f->nodes, f->n_nodes * sizeof *f->nodes))
			check_figure(
				c, seed, what, planted,
				(struct found){ cause->if_constant, cause->if_constant_low, cause->if_constant_high });
	}
}

/* What follows a loop of calls in its caller's body may be undivided between both. */
static void check_body(struct counts *c, const struct vprof_results *r, int seed, int function, double share)
{
	char key[64];

	snprintf(key, sizeof key, "undivided in f%d", function);
	if (hand_node(r, key, VPROF_NONE))
		return;
	snprintf(key, sizeof key, "v:body of f%d", function);
	check_share(c, r, seed, key, share);
}

static void check_program(struct counts *c, int seed, int has_baseline)
{
	struct hot_program *p = malloc(sizeof *p);
	struct vprof_plan *plan;
	struct vprof_results *r;
	struct hand_trace h;
	double total;

	assert_non_null(p);
	hand_init(&h);
	hot_program_choose(p, (uint64_t)seed);
	plan = hot_program_plan(p);
	hot_program_run(p, &h);
	hand_write(&h);
	r = analyze(&h, plan, has_baseline ? p->mean_ns : 0);
	total = variance(p->truth[1]);
	c->n_bad += check_tiling(r, seed);
	for (int i = 2; i <= HOT_FUNCTIONS; i++) {
		char key[64];

		snprintf(key, sizeof key, "v:f%d", i);
		check_share(c, r, seed, key, variance(p->truth[i]) / total);
		check_constant(c, r, seed, key, 1 - variance_without(p->truth[1], p->truth[i]) / total);
		check_body(c, r, seed, i, variance(p->body[i]) / total);
	}
	check_body(c, r, seed, 1, variance(p->body[1]) / total);
	if (p->measured_ns / p->mean_ns - 1 > 1.5 * r->effect_high + 0.02 ||
	    p->measured_ns / p->mean_ns - 1 < r->effect_low / 1.5 - 0.02) {
		printf("program %d: slowed by %.3f, said %.3f (%.3f .. %.3f)\n", seed, p->measured_ns / p->mean_ns - 1,
		       r->effect, r->effect_low, r->effect_high);
		c->n_bad++;
	}
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
	free(p);
}

static void check_programs(int has_baseline)
{
	struct counts c = { 0 };

	for (int seed = 1; seed <= PROGRAMS; seed++)
		check_program(&c, seed, has_baseline);
	printf("%d figures, %d within their 95 %% bounds, %d faults\n", c.n, c.n_in_bounds, c.n_bad);
	assert_int_equal(c.n_bad, 0);
	assert_true(c.n_in_bounds >= 0.93 * c.n);
}

static void test_estimated(void **state)
{
	(void)state;
	check_programs(0);
}

static void test_with_a_baseline(void **state)
{
	(void)state;
	check_programs(1);
}

/* Too few intervals for bounds: none are made up from what recording costs. */
static void test_few_intervals(void **state)
{
	struct hot_program *p = malloc(sizeof *p);
	struct vprof_plan *plan;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	assert_non_null(p);
	hand_init(&h);
	hot_program_choose(p, 2);
	p->n_intervals = 40;
	plan = hot_program_plan(p);
	hot_program_run(p, &h);
	hand_write(&h);
	r = analyze(&h, plan, 0);
	assert_int_equal(r->n_complete, 40);
	assert_true(r->probe_high_ns > 0.01 * r->mean_ns);
	assert_true(r->n_causes > 0);
	for (size_t i = 0; i < r->n_causes; i++)
		assert_true(isnan(r->causes[i].share_low) && isnan(r->causes[i].share_high) &&
			    isnan(r->causes[i].if_constant_low) && isnan(r->causes[i].if_constant_high));
	for (size_t i = 0; i < r->n_factors; i++)
		assert_true(isnan(r->factors[i].share_low) && isnan(r->factors[i].share_high) &&
			    isnan(r->factors[i].if_constant_low) && isnan(r->factors[i].if_constant_high));
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_intervals),
		cmocka_unit_test(test_estimated),
		cmocka_unit_test(test_with_a_baseline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
