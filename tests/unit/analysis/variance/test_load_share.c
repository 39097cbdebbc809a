/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals that are a sliver of what the program does are told before anything else; those of a program that is idle
 * in between are not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

#define N 200

enum state { BUSY, IDLE, UNKNOWN };

/* An interval of about `took` ns in each millisecond; the thread computes in between, sleeps, or nobody knows. */
static struct vprof_results *analyse(uint64_t took, enum state state)
{
	struct vprof_plan *plan = hand_plan(1);
	struct hand_thread *th, *cpu = NULL;
	struct vprof_results *r;
	struct hand_trace h;

	hand_init(&h);
	th = hand_thread(&h, 1);
	if (state == UNKNOWN)
		h.no_switches = "nobody knows";
	else
		cpu = hand_processor(&h, 0);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 1000000 * (i + 1);

		if (cpu && (state == IDLE || !i))
			hand_switch(cpu, t - 100, 1, 0);
		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(1), t + 1, t + took + i);
		hand_mark(th, VP_KIND_END, i, t + took + i + 1);
		if (state == IDLE)
			hand_switch(cpu, t + took + i + 100, 1, VP_SWITCH_OUT);
	}
	h.end = 1000000 * (N + 1);
	hand_write(&h);
	r = hand_analyze(&h, plan);
	vprof_plan_free(plan);
	hand_release(&h);
	return r;
}

static void check(uint64_t took, enum state state, int is_sliver)
{
	struct vprof_results *r = analyse(took, state);
	double covered = ((double)took + (N - 1) / 2.0) / 1e6;

	assert_true(fabs(r->covered_share / covered - 1) < 0.02);
	assert_int_equal(isnan(r->busy_share), state == UNKNOWN);
	if (state == BUSY)
		assert_true(r->busy_share > 0.9 && r->busy_share <= 1.01);
	assert_int_equal(r->n_warnings_first, is_sliver);
	assert_int_equal(r->n_warnings && strstr(r->warnings[0], "of the run's time (200 in 0.2 s)") != NULL,
			 is_sliver);
	if (is_sliver)
		assert_int_equal(strstr(r->warnings[0], "while the program computed for 0.2 s") != NULL, state == BUSY);
	vprof_results_free(r);
}

static void test_sliver(void **state)
{
	(void)state;
	check(1000, BUSY, 1);
	check(1000, UNKNOWN, 1);
	check(1000, IDLE, 0);
}

static void test_load(void **state)
{
	(void)state;
	check(20000, BUSY, 0);
	check(20000, UNKNOWN, 0);
	check(20000, IDLE, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sliver),
		cmocka_unit_test(test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
