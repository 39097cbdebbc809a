/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges as any analysis sees them: by which edge an instance came to a thread, of which kind, from where and when;
 * which enqueue a dequeue belongs to, and which thread a token stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/timeline/edges/queues.h"
#include "analysis/timeline/edges/thread_starts.h"
#include "tests/unit/analysis/hand_trace.h"

/* The edge into the last segment of a thread, which begins at t. */
static struct vprof_edge edge_into(const struct hand_steps *s, uint32_t instance, uint32_t thread, uint64_t t)
{
	size_t *hint = calloc(s->timeline->n_threads, sizeof *hint);
	uint32_t segment = vprof_intervals_segment_of(s->intervals, thread, t, instance);
	struct vprof_edge edge;

	assert_non_null(hint);
	assert_int_not_equal(segment, VPROF_NONE);
	assert_int_equal(s->intervals->segments.v[segment].t0, t);
	edge = vprof_edges_into(s->edges, instance, thread, segment, t, hint);
	free(hint);
	return edge;
}

static void assert_edge(struct vprof_edge edge, enum vprof_edge_kind kind, uint32_t thread, uint64_t t)
{
	assert_int_equal(edge.kind, kind);
	assert_int_equal(edge.thread, thread);
	assert_int_equal(edge.t, t);
}

/* a hands the interval to b through a queue; b goes on with it later. */
static void test_creation_and_continuation(void **state)
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
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 390);
	hand_mark(b, VP_KIND_RESUME, 1, 400);
	hand_mark(b, VP_KIND_SUSPEND, 1, 500);
	hand_mark(b, VP_KIND_RESUME, 1, 600);
	hand_mark(b, VP_KIND_END, 1, 700);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_edge(edge_into(&s, 0, 1, 400), VPROF_EDGE_CREATION, 0, 150);
	assert_edge(edge_into(&s, 0, 1, 600), VPROF_EDGE_CONTINUATION, 1, 500);
	assert_int_equal(edge_into(&s, 0, 0, 100).kind, VPROF_EDGE_NONE); /* it began there */
	hand_steps_release(&s);
	hand_release(&h);
}

/* Nobody annotated a queue: b waited, and a woke it while it worked for the interval. */
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
	hand_wake(a, VP_WAIT_COND, 0, 0x20, 1, 1, 160);
	hand_mark(a, VP_KIND_SUSPEND, 1, 180);
	hand_wait(b, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 1, 50, 200);
	hand_mark(b, VP_KIND_RESUME, 1, 210);
	hand_mark(b, VP_KIND_END, 1, 300);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.timeline->threads[1].waits.v[0].waker, 0);
	assert_edge(edge_into(&s, 0, 1, 210), VPROF_EDGE_HANDOVER, 0, 160);
	hand_steps_release(&s);
	hand_release(&h);
}

/* An item that was dequeued as often as it was enqueued is in no queue any more: its address may serve again. */
static void test_queues(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;
	struct vprof_queues *queues;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 110);
	hand_queue(a, VP_KIND_ENQUEUE, 0xa, 300);
	hand_mark(a, VP_KIND_END, 1, 500);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 200);
	hand_queue(b, VP_KIND_DEQUEUE, 0xa, 400);
	hand_write(&h);
	hand_steps(&s, &h);
	queues = vprof_queues_new(s.timeline);
	assert_non_null(queues);
	assert_edge(vprof_queues_origin(queues, s.intervals, 0xa, 200, 1, 0), VPROF_EDGE_CREATION, 0, 110);
	assert_edge(vprof_queues_origin(queues, s.intervals, 0xa, 400, 1, 0), VPROF_EDGE_CREATION, 0, 300);
	assert_int_equal(vprof_queues_origin(queues, s.intervals, 0xa, 250, 1, 0).kind, VPROF_EDGE_NONE);
	assert_int_equal(vprof_queues_origin(queues, s.intervals, 0xb, 400, 1, 0).kind, VPROF_EDGE_NONE);
	vprof_queues_free(queues);
	hand_steps_release(&s);
	hand_release(&h);
}

static void test_thread_starts(void **state)
{
	struct vprof_thread_timeline threads[3] = { { .start_token = 0 }, { .start_token = 7 }, { .start_token = 5 } };
	struct vprof_creation made[] = { { .t = 20, .token = 5 }, { .t = 30, .token = 6 } };
	struct vprof_timeline timeline = { .threads = threads, .n_threads = 3 };
	struct vprof_thread_starts starts;

	(void)state;
	threads[0].creations.v = made;
	threads[0].creations.n = 2;
	assert_int_equal(vprof_thread_starts_find(&starts, &timeline), 0);
	assert_int_equal(vprof_thread_starts_of(&starts, 5), 2);
	assert_int_equal(vprof_thread_starts_of(&starts, 7), 1);
	assert_int_equal(vprof_thread_starts_of(&starts, 6), VPROF_NONE);
	assert_int_equal(vprof_thread_starts_of(&starts, 0), VPROF_NONE);
	assert_int_equal(starts.created[2], 20);
	assert_int_equal(starts.created[1], 0); /* its maker is not in the trace */
	vprof_thread_starts_release(&starts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_creation_and_continuation),
		cmocka_unit_test(test_handover),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_thread_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
