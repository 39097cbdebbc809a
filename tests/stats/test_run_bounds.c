/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds over several runs that differ by more than their intervals tell: how often they hold the share that more and
 * more runs would come to, for given numbers of runs and when runs are added as vprof iterate does, until what was
 * chosen is settled or cannot be. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/causes/causes.h"
#include "analysis/results/results.h"
#include "analysis/stats/bootstrap.h"
#include "analysis/results/repeat.h"

#define BLOCKS 20    /* of a run */
#define PER_BLOCK 25 /* intervals */
#define RUNS_MAX VPROF_REPEATS_MAX
#define REPETITIONS 300

enum { COUNT, FACTOR, FACTOR_SQUARES, TOTAL, TOTAL_SQUARES, PRODUCTS, N_SUMS };
enum { SHARE, IF_CONSTANT, N_STATISTICS };

/* the factor's share of the variance, of its own time among the sums of what the blocks' intervals took, and if it were
 * constant */
static void evaluate(void *arg, const double *sums, double *values)
{
	double n = sums[COUNT], all = sums[TOTAL_SQUARES] - sums[TOTAL] * sums[TOTAL] / n;
	double own = sums[FACTOR_SQUARES] - sums[FACTOR] * sums[FACTOR] / n;

	(void)arg;
	values[SHARE] = own / all;
	values[IF_CONSTANT] = (2 * (sums[PRODUCTS] - sums[FACTOR] * sums[TOTAL] / n) - own) / all;
}

/* A run: the factor's standard deviation is `scale` times what it is on average; `others`: that of all the rest. */
static void run(gsl_rng *rng, double spread, double others, double *rows)
{
	double scale = exp(gsl_ran_gaussian(rng, spread) - spread * spread);

	for (size_t b = 0; b < BLOCKS; b++) {
		double *row = rows + b * N_SUMS;

		for (size_t k = 0; k < N_SUMS; k++)
			row[k] = 0;
		for (size_t i = 0; i < PER_BLOCK; i++) {
			double f = scale * gsl_ran_gaussian(rng, 1), total = f + gsl_ran_gaussian(rng, others);

			row[COUNT]++;
			row[FACTOR] += f;
			row[FACTOR_SQUARES] += f * f;
			row[TOTAL] += total;
			row[TOTAL_SQUARES] += total * total;
			row[PRODUCTS] += f * total;
		}
	}
}

/* E(scale^2) is 1 by construction; the factor is independent of the rest, so that this is also what would go if it were
 * constant. */
#define OTHERS 0.7
static const double truth = 1 / (1 + OTHERS * OTHERS);

struct bounds {
	double low, high, low_pooled, high_pooled; /* pooled: as if they were one run; only where compared */
	double constant, constant_low;
};

/* What would go if the factor were constant. */
static double estimate(const double *rows, size_t n_blocks)
{
	double sums[N_SUMS] = { 0 }, values[N_STATISTICS];

	for (size_t i = 0; i < n_blocks * N_SUMS; i++)
		sums[i % N_SUMS] += rows[i];
	evaluate(NULL, sums, values);
	return values[IF_CONSTANT];
}

static struct bounds bound(const double *rows, size_t n_runs, int is_compared)
{
	size_t first[RUNS_MAX + 1];
	struct vprof_bootstrap b = { .n_blocks = n_runs * BLOCKS,
				     .n_sums = N_SUMS,
				     .n_statistics = N_STATISTICS,
				     .n_runs = n_runs,
				     .run_first = first,
				     .seed = 1,
				     .rows = rows,
				     .evaluate = evaluate,
				     .n_threads = 1 };
	struct vprof_bootstrap_values v;
	struct bounds bounds;

	for (size_t k = 0; k <= n_runs; k++)
		first[k] = k * BLOCKS;
	assert_int_equal(vprof_bootstrap_run(&b, &v), 0);
	vprof_bootstrap_bounds(&v, SHARE, &bounds.low, &bounds.high);
	vprof_bootstrap_bounds(&v, IF_CONSTANT, &bounds.constant_low, &bounds.constant);
	bounds.constant = estimate(rows, n_runs * BLOCKS);
	vprof_bootstrap_release(&v);
	if (!is_compared)
		return bounds;
	b.n_runs = 1;
	assert_int_equal(vprof_bootstrap_run(&b, &v), 0);
	vprof_bootstrap_bounds(&v, SHARE, &bounds.low_pooled, &bounds.high_pooled);
	vprof_bootstrap_release(&v);
	return bounds;
}

static int holds(double low, double high)
{
	return low <= truth && truth <= high;
}

/* Bounds that hold the truth in 95 % of the repetitions hold it in fewer than 265 of 300 with probability below 1 in
 * 100,000 for another seed. */
#define LEAST 265

static void given(double spread, size_t n_runs)
{
	double rows[RUNS_MAX * BLOCKS * N_SUMS];
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	int held = 0, held_pooled = 0;

	gsl_rng_set(rng, 3);
	for (int i = 0; i < REPETITIONS; i++) {
		struct bounds b;

		for (size_t k = 0; k < n_runs; k++)
			run(rng, spread, OTHERS, rows + k * BLOCKS * N_SUMS);
		b = bound(rows, n_runs, 1);
		held += holds(b.low, b.high);
		held_pooled += holds(b.low_pooled, b.high_pooled);
	}
	print_message("runs differ by %2.0f %%: %zu runs: %d of %d held; as if they were one run: %d\n", 100 * spread,
		      n_runs, held, REPETITIONS, held_pooled);
	assert_in_range(held, LEAST, REPETITIONS);
	gsl_rng_free(rng);
}

