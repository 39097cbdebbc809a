/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock: chosen kind works, its rate agrees with CLOCK_MONOTONIC, ticks never go back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "trace/clock.h"

/* Between the clock and the system (ld --wrap): the readings of CLOCK_MONOTONIC, as the clock got them. */
#define N_READINGS 256
static uint64_t readings[N_READINGS];
static int n_readings;
int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int ret = __real_clock_gettime(clock, t);

	if (clock == CLOCK_MONOTONIC && n_readings < N_READINGS)
		readings[n_readings++] = (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
	return ret;
}

/* A pair of ticks and ns lies between two readings that follow each other; the clock takes the closest two within each
 * calibration. So this is how far off the pair may be that was taken at the time `ns`. */
static double pair_error(uint64_t ns)
{
	uint64_t error = UINT64_MAX;

	for (int i = 1; i < n_readings; i++)
		if (readings[i - 1] <= ns && ns <= readings[i] && readings[i] - readings[i - 1] < error)
			error = readings[i] - readings[i - 1];
	assert_true(error != UINT64_MAX);
	return (double)error;
}

static void rate_agrees_with_monotonic(void **state)
{
	const struct timespec pause = { 0, 150000000 };
	double first, ns, start_error, error;
	uint64_t first_ns;
	struct vprof_clock c;

	(void)state;
	n_readings = 0;
	vprof_clock_start(&c, vprof_clock_choose());
	first = c.ns_per_tick;
	first_ns = c.now_ns;
	assert_true(first > 1e-3 && first < 1e6);
	nanosleep(&pause, NULL);
	vprof_clock_calibrate(&c);
	assert_true(c.now_ns - c.start_ns >= 150000000);
	ns = (double)(c.now_ticks - c.start_ticks) * c.ns_per_tick;
	assert_true(fabs(ns / (double)(c.now_ns - c.start_ns) - 1) < 1e-9); /* the last calibration wins */
	if (c.kind == VP_CLOCK_MONOTONIC)
		return;
	/* Both rates are as good as their pairs, however much they were disturbed; besides, the kernel may slew
	 * CLOCK_MONOTONIC by 500 ppm either way, and change that in between. */
	start_error = pair_error(c.start_ns);
	error = (start_error + pair_error(first_ns)) / (double)(first_ns - c.start_ns) +
		(start_error + pair_error(c.now_ns)) / (double)(c.now_ns - c.start_ns) + 1e-3;
	assert_true(fabs(first / c.ns_per_tick - 1) < error);
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

static void environment_chooses(void **state)
{
	enum vp_clock usual = vprof_clock_choose();

	(void)state;
	assert_int_equal(setenv("VPROF_CLOCK", "monotonic", 1), 0);
	assert_int_equal(vprof_clock_choose(), VP_CLOCK_MONOTONIC);
	assert_int_equal(setenv("VPROF_CLOCK", "", 1), 0);
	assert_int_equal(vprof_clock_choose(), usual);
	assert_int_equal(unsetenv("VPROF_CLOCK"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_agrees_with_monotonic),
		cmocka_unit_test(environment_chooses),
		cmocka_unit_test(short_runs_keep_the_first_rate),
		cmocka_unit_test(monotonic_ticks_are_ns),
		cmocka_unit_test(ticks_never_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
