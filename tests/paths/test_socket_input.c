/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trace says of sockets again, later than before their first transfers: when an end closed, and what was sent
 * again. Where the connection leads is what was said first: an end that the other one resets has given its port back.
 * And what it says of threads again, and of several threads that have one tid, one after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static struct vprof_kernel_event task(enum vp_kind kind, uint64_t t, uint32_t tid, uint32_t pid)
{
	struct vprof_kernel_event e = { .kind = kind, .t = t, .task = { .tid = tid, .pid = pid } };

	e.task.by_tid = 1;
	strcpy(e.task.comm, "worker");
	return e;
}

/* An interval on the program's thread `seq`, which the trace calls `tid`. */
static void add_interval(struct kernel_image *image, uint32_t seq, uint32_t tid, uint64_t from, uint64_t to)
{
	const struct vp_unit units[] = {
		{ from, VP_W(VP_KIND_BEGIN, 0) }, { from, 9 }, { to, VP_W(VP_KIND_END, 0) }, { from, 9 }
	};

	kernel_image_chunk(image, (struct vp_chunk_header){ .tid = tid, .pid = 5, .thread_seq = seq, .process_seq = 1 },
			   units, 4);
}

static void read_image(struct vprof_socket_input *input, struct kernel_image *image,
		       const struct vprof_kernel_event *events, size_t n)
{
	struct vp_chunk_header h = { .thread_seq = VP_THREAD_KERNEL, .process_seq = 1 };
	struct vp_file_header file = { .kernel_kinds = VP_KERNEL_SOCKETS,
				       .kernel_scope = VP_KERNEL_TREE,
				       .end_ticks = 1000 };
	struct vprof_error err = { "" };
	struct vprof_trace *trace;

	kernel_image_events(image, h, events, n);
	trace = kernel_image_open(image, file);
	if (vprof_socket_input_add(input, trace, &err))
		fail_msg("%s", err.message);
	vprof_trace_free(trace);
}

static void read_events(struct vprof_socket_input *input, const struct vprof_kernel_event *events, size_t n)
{
	struct kernel_image image = { .n_chunks = 0 };

	read_image(input, &image, events, n);
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

static const struct vprof_socket_thread *thread_of_transfer(const struct vprof_socket_input *input, size_t i)
{
	return &input->history.threads.v[input->history.transfers.v[i].thread];
}

/* A thread that wakes its parent while its process ends may be told of as one that was there before. */
static void test_thread_told_again(void **state)
{
	const struct vprof_kernel_event events[] = {
		task(VP_KIND_KERNEL_FORK, 5, 8, 5),  tell(10, VP_SOCKET_SERVER, 80, 0),	  receive(11, 8),
		task(VP_KIND_KERNEL_EXIT, 40, 8, 5), task(VP_KIND_KERNEL_TASK, 41, 8, 5),
	};
	struct vprof_socket_input input = { .missing = "" };
	struct kernel_image image = { .n_chunks = 0 };

	(void)state;
	add_interval(&image, 1, 8, 10, 12);
	read_image(&input, &image, events, sizeof events / sizeof *events);
	assert_int_equal(input.history.spans.n, 1);
	assert_int_equal(input.history.spans.v[0].thread, input.history.transfers.v[0].thread);
	vprof_socket_input_release(&input);
}

/* What it did before is its own, and it is of the process that is then named. */
static void test_thread_told_late(void **state)
{
	const struct vprof_kernel_event events[] = { tell(10, VP_SOCKET_SERVER, 80, 0), receive(11, 8),
						     task(VP_KIND_KERNEL_TASK, 12, 8, 5), receive(13, 8) };
	struct vprof_socket_input input = { .missing = "" };

	(void)state;
	read_events(&input, events, sizeof events / sizeof *events);
	assert_int_equal(input.history.transfers.v[0].thread, input.history.transfers.v[1].thread);
	assert_string_equal(thread_of_transfer(&input, 0)->name, "worker");
	assert_int_equal(input.history.processes.v[thread_of_transfer(&input, 0)->process].pid, 5);
	vprof_socket_input_release(&input);
}

/* Each interval is of the thread that had the tid then. */
static void test_tid_of_several(void **state)
{
	const struct vprof_kernel_event events[] = {
		task(VP_KIND_KERNEL_FORK, 5, 8, 5),  tell(10, VP_SOCKET_SERVER, 80, 0),	  receive(11, 8),
		task(VP_KIND_KERNEL_EXIT, 15, 8, 5), task(VP_KIND_KERNEL_FORK, 20, 8, 5), receive(31, 8),
		task(VP_KIND_KERNEL_EXIT, 35, 8, 5), task(VP_KIND_KERNEL_FORK, 40, 8, 5),
	};
	struct vprof_socket_input input = { .missing = "" };
	struct kernel_image image = { .n_chunks = 0 };

	(void)state;
	add_interval(&image, 1, 8, 10, 12);
	add_interval(&image, 2, 8, 30, 32);
	read_image(&input, &image, events, sizeof events / sizeof *events);
	assert_int_equal(input.history.spans.n, 2);
	assert_int_not_equal(input.history.transfers.v[0].thread, input.history.transfers.v[1].thread);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(input.history.spans.v[i].thread, input.history.transfers.v[i].thread);
	vprof_socket_input_release(&input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_again),	  cmocka_unit_test(test_not_told_again),
		cmocka_unit_test(test_thread_told_again), cmocka_unit_test(test_thread_told_late),
		cmocka_unit_test(test_tid_of_several),
	};

	return cmocka_run_group_tests(tests, kernel_image_setup, kernel_image_teardown);
}
