/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's events: every field there and back, CPUs merged by time, and records that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/files.h"
#include "trace/kernel_events.h"
#include "trace_writer.h"

static char *folder;

struct image {
	unsigned char bytes[65536];
	size_t n;
	uint64_t n_chunks;
};

static void begin_image(struct image *im)
{
	im->n = sizeof(struct vp_file_header);
	im->n_chunks = 0;
}

static void add_chunk(struct image *im, uint32_t thread_seq, uint32_t process_seq, const struct vp_unit *units,
		      uint32_t n)
{
	const struct vp_chunk_header h = { .magic = VP_CHUNK_MAGIC,
					   .n_bytes = n * VP_UNIT_BYTES,
					   .tid = process_seq - 1,
					   .thread_seq = thread_seq,
					   .chunk_seq = (uint32_t)im->n_chunks++,
					   .process_seq = process_seq };

	assert_true(im->n + sizeof h + n * sizeof *units <= sizeof im->bytes);
	memcpy(im->bytes + im->n, &h, sizeof h);
	memcpy(im->bytes + im->n + sizeof h, units, n * sizeof *units);
	im->n += sizeof h + n * sizeof *units;
}

static struct vprof_trace *open_image(struct image *im)
{
	const struct vp_file_header h = { .magic = VP_FILE_MAGIC,
					  .version = VP_FORMAT_VERSION,
					  .clock = VP_CLOCK_MONOTONIC,
					  .ns_per_tick = 1,
					  .start_ticks = 1,
					  .end_ticks = 1000000,
					  .n_chunks = im->n_chunks,
					  .kernel_scope = VP_KERNEL_ALL,
					  .kernel_error_ns = 25 };
	char *path = vprof_path_join(folder, "records.vpt");
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	memcpy(im->bytes, &h, sizeof h);
	assert_int_equal(vprof_file_write(path, im->bytes, im->n, &err), 0);
	free(path);
	if (vprof_trace_open(&t, folder, &err))
		fail_msg("%s", err.message);
	return t;
}

#define MAX32 UINT32_MAX
#define MAX64 UINT64_MAX

/* One event of each kind, all fields at their largest, or different from one another. */
static const struct vprof_kernel_event all[] = {
	{ VP_KIND_KERNEL_SWITCH, 3, 1, .sched = { MAX32, 2, VP_TASK_STATE_DEAD, 3, MAX32 } },
	{ VP_KIND_KERNEL_SWITCH, 3, 2, .sched = { 1, MAX32, VP_TASK_STATE_PREEMPTED, MAX32, 4 } },
	{ VP_KIND_KERNEL_WAKING, 3, 3, .waking = { MAX32, 1, VP_CONTEXT_RCU, VP_SOURCE_IRQ, MAX32, 5, MAX32 } },
	{ VP_KIND_KERNEL_WAKING, 3, 4, .waking = { 1, MAX32, VP_CONTEXT_NET_RX, VP_SOURCE_NET, 2, MAX32, 6 } },
	{ VP_KIND_KERNEL_FORK, 3, 5, .task = { 10, MAX32, 12, 13, 0, 0, 0, "sixteen bytes..." } },
	{ VP_KIND_KERNEL_EXEC, 3, 6, .task = { MAX32, 11, MAX32, 0, 0, 0, 0, "" } },
	{ VP_KIND_KERNEL_EXIT, 3, 7, .task = { 10, MAX32, 0, 0, 0, MAX32, 1, "" } },
	{ VP_KIND_KERNEL_EXIT, 3, 8, .task = { 10, 11, 0, 0, 0, 9, 0, "" } },
	{ VP_KIND_KERNEL_TASK, 3, 9, .task = { MAX32, 11, 0, MAX32, 255, 0, 0, "jbd2/vda-8" } },
	{ VP_KIND_KERNEL_BLOCK_ISSUE, 3, 10, .block = { MAX32, 255, MAX64, 1, MAX32, 2, 0, MAX64 } },
	{ VP_KIND_KERNEL_BLOCK_COMPLETE, 3, 11, .block = { 1, 1, 2, MAX64, 3, 0, MAX32, 4 } },
	{ VP_KIND_KERNEL_NET_SEND, 3, 12, .net = { MAX32, 1, MAX32, VP_CONTEXT_TASK } },
	{ VP_KIND_KERNEL_NET_RECEIVE, 3, 13, .net = { 1, MAX32, 2, VP_CONTEXT_NET_RX } },
	{ VP_KIND_KERNEL_INTERRUPT, 3, 14, .interrupt = { VP_CONTEXT_RCU, MAX32, MAX32, VP_PAYLOAD_MAX } },
	{ VP_KIND_KERNEL_LOST, 3, 15, .n_lost = VP_PAYLOAD_MAX },
	{ VP_KIND_KERNEL_CALL, 3, 16, .call = { MAX32, 65535, MAX64, MAX32, 1 } },
	{ VP_KIND_KERNEL_CALL, 3, 17, .call = { 1, 2, 3, 4, 65535 } },
	{ VP_KIND_KERNEL_FAULT, 3, 18, .sample = { MAX32, 0, 1, MAX32, MAX64 } },
	{ VP_KIND_KERNEL_TIMER, 3, 19, .sample = { MAX32, 1, MAX32, 0, 0 } },
	{ VP_KIND_KERNEL_SOCKET, 3, 30,
	  .socket = { VP_SOCKET_SERVER,
		      65535,
		      1,
		      MAX64,
		      2,
		      3,
		      MAX64,
		      4,
		      { { { 1, [15] = 255 }, { 2, [15] = 254 } } } } },
	{ VP_KIND_KERNEL_SOCKET, 3, 31,
	  .socket = { VP_SOCKET_CLIENT | VP_SOCKET_UNIX,
		      0,
		      0,
		      1,
		      MAX64,
		      MAX64,
		      5,
		      MAX64,
		      { .path = "/run/a/path/of/thirty-two/bytes." } } },
	{ VP_KIND_KERNEL_SOCKET, 3, 31, .socket = { VP_SOCKET_CLOSED, 1, 2, 3, 0, 4, 5, 6, { .path = "" }, 4194303 } },
	{ VP_KIND_KERNEL_TRANSFER, 3, 32,
	  .transfer = { MAX32, VP_TRANSFER_SEND | VP_TRANSFER_ARRIVAL, MAX32, MAX32, MAX64, 2, MAX64 } },
	{ VP_KIND_KERNEL_TRANSFER, 3, 33, .transfer = { 1, 0, 0, 0, 3, MAX64, 4 } },
};
#define N_ALL (sizeof all / sizeof *all)

