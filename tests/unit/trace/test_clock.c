/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock: chosen kind works, its rate agrees with CLOCK_MONOTONIC, ticks never go back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "trace/clock.h"

static void rate_agrees_with_monotonic(void **state)
{
	const struct timespec pause = { 0, 150000000 };
	struct vprof_clock c;
	double first, ns;

	(void)state;
	vprof_clock_start(&c, vprof_clock_choose());
	first = c.ns_per_tick;
	assert_true(first > 1e-3 && first < 1e6);
	nanosleep(&pause, NULL);
	vprof_clock_calibrate(&c);
	assert_true(c.now_ns - c.start_ns >= 150000000);
	ns = (double)(c.now_ticks - c.start_ticks) * c.ns_per_tick;
	assert_true(fabs(ns / (double)(c.now_ns - c.start_ns) - 1) < 1e-9); /* the last calibration wins */
	assert_true(fabs(first / c.ns_per_tick - 1) < 1e-3);
}

static void short_runs_keep_the_first_rate(void **state)
{
	struct vprof_clock c;
	double first;

	(void)state;
	vprof_clock_start(&c, vprof_clock_choose());
	first = c.ns_per_tick;
	vprof_clock_calibrate(&c);
	if (c.now_ns - c.start_ns <= 100000000)
		assert_true(first == c.ns_per_tick);
}

static void monotonic_ticks_are_ns(void **state)
{
	struct vprof_clock c;

	(void)state;
	vprof_clock_start(&c, VP_CLOCK_MONOTONIC);
	vprof_clock_calibrate(&c);
	assert_true(c.ns_per_tick == 1.0);
	assert_int_equal(c.start_ticks, c.start_ns);
}

static void ticks_never_go_back(void **state)
{
	enum vp_clock kind = vprof_clock_choose();
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t t = vprof_clock_ticks(kind);

		assert_true(t >= last);
		last = t;
	}
	assert_true(last > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_agrees_with_monotonic),
		cmocka_unit_test(short_runs_keep_the_first_rate),
		cmocka_unit_test(monotonic_ticks_are_ns),
		cmocka_unit_test(ticks_never_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
