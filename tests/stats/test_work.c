/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regression on amounts of work: NIST's Longley data with certified values, large data in batches against GSL's own
 * least squares of all rows at once, and counters that depend on one another. */
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/stats/work.h"
#include "tests/unit/analysis/hand_trace.h"

struct fixture {
	struct hand_trace trace;
	struct hand_steps steps;
	struct vprof_results *r;
	struct vprof_interval_attributes attributes;
	struct vprof_work_model model;
};

static void open_fixture(struct fixture *f, size_t n, size_t n_counters)
{
	memset(f, 0, sizeof *f);
	hand_init(&f->trace);
	hand_call(hand_thread(&f->trace, 1), F(1), 10, 20);
	hand_write(&f->trace);
	hand_steps(&f->steps, &f->trace);
	f->r = vprof_results_new();
	f->attributes = (struct vprof_interval_attributes){ .n = n, .n_counters = n_counters, .n_worked = n };
	f->attributes.ns = vprof_array_room(NULL, &f->attributes.cap_ns, n, sizeof(double));
	f->attributes.amounts = vprof_array_room(NULL, &f->attributes.cap_amounts, n * n_counters, sizeof(double));
	assert_true(f->r && f->attributes.ns && f->attributes.amounts);
	memset(f->attributes.amounts, 0, n * n_counters * sizeof(double));
}

static void fit(struct fixture *f)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < f->attributes.n; i++)
		mean += f->attributes.ns[i] / (double)f->attributes.n;
	for (size_t i = 0; i < f->attributes.n; i++)
		squares += (f->attributes.ns[i] - mean) * (f->attributes.ns[i] - mean);
	f->r->mean_ns = mean;
	f->r->var_ns2 = squares / (double)(f->attributes.n - 1);
	f->r->n_complete = f->attributes.n;
	assert_int_equal(vprof_work_fill(f->r, &f->attributes, &f->model), 0);
}

static void close_fixture(struct fixture *f)
{
	vprof_interval_attributes_release(&f->attributes);
	vprof_results_free(f->r);
	hand_steps_release(&f->steps);
	hand_release(&f->trace);
}

static void close_to(double found, double exact, double relative)
{
	if (!(fabs(found - exact) <= relative * fabs(exact)))
		fail_msg("found %.17g, exact %.17g", found, exact);
}

/* Certified: slopes, and R^2 = 0.995479004577296. */
static void test_longley(void **state)
{
	static const double x[16][6] = {
		{ 83.0, 234289, 2356, 1590, 107608, 1947 },  { 88.5, 259426, 2325, 1456, 108632, 1948 },
		{ 88.2, 258054, 3682, 1616, 109773, 1949 },  { 89.5, 284599, 3351, 1650, 110929, 1950 },
		{ 96.2, 328975, 2099, 3099, 112075, 1951 },  { 98.1, 346999, 1932, 3594, 113270, 1952 },
		{ 99.0, 365385, 1870, 3547, 115094, 1953 },  { 100.0, 363112, 3578, 3350, 116219, 1954 },
		{ 101.2, 397469, 2904, 3048, 117388, 1955 }, { 104.6, 419180, 2822, 2857, 118734, 1956 },
		{ 108.4, 442769, 2936, 2798, 120445, 1957 }, { 110.8, 444546, 4681, 2637, 121950, 1958 },
		{ 112.6, 482704, 3813, 2552, 123366, 1959 }, { 114.2, 502601, 3931, 2514, 125368, 1960 },
		{ 115.7, 518173, 4806, 2572, 127852, 1961 }, { 116.9, 554894, 4007, 2827, 130081, 1962 },
	};
	static const double y[16] = { 60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761,
				      66019, 67857, 68169, 66513, 68655, 69564, 69331, 70551 };
	static const double slopes[6] = { 15.0618722713733,  -0.358191792925910E-01, -2.02022980381683,
					  -1.03322686717359, -0.511041056535807E-01, 1829.15146461355 };
	struct fixture f;
	double sum = 0;

	(void)state;
	open_fixture(&f, 16, 6);
	memcpy(f.attributes.ns, y, sizeof y);
	memcpy(f.attributes.amounts, x, sizeof x);
	fit(&f);
	assert_int_equal(f.r->n_work, 6);
	for (size_t k = 0; k < 6; k++) {
		close_to(f.r->work[k].ns_per_unit, slopes[k], 1e-9);
		sum += f.r->work[k].share;
	}
	close_to(f.r->work_share, 1 - (1 - 0.995479004577296) * 15 / 9, 1e-12);
	close_to(sum, f.r->work_share, 1e-12);
	close_fixture(&f);
}

