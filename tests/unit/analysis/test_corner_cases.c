/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases in which tests/simulate found the analysis wrong, drawn as small as they get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"
#include "analysis/timeline/calls.h"

static struct hand_trace h;
static struct hand_steps s;
static struct hand_thread *a, *b, *c;

static int begin(void **state)
{
	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	c = hand_thread(&h, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hand_steps_release(&s);
	hand_release(&h);
	return 0;
}

static void steps(void)
{
	hand_write(&h);
	hand_steps(&s, &h);
}

/* A clock that ticks slowly: the thread's root frame and its first call began at one tick. */
static void test_call_at_the_tick_of_its_root(void **state)
{
	const struct vprof_call *calls;
	struct vprof_calls *reader;
	size_t n;

	(void)state;
	hand_enter(a, F(1), 100);
	hand_call(a, F(2), 100, 150);
	hand_enter(a, F(1), 160); /* recursion, which does leave */
	hand_call(a, F(1), 160, 170);
	hand_mark(a, VP_KIND_BEGIN, 1, 300);
	steps();
	reader = vprof_calls_new(s.timeline->n_threads, 1 << 20);
	assert_non_null(reader);
	assert_int_equal(vprof_calls_window(reader, 0, &s.timeline->threads[0].calls, 0, 1000, &calls, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(calls[0].code, F(1));
	assert_int_equal(calls[0].t1, 300);
	assert_int_equal(calls[1].parent, 0);
	assert_int_equal(calls[2].parent, 0);
	vprof_calls_free(reader);
}

/* A thread takes up what the trace does not know, or what is over: it does not work for its last interval any more. */
static void test_taking_up_the_unknown(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_mark(a, VP_KIND_RESUME, 77, 150); /* begun before the trace */
	hand_mark(a, VP_KIND_RESUME, 1, 200);
	hand_mark(b, VP_KIND_BEGIN, 2, 110);
	hand_mark(b, VP_KIND_END, 2, 120);
	hand_mark(a, VP_KIND_RESUME, 2, 250); /* ended */
	hand_mark(a, VP_KIND_RESUME, 1, 300);
	hand_mark(a, VP_KIND_END, 1, 400);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 300, 400, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 0, 250, 300, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 200, 250, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 0, 150, 200, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 150, 0));
}

/* A dispatcher that works for no interval takes the item, and enqueues it again. */
static void test_item_enqueued_again(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 150);
	hand_mark(a, VP_KIND_SUSPEND, 1, 160);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 200);
	hand_queue(b, VP_KIND_ENQUEUE, 0xa, 260);
	hand_queue(c, VP_KIND_DEQUEUE, 0xa, 300);
	hand_mark(c, VP_KIND_RESUME, 1, 310);
	hand_mark(c, VP_KIND_END, 1, 400);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 310, 400, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 2, 260, 310, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 150, 260, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 150, 0));
}

/* A thread takes two items, then serves them one by one. */
static void test_items_taken_together(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 120);
	hand_mark(a, VP_KIND_BEGIN, 2, 130);
	hand_queue(a, VP_KIND_ENQUEUE, 0xb, 140);
	hand_mark(a, VP_KIND_SUSPEND, 2, 170);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 200);
	hand_queue(b, VP_KIND_DEQUEUE, 0xb, 210);
	hand_mark(b, VP_KIND_RESUME, 2, 220);
	hand_mark(b, VP_KIND_END, 2, 300);
	hand_mark(b, VP_KIND_RESUME, 1, 310);
	hand_mark(b, VP_KIND_END, 1, 400);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 120, 310, 0)); /* not from the end of the first segment on */
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 120, 0));
	hand_walk(&s, 1);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 140, 220, 0));
}

/* A segment takes in the first item that it dequeues. Others of a batch are for later, also one for the interval that
 * the thread has not left yet: it is served by an END alone. Schedule 13702. */
static void test_item_of_a_batch_begun_within_the_segment(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 120);
	hand_mark(a, VP_KIND_BEGIN, 2, 130);
	hand_queue(a, VP_KIND_ENQUEUE, 0xb, 140);
	hand_mark(a, VP_KIND_RESUME, 1, 150);
	hand_mark(b, VP_KIND_RESUME, 1, 160);
	hand_queue(b, VP_KIND_DEQUEUE, 0xb, 200);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 210);
	hand_mark(b, VP_KIND_RESUME, 2, 220);
	hand_mark(a, VP_KIND_SUSPEND, 1, 250); /* long since on its way */
	hand_mark(b, VP_KIND_END, 2, 300);
	hand_mark(b, VP_KIND_END, 1, 310);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 220, 310, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 160, 220, 0));
}

