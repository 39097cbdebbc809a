/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decision of vprof compare over simulated runs: latencies that are log-normal within a run, runs that differ by
 * more than their intervals tell, and a machine that gets slower and faster in between. One seed; a comparison is
 * called changed when the bounds of any figure exclude 0. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/stats/compare_runs.h"

#define N 100	    /* intervals of a run */
#define RUNS_MAX 96 /* of a side */

/* how runs differ, as standard deviations of the logarithm of a latency */
struct world {
	const char *name;
	double between; /* runs, each by itself */
	double drift;	/* the machine, from one run to the next, of which `kept` remains */
	double kept;
	double between_tail; /* runs: how much longer their slowest tenth takes */
	size_t n_looks;	     /* that its time allows */
	int n_found_least;   /* of 200 planted changes */
};

static const struct world worlds[] = {
	{ "quiet", 0.01, 0.005, 0.9, 0.05, 3, 162 },
	{ "uneven", 0.04, 0.02, 0.8, 0.3, 3, 162 },
	{ "busy, long runs", 0.05, 0.2, 0.95, 0.6, 3, 138 },
	{ "busy", 0.05, 0.2, 0.95, 0.6, 5, 162 },
};

struct machine {
	gsl_rng *rng;
	const struct world *world;
	double state;
};

static struct vprof_run_figures run(struct machine *m, double scale)
{
	static double ns[N];
	struct vprof_latencies latencies = { ns, N };
	struct vprof_run_figures figures;
	double own = gsl_ran_gaussian(m->rng, m->world->between), tail;

	m->state = m->world->kept * m->state +
		   sqrt(1 - m->world->kept * m->world->kept) * gsl_ran_gaussian(m->rng, m->world->drift);
	tail = gsl_ran_gaussian(m->rng, m->world->between_tail);
	for (size_t i = 0; i < N; i++)
		ns[i] = scale * exp(12 + own + m->state + 0.3 * gsl_ran_gaussian(m->rng, 1) + (i % 10 ? 0 : 1 + tail));
	assert_int_equal(vprof_run_figures_take(&figures, &latencies), VPROF_OK);
	return figures;
}

static int is_changed(const struct vprof_change *changes)
{
	for (int f = 0; f < VPROF_FIGURE_COUNT; f++)
		if (changes[f].low > 0 || changes[f].high < 0)
			return changes[f].low > 0 ? 1 : -1;
	return 0;
}

/* As vprof compare A B does without --repeat: pairs, of which each begins with the other side, looked at n_looks times.
 */
static int compare_in_turn(struct machine *m, size_t n_looks, double change, size_t *n_pairs)
{
	struct vprof_run_figures base[RUNS_MAX], new[RUNS_MAX];
	struct vprof_change changes[VPROF_FIGURE_COUNT];
	int found = 0;

	*n_pairs = 0;
	for (size_t look = 0; look < n_looks && !found; look++) {
		for (; *n_pairs < vprof_compare_looks[look]; ++*n_pairs)
			for (size_t k = 0; k < 2; k++) {
				int is_new = (*n_pairs + k) % 2 != 0;

				(is_new ? new : base)[*n_pairs] = run(m, is_new ? 1 + change : 1);
			}
		assert_int_equal(vprof_compare_runs(base, *n_pairs, new, *n_pairs, 1,
						    vprof_compare_look_error(look, look + 1 == n_looks), changes),
				 VPROF_OK);
		found = is_changed(changes);
	}
	return found;
}

/* Runs that were made at different times, without pairs: the drift is the machine's state then. */
static int compare_apart(struct machine *m, size_t n_base, size_t n_new, double change)
{
	struct vprof_run_figures base[RUNS_MAX], new[RUNS_MAX];
	struct vprof_change changes[VPROF_FIGURE_COUNT];

	for (size_t i = 0; i < n_base; i++)
		base[i] = run(m, 1);
	for (size_t i = 0; i < n_new; i++)
		new[i] = run(m, 1 + change);
	assert_int_equal(vprof_compare_runs(base, n_base, new, n_new, 0, VPROF_COMPARE_ERROR, changes), VPROF_OK);
	return is_changed(changes);
}

static void begin(struct machine *m, const struct world *world)
{
	*m = (struct machine){ .rng = gsl_rng_alloc(gsl_rng_mt19937), .world = world };
	gsl_rng_set(m->rng, 20);
}

/* The stated error is 2 %. A rule that erred that often would be found to err in more than 35 of 800 comparisons with
 * probability 1 in 100,000 (binomial), for another seed. */
static void test_same_build(void **state)
{
	(void)state;
	for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) {
		struct machine m;
		size_t n_pairs, n_called = 0;

		begin(&m, &worlds[w]);
		for (int i = 0; i < 800; i++)
			n_called += compare_in_turn(&m, worlds[w].n_looks, 0, &n_pairs) != 0;
		print_message("%s, the same build: %zu of 800 called changed\n", worlds[w].name, n_called);
		assert_in_range(n_called, 0, 35);
		gsl_rng_free(m.rng);
	}
}

/* What must be found: 18 of 20 planted changes of 10 %; on the busy machine, where pairs differ by 10 %, too, 8 of 10
 * if runs are so long that time ends it after 24 pairs. Where 90 and 80 % are found in truth, fewer than 162 and 138 of
 * 200 are with probability below 1 in 10,000 for another seed. */