static void test_round_trip(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ALL; i++) {
		struct vprof_kernel_event e;
		struct vp_unit u[VP_KERNEL_UNITS_MAX];
		uint32_t n;

		memset(u, 0xff, sizeof u);
		n = vprof_kernel_event_encode(&all[i], u);
		assert_int_equal(n, vp_record_units(u[0].w));
		assert_true(vprof_kernel_event_decode(u, n, 3, &e));
		assert_memory_equal(&e, &all[i], sizeof e);
	}
}

static void test_saturates(void **state)
{
	const struct vprof_kernel_event lost = { VP_KIND_KERNEL_LOST, 0, 1, .n_lost = MAX64 };
	const struct vprof_kernel_event interrupt = { VP_KIND_KERNEL_INTERRUPT, 0, 1, .interrupt = { .ticks = MAX64 } };
	struct vp_unit u[VP_KERNEL_UNITS_MAX];
	struct vprof_kernel_event e;

	(void)state;
	assert_true(vprof_kernel_event_decode(u, vprof_kernel_event_encode(&lost, u), 0, &e));
	assert_int_equal(e.n_lost, VP_PAYLOAD_MAX);
	assert_true(vprof_kernel_event_decode(u, vprof_kernel_event_encode(&interrupt, u), 0, &e));
	assert_int_equal(e.interrupt.ticks, VP_PAYLOAD_MAX);
}

/* Whatever the bits are, enums stay in their range and names end. */
static void test_any_bits(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct vp_unit u[VP_KERNEL_UNITS_MAX];
		struct vprof_kernel_event e;

		for (size_t k = 0; k < VP_KERNEL_UNITS_MAX; k++)
			u[k] = (struct vp_unit){ next_random(&random), next_random(&random) };
		u[0].w = VP_W(random % 64, VP_PAYLOAD(u[0].w));
		if (!vprof_kernel_event_decode(u, vp_record_units(u[0].w), 1, &e))
			continue;
		assert_in_range(e.kind, VP_KIND_KERNEL_SWITCH, VP_KIND_KERNEL_TRANSFER);
		assert_false(e.kind >= VP_KIND_KERNEL_STACK && e.kind <= VP_KIND_KERNEL_CLOCK); /* in tables only */
		if (e.kind == VP_KIND_KERNEL_SWITCH)
			assert_in_range(e.sched.state, 0, VP_TASK_STATE_COUNT - 1);
		if (e.kind == VP_KIND_KERNEL_WAKING) {
			assert_in_range(e.waking.context, 0, VP_CONTEXT_COUNT - 1);
			assert_in_range(e.waking.source, 0, VP_SOURCE_COUNT - 1);
		}
		if (e.kind >= VP_KIND_KERNEL_FORK && e.kind <= VP_KIND_KERNEL_TASK)
			assert_in_range(strlen(e.task.comm), 0, VP_COMM_BYTES);
		assert_false(vprof_kernel_event_decode(u, vp_record_units(u[0].w) + 1, 1, &e));
	}
}