/* A thread takes two items and serves one of them by many segments: the other one is still its. Schedule 43382. */
static void test_item_served_after_many_segments(void **state)
{
	uint64_t t = 220;

	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 120);
	hand_mark(a, VP_KIND_SUSPEND, 1, 125);
	hand_mark(a, VP_KIND_BEGIN, 2, 130);
	hand_queue(a, VP_KIND_ENQUEUE, 0xb, 140);
	hand_mark(a, VP_KIND_SUSPEND, 2, 150);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 200);
	hand_queue(b, VP_KIND_DEQUEUE, 0xb, 210);
	for (int i = 0; i < 40; i++, t += 20) {
		hand_mark(b, VP_KIND_RESUME, 2, t);
		hand_mark(b, VP_KIND_SUSPEND, 2, t + 10);
	}
	hand_mark(b, VP_KIND_RESUME, 1, t);
	hand_mark(b, VP_KIND_END, 1, t + 100);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, t, t + 100, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 120, t, 0)); /* not from the SUSPEND on */
}

/* What the thread's segment before took in does not explain its next one: in between the interval was elsewhere. */
static void test_item_serves_one_segment(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 120);
	hand_mark(b, VP_KIND_RESUME, 1, 150);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 160);
	hand_mark(b, VP_KIND_SUSPEND, 1, 200);
	hand_mark(a, VP_KIND_SUSPEND, 1, 250);
	hand_mark(b, VP_KIND_RESUME, 1, 300);
	hand_mark(b, VP_KIND_END, 1, 400);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 250, 300, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 250, 0));
}

/* Nor does what it took up with a RESUME while it worked for the interval already. */
static void test_item_taken_up_again(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 120);
	hand_queue(a, VP_KIND_DEQUEUE, 0xa, 140);
	hand_mark(a, VP_KIND_RESUME, 1, 150);
	hand_mark(b, VP_KIND_RESUME, 1, 160);
	hand_mark(a, VP_KIND_SUSPEND, 1, 200);
	hand_mark(b, VP_KIND_SUSPEND, 1, 250);
	hand_mark(a, VP_KIND_RESUME, 1, 300);
	hand_mark(a, VP_KIND_END, 1, 400);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 0, 250, 300, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 160, 250, 0));
}

/* The thread hands on one item of the interval, then takes up another one, which somebody without an interval enqueued.
 */
static void test_item_handed_on_is_not_taken_up(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 120);
	hand_mark(a, VP_KIND_SUSPEND, 1, 150);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 200);
	hand_queue(b, VP_KIND_ENQUEUE, 0xa, 210);
	hand_queue(c, VP_KIND_ENQUEUE, 0xb, 220);
	hand_queue(b, VP_KIND_DEQUEUE, 0xb, 230);
	hand_mark(b, VP_KIND_RESUME, 1, 240);
	hand_mark(b, VP_KIND_END, 1, 300);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 220, 240, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 2, 150, 220, 0));
}

/* An item for the interval, taken within the segment, tells more than one of others that was taken before. */
static void test_own_item_within_the_segment(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 120);
	hand_mark(a, VP_KIND_SUSPEND, 1, 180);
	hand_queue(c, VP_KIND_ENQUEUE, 0xb, 190);
	hand_queue(b, VP_KIND_DEQUEUE, 0xb, 200);
	hand_mark(b, VP_KIND_RESUME, 1, 240);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 250);
	hand_mark(b, VP_KIND_END, 1, 300);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 120, 240, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 120, 0));
}

/* A thread that sends itself a message goes on with its own work, whoever worked for the interval meanwhile. */
static void test_message_to_itself(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_units(a, (struct vp_unit[]){ { 140, VP_W(VP_KIND_SEND, 2) }, { 0xc4a, 8 } }, 2);
	hand_mark(a, VP_KIND_SUSPEND, 1, 150);
	hand_mark(b, VP_KIND_RESUME, 1, 160);
	hand_mark(b, VP_KIND_SUSPEND, 1, 180);
	hand_units(a, (struct vp_unit[]){ { 200, VP_W(VP_KIND_RECEIVE, 1) }, { 0xc4a, 8 } }, 2);
	hand_mark(a, VP_KIND_RESUME, 1, 210);
	hand_mark(a, VP_KIND_END, 1, 300);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 0, 150, 210, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 150, 0));
}

