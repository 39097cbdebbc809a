/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals inside and outside the windows in which calls were recorded. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/timeline/window_list.h"
#include "tests/unit/analysis/hand_trace.h"

#define N 100

static void window(struct hand_thread *th, uint64_t t, int is_open)
{
	hand_units(th, &(struct vp_unit){ t, VP_W(VP_KIND_WINDOW, (uint64_t)is_open) }, 1);
}

/* Interval i begins at 1000 (i + 1) and takes 200 + i, 10 less when its calls are not recorded. */
static void write_trace(struct hand_trace *h, const uint64_t (*open)[2], size_t n)
{
	struct hand_thread *th, *windows;

	hand_init(h);
	th = hand_thread(h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 1000 * (i + 1), is_in = !n;

		for (size_t k = 0; k < n; k++)
			is_in |= t >= open[k][0] && t < open[k][1];
		hand_mark(th, VP_KIND_BEGIN, i, t);
		if (is_in)
			hand_call(th, F(1), t + 10, t + 100 + i);
		hand_mark(th, VP_KIND_END, i, t + (is_in ? 200 : 190) + i);
	}
	windows = hand_thread(h, 1);
	windows->thread_seq = VP_THREAD_WINDOWS;
	for (size_t k = 0; k < n; k++) {
		window(windows, open[k][0], 1);
		if (open[k][1] != UINT64_MAX)
			window(windows, open[k][1], 0);
	}
	hand_write(h);
}

static void test_chosen_by_their_begin(void **state)
{
	/* the one at 29000 ends outside */
	static const uint64_t open[][2] = { { 10000, 29100 }, { 80000, UINT64_MAX } };
	struct vprof_plan *plan = hand_plan(1);
	struct vprof_results *r;
	struct hand_trace h;
	double outside = 0;

	(void)state;
	write_trace(&h, open, 2);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_complete, 41);
	assert_int_equal(r->n_outside, N - 41);
	for (uint64_t i = 0; i < N; i++)
		if (!(i >= 9 && i < 29) && i < 79)
			outside += 190 + (double)i;
	assert_true(fabs(r->outside_mean_ns - outside / (N - 41)) < 1e-6);
	assert_int_equal(hand_node(r, "f1", 0)->n_calls, 41);
	assert_int_equal(hand_node(r, "f1", 0)->n_intervals, 41);
	vprof_results_free(r);
	hand_release(&h);
	write_trace(&h, NULL, 0);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_complete, N);
	assert_int_equal(r->n_outside, 0);
	assert_true(isnan(r->outside_mean_ns));
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

static void test_hardly_any(void **state)
{
	static const uint64_t open[][2] = { { 10000, 11000 } };
	struct vprof_plan *plan = hand_plan(1);
	struct vprof_results *r;
	struct hand_trace h;
	int n = 0;

	(void)state;
	write_trace(&h, open, 1);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_complete, 1);
	assert_true(r->inconclusive);
	for (size_t i = 0; i < r->n_warnings; i++)
		n += strstr(r->warnings[i], "--budget") != NULL;
	assert_int_equal(n, 1);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Windows whose records are damaged are never longer than they were. */
static void test_damaged(void **state)
{
	struct vprof_window_list list;
	struct hand_thread *th;
	struct hand_steps s;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	hand_call(hand_thread(&h, 1), F(1), 10, 20);
	th = hand_thread(&h, 1);
	th->thread_seq = VP_THREAD_WINDOWS;
	window(th, 50, 0);
	window(th, 100, 1);
	window(th, 200, 1); /* its close is lost */
	window(th, 300, 0);
	window(th, 400, 0);
	window(th, 250, 1); /* earlier than what came before it */
	window(th, 350, 0);
	window(th, 500, 1);
	window(th, 500, 0);
	hand_call(th, F(1), 600, 700);
	window(th, 800, 1);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(vprof_window_list_read(&list, s.trace), 0);
	assert_int_equal(s.trace->n_threads, 1);
	assert_int_equal(list.windows.n, 2);
	assert_int_equal(list.windows.v[0].t0, 200);
	assert_int_equal(list.windows.v[0].t1, 300);
	assert_false(vprof_window_list_contains(&list, 199));
	assert_true(vprof_window_list_contains(&list, 200));
	assert_true(vprof_window_list_contains(&list, 299));
	assert_false(vprof_window_list_contains(&list, 300));
	assert_false(vprof_window_list_contains(&list, 799));
	assert_true(vprof_window_list_contains(&list, 800));
	assert_true(vprof_window_list_contains(&list, UINT64_MAX - 1));
	vprof_window_list_release(&list);
	hand_steps_release(&s);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chosen_by_their_begin),
		cmocka_unit_test(test_hardly_any),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
