/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals that windows made slower than recording explains are told before any ranking. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

#define N 400
#define WINDOW 20 /* intervals */

static int is_inside(uint64_t i)
{
	return i / WINDOW % 2 == 1;
}

/* An interval in each millisecond, which lasts `inside` ns where a window is open, else `outside`. A record takes 1 ns.
 */
static struct vprof_results *analyse(uint64_t inside, uint64_t outside)
{
	struct vprof_plan *plan = hand_plan(1);
	struct hand_thread *th, *windows;
	struct vprof_results *r;
	struct hand_trace h;

	hand_init(&h);
	th = hand_thread(&h, 1);
	windows = hand_thread(&h, 1);
	windows->thread_seq = VP_THREAD_WINDOWS;
	h.no_switches = "nobody knows";
	h.record_ns = 1;
	h.record_inside_ns = 0.5;
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 1000000 * (i + 1), end = t + (is_inside(i) ? inside : outside) + i % 7;

		if (i % WINDOW == 0)
			hand_units(windows, &(struct vp_unit){ t - 1000, VP_W(VP_KIND_WINDOW, is_inside(i)) }, 1);
		hand_mark(th, VP_KIND_BEGIN, i, t);
		if (is_inside(i))
			hand_call(th, F(1), t + 1, end - 1);
		hand_mark(th, VP_KIND_END, i, end);
	}
	h.end = 1000000 * (N + 1);
	hand_write(&h);
	r = hand_analyze(&h, plan);
	vprof_plan_free(plan);
	hand_release(&h);
	return r;
}

static void test_slower(void **state)
{
	struct vprof_results *r = analyse(300000, 100000);

	(void)state;
	assert_int_equal(r->n_outside, N / 2);
	assert_int_equal(r->n_warnings_first, !(r->effect >= VPROF_EFFECT_TOLD));
	assert_non_null(strstr(r->warnings[0], "intervals took 200 % longer on average inside the recording windows"));
	assert_non_null(strstr(r->warnings[0], "of which recording explains "));
	vprof_results_free(r);
}

static void test_alike(void **state)
{
	struct vprof_results *r = analyse(300000, 290000);

	(void)state;
	assert_int_equal(r->n_outside, N / 2);
	assert_int_equal(r->n_warnings_first, 0);
	for (size_t i = 0; i < r->n_warnings; i++)
		assert_null(strstr(r->warnings[i], "inside the recording windows"));
	vprof_results_free(r);
}

static void test_quicker(void **state)
{
	struct vprof_results *r = analyse(100000, 300000);

	(void)state;
	assert_int_equal(r->n_warnings_first, 0);
	assert_non_null(strstr(r->warnings[r->n_warnings - 1], "less time on average inside"));
	vprof_results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slower),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_quicker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