/* The writer waits for the last reader, which stood in the same line until another writer had let it in. */
static void test_readers_and_writers_stand_in_one_line(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_RWLOCK_WRITE, VP_CALL_WRLOCK, 0x10, 2, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	hand_wait(b, VP_WAIT_RWLOCK_READ, VP_CALL_RDLOCK, 0x10, 1, 150, 400);
	hand_wake(b, VP_WAIT_RWLOCK_READ, VP_FLAG_LATE, 0x10, 2, 2, 490);
	hand_wake(c, VP_WAIT_RWLOCK_WRITE, 0, 0x10, 2, 2, 390);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 200, 390, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 400, 490, 1));
	assert_false(hand_has(&s, VPROF_PIECE_WAIT, 1, 200, 400, 1));
}

/* The same for a lock that two processes see at different addresses. */
static void test_line_across_mappings(void **state)
{
	(void)state;
	b->process_seq = 2;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_MUTEX | VP_FLAG_SHARED << 8, VP_CALL_MUTEX_LOCK, 0x7010, 2, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	hand_wait(b, VP_WAIT_MUTEX | VP_FLAG_SHARED << 8, VP_CALL_MUTEX_LOCK, 0x9010, 1, 150, 400);
	hand_wake(b, VP_WAIT_MUTEX, VP_FLAG_SHARED, 0x9010, 2, 2, 490);
	hand_wake(c, VP_WAIT_MUTEX, VP_FLAG_SHARED, 0x7010, 2, 2, 390);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 200, 390, 1));
	assert_false(hand_has(&s, VPROF_PIECE_WAIT, 1, 200, 400, 1));
}

/* A waker's wait in the same line that was over when it began: there is nobody to look through to, so the wait stays,
 * with its time. Schedule 5452. */
static void test_wait_over_when_it_began(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, 2, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	hand_wait(b, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, 1, 250, 400);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, 2, 2, 490);
	hand_wake(c, VP_WAIT_MUTEX, 0, 0x10, 0, 1, 240); /* its release counted the arrival */
	steps();
	assert_int_equal(s.timeline->threads[1].waits.v[0].waker, 2);
	assert_int_equal(s.timeline->threads[1].waits.v[0].wake_t, 250);
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 200, 240, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 240, 250, 1));
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 1, 250, 400, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 400, 490, 1));
}

/* More threads than the barrier's count: one that is slow to return is passed by the next round. */
static void test_barrier_passed_by_the_next_round(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_BARRIER, VP_CALL_BARRIER_WAIT, 0x10, 1, 100, 500);
	hand_wake(b, VP_WAIT_BARRIER, VP_FLAG_ALL, 0x10, 1, 2, 200);
	hand_wait(c, VP_WAIT_BARRIER, VP_CALL_BARRIER_WAIT, 0x10, 3, 250, 420);
	hand_wake(b, VP_WAIT_BARRIER, VP_FLAG_ALL, 0x10, 3, 4, 400);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 200);
	assert_int_equal(s.timeline->threads[2].waits.v[0].wake_t, 400);
}

/* The serial thread of the next round read its clock before it was preempted, and arrived long after. */
static void test_barrier_clock_read_early(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_BARRIER, VP_CALL_BARRIER_WAIT, 0x10, 1, 100, 500);
	hand_wake(b, VP_WAIT_BARRIER, VP_FLAG_ALL, 0x10, 1, 4, 150);
	hand_wake(c, VP_WAIT_BARRIER, VP_FLAG_ALL, 0x10, 1, 2, 480);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 2);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 480);
}

/* More threads than the barrier's count, and a serial thread that was long about its record: it counted arrivals for
 * the rounds after it. Schedule 19912. */
static void test_barrier_recorded_late(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_BARRIER, VP_CALL_BARRIER_WAIT, 0x10, 1, 100, 500);
	hand_wake(b, VP_WAIT_BARRIER, VP_FLAG_ALL, 0x10, 1, 5, 200);
	hand_wake(c, VP_WAIT_BARRIER, VP_FLAG_ALL, 0x10, 3, 4, 300);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 1);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 200);
}

