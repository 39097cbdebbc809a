/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments against data whose exact mean and deviation are known: NIST's Statistical Reference Datasets with their
 * certified values, the same on an offset of 1e9, and sparse data against the same data written out with its zeros. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/stats/moments.h"
#include "nist_data.h"
#include "pi_digits.h"

#define N 1001
#define NIST_WRONG_DIGIT 956 /* its file, to which its certified values belong, has another digit here */

static double variance(const double *x, size_t n)
{
	struct vprof_moment m = { 0 };

	for (size_t i = 0; i < n; i++)
		m.mean += x[i];
	m.mean /= (double)n;
	for (size_t i = 0; i < n; i++)
		if (x[i] != 0)
			vprof_moment_add(&m, x[i]);
	return vprof_moment_variance(&m, n);
}

static void close_to(double found, double exact, double relative)
{
	if (!(fabs(found - exact) <= relative * fabs(exact)))
		fail_msg("found %.17g, exact %.17g", found, exact);
}

/* NumAcc1: 10000001, 10000003, 10000002; sd 1. NumAcc2: 1.2, then 1.1 and 1.3 by turns; sd 0.1. NumAcc3 and NumAcc4:
 * the same with 1000000.2 and 10000000.2. The certified values belong to the decimal data; the doubles nearest to it
 * carry a relative error of about offset * 2^-53 / 0.1, which is what the limits below allow. */
static void test_numerical_accuracy(void **state)
{
	static const double first[] = { 10000001, 10000003, 10000002 };
	static const struct {
		double offset, relative;
	} sets[] = { { 1, 1e-14 }, { 1000000, 1e-8 }, { 10000000, 1e-7 } };
	double x[N];

	(void)state;
	close_to(variance(first, 3), 1, 1e-15);
	for (size_t k = 0; k < 3; k++) {
		x[0] = sets[k].offset + 0.2;
		for (size_t i = 1; i < N; i++)
			x[i] = sets[k].offset + (i % 2 ? 0.1 : 0.3);
		close_to(sqrt(variance(x, N)), 0.1, sets[k].relative);
		close_to(variance(x, N), gsl_stats_variance(x, 1, N), 1e-12);
	}
}

/* Certified to 15 digits. Data with decimals are not exact as doubles: their limits allow for what that costs. */
static void test_certified(void **state)
{
	static double digits[PI_DIGITS];
	static const struct {
		const char *name;
		const double *x;
		size_t n;
		double mean, sd, relative;
	} sets[] = {
		{ "Lew", lew, sizeof lew / sizeof *lew, -177.435, 277.332168044316, 1e-14 },
		{ "Lottery", lottery, sizeof lottery / sizeof *lottery, 518.958715596330, 291.699727470969, 1e-14 },
		{ "Mavro", mavro, sizeof mavro / sizeof *mavro, 2.001856, 0.000429123454003053, 1e-12 },
		{ "Michelso", michelson, sizeof michelson / sizeof *michelson, 299.8524, 0.0790105478190518, 1e-12 },
		{ "PiDigits", digits, PI_DIGITS, 4.5348, 2.86733906028871, 1e-14 },
	};

	(void)state;
	pi_digits(digits);
	assert_int_equal(digits[NIST_WRONG_DIGIT], 8);
	digits[NIST_WRONG_DIGIT] = 3;
	for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
		double mean = 0, *shifted = malloc(sets[k].n * sizeof *shifted);

		assert_non_null(shifted);
		for (size_t i = 0; i < sets[k].n; i++)
			mean += sets[k].x[i];
		close_to(mean / (double)sets[k].n, sets[k].mean, 1e-13);
		close_to(sqrt(variance(sets[k].x, sets[k].n)), sets[k].sd, sets[k].relative);
		for (size_t i = 0; i < sets[k].n; i++)
			shifted[i] = sets[k].x[i] + 1e9;
		/* An offset of 1e9 leaves decimals an error of up to 6e-8; whole numbers stay exact. */
		close_to(sqrt(variance(shifted, sets[k].n)), sets[k].sd,
			 sets[k].relative < 1e-13 ? 1e-12 : 1e-7 / sets[k].sd);
		free(shifted);
	}
}

/* Whole numbers on an offset of 1e9 are exact doubles: variance of 0..n-1 is n (n + 1) / 12. */
static void test_offset_1e9(void **state)
{
	double x[N], y[N];
	struct vprof_moment a = { 0 }, b = { 0 };
	struct vprof_comoment c = { 0 };

	(void)state;
	for (size_t i = 0; i < N; i++) {
		x[i] = 1e9 + (double)i;
		y[i] = 1e9 + 3 * (double)((i * 17) % N);
	}
	close_to(variance(x, N), N * (N + 1.0) / 12, 1e-13);
	for (size_t i = 0; i < N; i++) {
		a.mean += x[i] / N;
		b.mean += y[i] / N;
	}
	for (size_t i = 0; i < N; i++) {
		vprof_moment_add(&a, x[i]);
		vprof_moment_add(&b, y[i]);
		vprof_comoment_add(&c, x[i] - a.mean, y[i] - b.mean);
	}
	/* Also when the mean that was passed in is off by rounding: the residual takes it out. */
	close_to(vprof_moment_variance(&a, N), N * (N + 1.0) / 12, 1e-13);
	close_to(vprof_comoment_covariance(&c, &a, &b, N), gsl_stats_covariance(x, 1, y, 1, N), 1e-11);
}

/* Absent values are zeros. */
static void test_sparse(void **state)
{
	double x[N], y[N];
	struct vprof_moment a = { 0 }, b = { 0 };
	struct vprof_comoment c = { 0 };
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		x[i] = random >> 60 < 5 ? 1e6 + (double)(random >> 40 & 0xffff) : 0;
		y[i] = random >> 56 & 1 ? 1e3 + (double)(random >> 20 & 0xffff) : 0;
		a.mean += x[i] / N;
		b.mean += y[i] / N;
	}
	for (size_t i = 0; i < N; i++) {
		if (x[i] != 0)
			vprof_moment_add(&a, x[i]);
		if (y[i] != 0)
			vprof_moment_add(&b, y[i]);
		if (x[i] != 0 && y[i] != 0)
			vprof_comoment_add(&c, x[i] - a.mean, y[i] - b.mean);
	}
	close_to(vprof_moment_variance(&a, N), gsl_stats_variance(x, 1, N), 1e-12);
	close_to(vprof_moment_variance(&b, N), gsl_stats_variance(y, 1, N), 1e-12);
	close_to(vprof_comoment_covariance(&c, &a, &b, N), gsl_stats_covariance(x, 1, y, 1, N), 1e-9);
}

static void test_too_few(void **state)
{
	struct vprof_moment m = { .mean = 5 };
	struct vprof_comoment c = { 0 };

	(void)state;
	assert_true(vprof_moment_variance(&m, 0) == 0);
	assert_true(vprof_comoment_covariance(&c, &m, &m, 0) == 0);
	vprof_moment_add(&m, 5);
	assert_true(vprof_moment_variance(&m, 1) == 0);
	assert_true(vprof_comoment_covariance(&c, &m, &m, 1) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numerical_accuracy),
		cmocka_unit_test(test_certified),
		cmocka_unit_test(test_offset_1e9),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_too_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
