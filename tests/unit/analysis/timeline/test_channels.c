/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which send a receive took its data from, and what cannot be told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

#define PIPE 0x4002

static void moved(struct hand_thread *th, enum vp_kind kind, uint64_t t, uint64_t took, uint64_t amount)
{
	hand_units(th, (struct vp_unit[]){ { t, VP_W(kind, took) }, { PIPE, amount } }, 2);
}

static void waited(struct hand_thread *th, enum vp_wait kind, uint64_t t0, uint64_t t1)
{
	hand_units(th,
		   (struct vp_unit[]){ { t0, VP_W(VP_KIND_WAIT, kind | (VP_FLAG_SHARED | VP_FLAG_CHANNEL) << 8) },
				       { PIPE, 0 },
				       { t1, VP_CALL_READ } },
		   3);
}

static struct hand_trace h;
static struct hand_steps s;
static struct hand_thread *reader, *one, *two;

static void begin(void)
{
	hand_init(&h);
	reader = hand_thread(&h, 1);
	one = hand_thread(&h, 1);
	two = hand_thread(&h, 2);
}

static const struct vprof_wait *first_wait(void)
{
	hand_write(&h);
	hand_steps(&s, &h);
	assert_true(s.timeline->threads[0].waits.n > 0);
	return &s.timeline->threads[0].waits.v[0];
}

static void end(void)
{
	hand_steps_release(&s);
	hand_release(&h);
}

/* Bytes 1 to 4 come from one thread, 5 to 8 from another; the second read begins before byte 5 was written. */
static void test_bytes_are_counted(void **state)
{
	const struct vprof_wait *w;

	(void)state;
	begin();
	moved(one, VP_KIND_SEND, 100, 5, 4);
	moved(two, VP_KIND_SEND, 500, 5, 4);
	moved(reader, VP_KIND_RECEIVE, 200, 5, 4);
	waited(reader, VP_WAIT_PIPE, 300, 510);
	moved(reader, VP_KIND_RECEIVE, 510, 210, 2);
	moved(reader, VP_KIND_RECEIVE, 600, 1, 2);
	w = first_wait();
	assert_int_equal(w->waker, 2);
	assert_int_equal(w->wake_t, 500);
	assert_int_equal(s.wakes.n_channel, 1);
	assert_int_equal(s.timeline->threads[0].queue_events.n, 3);
	assert_int_equal(s.timeline->threads[2].queue_events.n, 1);
	assert_int_equal(s.timeline->threads[0].queue_events.v[2].item, s.timeline->threads[2].queue_events.v[0].item);
	end();
}

/* A port is used again; of the connection before, bytes are left unread. */
static void begin_with_used_port(void)
{
	begin();
	moved(one, VP_KIND_SEND, 50, 0, 0);
	moved(one, VP_KIND_SEND, 100, 5, 8);
	moved(two, VP_KIND_SEND, 150, 0, 0);
	moved(two, VP_KIND_SEND, 400, 5, 1);
}

static void test_new_connection_leaves_the_unread(void **state)
{
	(void)state;
	begin_with_used_port();
	moved(reader, VP_KIND_RECEIVE, 120, 5, 3);
	waited(reader, VP_WAIT_SOCKET, 300, 410);
	moved(reader, VP_KIND_RECEIVE, 410, 110, 1);
	assert_int_equal(first_wait()->waker, 2);
	end();
}

static void test_slow_call_is_no_wait(void **state)
{
	const struct vprof_wait *w;

	(void)state;
	begin();
	moved(one, VP_KIND_SEND, 100, 5, 1);
	moved(two, VP_KIND_SEND, 400, 5, 1); /* within the call, but its byte comes later */
	waited(reader, VP_WAIT_PIPE, 300, 500);
	moved(reader, VP_KIND_RECEIVE, 500, 200, 1);
	w = first_wait();
	assert_int_equal(w->waker, VPROF_NONE);
	assert_true(w->flags & VPROF_WAIT_READY);
	end();
}