/* The writer's release of the same number was recorded late, after that of the reader that came between. */
static void test_reader_after_a_late_writer(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_RWLOCK_WRITE | (uint64_t)5 << VP_SEQ_SHIFT, VP_CALL_WRLOCK, 0x10, 5, 100, 200);
	hand_wake(b, VP_WAIT_RWLOCK_WRITE, VP_FLAG_LATE | 5u << 8, 0x10, 4, 5, 250);
	hand_wake(c, VP_WAIT_RWLOCK_READ, VP_FLAG_LATE | 5u << 8, 0x10, 5, 5, 180);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 2);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 180);
}

/* A reader's wait whose writer's release is not in the trace was not ended by the next best reader. */
static void test_readers_do_not_end_readers_waits(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_RWLOCK_READ, VP_CALL_RDLOCK, 0x10, 5, 100, 200);
	hand_wake(b, VP_WAIT_RWLOCK_READ, VP_FLAG_LATE, 0x10, 5, 5, 150);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, VPROF_NONE);
	assert_int_equal(s.wakes.n_unmatched, 1);
}

/* The writer's release was under way when the trace was cut. The one before, which let that writer in, did not end the
 * reader's wait. Schedule 30629. */
static void test_release_that_let_another_in(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_RWLOCK_READ | (uint64_t)6 << VP_SEQ_SHIFT, VP_CALL_RDLOCK, 0x10, 2, 100, 500);
	hand_wake(b, VP_WAIT_RWLOCK_WRITE, 5u << 8, 0x10, 2, 2, 300);
	hand_wait(c, VP_WAIT_RWLOCK_WRITE | (uint64_t)5 << VP_SEQ_SHIFT, VP_CALL_WRLOCK, 0x10, 1, 90, 310);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, VPROF_NONE);
	assert_int_equal(s.timeline->threads[2].waits.v[0].waker, 1);
	assert_int_equal(s.wakes.n_by_time, 0);
	assert_int_equal(s.wakes.n_unmatched, 1);
}

/* Two objects that share a slot: the number found is the other one's, so time tells, as long as the release let nobody
 * else in. */
static void test_number_of_another_object(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_MUTEX | (uint64_t)6 << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, 0x10, 2, 100, 310);
	hand_wake(b, VP_WAIT_MUTEX, 5u << 8, 0x10, 2, 2, 300);
	hand_wait(c, VP_WAIT_MUTEX | (uint64_t)4 << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, 0x10, 1, 90, 210);
	hand_wake(b, VP_WAIT_MUTEX, 4u << 8, 0x10, 2, 2, 200);
	hand_wake(c, VP_WAIT_MUTEX, 6u << 8, 0x20, 0, 1, 305);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 1);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 300);
	assert_int_equal(s.wakes.n_by_time, 1);
}

/* The signal that woke a thread in vain is used up: nobody else went by it. */
static void test_false_wake_uses_its_signal(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x10, 1, 100, 210);
	hand_units(a, &(struct vp_unit){ 211, VP_W(VP_KIND_FALSE_WAKE, 0) }, 1);
	hand_wait(a, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x10, 3, 212, 500);
	hand_wait(b, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x10, 2, 150, 310);
	hand_wake(c, VP_WAIT_COND, 0, 0x10, 2, 2, 200);
	hand_wake(c, VP_WAIT_COND, 0, 0x10, 3, 3, 300);
	hand_wake(c, VP_WAIT_COND, 0, 0x10, 3, 3, 490);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.n, 1);
	assert_int_equal(s.timeline->threads[0].waits.v[0].t0, 100);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 490);
	assert_int_equal(s.timeline->threads[1].waits.v[0].wake_t, 300);
	assert_int_equal(s.wakes.n_waits, 2);
	assert_int_equal(s.wakes.n_matched, 2);
}

/* The holder waited for a condition over a false wake-up, and released the lock in between: its turns in a row are one
 * part, and its wait is one piece. Schedule 58351, in which the simulator had two. */
