/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of the kernel, written by hand into a real trace, as a wait history. One tick is one ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/waits/input/input.h"
#include "analysis/waits/input/stack_names.h"
#include "analysis/waits/waits.h"
#include "expect_segment.h"
#include "kernel_image.h"

enum { A = 101, B = 102, C = 103, DISK = 8 << 20, ETH = 2, LO = 1 };

static void add_events(struct kernel_image *im, uint32_t cpu, const struct vprof_kernel_event *events, size_t n)
{
	kernel_image_events(
		im, (struct vp_chunk_header){ .tid = cpu, .thread_seq = VP_THREAD_KERNEL, .process_seq = cpu + 1 },
		events, n);
}

static void add_tables(struct kernel_image *im)
{
	static const struct {
		uint32_t number;
		enum vp_source source;
		uint64_t flags, speed;
		const char *name;
	} devices[] = { { DISK, VP_SOURCE_BLOCK, 0, 0, "sda" },
			{ ETH, VP_SOURCE_NET, 0, 8000000000, "eth0" },
			{ LO, VP_SOURCE_NET, VP_DEVICE_LOOPBACK, 0, "lo" } };
	static const char *const names[] = { "accept", "worker", "flush" };
	struct vp_unit units[32] = { { 0, 0 } };
	size_t n = 0;

	for (size_t i = 0; i < 3; i++) {
		uint64_t payload = strlen(devices[i].name) | (uint64_t)devices[i].source << 8 | devices[i].flags << 12;

		units[n++] = (struct vp_unit){ devices[i].number, VP_W(VP_KIND_KERNEL_DEVICE, payload) };
		units[n++] = (struct vp_unit){ devices[i].speed, 0 };
		memcpy(&units[n++], devices[i].name, strlen(devices[i].name));
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct vprof_kernel_event e = { .kind = VP_KIND_KERNEL_TASK,
						.t = 1,
						.task = { .tid = A + i, .pid = A } };

		strcpy(e.task.comm, names[i]);
		n += vprof_kernel_event_encode(&e, units + n);
	}
	kernel_image_chunk(im, (struct vp_chunk_header){ .thread_seq = VP_THREAD_KERNEL_TABLE, .process_seq = 1 },
			   units, n);
}

static struct vprof_trace *open_image(struct kernel_image *im)
{
	return kernel_image_open(im, (struct vp_file_header){ .end_ticks = 1000000, .kernel_scope = VP_KERNEL_ALL });
}

static void read_input(struct vprof_waits_input *in, struct vprof_trace **trace, struct kernel_image *im)
{
	struct vprof_error err = { "" };

	*trace = open_image(im);
	if (vprof_waits_input_kernel(in, *trace, 0, &err))
		fail_msg("%s", err.message);
	if (vprof_waits_history_check(&in->history, &err))
		fail_msg("%s", err.message);
}

static const struct vprof_waits_entity *entity(const struct vprof_waits_input *in, const char *name)
{
	for (size_t i = 0; i < in->history.entities.n; i++)
		if (!strcmp(in->history.entities.v[i].name, name))
			return &in->history.entities.v[i];
	fail_msg("no %s", name);
	return NULL;
}

static void expect(const struct vprof_waits_input *in, const char *name, size_t i, uint64_t from, uint64_t to,
		   int state, const char *waker)
{
	expect_segment(&in->history, entity(in, name), i, from, to, state, waker);
}

