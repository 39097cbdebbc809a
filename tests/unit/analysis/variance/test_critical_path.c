/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Algorithm 2 on traces that a person can draw. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

static void walk(struct hand_trace *h, struct hand_steps *s, uint32_t instance)
{
	hand_write(h);
	hand_steps(s, h);
	hand_walk(s, instance);
}

static void finish(struct hand_trace *h, struct hand_steps *s)
{
	hand_steps_release(s);
	hand_release(h);
}

static uint64_t total(const struct hand_steps *s, int depth)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n_pieces; i++)
		sum += s->pieces[i].depth == depth ? s->pieces[i].to - s->pieces[i].from : 0;
	return sum;
}

static void test_mutex(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, 1, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, 1, 1, 490);
	walk(&h, &s, 0);
	assert_int_equal(s.n_pieces, 4);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 200, 0));
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 0, 200, 500, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 500, 600, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 200, 490, 1));
	finish(&h, &s);
}

static void test_chain_of_waits(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b, *c;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	c = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, 1, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	hand_wait(b, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x20, 1, 150, 400);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, 1, 1, 490);
	hand_wake(c, VP_WAIT_MUTEX, 0, 0x20, 1, 1, 390);
	walk(&h, &s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 1, 200, 400, 1)); /* clipped to the outer wait */
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 400, 490, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 200, 390, 2));
	assert_int_equal(total(&s, 0), 500);
	assert_int_equal(total(&s, 1), 290);
	finish(&h, &s);
}

/* Two threads that wait for each other by turns must not be followed round in a circle. */
static void test_circle(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wake(a, VP_WAIT_COND, 0, 0x20, 1, 1, 350);
	hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, 1, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	hand_wait(b, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 1, 150, 400);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, 1, 1, 490);
	walk(&h, &s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 1, 200, 400, 1));
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 0, 200, 350, 2));
	assert_int_equal(total(&s, 3), 0);
	finish(&h, &s);
}

static void test_queue(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 150);
	hand_mark(a, VP_KIND_SUSPEND, 1, 180);
	hand_mark(b, VP_KIND_BEGIN, 99, 50); /* busy with something else */
	hand_mark(b, VP_KIND_END, 99, 380);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 390);
	hand_mark(b, VP_KIND_RESUME, 1, 400);
	hand_mark(b, VP_KIND_END, 1, 700);
	walk(&h, &s, 1); /* the other interval begins first */
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 400, 700, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 150, 400, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 150, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 150, 400, 1));
	assert_int_equal(total(&s, 0), 600);
	finish(&h, &s);
}

/* No annotated queue: the worker waited and was woken by the thread that worked for the interval. */
static void test_handover(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wake(a, VP_WAIT_COND, 0, 0x10, 1, 1, 200);
	hand_wait(a, VP_WAIT_POLL, VP_CALL_EPOLL_WAIT, 3, 0, 220, 900); /* the label stays */
	hand_wait(b, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x10, 1, 20, 210);
	hand_mark(b, VP_KIND_RESUME, 1, 250);
	hand_mark(b, VP_KIND_END, 1, 600);
	walk(&h, &s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 250, 600, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 200, 250, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 200, 0));
	finish(&h, &s);
}

/* The same without a wait before: what the first thread did until it blocked is the interval's. */
static void test_label_stays(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_POLL, VP_CALL_EPOLL_WAIT, 3, 0, 220, 900);
	hand_mark(b, VP_KIND_RESUME, 1, 250);
	hand_mark(b, VP_KIND_END, 1, 600);
	walk(&h, &s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 220, 250, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 220, 0));
	finish(&h, &s);
}

static void test_event_loop(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_mark(a, VP_KIND_SUSPEND, 1, 120);
	hand_wait(a, VP_WAIT_POLL, VP_CALL_EPOLL_WAIT, 3, 0, 130, 200);
	hand_mark(a, VP_KIND_BEGIN, 2, 210);
	hand_mark(a, VP_KIND_RESUME, 1, 300); /* replaces the label */
	hand_mark(a, VP_KIND_SUSPEND, 1, 340);
	hand_mark(a, VP_KIND_END, 2, 390); /* on a thread without its label */
	hand_mark(a, VP_KIND_RESUME, 1, 400);
	hand_mark(a, VP_KIND_END, 1, 450);
	walk(&h, &s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 400, 450, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 0, 340, 400, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 300, 340, 0));
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 0, 120, 300, 0));
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 0, 130, 200, 1)); /* beneath: what the thread did meanwhile */
	assert_int_equal(total(&s, 0), 350);
	hand_walk(&s, 1);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 0, 300, 390, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 210, 300, 0));
	finish(&h, &s);
}

/* Figure 2 of the paper: the segment that began the interval is not on the path that determined its end. */
static void test_start_segment_off_the_path(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b, *c;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	c = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_mark(a, VP_KIND_SUSPEND, 1, 140);
	/* The end's thread waits for b from before the begin on; b was at work for something else all the time. */
	hand_mark(c, VP_KIND_RESUME, 1, 120);
	hand_wait(c, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, 1, 130, 500);
	hand_mark(c, VP_KIND_END, 1, 600);
	hand_call(b, F(1), 50, 495);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, 1, 1, 490);
	walk(&h, &s, 0);
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 130, 490, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 120, 130, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 120, 0)); /* clipped where c took over */
	assert_false(hand_has(&s, VPROF_PIECE_RUN, 0, 100, 140, 0));
	assert_int_equal(total(&s, 0), 500);
	finish(&h, &s);
}

/* Nothing is known of the time before the last segment. */
static void test_no_predecessor(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_mark(a, VP_KIND_SUSPEND, 1, 100);
	hand_mark(b, VP_KIND_END, 1, 300);
	walk(&h, &s, 0);
	assert_int_equal(total(&s, 0), 200);
	assert_true(hand_has(&s, VPROF_PIECE_QUEUED, 1, 100, 300, 0));
	finish(&h, &s);
}

/* A long chain of hand-overs between two threads at the very same ticks. */
static void test_adjacent_segments(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *th[2];

	(void)state;
	hand_init(&h);
	th[0] = hand_thread(&h, 1);
	th[1] = hand_thread(&h, 1);
	hand_mark(th[0], VP_KIND_BEGIN, 1, 100);
	for (int i = 0; i < 1000; i++) {
		hand_mark(th[i % 2], VP_KIND_SUSPEND, 1, 200 + 10 * (uint64_t)i);
		hand_mark(th[(i + 1) % 2], VP_KIND_RESUME, 1, 200 + 10 * (uint64_t)i);
	}
	hand_mark(th[0], VP_KIND_END, 1, 10200);
	walk(&h, &s, 0);
	assert_int_equal(total(&s, 0), 10100);
	assert_int_equal(s.n_pieces, 1001);
	finish(&h, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex),	       cmocka_unit_test(test_chain_of_waits),
		cmocka_unit_test(test_circle),	       cmocka_unit_test(test_queue),
		cmocka_unit_test(test_handover),       cmocka_unit_test(test_label_stays),
		cmocka_unit_test(test_event_loop),     cmocka_unit_test(test_start_segment_off_the_path),
		cmocka_unit_test(test_no_predecessor), cmocka_unit_test(test_adjacent_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
