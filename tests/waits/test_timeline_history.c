/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What probes and wrappers recorded, as a wait history. One tick is one ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/waits/input/timeline_history.h"
#include "analysis/waits/waits.h"
#include "expect_segment.h"
#include "tests/unit/analysis/hand_trace.h"

static void expect(const struct vprof_waits_input *in, uint32_t thread, size_t i, uint64_t from, uint64_t to, int state,
		   const char *waker)
{
	expect_segment(&in->history, &in->history.entities.v[thread], i, from, to, state, waker);
}

static void test_waits(void **state)
{
	struct vprof_waits_input in;
	struct vprof_error err = { "" };
	struct hand_trace h;
	struct hand_thread *a, *b;
	struct hand_steps s;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_enter(a, F(1), 100);
	hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, 1, 200, 320);
	hand_wait(a, VP_WAIT_DISK, VP_CALL_FSYNC, 3, 0, 400, 500);
	hand_wait(a, VP_WAIT_SLEEP, VP_CALL_USLEEP, 0, 0, 600, 700);
	hand_call(a, F(1), 100, 1000);
	hand_enter(b, F(1), 100);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, 1, 1, 300);
	hand_call(b, F(1), 100, 1000);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(vprof_waits_input_timeline(&in, s.timeline, &err), 0);
	assert_int_equal(vprof_waits_history_check(&in.history, &err), 0);
	expect(&in, 0, 0, 100, 200, VPROF_WAITS_RUNNING, NULL);
	expect(&in, 0, 1, 200, 300, VPROF_WAITS_BLOCKED, in.history.entities.v[1].name);
	expect(&in, 0, 2, 300, 320, VPROF_WAITS_RUNNABLE, NULL);
	expect(&in, 0, 3, 320, 400, VPROF_WAITS_RUNNING, NULL);
	expect(&in, 0, 4, 400, 500, VPROF_WAITS_BLOCKED, "disk (files)");
	expect(&in, 0, 6, 600, 700, VPROF_WAITS_BLOCKED, "timer");
	assert_string_equal(in.history.stacks.v[in.history.entities.v[0].segments.v[1].wait_stack],
			    "pthread_mutex_lock");
	assert_int_equal(in.history.requests.n, 1);
	assert_int_equal(in.history.requests.v[0].thread, 0);
	vprof_waits_input_release(&in);
	hand_steps_release(&s);
	hand_release(&h);
}

/* A thread of which no stack was seen is known by whom it was made. */
static void test_names(void **state)
{
	struct vprof_waits_input in;
	struct vprof_error err = { "" };
	struct hand_trace h;
	struct hand_thread *a, *b;
	struct hand_steps s;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_units(a, (struct vp_unit[]){ { 100, VP_W(VP_KIND_CREATE, 0) }, { 71, 0 } }, 2);
	hand_call(a, F(1), 100, 1000);
	hand_units(b, (struct vp_unit[]){ { 150, VP_W(VP_KIND_START, 0) }, { 71, 2 } }, 2);
	hand_call(b, F(1), 200, 900);
	hand_write(&h);
	hand_steps(&s, &h);
	s.timeline->threads[0].tid = s.timeline->threads[0].pid; /* the process's first */
	assert_int_equal(vprof_waits_input_timeline(&in, s.timeline, &err), 0);
	assert_string_equal(in.history.entities.v[0].name, "main thread");
	assert_string_equal(in.history.entities.v[1].name, "thread of main thread");
	assert_int_equal(in.history.entities.v[1].creator, 0);
	vprof_waits_input_release(&in);
	hand_steps_release(&s);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_waits), cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