/* Each CPU's events are at random times; the merged ones are sorted, and none is missing. */
static void test_merge(void **state)
{
	static struct image im;
	struct vprof_kernel_stream *s;
	struct vprof_kernel_event e;
	struct vprof_error err = { "" };
	struct vprof_trace *t;
	uint64_t random = 2, last = 0;
	uint32_t n_of[5] = { 0 }, n = 0;

	(void)state;
	begin_image(&im);
	for (uint32_t cpu = 0; cpu < 5; cpu++) {
		struct vp_unit u[300];
		uint64_t at = 1;

		for (uint32_t i = 0; cpu != 2 && i < 300; i++) {
			at += next_random(&random) % 4;
			u[i] = (struct vp_unit){ at, VP_W(VP_KIND_KERNEL_LOST, i) };
		}
		add_chunk(&im, VP_THREAD_KERNEL, cpu + 1, u, cpu == 2 ? 0 : 100);
		if (cpu != 2)
			add_chunk(&im, VP_THREAD_KERNEL, cpu + 1, u + 100, 200);
	}
	t = open_image(&im);
	assert_int_equal(t->n_threads, 0);
	assert_int_equal(t->n_kernel, 5);
	assert_int_equal(vprof_kernel_stream_open(&s, t, &err), 0);
	while (vprof_kernel_stream_next(s, &e)) {
		assert_true(e.t >= last);
		assert_int_equal(e.n_lost, n_of[e.cpu]++);
		last = e.t;
		n++;
	}
	assert_int_equal(n, 1200);
	assert_false(vprof_kernel_stream_next(s, &e));
	vprof_kernel_stream_close(s);
	vprof_trace_free(t);
}

/* Records of other kinds, cut ones and the chunk's unused end are passed over; reserved numbers are no threads. */
static void test_foreign_records(void **state)
{
	static struct image im;
	struct vp_unit u[8] = { { 5, VP_W(VP_CODE_FUNCTION, 1) },
				{ 0, VP_W(VP_KIND_KERNEL_SWITCH, 1) },
				{ 6, 6 },
				{ 7, VP_W(VP_KIND_KERNEL_LOST, 70) },
				{ 0, 0 },
				{ 8, VP_W(VP_KIND_KERNEL_FORK, 1) },
				{ 9, 9 } /* ends before its third unit */ };
	struct vprof_kernel_stream *s;
	struct vprof_kernel_event e;
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	(void)state;
	begin_image(&im);
	add_chunk(&im, VP_THREAD_KERNEL, 1, u, 7);
	add_chunk(&im, VP_THREAD_KERNEL_TABLE, 1, u, 1);
	add_chunk(&im, VP_THREAD_KERNEL_TABLE, 2, u, 1);
	add_chunk(&im, VP_THREAD_RESERVED, 1, u, 1);
	add_chunk(&im, VP_THREAD_RESERVED - 1, 1, u, 1);
	t = open_image(&im);
	assert_int_equal(t->n_threads, 1);
	assert_int_equal(t->n_kernel, 1);
	assert_int_equal(t->n_kernel_tables, 2);
	assert_int_equal(t->header.kernel_scope, VP_KERNEL_ALL);
	assert_int_equal(vprof_kernel_stream_open(&s, t, &err), 0);
	assert_true(vprof_kernel_stream_next(s, &e));
	assert_int_equal(e.n_lost, 70);
	assert_false(vprof_kernel_stream_next(s, &e));
	vprof_kernel_stream_close(s);
	vprof_trace_check(t);
	assert_int_equal(t->n_bytes_ignored, 2 * VP_UNIT_BYTES);
	vprof_trace_free(t);
}

static int make(void **state)
{
	(void)state;
	folder = make_folder();
	return !folder;
}

static int clean(void **state)
{
	(void)state;
	remove_folder(folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),	cmocka_unit_test(test_saturates),
		cmocka_unit_test(test_any_bits),	cmocka_unit_test(test_merge),
		cmocka_unit_test(test_foreign_records),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