static void test_release_within_a_joined_wait(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_MUTEX | (uint64_t)4 << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, 0x10, 2, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	hand_wait(b, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 1, 150, 250);
	hand_units(b, &(struct vp_unit){ 251, VP_W(VP_KIND_FALSE_WAKE, 0) }, 1);
	hand_wake(b, VP_WAIT_MUTEX, VP_FLAG_LATE | 2u << 8, 0x10, 1, 1, 252);
	hand_wait(b, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 2, 253, 350);
	hand_wake(b, VP_WAIT_MUTEX, 3u << 8, 0x10, 2, 2, 400);
	hand_wake(c, VP_WAIT_MUTEX, 4u << 8, 0x10, 2, 2, 490);
	steps();
	hand_walk(&s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 1, 200, 350, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 350, 400, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 400, 490, 1));
}

/* A makes B and joins it, but is preempted before it can record the end: C makes another thread under the same
 * number, which leaves, too. Found by std::thread in tests/runtime on a machine with much else to do. */
static void test_number_used_again_before_the_join_is_recorded(void **state)
{
	struct hand_thread *d = hand_thread(&h, 1);

	(void)state;
	hand_units(a, (struct vp_unit[]){ { 100, VP_W(VP_KIND_CREATE, 0) }, { 71, 0 } }, 2);
	hand_wait(a, VP_WAIT_JOIN, VP_CALL_JOIN, 0x7000, 0, 200, 500);
	hand_units(b, (struct vp_unit[]){ { 210, VP_W(VP_KIND_START, 0) }, { 71, 0 } }, 2);
	hand_wake(b, VP_WAIT_JOIN, VP_FLAG_ALL, 0x7000, 1, 1, 300);
	hand_units(c, (struct vp_unit[]){ { 310, VP_W(VP_KIND_CREATE, 0) }, { 72, 0 } }, 2);
	hand_wait(c, VP_WAIT_JOIN, VP_CALL_JOIN, 0x7000, 1, 320, 450);
	hand_units(d, (struct vp_unit[]){ { 330, VP_W(VP_KIND_START, 0) }, { 72, 0 } }, 2);
	hand_wake(d, VP_WAIT_JOIN, VP_FLAG_ALL, 0x7000, 1, 1, 400);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 1);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 300);
	assert_int_equal(s.timeline->threads[2].waits.v[0].waker, 3);
	assert_int_equal(s.timeline->threads[2].waits.v[0].wake_t, 400);
}

/* The thread had left before it was joined, and the same happens. */
static void test_number_used_again_after_an_exit_before_the_join(void **state)
{
	struct hand_thread *d = hand_thread(&h, 1);

	(void)state;
	hand_units(b, (struct vp_unit[]){ { 110, VP_W(VP_KIND_START, 0) }, { 71, 0 } }, 2);
	hand_wake(b, VP_WAIT_JOIN, VP_FLAG_ALL, 0x7000, 1, 1, 150);
	hand_wait(a, VP_WAIT_JOIN, VP_CALL_JOIN, 0x7000, 1, 200, 500);
	hand_units(c, (struct vp_unit[]){ { 310, VP_W(VP_KIND_CREATE, 0) }, { 72, 0 } }, 2);
	hand_units(d, (struct vp_unit[]){ { 330, VP_W(VP_KIND_START, 0) }, { 72, 0 } }, 2);
	hand_wake(d, VP_WAIT_JOIN, VP_FLAG_ALL, 0x7000, 1, 1, 400);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 1);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 200);
}

/* Records were lost during the first wait, so who ended it is not sure; but the wake that most likely did has not ended
 * the next one, which arrived while the wake ran. */
static void test_unsure_wait_uses_its_wake(void **state)
{
	const struct vp_unit dropped = { 150, VP_W(VP_KIND_DROPPED, 3) };

	(void)state;
	hand_wait(a, VP_WAIT_FUTEX, VP_CALL_FUTEX, 0x10, 1, 100, 190);
	hand_queue(c, VP_KIND_ENQUEUE, 0xa, 140);
	hand_units(c, &dropped, 1);
	hand_wait(c, VP_WAIT_FUTEX, VP_CALL_FUTEX, 0x10, 2, 191, 300);
	hand_wake(b, VP_WAIT_FUTEX, 1u << 8, 0x10, 1, 2, 188);
	hand_wake(b, VP_WAIT_FUTEX, 1u << 8, 0x10, 2, 2, 290);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, VPROF_NONE);
	assert_int_equal(s.timeline->threads[2].waits.v[0].waker, 1);
	assert_int_equal(s.timeline->threads[2].waits.v[0].wake_t, 290);
}

