/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What recording changes in a live session: planted changes of the mean, the variance and p99 between turns. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/stats/live_effect.h"

#define N_TURNS 60
#define N_EACH 200
#define N_SESSIONS 400

static uint64_t random_state;

static double draw(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

/* Exponential latencies around 100 us, each turn faster or slower by a factor of its own; those under the plan longer
 * by `slower`. */
static size_t session(struct vprof_turn_latency *v, double slower)
{
	size_t n = 0;

	for (size_t t = 0; t < N_TURNS; t++) {
		int is_baseline = draw() < 0.4 || t < VPROF_LIVE_TURNS_MIN;
		double mood = 0.9 + 0.2 * draw();

		if (t >= N_TURNS - VPROF_LIVE_TURNS_MIN)
			is_baseline = 0;
		for (size_t i = 0; i < N_EACH; i++)
			v[n++] = (struct vprof_turn_latency){
				t, 100e3 * mood * -log(draw()) * (is_baseline ? 1 : 1 + slower), is_baseline
			};
	}
	return n;
}

static int holds(const struct vprof_live_change *c, double truth)
{
	assert_true(isfinite(c->low) && isfinite(c->high) && c->low <= c->high);
	return c->low <= truth && truth <= c->high;
}

/* 95 % bounds hold in 95 % of sessions; that fewer than 88 % of 400 do has a probability below 1e-8. */
static void bounds_hold_what_was_planted(void **state)
{
	static struct vprof_turn_latency v[N_TURNS * N_EACH];
	int n_mean = 0, n_variance = 0, n_p99 = 0;

	(void)state;
	random_state = 42;
	for (int i = 0; i < N_SESSIONS; i++) {
		double slower = i % 3 ? 0.1 * (i % 3) : 0;
		struct vprof_live_effect e = { 0 };

		assert_int_equal(vprof_live_effect_estimate(&e, v, session(v, slower)), 0);
		assert_int_equal(e.n_turns + e.n_baselines, N_TURNS);
		n_mean += holds(&e.mean, slower);
		n_variance += holds(&e.variance, (1 + slower) * (1 + slower) - 1);
		n_p99 += holds(&e.p99, slower);
	}
	assert_true(n_mean >= N_SESSIONS * 88 / 100);
	assert_true(n_variance >= N_SESSIONS * 88 / 100);
	assert_true(n_p99 >= N_SESSIONS * 88 / 100);
}

static void too_little_has_no_bounds(void **state)
{
	struct vprof_turn_latency v[] = { { 0, 100, 0 }, { 0, 120, 0 }, { 1, 100, 1 }, { 1, 140, 1 } };
	struct vprof_live_effect e = { 0 };

	(void)state;
	assert_int_equal(vprof_live_effect_estimate(&e, v, 4), 0);
	assert_true(fabs(e.mean.change - (110.0 / 120 - 1)) < 1e-12);
	assert_true(isnan(e.mean.low) && isnan(e.p99.change));
	assert_int_equal(vprof_live_effect_estimate(&e, v, 2), 0);
	assert_true(isnan(e.mean.change));
	assert_int_equal(vprof_live_effect_estimate(&e, v, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_hold_what_was_planted),
		cmocka_unit_test(too_little_has_no_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
