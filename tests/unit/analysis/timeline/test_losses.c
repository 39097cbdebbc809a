/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records that were lost: what may depend on them is left out or has no waker, never a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

static struct hand_trace h;
static struct hand_steps s;
static struct hand_thread *a, *b;

static int begin(void **state)
{
	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hand_steps_release(&s);
	hand_release(&h);
	return 0;
}

static void lose(struct hand_thread *th, uint64_t n, uint64_t until)
{
	hand_units(th, &(struct vp_unit){ until, VP_W(VP_KIND_DROPPED, n) }, 1);
}

static void steps(void)
{
	hand_write(&h);
	hand_steps(&s, &h);
}

static void test_intervals_meanwhile_are_left_out(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_results *r;

	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		hand_mark(a, VP_KIND_BEGIN, i, 1000 + 100 * i);
		hand_mark(a, VP_KIND_END, i, 1050 + 100 * i + i);
	}
	hand_mark(b, VP_KIND_SUSPEND, 77, 1320); /* its last record before the loss: interval 3 had begun */
	lose(b, 5, 1600);
	steps();
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(s.intervals->instances.v[i].is_lossy, i >= 3 && i <= 6);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_complete, 6);
	assert_int_equal(r->n_lossy, 4);
	vprof_results_free(r);
	vprof_plan_free(plan);
}

/* The numbers of releases leave no choice; signals do, also for the next wait while that one lasted. */
static void test_waits_meanwhile(void **state)
{
	struct hand_thread *c = hand_thread(&h, 1);

	(void)state;
	hand_wait(a, VP_WAIT_MUTEX | 7 << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, 0x10, 1, 100, 200);
	hand_wait(a, VP_WAIT_MUTEX | 9 << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, 0x10, 2, 210, 290);
	hand_wait(a, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 1, 300, 450);
	hand_wait(c, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 2, 430, 600);
	hand_wait(c, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 3, 700, 800);
	hand_wake(b, VP_WAIT_MUTEX, 7 << 8, 0x10, 1, 1, 150);
	lose(b, 2, 400);
	hand_wake(b, VP_WAIT_COND, 0, 0x20, 2, 2, 440);
	hand_wake(b, VP_WAIT_COND, 0, 0x20, 2, 2, 590);
	hand_wake(b, VP_WAIT_COND, 0, 0x20, 3, 3, 790);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 1);
	assert_int_equal(s.timeline->threads[0].waits.v[1].waker, VPROF_NONE);
	assert_int_equal(s.timeline->threads[0].waits.v[2].waker, VPROF_NONE);
	assert_int_equal(s.timeline->threads[2].waits.v[0].waker, VPROF_NONE);
	assert_int_equal(s.timeline->threads[2].waits.v[1].waker, 1);
	assert_int_equal(s.timeline->threads[2].waits.v[1].wake_t, 790);
	assert_int_equal(s.wakes.n_unmatched, 3);
}

/* The wait that was woken in vain is not there: what comes next is another one. */
static void test_false_wake_of_a_lost_wait(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_DISK, VP_CALL_FDATASYNC, 3, 0, 100, 150);
	lose(a, 1, 300);
	hand_units(a, &(struct vp_unit){ 301, VP_W(VP_KIND_FALSE_WAKE, 0) }, 1);
	hand_wait(a, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 1, 310, 400);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.n, 2);
	assert_int_equal(s.timeline->threads[0].waits.v[1].t0, 310);
}

/* Counting what goes through a channel has lost its place: nothing is said any more, and what came through it is left
 * out. */
static void test_channels_afterwards(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 500);
	hand_units(a, (struct vp_unit[]){ { 510, VP_W(VP_KIND_SEND, 1) }, { 0xc4a, 10 } }, 2);
	hand_mark(a, VP_KIND_SUSPEND, 1, 520);
	hand_mark(a, VP_KIND_BEGIN, 2, 600);
	hand_mark(a, VP_KIND_END, 2, 650);
	hand_mark(b, VP_KIND_BEGIN, 99, 50);
	hand_mark(b, VP_KIND_END, 99, 60);
	lose(b, 1, 100);
	hand_wait(b, VP_WAIT_PIPE | (VP_FLAG_SHARED | VP_FLAG_CHANNEL) << 8, VP_CALL_READ, 0xc4a, 0, 400, 530);
	hand_units(b, (struct vp_unit[]){ { 530, VP_W(VP_KIND_RECEIVE, 130) }, { 0xc4a, 10 } }, 2);
	hand_mark(b, VP_KIND_RESUME, 1, 540);
	hand_mark(b, VP_KIND_END, 1, 560);
	steps();
	assert_int_equal(s.timeline->threads[1].waits.v[0].waker, VPROF_NONE);
	assert_int_equal(s.wakes.n_channel_undecided, 1);
	assert_int_equal(s.intervals->instances.v[1].id, 1);
	assert_true(s.intervals->instances.v[1].is_lossy);
	assert_false(s.intervals->instances.v[2].is_lossy);
}

/* Chunks that did not reach the disk tell themselves by their numbers. */
static void test_missing_chunk(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	for (uint64_t i = 0; i < 12000; i++)
		hand_call(a, F(1), 200 + 10 * i, 205 + 10 * i);
	hand_mark(a, VP_KIND_END, 1, 200000);
	h.lost_chunk = 1;
	steps();
	assert_int_equal(s.timeline->losses.n, 1);
	assert_true(s.timeline->losses.v[0].t0 > 200);
	assert_true(s.timeline->losses.v[0].t1 > s.timeline->losses.v[0].t0);
	assert_true(s.timeline->losses.v[0].t1 < 200000);
	assert_true(s.intervals->instances.v[0].is_lossy);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_intervals_meanwhile_are_left_out),
		CASE(test_waits_meanwhile),
		CASE(test_false_wake_of_a_lost_wait),
		CASE(test_channels_afterwards),
		CASE(test_missing_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