/* The trace begins after the first wait's end, but its wake was recorded later, when the second wait had begun. That
 * wake seems to be left for the second wait. But whom would the later wake have woken then? Nobody else had arrived. */
static void test_wake_of_a_wait_before_the_trace(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_FUTEX, VP_CALL_FUTEX, 0x10, 5, 200, 300);
	hand_wake(b, VP_WAIT_FUTEX, 1u << 8, 0x10, 4, 5, 100);
	hand_wake(c, VP_WAIT_FUTEX, 1u << 8, 0x10, 5, 5, 290);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 2);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 290);
}

/* As before, but somebody else arrived after the second wait: the later wake may have been for that one, which is not
 * over when the trace ends. So nothing speaks against the earlier wake. */
static void test_wake_that_was_under_way(void **state)
{
	(void)state;
	hand_wait(a, VP_WAIT_FUTEX, VP_CALL_FUTEX, 0x10, 5, 200, 300);
	hand_wake(b, VP_WAIT_FUTEX, 1u << 8, 0x10, 4, 5, 100);
	hand_wake(c, VP_WAIT_FUTEX, 1u << 8, 0x10, 6, 6, 290);
	steps();
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 1);
	assert_int_equal(s.timeline->threads[0].waits.v[0].wake_t, 200);
}

/* A root calls itself; the inner call was skipped up to its first wait, so it wrote no ENTER. What is recorded of it is
 * not the end of the outer one, which never ends. */
static void test_sampled_call_of_an_open_root(void **state)
{
	const struct vp_unit sample[] = { { 200, VP_W(VP_KIND_SAMPLE, 0) }, { 50, F(1) } };
	const struct vprof_call *calls;
	struct vprof_calls *reader;
	size_t n;

	(void)state;
	hand_enter(a, F(1), 100);
	hand_units(a, sample, 2);
	hand_call(a, F(2), 260, 270);
	hand_mark(a, VP_KIND_BEGIN, 1, 300);
	steps();
	reader = vprof_calls_new(s.timeline->n_threads, 1 << 20);
	assert_non_null(reader);
	assert_int_equal(vprof_calls_window(reader, 0, &s.timeline->threads[0].calls, 0, 1000, &calls, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(calls[0].code, F(1));
	assert_int_equal(calls[0].t0, 100);
	assert_int_equal(calls[0].t1, 300);
	assert_int_equal(calls[1].code, F(1));
	assert_int_equal(calls[1].t0, 200);
	assert_int_equal(calls[1].parent, 0);
	assert_int_equal(calls[2].code, F(2));
	assert_int_equal(calls[2].parent, 0);
	vprof_calls_free(reader);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_call_at_the_tick_of_its_root),
		CASE(test_taking_up_the_unknown),
		CASE(test_item_enqueued_again),
		CASE(test_items_taken_together),
		CASE(test_item_of_a_batch_begun_within_the_segment),
		CASE(test_item_served_after_many_segments),
		CASE(test_item_serves_one_segment),
		CASE(test_item_taken_up_again),
		CASE(test_item_handed_on_is_not_taken_up),
		CASE(test_own_item_within_the_segment),
		CASE(test_message_to_itself),
		CASE(test_readers_and_writers_stand_in_one_line),
		CASE(test_line_across_mappings),
		CASE(test_wait_over_when_it_began),
		CASE(test_barrier_passed_by_the_next_round),
		CASE(test_barrier_clock_read_early),
		CASE(test_barrier_recorded_late),
		CASE(test_reader_after_a_late_writer),
		CASE(test_readers_do_not_end_readers_waits),
		CASE(test_release_that_let_another_in),
		CASE(test_number_of_another_object),
		CASE(test_false_wake_uses_its_signal),
		CASE(test_release_within_a_joined_wait),
		CASE(test_number_used_again_before_the_join_is_recorded),
		CASE(test_number_used_again_after_an_exit_before_the_join),
		CASE(test_unsure_wait_uses_its_wake),
		CASE(test_wake_of_a_wait_before_the_trace),
		CASE(test_wake_that_was_under_way),
		CASE(test_sampled_call_of_an_open_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
