/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Analysing a random part of the intervals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/source/draw.h"
#include "tests/unit/analysis/hand_trace.h"

#define N 4000
#define N_SOURCES 4
#define N_CLIENTS 20

/* Interval i of all is number i in one of the sources. */
static void fill(struct vprof_source *sources, const size_t *sizes)
{
	uint32_t i = 0;

	memset(sources, 0, N_SOURCES * sizeof *sources);
	for (size_t s = 0; s < N_SOURCES; s++) {
		sources[s].first = i;
		for (size_t k = 0; k < sizes[s]; k++) {
			uint32_t *slot = VPROF_PUSH(&sources[s].chosen);

			assert_non_null(slot);
			*slot = i++;
		}
	}
}

static void release(struct vprof_source *sources)
{
	for (size_t s = 0; s < N_SOURCES; s++)
		VPROF_ARRAY_RELEASE(&sources[s].chosen);
}

/* One of each stratum, in order, and each source's are its own. */
static void check_drawn(const struct vprof_source *sources, const size_t *sizes, size_t n_all, size_t wanted)
{
	size_t n = 0, from = 0;

	for (size_t s = 0; s < N_SOURCES; from += sizes[s++]) {
		assert_int_equal(sources[s].first, n);
		for (size_t k = 0; k < sources[s].chosen.n; k++, n++) {
			size_t i = sources[s].chosen.v[k];

			assert_true(i >= from && i < from + sizes[s]);
			assert_true(i >= n * n_all / wanted && i < (n + 1) * n_all / wanted);
		}
	}
	assert_int_equal(n, wanted);
}

static void test_one_of_each_stratum(void **state)
{
	static const size_t sizes[N_SOURCES] = { 7, 0, 13, 100 }, n_all = 120;
	struct vprof_source sources[N_SOURCES];

	(void)state;
	for (size_t wanted = 1; wanted < n_all; wanted++) {
		fill(sources, sizes);
		assert_int_equal(vprof_sources_draw(sources, N_SOURCES, n_all, wanted), n_all - wanted);
		check_drawn(sources, sizes, n_all, wanted);
		release(sources);
	}
}

static void test_all_where_there_are_not_more(void **state)
{
	static const size_t sizes[N_SOURCES] = { 7, 0, 13, 100 }, n_all = 120;
	struct vprof_source sources[N_SOURCES];

	(void)state;
	for (size_t wanted = n_all; wanted < 3 * n_all; wanted += n_all - 1) {
		fill(sources, sizes);
		assert_int_equal(vprof_sources_draw(sources, N_SOURCES, n_all, wanted), 0);
		check_drawn(sources, sizes, n_all, n_all);
		release(sources);
	}
}

/* Clients that take turns: every one in N_CLIENTS is the same client's, and a stratum is as long as that. */
static void test_not_in_step(void **state)
{
	static const size_t sizes[N_SOURCES] = { N_CLIENTS * N, 0, 0, 0 };
	struct vprof_source sources[N_SOURCES];
	double chi2 = 0, expected = (double)N / N_CLIENTS;
	size_t drawn[N_CLIENTS] = { 0 };

	(void)state;
	fill(sources, sizes);
	vprof_sources_draw(sources, N_SOURCES, sizes[0], N);
	for (size_t k = 0; k < sources[0].chosen.n; k++)
		drawn[sources[0].chosen.v[k] % N_CLIENTS]++;
	for (size_t c = 0; c < N_CLIENTS; c++)
		chi2 += ((double)drawn[c] - expected) * ((double)drawn[c] - expected) / expected;
	assert_true(chi2 < 51); /* 19 degrees of freedom: above in 1 of 10,000; nothing is drawn anew in each run */
	release(sources);
}

/* Interval i takes 1000 in the mean, half of its variance in f1 and the rest in f2. */
static void write_trace(struct hand_trace *h)
{
	uint64_t random = 1, t = 1000;
	struct hand_thread *th;

	hand_init(h);
	th = hand_thread(h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t a = 1 + vprof_mix(random++) % 1000, b = 1 + vprof_mix(random++) % 1000;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(1), t + 1, t + 1 + a);
		hand_call(th, F(2), t + 2 + a, t + 2 + a + b);
		hand_mark(th, VP_KIND_END, i, t + 3 + a + b);
		t += 4000;
	}
	hand_write(h);
}

/* An estimate of the same, within five of its standard errors: of a variance of uniform times sqrt(0.8 / n) of it, and
 * less than 0.5 / sqrt(n) of a share of a half. Nothing is drawn anew in each run. */
static void test_analysis_of_a_part(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_results *all, *part, *most;
	struct hand_trace h;

	(void)state;
	write_trace(&h);
	all = hand_analyze_most(&h, plan, 0);
	most = hand_analyze_most(&h, plan, N);
	part = hand_analyze_most(&h, plan, N / 8);
	assert_int_equal(all->n_complete, N);
	assert_int_equal(all->n_not_drawn, 0);
	assert_int_equal(most->n_complete, N);
	assert_int_equal(most->n_not_drawn, 0);
	assert_true(most->var_ns2 == all->var_ns2);
	assert_int_equal(part->n_complete, N / 8);
	assert_int_equal(part->n_not_drawn, N - N / 8);
	assert_true(!part->inconclusive);
	assert_true(fabs(part->mean_ns - all->mean_ns) < 5 * all->sd_ns / sqrt(N / 8.0));
	assert_true(fabs(hand_factor(part, "v:f1")->share - hand_factor(all, "v:f1")->share) < 5 * 0.5 / sqrt(N / 8.0));
	/* what the run's time is covered by are all of them */
	assert_true(fabs(part->covered_share / all->covered_share - 1) < 5 * all->sd_ns / all->mean_ns / sqrt(N / 8.0));
	vprof_results_free(all);
	vprof_results_free(most);
	vprof_results_free(part);
	vprof_plan_free(plan);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_of_each_stratum),
		cmocka_unit_test(test_all_where_there_are_not_more),
		cmocka_unit_test(test_not_in_step),
		cmocka_unit_test(test_analysis_of_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
