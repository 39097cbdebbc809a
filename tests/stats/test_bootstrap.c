/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bootstrap's bounds hold the truth about as often as they say, also where neighbours are alike and where tails are
 * heavy; the same data give the same bounds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/stats/bootstrap.h"

#define N_MAX 4000

static double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

/* x + y make the latency; sums over blocks of both */
struct series {
	size_t n, n_blocks;
	double x[N_MAX], y[N_MAX], total[N_MAX];
	double sum[VPROF_BOOTSTRAP_BLOCKS_MAX][5]; /* n, x, xx, t, tt */
};

/* The mean of x, and its share of the variance of x + y. */
static void evaluate(void *arg, const double *sum, double *values)
{
	(void)arg;
	values[0] = sum[1] / sum[0];
	values[1] = (sum[2] - sum[1] * sum[1] / sum[0]) / (sum[4] - sum[3] * sum[3] / sum[0]);
	values[2] = NAN; /* nothing to say */
}

static void cut_into_blocks(struct series *s)
{
	size_t length;

	for (size_t i = 0; i < s->n; i++)
		s->total[i] = s->x[i] + s->y[i];
	length = vprof_bootstrap_block_length(s->total, s->n);
	assert_in_range(length, 1, s->n);
	s->n_blocks = s->n / length;
	assert_in_range(s->n_blocks, 2, VPROF_BOOTSTRAP_BLOCKS_MAX);
	memset(s->sum, 0, sizeof s->sum);
	for (size_t i = 0; i < s->n; i++) {
		size_t b = i * s->n_blocks / s->n;
		double x = s->x[i], t = s->total[i];

		s->sum[b][0]++;
		s->sum[b][1] += x;
		s->sum[b][2] += x * x;
		s->sum[b][3] += t;
		s->sum[b][4] += t * t;
	}
}

static void bounds(struct series *s, double low[3], double high[3])
{
	struct vprof_bootstrap problem = { .n_blocks = s->n_blocks,
					   .n_sums = 5,
					   .n_statistics = 3,
					   .seed = 7,
					   .rows = s->sum[0],
					   .evaluate = evaluate };
	struct vprof_bootstrap_values values;

	assert_int_equal(vprof_bootstrap_run(&problem, &values), 0);
	for (size_t k = 0; k < 3; k++)
		vprof_bootstrap_bounds(&values, k, &low[k], &high[k]);
	vprof_bootstrap_release(&values);
}

#define N_SIZES 3

struct kind {
	const char *name;
	double phi;   /* correlation of neighbours */
	int is_heavy; /* log-normal */
	/* how often bounds of mean and share hold the truth: table of docs/design/statistics.md, 1,000 runs each */
	double mean[N_SIZES], share[N_SIZES];
};

/* Both series have the same law, so the share of each is a half. */
static void fill(struct series *s, const struct kind *k, size_t n, uint64_t *random)
{
	double a = normal(random), b = normal(random), step = sqrt(1 - k->phi * k->phi);

	s->n = n;
	for (size_t i = 0; i < n; i++) {
		s->x[i] = k->is_heavy ? exp(0.7 * a) : a;
		s->y[i] = k->is_heavy ? exp(0.7 * b) : b;
		a = k->phi * a + step * normal(random);
		b = k->phi * b + step * normal(random);
	}
	cut_into_blocks(s);
}

/* As often as in the runs for the table, or not by chance: 4.5 standard deviations of the difference, which another
 * seed exceeds in less than 1 of 10,000 runs of the test, all 24 figures together. */
static void assert_held(int n_held, int n_runs, double expected)
{
	double sd = sqrt(expected * (1 - expected) * (1.0 / n_runs + 1.0 / 1000));

	assert_true((double)n_held / n_runs >= expected - 4.5 * sd);
}