static void test_overlapping_sends_are_undecided(void **state)
{
	(void)state;
	begin();
	moved(one, VP_KIND_SEND, 400, 50, 1);
	moved(two, VP_KIND_SEND, 420, 50, 1);
	waited(reader, VP_WAIT_PIPE, 300, 500);
	moved(reader, VP_KIND_RECEIVE, 500, 200, 1);
	assert_true(first_wait()->flags & VPROF_WAIT_UNDECIDED);
	assert_int_equal(s.wakes.n_channel_undecided, 1);
	assert_int_equal(s.timeline->threads[0].queue_events.n, 0);
	end();
}

/* The same, but the first one's byte was read before the second began: it had been over. */
static void test_receive_ends_a_send(void **state)
{
	(void)state;
	begin();
	moved(one, VP_KIND_SEND, 400, 300, 1); /* was preempted as it woke the reader */
	moved(two, VP_KIND_SEND, 520, 50, 1);
	waited(reader, VP_WAIT_PIPE, 300, 500);
	moved(reader, VP_KIND_RECEIVE, 500, 200, 1);
	assert_int_equal(first_wait()->waker, 1);
	end();
}

/* One thread was preempted in the middle of its call, before or after its byte went in; the other wrote and wrote.
 */
static void test_long_send(void **state)
{
	(void)state;
	begin();
	moved(one, VP_KIND_SEND, 100, 9000, 1);
	for (uint64_t i = 0; i < 40; i++)
		moved(two, VP_KIND_SEND, 200 + 100 * i, 5, 1);
	waited(reader, VP_WAIT_PIPE, 50, 206);
	moved(reader, VP_KIND_RECEIVE, 206, 156, 1);
	for (uint64_t i = 1; i < 40; i++) {
		waited(reader, VP_WAIT_PIPE, 110 + 100 * i, 206 + 100 * i);
		moved(reader, VP_KIND_RECEIVE, 206 + 100 * i, 96, 1);
	}
	moved(reader, VP_KIND_RECEIVE, 9200, 96, 1);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.wakes.n_channel_undecided, 40);
	assert_int_equal(s.timeline->threads[0].queue_events.n, 0);
	end();
}

/* Two readers: one took its byte early and came back late, after the other had read many. */
static void test_long_receive(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 0; i < 41; i++)
		moved(one, VP_KIND_SEND, 100 + 100 * i, 5, 1);
	for (uint64_t i = 0; i < 40; i++)
		moved(reader, VP_KIND_RECEIVE, 206 + 100 * i, 96, 1);
	moved(two, VP_KIND_RECEIVE, 9000, 8990, 1);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.timeline->threads[0].queue_events.n, 0);
	assert_int_equal(s.timeline->threads[2].queue_events.n, 0);
	end();
}

static void test_unseen_writer(void **state)
{
	(void)state;
	begin();
	moved(one, VP_KIND_SEND, 900, 5, 1);
	waited(reader, VP_WAIT_PIPE, 300, 500);
	moved(reader, VP_KIND_RECEIVE, 500, 200, 1);
	moved(reader, VP_KIND_RECEIVE, 950, 200, UINT64_MAX);
	assert_true(first_wait()->flags & VPROF_WAIT_UNDECIDED);
	end();
}

static void test_poll(void **state)
{
	(void)state;
	begin();
	moved(one, VP_KIND_SEND, 100, 5, 3);
	moved(two, VP_KIND_SEND, 400, 5, 1);
	moved(reader, VP_KIND_RECEIVE, 200, 5, 3);
	waited(reader, VP_WAIT_POLL, 300, 410);
	moved(reader, VP_KIND_RECEIVE, 420, 2, 1);
	assert_int_equal(first_wait()->waker, 2);
	end();
}

/* What is polled for is no longer what the connection before left unread. */
static void test_poll_of_new_connection(void **state)
{
	(void)state;
	begin_with_used_port();
	waited(reader, VP_WAIT_POLL, 300, 410);
	moved(reader, VP_KIND_RECEIVE, 420, 2, 1);
	assert_int_equal(first_wait()->waker, 2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_are_counted),
		cmocka_unit_test(test_new_connection_leaves_the_unread),
		cmocka_unit_test(test_slow_call_is_no_wait),
		cmocka_unit_test(test_overlapping_sends_are_undecided),
		cmocka_unit_test(test_receive_ends_a_send),
		cmocka_unit_test(test_long_send),
		cmocka_unit_test(test_long_receive),
		cmocka_unit_test(test_unseen_writer),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_poll_of_new_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
