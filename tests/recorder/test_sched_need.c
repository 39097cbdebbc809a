/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the programs at the scheduler's tracepoints are attached: each rule, by events made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorder/ring_event.h"
#include "recorder/sched_need.h"
#include "trace/format.h"

#define PID 100
#define COOKIE_SERVED 1
#define COOKIE_CALLED 2

static struct vprof_sched_need need;
static uint64_t now_ns;

static void tell_socket(uint64_t cookie, uint8_t role)
{
	struct vp_ring_event e = { .kind = VP_KIND_KERNEL_SOCKET, .detail = role };

	e.socket.cookie = cookie;
	vprof_sched_need_see(&need, &e);
}

static void transfer(uint32_t pid, uint32_t tid, uint64_t cookie, uint8_t detail, uint32_t bytes)
{
	struct vp_ring_event e = {
		.ns = now_ns, .kind = VP_KIND_KERNEL_TRANSFER, .detail = detail, .tid = tid, .other = bytes
	};

	e.transfer.cookie = cookie;
	e.transfer.pid = pid;
	vprof_sched_need_see(&need, &e);
}

static void receive(uint32_t tid, uint64_t cookie)
{
	transfer(PID, tid, cookie, 0, 1);
}

static void send_by(uint32_t tid, uint64_t cookie)
{
	transfer(PID, tid, cookie, VP_TRANSFER_SEND, 1);
}

static void wake(void)
{
	struct vp_ring_event e = { .ns = now_ns, .kind = VP_KIND_KERNEL_WAKING };

	vprof_sched_need_see(&need, &e);
}

static void step(uint64_t after_ns)
{
	now_ns += after_ns;
	vprof_sched_need_step(&need, now_ns);
}

static int wants(enum vprof_sched_program program)
{
	return need.looks[program].is_wanted;
}

/* A thread that receives requests and replies to them, once for each two transfers that a look needs. */
static void serve(uint32_t tid, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		receive(tid, COOKIE_SERVED);
		send_by(tid, COOKIE_SERVED);
	}
}

#define MANY (VPROF_SCHED_LOOK_TRANSFERS / 2)

static int begin(void **state)
{
	(void)state;
	now_ns = 1000;
	vprof_sched_need_start(&need, now_ns);
	tell_socket(COOKIE_SERVED, VP_SOCKET_SERVER);
	tell_socket(COOKIE_CALLED, VP_SOCKET_CLIENT);
	return 0;
}

static void both_are_attached_until_many_transfers_tell_nothing(void **state)
{
	(void)state;
	assert_true(wants(VPROF_SCHED_WAKES) && wants(VPROF_SCHED_SWITCHES));
	serve(1, MANY - 1);
	step(10 * VPROF_SCHED_LOOK_NS); /* too few */
	assert_true(wants(VPROF_SCHED_WAKES) && wants(VPROF_SCHED_SWITCHES));
	serve(1, 1);
	step(0);
	assert_false(wants(VPROF_SCHED_WAKES) || wants(VPROF_SCHED_SWITCHES));
}

static void many_transfers_in_little_time_do_not_end_a_look(void **state)
{
	(void)state;
	serve(1, 10 * MANY);
	step(VPROF_SCHED_LOOK_NS - 1);
	assert_true(wants(VPROF_SCHED_WAKES) && wants(VPROF_SCHED_SWITCHES));
	step(1);
	assert_false(wants(VPROF_SCHED_WAKES) || wants(VPROF_SCHED_SWITCHES));
}

static void find_both(void)
{
	wake();
	transfer(PID, 1, COOKIE_CALLED, VP_TRANSFER_SEND | VP_RING_TRANSFER_SWITCHED, 1);
}

static void what_was_found_again_and_again_is_looked_for_always(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < VPROF_SCHED_SLICES; i++) {
		find_both();
		step(VPROF_SCHED_SLICE_NS);
	}
	for (int i = 0; i < 100; i++) {
		serve(1, MANY);
		step(VPROF_SCHED_LOOK_NS);
		assert_true(wants(VPROF_SCHED_WAKES) && wants(VPROF_SCHED_SWITCHES));
	}
}

static void what_was_found_at_one_time_is_not(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < VPROF_SCHED_SLICES - 1; i++) {
		for (int k = 0; k < 100; k++)
			find_both();
		step(VPROF_SCHED_SLICE_NS);
	}
	serve(1, MANY);
	step(VPROF_SCHED_LOOK_NS);
	assert_false(wants(VPROF_SCHED_WAKES) || wants(VPROF_SCHED_SWITCHES));
}

static void a_call_for_a_request_needs_no_wakes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		receive(1, COOKIE_SERVED);
		send_by(1, COOKIE_CALLED);
		receive(1, COOKIE_CALLED);
		send_by(1, COOKIE_CALLED);
		receive(1, COOKIE_CALLED);
		send_by(1, COOKIE_SERVED);
	}
	step(VPROF_SCHED_LOOK_NS);
	assert_false(wants(VPROF_SCHED_WAKES));
	assert_int_equal(need.looks[VPROF_SCHED_WAKES].n_hints, 0);
}

static void a_reply_to_what_another_thread_received_needs_them(void **state)
{
	(void)state;
	serve(1, MANY);
	step(VPROF_SCHED_LOOK_NS);
	assert_false(wants(VPROF_SCHED_WAKES));
	receive(1, COOKIE_SERVED);
	send_by(2, COOKIE_SERVED);
	step(1);
	assert_true(wants(VPROF_SCHED_WAKES));
	assert_false(wants(VPROF_SCHED_SWITCHES));
}