/* 20,000 rows on an offset of 1e9 in batches, and all at once. */
static void test_batches(void **state)
{
	enum { N = 20000, P = 3 };
	gsl_matrix *x = gsl_matrix_alloc(N, P + 1), *cov = gsl_matrix_alloc(P + 1, P + 1);
	gsl_vector *y = gsl_vector_alloc(N), *c = gsl_vector_alloc(P + 1);
	gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(N, P + 1);
	uint64_t random = 5;
	struct fixture f;
	double chisq;

	(void)state;
	open_fixture(&f, N, P);
	for (size_t i = 0; i < N; i++) {
		double *row = f.attributes.amounts + i * P;

		row[0] = (double)(hand_random(&random) % 1000);
		row[1] = row[0] + (double)(hand_random(&random) % 100);
		row[2] = 1e6 * (double)(hand_random(&random) % 3);
		f.attributes.ns[i] =
			1e9 + 40 * row[0] - 7 * row[1] + 0.01 * row[2] + (double)(hand_random(&random) % 20000);
		gsl_matrix_set(x, i, 0, 1);
		for (size_t k = 0; k < P; k++)
			gsl_matrix_set(x, i, k + 1, row[k]);
		gsl_vector_set(y, i, f.attributes.ns[i] - 1e9);
	}
	fit(&f);
	gsl_multifit_linear(x, y, c, cov, &chisq, work);
	for (size_t k = 0; k < P; k++)
		close_to(f.r->work[k].ns_per_unit, gsl_vector_get(c, k + 1), 1e-7);
	close_to(1 - f.r->work_share, chisq / (N - 1 - P) / f.r->var_ns2, 1e-7);
	gsl_multifit_linear_free(work);
	gsl_matrix_free(x);
	gsl_matrix_free(cov);
	gsl_vector_free(y);
	gsl_vector_free(c);
	close_fixture(&f);
}

/* The same counter twice, one that is the sum of others, one that never varies: the share is that of the counters that
 * matter, and the sums used by the bootstrap give the same answer. */
static void test_dependent(void **state)
{
	enum { N = 1000, P = 5 };
	double gram[VPROF_COUNTERS_MAX * VPROF_COUNTERS_MAX] = { 0 }, with[VPROF_COUNTERS_MAX] = { 0 },
					 b[VPROF_COUNTERS_MAX];
	double row[VPROF_COUNTERS_MAX], squares, r2;
	uint64_t random = 6;
	struct fixture f;

	(void)state;
	open_fixture(&f, N, P);
	for (size_t i = 0; i < N; i++) {
		double *a = f.attributes.amounts + i * P;

		a[0] = (double)(hand_random(&random) % 100);
		a[1] = (double)(hand_random(&random) % 100);
		a[2] = a[0];
		a[3] = a[0] + a[1];
		a[4] = 17;
		f.attributes.ns[i] = 1000 + 3 * a[0] + 2 * a[1];
	}
	fit(&f);
	close_to(f.r->work_share, 1, 1e-10);
	assert_int_equal(f.model.n_columns, 4);
	assert_true(f.r->work[4].share == 0 && f.r->work[4].mean == 17);
	for (size_t i = 0; i < N; i++) {
		vprof_work_row(&f.model, &f.attributes, i, row);
		for (size_t k = 0; k < 4; k++) {
			with[k] += row[k] * (f.attributes.ns[i] - f.r->mean_ns);
			for (size_t m = 0; m < 4; m++)
				gram[k * 4 + m] += row[k] * row[m];
		}
	}
	squares = f.r->var_ns2 * (N - 1);
	r2 = vprof_work_solve(gram, with, 4, b) / squares;
	close_to(r2, 1, 1e-10);
	close_fixture(&f);
}

/* Amounts that have nothing to do with the latency explain nothing, also when there are many of them and few intervals.
 */
static void test_chance(void **state)
{
	enum { N = 60, P = 8 };
	uint64_t random = 8;
	double sum = 0;

	(void)state;
	for (int run = 0; run < 50; run++) {
		struct fixture f;

		open_fixture(&f, N, P);
		for (size_t i = 0; i < N; i++) {
			f.attributes.ns[i] = 1e6 + (double)(hand_random(&random) % 100000);
			for (size_t k = 0; k < P; k++)
				f.attributes.amounts[i * P + k] = (double)(hand_random(&random) % 1000);
		}
		fit(&f);
		sum += f.r->work_share / 50;
		close_fixture(&f);
	}
	assert_true(sum < 0.06); /* unadjusted: 0.14 */
}

static void test_nothing(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 10, 1);
	for (size_t i = 0; i < 10; i++)
		f.attributes.ns[i] = (double)i;
	fit(&f);
	assert_true(isnan(f.r->work_share));
	assert_int_equal(f.r->n_work, 1);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longley), cmocka_unit_test(test_batches), cmocka_unit_test(test_dependent),
		cmocka_unit_test(test_chance),	cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