static void test_planted_change(void **state)
{
	(void)state;
	for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) {
		struct machine m;
		size_t n_found = 0, n_wrong = 0, n_pairs, n_all = 0;

		begin(&m, &worlds[w]);
		for (int i = 0; i < 200; i++) {
			int found = compare_in_turn(&m, worlds[w].n_looks, 0.1, &n_pairs);

			n_found += found > 0;
			n_wrong += found < 0;
			n_all += n_pairs;
		}
		print_message("%s, 10 %% longer: %zu of 200 found, after %.1f pairs on average\n", worlds[w].name,
			      n_found, (double)n_all / 200);
		assert_int_equal(n_wrong, 0);
		assert_in_range(n_found, worlds[w].n_found_least, 200);
		gsl_rng_free(m.rng);
	}
}

/* Without pairs, and with different numbers of runs, where the machine does not drift: the same error. */
static void test_apart(void **state)
{
	static const size_t n[][2] = { { 2, 2 }, { 3, 3 }, { 3, 12 }, { 8, 8 } };
	const struct world still = { "still", 0.05, 0, 0, 0.3, 0, 0 };

	(void)state;
	for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
		struct machine m;
		size_t n_called = 0;

		begin(&m, &still);
		for (int i = 0; i < 800; i++)
			n_called += compare_apart(&m, n[k][0], n[k][1], 0) != 0;
		print_message("%zu and %zu runs: %zu of 800 called changed\n", n[k][0], n[k][1], n_called);
		assert_in_range(n_called, 0, 35);
		gsl_rng_free(m.rng);
	}
}

/* What single runs say of themselves is no ground for a decision: their bounds miss the truth most of the time. */
static void test_single_runs(void **state)
{
	struct vprof_run_figures one = { .n = 1000 };
	struct vprof_change changes[VPROF_FIGURE_COUNT];

	(void)state;
	for (int f = 0; f < VPROF_FIGURE_COUNT; f++)
		one.of[f] = 5;
	assert_int_equal(vprof_compare_runs(&one, 1, &one, 1, 0, VPROF_COMPARE_ERROR, changes), VPROF_OK);
	for (int f = 0; f < VPROF_FIGURE_COUNT; f++)
		assert_true(changes[f].change == 0 && isnan(changes[f].low) && isnan(changes[f].high));
}

/* By hand: values 1, 2, 3 and 2, 4, 6. Differences 1, 2, 3: mean 2, variance 1, t(2, 97.5 %) = 4.302653. Without pairs:
 * variances of the means 1/3 and 4/3, the same t. */
static void test_by_hand(void **state)
{
	const double base[] = { 1, 2, 3 }, new[] = { 2, 4, 6 }, same[] = { 7, 7 };

	(void)state;
	assert_true(fabs(vprof_runs_half_width(base, 3, new, 3, 1, 0.05) - 4.302653 / sqrt(3)) < 1e-5);
	assert_true(fabs(vprof_runs_half_width(base, 3, new, 3, 0, 0.05) - 4.302653 * sqrt(5. / 3)) < 1e-5);
	assert_true(vprof_runs_half_width(same, 2, same, 2, 0, 0.05) == 0);
	assert_true(isnan(vprof_runs_half_width(base, 1, new, 3, 0, 0.05)));
}

/* Half-width of the bounds of n pairs that differ by +-s in turn. */
static double half_of(size_t n, double s, struct vprof_change *change)
{
	static struct vprof_run_figures base[200], new[200];
	struct vprof_change changes[VPROF_FIGURE_COUNT];

	for (size_t i = 0; i < n; i++) {
		base[i].n = new[i].n = 1000;
		for (int f = 0; f < VPROF_FIGURE_COUNT; f++) {
			base[i].of[f] = 1e5;
			new[i].of[f] = 1e5 * exp(i % 2 ? s : -s);
		}
	}
	assert_int_equal(vprof_compare_runs(base, n, new, n, 1, VPROF_COMPARE_ERROR, changes), VPROF_OK);
	*change = changes[VPROF_FIGURE_P50];
	return (log1p(change->high) - log1p(change->low)) / 2;
}

/* What is said to be enough is, and four fewer are not; nothing is said where a thousand would not do. */
static void test_needed(void **state)
{
	const double within = log1p(0.1);
	struct vprof_change change;
	size_t n;

	(void)state;
	half_of(12, 0.15, &change);
	n = vprof_compare_runs_needed(&change, 12, 12, VPROF_COMPARE_ERROR, 0.1);
	assert_in_range(n, 13, 100);
	assert_true(half_of((n + 3) / 2 * 2, 0.15, &change) <= within);
	assert_true(half_of((n - 4) / 2 * 2, 0.15, &change) > within);
	/* A change of 5 % takes more, one of 50 % less; and so does a side with few runs, which has wide bounds. */
	change = (struct vprof_change){ .change = 0.05, .low = -0.045, .high = 0.155 };
	assert_in_range(vprof_compare_runs_needed(&change, 24, 24, VPROF_COMPARE_ERROR, 0.1), 70, 110);
	change = (struct vprof_change){ .change = 0.3, .low = -0.01, .high = 0.71 };
	assert_in_range(vprof_compare_runs_needed(&change, 24, 24, VPROF_COMPARE_ERROR, 0.1), 25, 28);
	assert_in_range(vprof_compare_runs_needed(&change, 24, 3, VPROF_COMPARE_ERROR, 0.1), 25, 28);
	half_of(4, 2, &change);
	assert_int_equal(vprof_compare_runs_needed(&change, 4, 4, VPROF_COMPARE_ERROR, 0.1), 0);
	change.low = NAN;
	assert_int_equal(vprof_compare_runs_needed(&change, 4, 4, VPROF_COMPARE_ERROR, 0.1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_build), cmocka_unit_test(test_planted_change),
		cmocka_unit_test(test_apart),	   cmocka_unit_test(test_single_runs),
		cmocka_unit_test(test_by_hand),	   cmocka_unit_test(test_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
