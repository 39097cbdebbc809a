/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trace says of sockets again, later than before their first transfers: when an end closed, and what was sent
 * again. Where the connection leads is what was said first: an end that the other one resets has given its port back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/requests/input/socket_input.h"
#include "tests/unit/trace/kernel_image.h"

#define COOKIE 7

static struct vprof_kernel_event tell(uint64_t t, uint32_t flags, uint16_t port, uint32_t tid)
{
	struct vprof_kernel_event e = { .kind = VP_KIND_KERNEL_SOCKET, .t = t };

	e.socket.flags = flags;
	e.socket.tid = tid;
	e.socket.cookie = COOKIE;
	e.socket.local_port = port;
	e.socket.established = 5;
	return e;
}

static struct vprof_kernel_event receive(uint64_t t, uint32_t tid)
{
	struct vprof_kernel_event e = { .kind = VP_KIND_KERNEL_TRANSFER, .t = t };

	e.transfer.tid = tid;
	e.transfer.cookie = COOKIE;
	e.transfer.bytes = 1;
	e.transfer.from = t;
	return e;
}

static void read_events(struct vprof_socket_input *input, const struct vprof_kernel_event *events, size_t n)
{
	struct vp_chunk_header h = { .thread_seq = VP_THREAD_KERNEL, .process_seq = 1 };
	struct vp_file_header file = { .kernel_kinds = VP_KERNEL_SOCKETS,
				       .kernel_scope = VP_KERNEL_TREE,
				       .end_ticks = 1000 };
	struct kernel_image image = { .n_chunks = 0 };
	struct vprof_error err = { "" };
	struct vprof_trace *trace;

	kernel_image_events(&image, h, events, n);
	trace = kernel_image_open(&image, file);
	if (vprof_socket_input_add(input, trace, &err))
		fail_msg("%s", err.message);
	vprof_trace_free(trace);
}

static void test_told_again(void **state)
{
	const struct vprof_kernel_event events[] = {
		tell(10, VP_SOCKET_SERVER, 80, 0),
		receive(11, 3),
		tell(20, VP_SOCKET_SERVER | VP_SOCKET_RESENT, 80, 0),
		tell(21, VP_SOCKET_SERVER | VP_SOCKET_RESENT, 80, 0),
		tell(30, VP_SOCKET_SERVER | VP_SOCKET_CLOSED, 0, 3),
		tell(40, VP_SOCKET_SERVER | VP_SOCKET_CLOSED, 0, 4),
	};
	struct vprof_socket_input input = { .missing = "" };
	const struct vprof_socket *s;

	(void)state;
	read_events(&input, events, sizeof events / sizeof *events);
	assert_int_equal(input.history.sockets.n, 1);
	s = &input.history.sockets.v[0];
	assert_int_equal(s->local.port, 80);
	assert_int_equal(s->role, VPROF_ROLE_SERVER);
	assert_int_equal(s->n_resent, 2);
	assert_int_equal(s->closed_ns - s->established_ns, 25); /* the first time */
	assert_int_equal(input.history.threads.v[s->closer].tid, 3);
	vprof_socket_input_release(&input);
}

static void test_not_told_again(void **state)
{
	const struct vprof_kernel_event events[] = { tell(10, VP_SOCKET_SERVER, 80, 0), receive(11, 3) };
	struct vprof_socket_input input = { .missing = "" };

	(void)state;
	read_events(&input, events, 2);
	assert_int_equal(input.history.sockets.v[0].closed_ns, 0);
	assert_int_equal(input.history.sockets.v[0].closer, VPROF_NONE);
	assert_int_equal(input.history.sockets.v[0].n_resent, 0);
	vprof_socket_input_release(&input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_again),
		cmocka_unit_test(test_not_told_again),
	};

	return cmocka_run_group_tests(tests, kernel_image_setup, kernel_image_teardown);
}