/* How often 95 % bounds hold the truth, for the mean and for the share. */
static void test_coverage(void **state)
{
	static const struct kind kinds[] = {
		{ "independent, normal", 0, 0, { 0.972, 0.957, 0.963 }, { 0.985, 0.969, 0.967 } },
		{ "independent, log-normal", 0, 1, { 0.971, 0.965, 0.964 }, { 0.983, 0.977, 0.977 } },
		/* 200 correlated items are worth twenty. */
		{ "correlated 0.8, normal", 0.8, 0, { 0.964, 0.968, 0.970 }, { 0.976, 0.974, 0.975 } },
		{ "correlated 0.8, log-normal", 0.8, 1, { 0.950, 0.955, 0.965 }, { 0.953, 0.974, 0.975 } },
	};
	static const size_t sizes[N_SIZES] = { 200, 1000, 4000 };
	struct series *s = malloc(sizeof *s);
	uint64_t random = 20261121;

	(void)state;
	assert_non_null(s);
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		for (size_t m = 0; m < sizeof sizes / sizeof *sizes; m++) {
			double truth = kinds[k].is_heavy ? exp(0.49 / 2) : 0, low[3], high[3];
			int n_runs = getenv("COVERAGE_RUNS") ? atoi(getenv("COVERAGE_RUNS")) : 300, mean = 0, share = 0;

			for (int i = 0; i < n_runs; i++) {
				fill(s, &kinds[k], sizes[m], &random);
				bounds(s, low, high);
				mean += low[0] <= truth && truth <= high[0];
				share += low[1] <= 0.5 && 0.5 <= high[1];
				assert_true(isnan(low[2]) && isnan(high[2]));
			}
			printf("%-28s n = %4zu, %3zu blocks: mean %.1f %%, share %.1f %%\n", kinds[k].name, sizes[m],
			       s->n_blocks, 100.0 * mean / n_runs, 100.0 * share / n_runs);
			assert_held(mean, n_runs, kinds[k].mean[m]);
			assert_held(share, n_runs, kinds[k].share[m]);
		}
	}
	free(s);
}

/* n blocks, one number each; their mean, and twice that less 1. */
static void evaluate_mean(void *arg, const double *sum, double *values)
{
	(void)arg;
	values[0] = sum[1] / sum[0];
	values[1] = 2 * sum[1] / sum[0] - 1;
}

static void bounds_of_mean(const double (*rows)[2], size_t n, double least, double *low, double *high)
{
	struct vprof_bootstrap problem = {
		.n_blocks = n, .n_sums = 2, .n_statistics = 2, .rows = rows[0], .evaluate = evaluate_mean
	};
	struct vprof_bootstrap_values values;

	assert_int_equal(vprof_bootstrap_run(&problem, &values), 0);
	vprof_bootstrap_bounds_within(&values, 0, least, INFINITY, low, high);
	vprof_bootstrap_release(&values);
}

/* Two stalls among 100 blocks: nobody knows their number better than a Poisson law does, whose 95 % bounds for 2 are
 * 0.24 and 7.2 (Garwood 1936). */
static void test_few_stalls(void **state)
{
	double rows[100][2], low, high;

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		rows[i][0] = 1;
		rows[i][1] = i == 20 || i == 70 ? 100 : 0;
	}
	bounds_of_mean((const void *)rows, 100, 0, &low, &high);
	assert_true(low >= 0 && low <= 0.24);
	assert_true(high >= 7.2 && high < 12);
	bounds_of_mean((const void *)rows, 100, -INFINITY, &low, &high);
	assert_true(low < 0); /* no limit: as far below as above */
}

/* Blocks that are alike by pairs are half as many as they seem; by turns high and low they are no fewer. */
static void test_alike_blocks(void **state)
{
	double rows[100][2], low, high, independent, by_pairs, by_turns;
	uint64_t random = 3;

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		rows[i][0] = 1;
		rows[i][1] = i % 4 < 2 ? normal(&random) : -rows[i - 2][1];
	}
	bounds_of_mean((const void *)rows, 100, -INFINITY, &low, &high);
	independent = high - low;
	for (size_t i = 1; i < 100; i += 2)
		rows[i][1] = rows[i - 1][1];
	bounds_of_mean((const void *)rows, 100, -INFINITY, &low, &high);
	by_pairs = high - low;
	for (size_t i = 1; i < 100; i += 2)
		rows[i][1] = -rows[i - 1][1];
	bounds_of_mean((const void *)rows, 100, -INFINITY, &low, &high);
	by_turns = high - low;
	assert_true(by_pairs > 1.4 * independent);
	assert_true(by_turns > 0.7 * independent && by_turns < 1.4 * independent);
}