static void test_given_runs(void **state)
{
	(void)state;
	for (size_t n = 2; n <= RUNS_MAX; n += n < 4 ? 1 : 4) {
		given(0.05, n);
		given(0.3, n);
	}
}

/* What vprof iterate would say of these runs, of which the factor's rank is certain. */
static enum vprof_repeat judge(const struct bounds *b, size_t n_runs, int *is_settled)
{
	static const uint32_t first[] = { 0 };
	struct vprof_factor factor = { .share_low = fmax(b->low, 0), .share_high = fmin(b->high, 1) };
	struct vprof_cause cause = { .factors = first,
				     .n_factors = 1,
				     .if_constant = b->constant,
				     .if_constant_low = b->constant_low,
				     .first_kept = 1,
				     .place_kept = 1 };
	struct vprof_results r = { .n_runs = n_runs,
				   .threshold = 0.02,
				   .n_selected = 1,
				   .factors = &factor,
				   .n_factors = 1,
				   .causes = &cause,
				   .n_causes = 1,
				   .inconclusive = !(b->low > 0) };

	vprof_causes_judge(&r);
	*is_settled = cause.status == VPROF_CAUSE_SETTLED;
	return vprof_repeat_judge(&r, RUNS_MAX);
}

struct counts {
	int held, known, held_known, settled, above; /* above: the settled share's lower bound is above the truth */
	int futile, wrong_futile;		     /* wrong: all runs would have told */
	size_t n_runs;
};

/* All runs are made; those that were not asked for tell what stopping early lost. */
static void repeat_once(gsl_rng *rng, double spread, double others, struct counts *c)
{
	const double share = 1 / (1 + others * others);
	double rows[RUNS_MAX * BLOCKS * N_SUMS];
	enum vprof_repeat told = VPROF_REPEAT_MORE;
	struct bounds b = { 0 };
	int is_settled = 0, holds;
	size_t n = 0;

	for (size_t k = 0; k < RUNS_MAX; k++)
		run(rng, spread, others, rows + k * BLOCKS * N_SUMS);
	while (told == VPROF_REPEAT_MORE) {
		n = vprof_repeat_next(n, RUNS_MAX);
		b = bound(rows, n, 0);
		told = judge(&b, n, &is_settled);
	}
	holds = b.low <= share && share <= b.high;
	c->n_runs += n;
	c->held += holds;
	c->known += told == VPROF_REPEAT_KNOWN;
	c->held_known += told == VPROF_REPEAT_KNOWN && holds;
	c->settled += is_settled;
	c->above += is_settled && b.constant_low > share;
	if (told == VPROF_REPEAT_FUTILE) {
		c->futile++;
		b = bound(rows, RUNS_MAX, 0);
		c->wrong_futile += judge(&b, RUNS_MAX, &is_settled) == VPROF_REPEAT_KNOWN;
	}
}

static struct counts repeat_often(double spread, double others)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct counts c = { 0 };

	gsl_rng_set(rng, 4);
	for (int i = 0; i < REPETITIONS; i++)
		repeat_once(rng, spread, others, &c);
	gsl_rng_free(rng);
	print_message("runs differ by %2.0f %%, share %.2f: known %d of %d, after %.1f runs; held %d, of those known "
		      "%d; settled %d, their lower bound above the truth %d; given up %d, too early %d\n",
		      100 * spread, 1 / (1 + others * others), c.known, REPETITIONS, (double)c.n_runs / REPETITIONS,
		      c.held, c.held_known, c.settled, c.above, c.futile, c.wrong_futile);
	return c;
}

/* Each look errs to one side with probability 2.5 %, three looks with 7.5 % at most: above 42 of 300 with probability
 * below 1 in 10,000 for another seed. */
#define MOST 42
/* Given up though all runs would have told: 1 in 75 repetitions at most; above 15 of 300 with probability below 1 in
 * 10,000 for another seed. */
#define MOST_EARLY 15

/* As vprof iterate ends: looks at four, six and eight runs. */
static void test_until_settled(void **state)
{
	static const double spreads[] = { 0.05, 0.3, 0.5, 0.8 };

	(void)state;
	for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
		struct counts c = repeat_often(spreads[s], OTHERS);

		if (spreads[s] <= 0.5)
			assert_in_range(c.held, LEAST, REPETITIONS);
		assert_in_range(c.above, 0, MOST);
		assert_in_range(c.wrong_futile, 0, MOST_EARLY);
	}
}

/* A share of 1 % is below the threshold of 2 %: whatever luck runs have, a cause that small is not settled. */
static void test_nothing_to_settle(void **state)
{
	(void)state;
	assert_in_range(repeat_often(0.3, 10).settled, 0, MOST);
	assert_in_range(repeat_often(0.8, 10).settled, 0, MOST);
}

/* One run and no runs are the same; the same seed gives the same bounds. */
static void test_one_run(void **state)
{
	double rows[BLOCKS * N_SUMS];
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct bounds a, b;

	(void)state;
	run(rng, 0.1, OTHERS, rows);
	a = bound(rows, 1, 1);
	b = bound(rows, 1, 1);
	assert_true(a.low == a.low_pooled && a.high == a.high_pooled);
	assert_true(a.low == b.low && a.high == b.high);
	gsl_rng_free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given_runs),
		cmocka_unit_test(test_until_settled),
		cmocka_unit_test(test_nothing_to_settle),
		cmocka_unit_test(test_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
