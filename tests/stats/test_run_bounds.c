/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds over several runs that differ by more than their intervals tell: how often they hold the share that more and
 * more runs would come to, for given numbers of runs and when runs are added until the bounds are narrow. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/results/results.h"
#include "analysis/stats/bootstrap.h"

#define BLOCKS 20    /* of a run */
#define PER_BLOCK 25 /* intervals */
#define RUNS_MAX 8   /* as vprof iterate makes at most */
#define REPETITIONS 300

enum { COUNT, FACTOR, FACTOR_SQUARES, TOTAL, TOTAL_SQUARES, N_SUMS };

/* the factor's share of the variance: of its own time among the sums of what the blocks' intervals took */
static void evaluate(void *arg, const double *sums, double *values)
{
	double n = sums[COUNT];

	(void)arg;
	values[0] = (sums[FACTOR_SQUARES] - sums[FACTOR] * sums[FACTOR] / n) /
		    (sums[TOTAL_SQUARES] - sums[TOTAL] * sums[TOTAL] / n);
}

/* A run: the factor's standard deviation is `scale` times what it is on average. */
static void run(gsl_rng *rng, double spread, double *rows)
{
	double scale = exp(gsl_ran_gaussian(rng, spread) - spread * spread);

	for (size_t b = 0; b < BLOCKS; b++) {
		double *row = rows + b * N_SUMS;

		for (size_t k = 0; k < N_SUMS; k++)
			row[k] = 0;
		for (size_t i = 0; i < PER_BLOCK; i++) {
			double f = scale * gsl_ran_gaussian(rng, 1), total = f + gsl_ran_gaussian(rng, 0.7);

			row[COUNT]++;
			row[FACTOR] += f;
			row[FACTOR_SQUARES] += f * f;
			row[TOTAL] += total;
			row[TOTAL_SQUARES] += total * total;
		}
	}
}

/* E(scale^2) is 1 by construction. */
static const double truth = 1 / (1 + 0.7 * 0.7);

struct bounds {
	double low, high, low_pooled, high_pooled;
};

static struct bounds bound(const double *rows, size_t n_runs)
{
	size_t first[RUNS_MAX + 1];
	struct vprof_bootstrap b = { .n_blocks = n_runs * BLOCKS,
				     .n_sums = N_SUMS,
				     .n_statistics = 1,
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
	vprof_bootstrap_bounds(&v, 0, &bounds.low, &bounds.high);
	vprof_bootstrap_release(&v);
	b.n_runs = 1;
	assert_int_equal(vprof_bootstrap_run(&b, &v), 0);
	vprof_bootstrap_bounds(&v, 0, &bounds.low_pooled, &bounds.high_pooled);
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
			run(rng, spread, rows + k * BLOCKS * N_SUMS);
		b = bound(rows, n_runs);
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

/* As vprof iterate ends: four runs, and more until the bounds are narrow. */
static void test_until_settled(void **state)
{
	static const double spreads[] = { 0, 0.05, 0.15, 0.3 };
	double rows[RUNS_MAX * BLOCKS * N_SUMS];

	(void)state;
	for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
		gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
		int held = 0, held_settled = 0, settled = 0;
		size_t n_all = 0;

		gsl_rng_set(rng, 4);
		for (int i = 0; i < REPETITIONS; i++) {
			struct bounds b = { 0 };
			size_t n = 0;
			int narrow = 0;

			while (n < RUNS_MAX && !narrow) {
				run(rng, spreads[s], rows + n * BLOCKS * N_SUMS);
				if (++n < VPROF_REPEATS_MIN)
					continue;
				b = bound(rows, n);
				narrow = fmin(b.high, 1) - fmax(b.low, 0) <= VPROF_REPEATED_WIDTH;
			}
			n_all += n;
			settled += narrow;
			held += holds(b.low, b.high);
			held_settled += narrow && holds(b.low, b.high);
		}
		print_message(
			"runs differ by %2.0f %%: settled %d of %d, after %.1f runs; held %d, of those settled %d\n",
			100 * spreads[s], settled, REPETITIONS, (double)n_all / REPETITIONS, held, held_settled);
		assert_in_range(held, LEAST, REPETITIONS);
		gsl_rng_free(rng);
	}
}

/* One run and no runs are the same; the same seed gives the same bounds. */
static void test_one_run(void **state)
{
	double rows[BLOCKS * N_SUMS];
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct bounds a, b;

	(void)state;
	run(rng, 0.1, rows);
	a = bound(rows, 1);
	b = bound(rows, 1);
	assert_true(a.low == a.low_pooled && a.high == a.high_pooled);
	assert_true(a.low == b.low && a.high == b.high);
	gsl_rng_free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given_runs),
		cmocka_unit_test(test_until_settled),
		cmocka_unit_test(test_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