/* An error is what the blocks' errors add up to, and that of a difference what both samples add to it. */
static void test_error(void **state)
{
	const double rows[4][2] = { { 1, 1 }, { 1, 3 }, { 1, 2 }, { 1, 6 } }; /* errors -0.5, 0, -0.25, 0.75 */
	struct vprof_bootstrap problem = {
		.n_blocks = 4, .n_sums = 2, .n_statistics = 2, .rows = rows[0], .evaluate = evaluate_mean
	};
	struct vprof_bootstrap_values values;
	struct vprof_bootstrap_error e;

	(void)state;
	assert_int_equal(vprof_bootstrap_run(&problem, &values), 0);
	assert_true(fabs(values.errors[0].squares - 0.875) < 1e-12);
	assert_true(fabs(values.errors[0].cubes - 0.28125) < 1e-12);
	assert_true(fabs(values.errors[0].pairs - 0.5) < 1e-12);
	assert_true(fabs(values.errors[0].variance_of_squares - (0.3828125 - 0.875 * 0.875 / 4)) < 1e-12);
	assert_true(fabs(values.errors[0].variance_if_normal - 2 * 0.875 * 0.875 / 3) < 1e-12);
	assert_true(fabs(values.errors[1].squares - 4 * 0.875) < 1e-12);
	e = vprof_bootstrap_error_of_difference(&values.errors[0], 3, &values.errors[1], 0.5);
	assert_true(fabs(e.squares - (9 + 1) * 0.875) < 1e-12);
	assert_true(fabs(e.cubes - (27 - 1) * 0.28125) < 1e-12);
	assert_true(fabs(e.pairs - (9 + 1) * 0.5) < 1e-12);
	assert_true(fabs(e.variance_if_normal - (81 + 1) * values.errors[0].variance_if_normal) < 1e-9);
	vprof_bootstrap_release(&values);
}

static void test_reproducible(void **state)
{
	struct series *s = malloc(sizeof *s);
	double low[3], high[3], low2[3], high2[3];
	uint64_t random = 4;

	(void)state;
	assert_non_null(s);
	fill(s, &(struct kind){ .phi = 0.3, .is_heavy = 1 }, 500, &random);
	bounds(s, low, high);
	bounds(s, low2, high2);
	assert_memory_equal(low, low2, 2 * sizeof *low);
	assert_memory_equal(high, high2, 2 * sizeof *high);
	assert_true(low[1] < 0.5 && 0.5 < high[1]);
	free(s);
}

/* Neighbours that are alike make blocks longer; the number of blocks stays within its limits. */
static void test_block_length(void **state)
{
	static double x[200000];
	uint64_t random = 9;
	double level = 0;
	size_t independent, alike;

	(void)state;
	for (size_t i = 0; i < 4000; i++)
		x[i] = normal(&random);
	independent = vprof_bootstrap_block_length(x, 4000);
	assert_in_range(independent, 16, 25); /* the cube root, or for at most 200 blocks */
	for (size_t i = 0; i < 4000; i++)
		x[i] = level = 0.95 * level + normal(&random);
	alike = vprof_bootstrap_block_length(x, 4000);
	assert_in_range(alike, 120, 333);
	for (size_t i = 0; i < 4000; i++)
		x[i] = 1e9 + (double)i; /* a drift: as long as is allowed */
	assert_int_equal(vprof_bootstrap_block_length(x, 4000), 333);
	for (size_t i = 0; i < 200000; i++)
		x[i] = 1e9 + normal(&random);
	assert_in_range(vprof_bootstrap_block_length(x, 200000), 1000, 1100);
	for (size_t i = 0; i < 100; i++)
		x[i] = 5;
	assert_int_equal(vprof_bootstrap_block_length(x, 100), 5);
	assert_int_equal(vprof_bootstrap_block_length(x, 1), 1);
	assert_int_equal(vprof_bootstrap_block_length(x, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coverage),     cmocka_unit_test(test_few_stalls),
		cmocka_unit_test(test_alike_blocks), cmocka_unit_test(test_error),
		cmocka_unit_test(test_reproducible), cmocka_unit_test(test_block_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
