/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes between two series of latencies: figures against GSL's, bounds that hold a planted change and that stay
 * around zero where there is none, series that move slowly. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/stats/compare.h"

#define N 4000

static void fill(double *ns, size_t n, unsigned long seed, double scale, double follow)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double slow = 0;

	gsl_rng_set(rng, seed);
	for (size_t i = 0; i < n; i++) {
		slow = follow * slow + gsl_ran_gaussian(rng, 1);
		ns[i] = scale * exp(10 + 0.3 * slow * sqrt(1 - follow * follow));
	}
	gsl_rng_free(rng);
}

static void test_figures(void **state)
{
	static double base[N], new[N + 37];
	struct vprof_latencies a = { base, N }, b = { new, N + 37 };
	struct vprof_change c[VPROF_FIGURE_COUNT];

	(void)state;
	fill(base, N, 1, 1, 0);
	fill(new, N + 37, 2, 3, 0);
	assert_int_equal(vprof_compare(&a, &b, c, NULL), VPROF_OK);
	for (int side = 0; side < 2; side++) {
		double *x = side ? new : base, want[VPROF_FIGURE_COUNT];
		size_t n = side ? N + 37 : N;

		want[VPROF_FIGURE_MEAN] = gsl_stats_mean(x, 1, n);
		want[VPROF_FIGURE_VARIANCE] = gsl_stats_variance(x, 1, n);
		want[VPROF_FIGURE_SD] = gsl_stats_sd(x, 1, n);
		gsl_sort(x, 1, n);
		want[VPROF_FIGURE_P50] = gsl_stats_quantile_from_sorted_data(x, 1, n, 0.5);
		want[VPROF_FIGURE_P90] = gsl_stats_quantile_from_sorted_data(x, 1, n, 0.9);
		want[VPROF_FIGURE_P99] = gsl_stats_quantile_from_sorted_data(x, 1, n, 0.99);
		for (int i = 0; i < VPROF_FIGURE_COUNT; i++)
			assert_true(fabs((side ? c[i].new : c[i].base) / want[i] - 1) < 1e-9);
	}
	for (int i = 0; i < VPROF_FIGURE_COUNT; i++) { /* three times as long, nine times the variance */
		double truth = i == VPROF_FIGURE_VARIANCE ? 8 : 2;

		assert_true(fabs(c[i].change - (c[i].new / c[i].base - 1)) < 1e-12);
		assert_true(c[i].low < truth && truth < c[i].high);
		assert_true(c[i].low > 0.5 * truth && c[i].high < 1.6 * truth);
	}
}

/* Bounds that hold the truth about as often as they claim: in at least 91 % of the pairs without a change. With this
 * number of rounds bounds that hold it as often as they do (measured: 97 % of independent latencies, 95.5 % of those
 * that follow one another) would fail for another seed in less than 1 of 10,000 runs of the test: 4.5 standard
 * deviations, for six figures each. */
static void coverage(double follow, unsigned n_rounds)
{
	static double base[N], new[N];
	int held[VPROF_FIGURE_COUNT] = { 0 };

	for (unsigned long round = 0; round < n_rounds; round++) {
		struct vprof_latencies a = { base, N / 4 }, b = { new, N / 4 };
		struct vprof_change c[VPROF_FIGURE_COUNT];

		fill(base, N / 4, 1000 + 2 * round, 1, follow);
		fill(new, N / 4, 1001 + 2 * round, 1, follow);
		assert_int_equal(vprof_compare(&a, &b, c, NULL), VPROF_OK);
		for (int i = 0; i < VPROF_FIGURE_COUNT; i++)
			held[i] += c[i].low <= 0 && c[i].high >= 0;
	}
	for (int i = 0; i < VPROF_FIGURE_COUNT; i++) {
		print_message("%s, following by %.1f: %d of %u\n", vprof_figure_names[i], follow, held[i], n_rounds);
		assert_in_range(held[i], (n_rounds * 91 + 99) / 100, n_rounds);
	}
}

static void test_no_change(void **state)
{
	(void)state;
	coverage(0, 200);
}

static void test_no_change_of_slow_series(void **state)
{
	(void)state;
	coverage(0.8, 700);
}

static void test_too_few(void **state)
{
	double one[] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 };
	struct vprof_latencies a = { one, 10 }, b = { one, 1 };
	struct vprof_change c[VPROF_FIGURE_COUNT];
	struct vprof_error err = { "" };

	(void)state;
	assert_int_equal(vprof_compare(&a, &b, c, &err), VPROF_ERR_INCONCLUSIVE);
	assert_non_null(strstr(err.message, "too few"));
	assert_int_equal(vprof_compare(&a, &a, c, &err), VPROF_OK); /* no variance: its change is not known */
	assert_true(c[VPROF_FIGURE_MEAN].change == 0 && isnan(c[VPROF_FIGURE_VARIANCE].change));
	assert_true(isnan(c[VPROF_FIGURE_VARIANCE].low));
}

/* Bounds are only claimed where the runs can carry them. */
static void test_too_few_for_bounds(void **state)
{
	static double many[1000], few[1000];
	const struct {
		size_t n;
		int mean, p99;
	} cases[] = { { 2, 0, 0 }, { 59, 0, 0 }, { 60, 1, 0 }, { 367, 1, 0 }, { 368, 1, 1 } };
	struct vprof_change c[VPROF_FIGURE_COUNT];

	(void)state;
	fill(many, 1000, 1, 1, 0);
	fill(few, 1000, 2, 1, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int swapped = 0; swapped < 2; swapped++) {
			struct vprof_latencies a = { many, 1000 }, b = { few, cases[i].n };

			assert_int_equal(vprof_compare(swapped ? &b : &a, swapped ? &a : &b, c, NULL), VPROF_OK);
			assert_int_equal(isfinite(c[VPROF_FIGURE_MEAN].low), cases[i].mean);
			assert_int_equal(isfinite(c[VPROF_FIGURE_P50].high), cases[i].mean);
			assert_int_equal(isfinite(c[VPROF_FIGURE_P99].high), cases[i].p99);
			assert_true(isfinite(c[VPROF_FIGURE_P99].change));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_no_change),
		cmocka_unit_test(test_no_change_of_slow_series),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_too_few_for_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