#define SWITCH(t, prev, state, next)                                                                                   \
	{ VP_KIND_KERNEL_SWITCH, 0, t, .sched = { prev, next, VP_TASK_STATE_##state, 0, 0 } }
#define WAKING(t, wakee, current, context, source, id)                                                                 \
	{ VP_KIND_KERNEL_WAKING, 0, t,                                                                                 \
	  .waking = { wakee, current, VP_CONTEXT_##context, VP_SOURCE_##source, id, 0, 0 } }

static void test_segments(void **state)
{
	static const struct vprof_kernel_event cpu0[] = {
		SWITCH(10, A, SLEEPING, 0),	 /* A ran since the begin: unknown before */
		WAKING(20, A, B, TASK, NONE, 0), /* on B's CPU in truth; the order counts */
		SWITCH(22, 0, RUNNABLE, A),	 SWITCH(30, A, PREEMPTED, C), /* C was runnable since the begin */
		SWITCH(40, C, DISK, A),		 WAKING(50, C, A, BLOCK, BLOCK, DISK),
		SWITCH(60, A, SLEEPING, C),	 WAKING(70, A, C, NET_RX, NET, LO), /* loopback: C sent it */
		SWITCH(80, C, DEAD, A),
	};
	static const struct vprof_kernel_event cpu1[] = {
		{ VP_KIND_KERNEL_LOST, 1, 5, .n_lost = 3 },
		SWITCH(15, 0, RUNNABLE, B),
		SWITCH(25, B, SLEEPING, 0),
		WAKING(35, B, 0, HRTIMER, TIMER, 0),
		SWITCH(36, 0, RUNNABLE, B),
		SWITCH(45, B, SLEEPING, 0),
		SWITCH(55, 0, RUNNABLE, B), /* nobody woke it: lost */
		SWITCH(65, B, SLEEPING, 0),
		WAKING(75, B, 0, NET_RX, NET, ETH),
		SWITCH(90, 0, RUNNABLE, B),
	};
	struct vprof_waits_input in;
	struct vprof_trace *trace;
	struct kernel_image im = { .n_chunks = 0 };

	(void)state;
	add_tables(&im);
	add_events(&im, 0, cpu0, sizeof cpu0 / sizeof *cpu0);
	add_events(&im, 1, cpu1, sizeof cpu1 / sizeof *cpu1);
	read_input(&in, &trace, &im);
	assert_int_equal(in.n_lost, 3);
	assert_int_equal(in.n_assumed, 1);
	assert_int_equal(in.history.n_cpus, 2);
	expect(&in, "accept", 0, 5, 10, VPROF_WAITS_RUNNING, NULL);
	expect(&in, "accept", 1, 10, 20, VPROF_WAITS_BLOCKED, "worker");
	expect(&in, "accept", 2, 20, 22, VPROF_WAITS_RUNNABLE, NULL);
	expect(&in, "accept", 3, 22, 30, VPROF_WAITS_RUNNING, NULL);
	expect(&in, "accept", 4, 30, 40, VPROF_WAITS_RUNNABLE, NULL);
	expect(&in, "accept", 5, 40, 60, VPROF_WAITS_RUNNING, NULL);
	expect(&in, "accept", 6, 60, 70, VPROF_WAITS_BLOCKED, "flush");
	expect(&in, "accept", 7, 70, 80, VPROF_WAITS_RUNNABLE, NULL);
	expect(&in, "accept", 8, 80, 90, VPROF_WAITS_RUNNING, NULL);
	expect(&in, "flush", 0, 5, 30, VPROF_WAITS_RUNNABLE, NULL);
	expect(&in, "flush", 2, 40, 50, VPROF_WAITS_BLOCKED, "disk sda");
	assert_int_equal(entity(&in, "flush")->ended, 79);
	expect(&in, "worker", 2, 25, 35, VPROF_WAITS_BLOCKED, "timer");
	expect(&in, "worker", 5, 45, 55, VPROF_WAITS_BLOCKED, NULL);
	expect(&in, "worker", 7, 65, 75, VPROF_WAITS_BLOCKED, "network eth0");
	assert_true(entity(&in, "network eth0")->bytes_per_s == 1e9);
	vprof_waits_input_release(&in);
	vprof_trace_free(trace);
}

/* Requests of which the trace has only one end took as long as the others. The completion of an empty request that was
 * never issued is no request: its flush is one of its own. */
static void test_requests_seen_in_part(void **state)
{
	static const struct {
		uint64_t t;
		enum vp_kind kind;
		uint64_t number, bytes, before;
	} acts[] = {
		{ 10, VP_KIND_KERNEL_BLOCK_ISSUE, 1, 4096, 0 },	    { 15, VP_KIND_KERNEL_BLOCK_COMPLETE, 1, 4096, 10 },
		{ 20, VP_KIND_KERNEL_BLOCK_ISSUE, 2, 4096, 0 },	    { 24, VP_KIND_KERNEL_BLOCK_COMPLETE, 2, 4096, 20 },
		{ 30, VP_KIND_KERNEL_BLOCK_COMPLETE, 0, 0, 0 },	    { 40, VP_KIND_KERNEL_BLOCK_ISSUE, 3, 4096, 0 },
		{ 60, VP_KIND_KERNEL_BLOCK_COMPLETE, 0, 4096, 0 },  { 70, VP_KIND_KERNEL_BLOCK_ISSUE, 4, 4096, 0 },
		{ 75, VP_KIND_KERNEL_BLOCK_COMPLETE, 4, 4096, 70 }, { 96, VP_KIND_KERNEL_BLOCK_ISSUE, 5, 4096, 0 },
	};
	static const uint64_t expected[][2] = {
		{ 10, 15 }, { 20, 24 }, { 55, 60 }, { 70, 75 }, { 40, 45 }, { 96, 100 }
	};
	struct vprof_kernel_event events[16] = { SWITCH(2, A, RUNNABLE, A) };
	struct kernel_image im = { .n_chunks = 0 };
	struct vprof_waits_input in;
	struct vprof_trace *trace;
	size_t n = 1;

	(void)state;
	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
		events[n++] = (struct vprof_kernel_event){ acts[i].kind, 0, acts[i].t,
							   .block = { DISK, 1, 8, acts[i].number,
								      (uint32_t)acts[i].bytes, A, 0, acts[i].before } };
	events[n++] = (struct vprof_kernel_event)SWITCH(100, A, SLEEPING, 0);
	add_tables(&im);
	add_events(&im, 0, events, n);
	read_input(&in, &trace, &im);
	assert_int_equal(in.history.requests.n, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(in.history.requests.v[i].issue, expected[i][0] - 1); /* ns since the first tick */
		assert_int_equal(in.history.requests.v[i].complete, expected[i][1] - 1);
	}
	vprof_waits_input_release(&in);
	vprof_trace_free(trace);
}

/* Figure 1: B syncs for 5 of 10, ten times. */
static void test_b_and_disk(void **state)
{
	struct vprof_kernel_event cpu0[64] = { SWITCH(2, A, RUNNABLE, A) }, cpu1[128] = { SWITCH(2, B, RUNNABLE, B) };
	struct vprof_waits_options options = vprof_waits_defaults();
	struct kernel_image im = { .n_chunks = 0 };
	struct vprof_error err = { "" };
	struct vprof_waits_input in;
	struct vprof_trace *trace;
	struct vprof_waits waits;
	size_t n0 = 1, n1 = 1;

	(void)state;
	for (uint64_t t = 2; t < 102; t += 10) {
		const struct vprof_kernel_event issue = { VP_KIND_KERNEL_BLOCK_ISSUE, 1, t + 5,
							  .block = { DISK, 1, t, 77, 4096, B, 0, 0 } };
		const struct vprof_kernel_event complete = { VP_KIND_KERNEL_BLOCK_COMPLETE, 1, t + 10,
							     .block = { DISK, 1, t, 77, 4096, 0, 0, t + 5 } };
		const struct vprof_kernel_event a[] = { SWITCH(t + 2, A, SLEEPING, 0), SWITCH(t + 10, 0, RUNNABLE, A) };
		const struct vprof_kernel_event b[] = { issue,
							SWITCH(t + 5, B, DISK, 0),
							complete,
							WAKING(t + 10, B, 0, BLOCK, BLOCK, DISK),
							SWITCH(t + 10, 0, RUNNABLE, B),
							WAKING(t + 10, A, B, TASK, NONE, 0) };

		memcpy(cpu0 + n0, a, sizeof a);
		memcpy(cpu1 + n1, b, sizeof b);
		n0 += 2;
		n1 += 6;
	}
	add_tables(&im);
	add_events(&im, 1, cpu0, n0); /* the waking CPU first, at the same time */
	add_events(&im, 0, cpu1, n1);
	read_input(&in, &trace, &im);
	if (vprof_waits_analyze(&waits, &in.history, &options, &err))
		fail_msg("%s", err.message);
	assert_int_equal(waits.knots.knots.n, 1);
	assert_int_equal(waits.knots.knots.v[0].end, VPROF_WAITS_CYCLE);
	assert_int_equal(waits.knots.knots.v[0].n_vertices, 2);
	for (size_t i = 0; i < waits.graph.edges.n; i++) {
		const struct vprof_waits_edge *e = &waits.graph.edges.v[i];
		uint8_t kind = waits.graph.vertices.v[e->to].kind;

		assert_int_equal(e->weight_ns, kind == VPROF_WAITS_DISK ? 100 : e->is_idle ? 50 : 80);
	}
	vprof_waits_release(&waits);
	vprof_waits_input_release(&in);
	vprof_trace_free(trace);
}

/* Whatever the events are, the history is one that passes its check. */
static void test_random(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct vprof_kernel_event events[2][40] = { { { 0 } } };
		struct kernel_image im = { .n_chunks = 0 };
		struct vprof_waits_options options = vprof_waits_defaults();
		struct vprof_error err = { "" };
		struct vprof_waits_input in;
		struct vprof_trace *trace;
		struct vprof_waits waits;

		for (size_t i = 0; i < 80; i++) {
			uint32_t r[8];
			struct vprof_kernel_event *e = &events[i % 2][i / 2];

			for (int k = 0; k < 8; k++) {
				seed = seed * UINT64_C(6364136223846793005) + 1;
				r[k] = (uint32_t)(seed >> 40);
			}
			e->kind = (enum vp_kind)(VP_KIND_KERNEL_SWITCH + r[0] % 12);
			e->t = 2 + i * 3 + r[1] % 8;
			e->cpu = (uint32_t)(i % 2);
			if (e->kind == VP_KIND_KERNEL_SWITCH) {
				e->sched.prev_tid = r[2] % 5;
				e->sched.next_tid = r[3] % 5;
				e->sched.state = (enum vp_task_state)(r[4] % VP_TASK_STATE_COUNT);
				e->sched.user_stack = r[5] % 3;
			} else if (e->kind == VP_KIND_KERNEL_WAKING) {
				e->waking.wakee_tid = r[2] % 5;
				e->waking.current_tid = r[3] % 5;
				e->waking.context = (enum vp_context)(r[4] % VP_CONTEXT_COUNT);
				e->waking.source = (enum vp_source)(r[5] % VP_SOURCE_COUNT);
				e->waking.source_id = r[6] % 3;
			} else if (e->kind <= VP_KIND_KERNEL_TASK) {
				e->task.tid = r[2] % 5;
				e->task.by_tid = r[3] % 5;
			} else if (e->kind <= VP_KIND_KERNEL_BLOCK_COMPLETE) {
				e->block.device = r[2] % 2;
				e->block.request = r[3] % 3;
				e->block.bytes = r[4] % 3 * 512;
				e->block.tid = r[5] % 5;
			} else {
				e->net.interface = r[2] % 3;
				e->net.current_tid = r[3] % 5;
				e->net.bytes = r[4] % 1500;
			}
		}
		add_tables(&im);
		add_events(&im, 0, events[0], 40);
		add_events(&im, 1, events[1], 40);
		read_input(&in, &trace, &im);
		assert_int_equal(vprof_waits_analyze(&waits, &in.history, &options, &err), 0);
		vprof_waits_release(&waits);
		vprof_waits_input_release(&in);
		vprof_trace_free(trace);
	}
}

/* A thread of the session is told of once more as one of no session where it wakes its parent while its process ends.
 */
static void test_told_again(void **state)
{
	struct vprof_kernel_event made = { .kind = VP_KIND_KERNEL_FORK,
					   .t = 10,
					   .task = { .tid = A, .pid = A, .comm = "worker" } };
	struct vprof_kernel_event again = { .kind = VP_KIND_KERNEL_TASK, .t = 40, .task = made.task };
	const struct vprof_kernel_event events[] = { made, SWITCH(20, 0, RUNNABLE, A), again, SWITCH(50, A, DEAD, 0) };
	struct kernel_image im = { .n_chunks = 0 };
	struct vprof_error err = { "" };
	struct vprof_waits_input in;
	struct vprof_trace *trace;

	(void)state;
	add_events(&im, 0, events, sizeof events / sizeof *events);
	trace = kernel_image_open(&im, (struct vp_file_header){ .end_ticks = 100, .kernel_scope = VP_KERNEL_TREE });
	if (vprof_waits_input_kernel(&in, trace, 0, &err))
		fail_msg("%s", err.message);
	assert_false(entity(&in, "worker")->is_foreign);
	vprof_waits_input_release(&in);
	vprof_trace_free(trace);
}

/* Behind the end of the window that says so, wake-ups were recorded in windows only. */
static void test_wakes_left(void **state)
{
	static const struct vprof_kernel_event cpu0[] = {
		SWITCH(10, A, SLEEPING, 0), WAKING(20, A, B, TASK, NONE, 0), SWITCH(22, 0, RUNNABLE, A),
		SWITCH(30, A, SLEEPING, 0), SWITCH(60, 0, RUNNABLE, A), /* in the rest, which is not read */
	};
	const struct vp_unit windows[] = {
		{ 5, VP_W(VP_KIND_KERNEL_WINDOW, 0) },
		{ 12, 0 },
		{ 40, VP_W(VP_KIND_KERNEL_WINDOW, VP_WINDOW_WAKES_LEFT) },
		{ 40, 0 },
		{ 70, VP_W(VP_KIND_KERNEL_WINDOW, 0) },
		{ 80, 0 },
	};
	struct vprof_waits_input in;
	struct vprof_trace *trace;
	struct kernel_image im = { .n_chunks = 0 };

	(void)state;
	add_tables(&im);
	kernel_image_chunk(&im, (struct vp_chunk_header){ .thread_seq = VP_THREAD_KERNEL_TABLE, .process_seq = 1 },
			   windows, sizeof windows / sizeof *windows);
	add_events(&im, 0, cpu0, sizeof cpu0 / sizeof *cpu0);
	read_input(&in, &trace, &im);
	assert_int_equal(in.tables.wakes_until, 40);
	assert_int_equal(in.tables.windows.n, 2);
	assert_int_equal(in.n_events, 4);
	assert_int_equal(in.n_assumed, 0);
	assert_non_null(strstr(in.missing, "wake-ups after the first"));
	vprof_waits_input_release(&in);
	vprof_trace_free(trace);
}

static void test_none(void **state)
{
	struct kernel_image im = { .n_chunks = 0 };
	struct vprof_error err = { "" };
	struct vprof_waits_input in;
	struct vprof_trace *trace;

	(void)state;
	trace = open_image(&im);
	assert_int_equal(vprof_waits_input_kernel(&in, trace, 0, &err), VPROF_ERR_INPUT);
	vprof_waits_input_release(&in);
	vprof_trace_free(trace);
}

/* Two processes that run one program at different addresses, a third one that runs another, and an address in no file.
 */
static void test_same_stacks(void **state)
{
	struct vprof_kernel_module program = { 0x1000, 0x2000, 0x1000, "/bin/server", { 7 }, 20 }, moved = program,
				   rebuilt = program;
	struct vprof_kernel_process processes[] = { { .pid = 1 }, { .pid = 2 }, { .pid = 3 } };
	uint64_t addresses[] = { 0x1010, 0x1020, 0x5010, 0x5020, 0x1010, 0x1020, 0x9000, 0x9000, 0x1010, 0x1020 };
	struct vprof_kernel_stack stacks[] = { { 1, 0, 2, 0, 0 }, { 2, 1, 2, 0, 2 }, { 3, 2, 2, 0, 4 },
					       { 4, 0, 1, 0, 6 }, { 5, 1, 1, 0, 7 }, { 6, VPROF_NONE, 2, 0, 8 } };
	static const uint32_t expected[] = { 0, 0, 2, 3, 4, 5 };
	struct vprof_kernel_tables tables = { 0 };
	uint32_t same[6];

	(void)state;
	moved.start = moved.bias = 0x5000;
	moved.end = 0x6000;
	rebuilt.build_id[0] = 8;
	for (int i = 0; i < 3; i++)
		processes[i].modules.n = 1;
	processes[0].modules.v = &program;
	processes[1].modules.v = &moved;
	processes[2].modules.v = &rebuilt;
	tables.processes.v = processes;
	tables.processes.n = 3;
	tables.stacks.v = stacks;
	tables.stacks.n = 6;
	tables.addresses.v = addresses;
	tables.addresses.n = sizeof addresses / sizeof *addresses;
	assert_int_equal(vprof_stacks_find_same(same, &tables), 0);
	assert_memory_equal(same, expected, sizeof same);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),   cmocka_unit_test(test_requests_seen_in_part),
		cmocka_unit_test(test_b_and_disk), cmocka_unit_test(test_random),
		cmocka_unit_test(test_wakes_left), cmocka_unit_test(test_told_again),
		cmocka_unit_test(test_none),	   cmocka_unit_test(test_same_stacks),
	};

	return cmocka_run_group_tests(tests, kernel_image_setup, kernel_image_teardown);
}