static void a_call_by_a_thread_without_a_request_needs_them(void **state)
{
	(void)state;
	serve(1, MANY);
	step(VPROF_SCHED_LOOK_NS);
	transfer(PID + 1, 2, COOKIE_CALLED, VP_TRANSFER_SEND, 1); /* its process serves nobody */
	step(1);
	assert_false(wants(VPROF_SCHED_WAKES));
	send_by(2, COOKIE_CALLED);
	step(1);
	assert_true(wants(VPROF_SCHED_WAKES));
}

/* A busy process beside one that seldom hands over: transfers alone do not end a look that a hint began. */
static void a_look_is_in_vain_after_many_hints_only(void **state)
{
	(void)state;
	serve(1, MANY);
	step(VPROF_SCHED_LOOK_NS);
	for (uint32_t i = 0; i < VPROF_SCHED_LOOK_HINTS; i++) {
		receive(1, COOKIE_SERVED);
		send_by(2, COOKIE_SERVED);
		step(1);
		assert_true(wants(VPROF_SCHED_WAKES) == (i < VPROF_SCHED_LOOK_HINTS - 1));
		serve(1, MANY);
		step(i ? 1 : VPROF_SCHED_LOOK_NS);
		assert_true(wants(VPROF_SCHED_WAKES) == (i < VPROF_SCHED_LOOK_HINTS - 1));
	}
}

static void a_look_for_a_hint_that_does_not_come_again_ends(void **state)
{
	(void)state;
	serve(1, MANY);
	step(VPROF_SCHED_LOOK_NS);
	receive(1, COOKIE_SERVED);
	send_by(2, COOKIE_SERVED);
	step(1);
	serve(1, MANY);
	step(VPROF_SCHED_LOOK_MOST_NS - 1);
	assert_true(wants(VPROF_SCHED_WAKES));
	step(1);
	assert_false(wants(VPROF_SCHED_WAKES));
}

/* After a look in vain, hints do not count for a while, and twice as long after the next one. */
static void looks_in_vain_become_rarer(void **state)
{
	uint64_t pause_ns = VPROF_SCHED_PAUSE_NS;

	(void)state;
	for (int look = 0; look < 8; look++) {
		for (uint32_t i = 0; i < MANY; i++) {
			receive(1, COOKIE_SERVED);
			send_by(2, COOKIE_SERVED);
		}
		step(VPROF_SCHED_LOOK_NS);
		assert_false(wants(VPROF_SCHED_WAKES));
		receive(1, COOKIE_SERVED);
		send_by(2, COOKIE_SERVED);
		step(pause_ns - 1);
		assert_false(wants(VPROF_SCHED_WAKES));
		step(1);
		assert_false(wants(VPROF_SCHED_WAKES));
		receive(1, COOKIE_SERVED);
		send_by(2, COOKIE_SERVED);
		step(0);
		assert_true(wants(VPROF_SCHED_WAKES));
		pause_ns = 2 * pause_ns < VPROF_SCHED_PAUSE_MOST_NS ? 2 * pause_ns : VPROF_SCHED_PAUSE_MOST_NS;
	}
}

static void sends_that_may_wait_need_switches(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		begin(NULL);
		serve(1, MANY);
		step(VPROF_SCHED_LOOK_NS);
		assert_false(wants(VPROF_SCHED_SWITCHES));
		transfer(PID, 1, COOKIE_SERVED, VP_TRANSFER_SEND | (way ? VP_RING_TRANSFER_UNSENT : 0),
			 way ? 1 : 1 << 20);
		step(1);
		assert_true(wants(VPROF_SCHED_SWITCHES));
		assert_false(wants(VPROF_SCHED_WAKES));
	}
}

/* Sockets that are older than the recording may be those of clients: nothing is known, so wakes are looked for. */
static void unknown_sockets_hint_when_threads_share_them(void **state)
{
	(void)state;
	serve(1, MANY);
	step(VPROF_SCHED_LOOK_NS);
	receive(1, 7);
	send_by(1, 7);
	step(1);
	assert_false(wants(VPROF_SCHED_WAKES));
	receive(1, 7);
	send_by(3, 7);
	step(1);
	assert_true(wants(VPROF_SCHED_WAKES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(both_are_attached_until_many_transfers_tell_nothing, begin),
		cmocka_unit_test_setup(many_transfers_in_little_time_do_not_end_a_look, begin),
		cmocka_unit_test_setup(what_was_found_again_and_again_is_looked_for_always, begin),
		cmocka_unit_test_setup(what_was_found_at_one_time_is_not, begin),
		cmocka_unit_test_setup(a_call_for_a_request_needs_no_wakes, begin),
		cmocka_unit_test_setup(a_reply_to_what_another_thread_received_needs_them, begin),
		cmocka_unit_test_setup(a_call_by_a_thread_without_a_request_needs_them, begin),
		cmocka_unit_test_setup(a_look_is_in_vain_after_many_hints_only, begin),
		cmocka_unit_test_setup(a_look_for_a_hint_that_does_not_come_again_ends, begin),
		cmocka_unit_test_setup(looks_in_vain_become_rarer, begin),
		cmocka_unit_test_setup(sends_that_may_wait_need_switches, begin),
		cmocka_unit_test_setup(unknown_sockets_hint_when_threads_share_them, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
