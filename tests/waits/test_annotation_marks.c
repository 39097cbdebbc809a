/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the runtime recorded of spin waits and false wake-ups, in the kernel's history of the same threads. One tick is
 * one ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/waits/input/annotation_marks.h"
#include "tests/unit/analysis/hand_trace.h"
#include "trace/kernel_events.h"

#define SWITCH(t, prev, state, next)                                                                                   \
	{ VP_KIND_KERNEL_SWITCH, 0, t, .sched = { prev, next, VP_TASK_STATE_##state, 0, 0 } }
#define WAKING(t, wakee, by)                                                                                           \
	{ VP_KIND_KERNEL_WAKING, 0, t, .waking = { wakee, by, VP_CONTEXT_TASK, VP_SOURCE_NONE, 0, 0, 0 } }

enum { A = 1, B = 2, OTHER = 9 }; /* thread ids */

static void add_events(struct hand_thread *cpu, const struct vprof_kernel_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct vp_unit u[VP_KERNEL_UNITS_MAX];

		hand_units(cpu, u, vprof_kernel_event_encode(&events[i], u));
	}
}

static const struct vprof_waits_entity *thread(const struct vprof_waits_input *in, uint32_t tid)
{
	for (size_t i = 0; i < in->history.entities.n; i++)
		if (in->history.entities.v[i].kind == VPROF_WAITS_THREAD && in->history.entities.v[i].tid == tid)
			return &in->history.entities.v[i];
	fail_msg("no thread %u", tid);
	return NULL;
}

static void expect(const struct vprof_waits_input *in, uint32_t tid, size_t i, uint64_t from, uint64_t to, int state,
		   uint32_t waker)
{
	const struct vprof_waits_segment *s = &thread(in, tid)->segments.v[i];

	assert_true(i < thread(in, tid)->segments.n);
	assert_int_equal(s->from, from - 1); /* since the trace's start, 1 */
	assert_int_equal(s->to, to - 1);
	assert_int_equal(s->state, state);
	if (waker)
		assert_int_equal(in->history.entities.v[s->waker].tid, waker);
	else
		assert_int_equal(s->waker, VPROF_NONE);
}

/* A spins for B's lock from 200 on, and sleeps from 400 to 500, with a wake-up at 450 that was false. */
static void make_trace(struct hand_trace *h, int has_probes)
{
	static const struct vprof_kernel_event cpu0[] = {
		SWITCH(10, 0, RUNNABLE, A),  SWITCH(400, A, SLEEPING, 0), WAKING(450, A, B),
		SWITCH(452, 0, RUNNABLE, A), SWITCH(460, A, SLEEPING, 0), WAKING(500, A, B),
		SWITCH(503, 0, RUNNABLE, A), SWITCH(900, A, SLEEPING, 0),
	};
	static const struct vprof_kernel_event cpu1[] = {
		SWITCH(10, 0, RUNNABLE, B),
		SWITCH(600, B, SLEEPING, OTHER),
		SWITCH(900, OTHER, SLEEPING, 0),
	};
	struct hand_thread *a, *b;

	hand_init(h);
	a = hand_thread(h, 1);
	b = hand_thread(h, 1);
	if (has_probes) {
		hand_enter(a, F(1), 100);
		hand_wait(a, VP_WAIT_SPIN, VP_CALL_SPIN_LOCK, 0x10, 1, 200, 320);
		hand_wait(a, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 0, 400, 455);
		hand_units(a, &(struct vp_unit){ 456, VP_W(VP_KIND_FALSE_WAKE, 0) }, 1);
		hand_wait(a, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x20, 0, 459, 504);
		hand_call(a, F(1), 100, 800);
		hand_enter(b, F(1), 100);
		hand_wake(b, VP_WAIT_SPIN, 0, 0x10, 1, 1, 300);
		hand_call(b, F(1), 100, 550);
	}
	add_events(hand_kernel(h, 0), cpu0, sizeof cpu0 / sizeof *cpu0);
	add_events(hand_kernel(h, 1), cpu1, sizeof cpu1 / sizeof *cpu1);
	h->end = 1000;
	hand_write(h);
}

static struct vprof_trace *read_input(struct vprof_waits_input *in, const struct hand_trace *h)
{
	struct vprof_error err = { "" };
	struct vprof_trace *trace;

	if (vprof_trace_open(&trace, h->dir, &err) || vprof_waits_input_kernel(in, trace, 0, &err) ||
	    vprof_waits_input_annotate(in, trace, &err) || vprof_waits_history_check(&in->history, &err))
		fail_msg("%s", err.message);
	return trace;
}

static void annotations_rewrite_the_history(void **state)
{
	struct vprof_waits_input in;
	struct vprof_trace *trace;
	struct hand_trace h;

	(void)state;
	make_trace(&h, 1);
	trace = read_input(&in, &h);
	expect(&in, A, 0, 10, 200, VPROF_WAITS_RUNNING, 0);
	expect(&in, A, 1, 200, 300, VPROF_WAITS_BLOCKED, B);
	expect(&in, A, 2, 300, 400, VPROF_WAITS_RUNNING, 0);
	expect(&in, A, 3, 400, 500, VPROF_WAITS_BLOCKED, B); /* one wait */
	expect(&in, A, 4, 500, 503, VPROF_WAITS_RUNNABLE, 0);
	expect(&in, A, 5, 503, 900, VPROF_WAITS_RUNNING, 0);
	assert_string_equal(in.history.stacks.v[thread(&in, A)->segments.v[1].wait_stack], "pthread_spin_lock");
	expect(&in, B, 0, 10, 600, VPROF_WAITS_RUNNING, 0);
	vprof_waits_input_release(&in);
	vprof_trace_free(trace);
	hand_release(&h);
}

/* Without records of the runtime the history is as the kernel saw it. */
static void without_records_nothing_changes(void **state)
{
	struct vprof_waits_input in;
	struct vprof_trace *trace;
	struct hand_trace h;

	(void)state;
	make_trace(&h, 0);
	trace = read_input(&in, &h);
	expect(&in, A, 0, 10, 400, VPROF_WAITS_RUNNING, 0);
	expect(&in, A, 1, 400, 450, VPROF_WAITS_BLOCKED, B);
	expect(&in, A, 4, 460, 500, VPROF_WAITS_BLOCKED, B);
	vprof_waits_input_release(&in);
	vprof_trace_free(trace);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(annotations_rewrite_the_history),
					    cmocka_unit_test(without_records_nothing_changes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
