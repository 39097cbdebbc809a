/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of the kernel, written by hand into a real trace, as events with stacks. One tick is one ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/syscall.h>

#include "analysis/latency/annotated_tree.h"
#include "analysis/latency/input/function_named.h"
#include "analysis/latency/input/latency_input.h"
#include "kernel_image.h"

enum { PROCESS = 100, THREAD = 101, CLIENT = 200 };
/* ids of stacks: of the process, then of the kernel */
enum { IN_READ = 1, IN_WORK, CUT, IN_VFS_READ, IN_FAULT, ELSEWHERE, IN_NANOSLEEP, DEEP, LONG, UNTABLED, GONE };

#define CODE 0x400000u
#define KERNEL UINT64_C(0xffffffff81000000)

static const uint64_t (*windows)[2]; /* begin and end */
static size_t n_windows;

static size_t put_stack(struct vp_unit *u, uint32_t id, uint32_t flags, const uint64_t *addresses, uint32_t n)
{
	memset(u, 0, (1 + (n + 1) / 2) * sizeof *u);
	u[0] = (struct vp_unit){ id, VP_W(VP_KIND_KERNEL_STACK, n | (uint64_t)flags << 8) };
	memcpy(u + 1, addresses, n * sizeof *addresses);
	return 1 + (n + 1) / 2;
}

static size_t put_symbol(struct vp_unit *u, uint64_t address, const char *name)
{
	size_t n = strlen(name);

	memset(u, 0, (2 + (n + 15) / 16) * sizeof *u);
	u[0] = (struct vp_unit){ address, VP_W(VP_KIND_KERNEL_SYMBOL, n) };
	u[1].t = address;
	memcpy(u + 2, name, n);
	return 2 + (n + 15) / 16;
}

/* The kernel's functions are at KERNEL + 16 i. */
static const char *const kernel_functions[] = { "entry_SYSCALL_64_after_hwframe",
						"do_syscall_64",
						"__x64_sys_read",
						"vfs_read",
						"schedule",
						"asm_exc_page_fault",
						"exc_page_fault",
						"handle_mm_fault",
						"__x64_sys_nanosleep",
						"hrtimer_nanosleep" };
enum { ENTRY, DO_CALL, SYS_READ, VFS_READ, SCHEDULE, ASM_FAULT, FAULT, MM_FAULT, SYS_NANOSLEEP, HRTIMER };
#define AT(function) (KERNEL + 16 * (function))

static void add_machine(struct kernel_image *im)
{
	static const uint64_t vfs_read[] = { AT(SCHEDULE), AT(VFS_READ), AT(SYS_READ), AT(DO_CALL), AT(ENTRY) };
	static const uint64_t fault[] = { AT(SCHEDULE), AT(MM_FAULT), AT(FAULT), AT(ASM_FAULT) };
	static const uint64_t nanosleep[] = { AT(SCHEDULE), AT(HRTIMER), AT(SYS_NANOSLEEP), AT(DO_CALL), AT(ENTRY) };
	struct vp_unit u[128];
	struct vprof_kernel_event task = { .kind = VP_KIND_KERNEL_TASK,
					   .t = 1,
					   .task = { .tid = THREAD, .pid = PROCESS, .flags = VP_TASK_SESSION } };
	size_t n = 0;

	strcpy(task.task.comm, "server");
	n += vprof_kernel_event_encode(&task, u + n);
	task.task.tid = task.task.pid = CLIENT;
	task.task.flags = 0;
	n += vprof_kernel_event_encode(&task, u + n);
	for (size_t i = 0; i < sizeof kernel_functions / sizeof *kernel_functions; i++)
		n += put_symbol(u + n, AT(i), kernel_functions[i]);
	n += put_stack(u + n, IN_VFS_READ, 0, vfs_read, 5);
	n += put_stack(u + n, IN_FAULT, 0, fault, 4);
	n += put_stack(u + n, IN_NANOSLEEP, 0, nanosleep, 5);
	for (size_t i = 0; i < n_windows; i++, n += 2) {
		u[n] = (struct vp_unit){ windows[i][0], VP_W(VP_KIND_KERNEL_WINDOW, 0) };
		u[n + 1] = (struct vp_unit){ windows[i][1], 0 };
	}
	assert_true(n <= 128);
	kernel_image_chunk(im, (struct vp_chunk_header){ .thread_seq = VP_THREAD_KERNEL_TABLE, .process_seq = 1 }, u,
			   n);
}

static void add_process(struct kernel_image *im)
{
	static const char path[] = "/nowhere/server";
	static const uint64_t in_read[] = { CODE + 0x10, CODE + 0x20, CODE + 0x30 };
	static const uint64_t in_work[] = { CODE + 0x40, CODE + 0x30 };
	static const uint64_t elsewhere[] = { 0x9990000, CODE + 0x30 };
	struct vp_unit u[64] = { { CODE, VP_W(VP_KIND_MODULE, sizeof path - 1) }, { CODE, CODE + 0x1000 } };
	size_t n = 3;

	memcpy(u + 2, path, sizeof path - 1);
	n += put_stack(u + n, IN_READ, 0, in_read, 3);
	n += put_stack(u + n, IN_WORK, 0, in_work, 2);
	n += put_stack(u + n, CUT, VP_STACK_CUT, in_work, 2);
	n += put_stack(u + n, DEEP, VP_STACK_CUT | VP_STACK_DEEP, in_work, 2);
	n += put_stack(u + n, LONG, VP_STACK_CUT | VP_STACK_LONG, in_work, 2);
	n += put_stack(u + n, UNTABLED, VP_STACK_CUT | VP_STACK_UNTABLED, in_work, 2);
	n += put_stack(u + n, GONE, VP_STACK_CUT | VP_STACK_GONE, in_work, 2);
	n += put_stack(u + n, ELSEWHERE, 0, elsewhere, 2);
	kernel_image_chunk(
		im, (struct vp_chunk_header){ .thread_seq = VP_THREAD_KERNEL_TABLE, .pid = PROCESS, .process_seq = 2 },
		u, n);
}

static void read_events(struct vprof_latency_input *in, const struct vprof_kernel_event *events, size_t n,
			uint32_t kinds)
{
	struct kernel_image im = { .n_chunks = 0 };
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	add_machine(&im);
	add_process(&im);
	kernel_image_events(&im, (struct vp_chunk_header){ .thread_seq = VP_THREAD_KERNEL, .process_seq = 1 }, events,
			    n);
	t = kernel_image_open(
		&im,
		(struct vp_file_header){ .end_ticks = 100000, .kernel_scope = VP_KERNEL_TREE, .kernel_kinds = kinds });
	if (vprof_latency_input_read(in, t, &err))
		fail_msg("%s", err.message);
	vprof_trace_free(t);
}

#define ALL (VP_KERNEL_SCHEDULING | VP_KERNEL_STACKS | VP_KERNEL_CALLS | VP_KERNEL_FAULTS | VP_KERNEL_TIMER)
#define OUT(t, state, kernel, user)                                                                                    \
	{                                                                                                              \
		VP_KIND_KERNEL_SWITCH, 0, t, .sched = { THREAD, 0, VP_TASK_STATE_##state, kernel, user }               \
	}
#define IN(t) { VP_KIND_KERNEL_SWITCH, 0, t, .sched = { 0, THREAD, VP_TASK_STATE_RUNNABLE, 0, 0 } }
#define CALL(from, to, number_, user)                                                                                  \
	{                                                                                                              \
		VP_KIND_KERNEL_CALL, 0, to, .call = { THREAD, number_, from, user }                                    \
	}
#define TIMER(t, user)                                                                                                 \
	{                                                                                                              \
		VP_KIND_KERNEL_TIMER, 0, t, .sample = {.tid = THREAD, .user_stack = user }                             \
	}

/* Times of events count from the trace's start, 1. The kernel's functions stand behind "|". */
static void expect(const struct vprof_latency_input *in, size_t number, uint64_t t, uint32_t flags, const char *frames)
{
	const struct vprof_latency_history *h = &in->history;
	const struct vprof_latency_event *e = &h->events.v[number];
	const struct vprof_latency_stack *s;
	char text[512] = "";

	assert_true(number < h->events.n);
	s = &h->stacks.v[e->stack];
	for (uint32_t i = 0; i < s->n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s", i ? " " : "",
			 i == s->n_user ? "| " : "", h->functions.v[h->frames.v[s->first + i].function].name);
	assert_int_equal(e->t, t - 1);
	assert_string_equal(text, frames);
	assert_int_equal(e->flags, flags);
}

#define USER "[server] [server] [server]"

static void test_system_call(void **state)
{
	static const struct vprof_kernel_event events[] = {
		OUT(120, SLEEPING, IN_VFS_READ, IN_READ), IN(150),
		CALL(100, 160, SYS_read, IN_READ),	  TIMER(200, IN_WORK),
		CALL(300, 310, SYS_read, IN_READ),
	};
	struct vprof_latency_input in;

	(void)state;
	read_events(&in, events, 5, ALL);
	assert_int_equal(in.history.threads.n, 1);
	assert_string_equal(in.history.threads.v[0].name, "server");
	assert_int_equal(in.history.threads.v[0].begin_is_cut, 1);
	assert_int_equal(in.history.events.n, 7);
	expect(&in, 0, 100, 0, USER " | sys_read");
	expect(&in, 1, 120, VPROF_LATENCY_HELD, USER " | sys_read vfs_read");
	expect(&in, 2, 150, VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU, USER " | sys_read vfs_read");
	expect(&in, 3, 160, VPROF_LATENCY_HELD, USER " | sys_read");
	expect(&in, 4, 200, VPROF_LATENCY_NEW_CALL | VPROF_LATENCY_TIMER, "[server] [server]");
	expect(&in, 5, 300, VPROF_LATENCY_NEW_CALL, USER " | sys_read");
	expect(&in, 6, 310, VPROF_LATENCY_HELD, USER " | sys_read");
	vprof_latency_input_release(&in);
}

/* Of the last call there is no record: it did not return. The kernel's stack tells its name. */
static void test_call_without_end(void **state)
{
	static const struct vprof_kernel_event events[] = {
		CALL(10, 20, SYS_read, IN_READ),
		OUT(120, SLEEPING, IN_NANOSLEEP, IN_WORK),
		IN(150),
		OUT(160, DISK, IN_NANOSLEEP, IN_WORK),
		IN(170),
	};
	struct vprof_latency_input in;

	(void)state;
	read_events(&in, events, 5, ALL);
	assert_int_equal(in.history.events.n, 6);
	expect(&in, 2, 120, VPROF_LATENCY_NEW_CALL, "[server] [server] | sys_nanosleep hrtimer_nanosleep");
	expect(&in, 3, 150, VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU,
	       "[server] [server] | sys_nanosleep hrtimer_nanosleep");
	expect(&in, 4, 160, VPROF_LATENCY_HELD, "[server] [server] | sys_nanosleep hrtimer_nanosleep");
	expect(&in, 5, 170, VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU | VPROF_LATENCY_DISK,
	       "[server] [server] | sys_nanosleep hrtimer_nanosleep");
	for (size_t i = 0; i < in.history.functions.n; i++)
		assert_int_equal(in.history.functions.v[i].is_idle,
				 !strcmp(in.history.functions.v[i].name, "sys_nanosleep"));
	vprof_latency_input_release(&in);
}

static void test_fault(void **state)
{
	static const struct vprof_kernel_event events[] = {
		{ VP_KIND_KERNEL_FAULT, 0, 100, .sample = { .tid = THREAD, .user_stack = IN_WORK, .address = 7 } },
		OUT(110, DISK, IN_FAULT, IN_WORK),
		IN(190),
	};
	struct vprof_latency_input in;

	(void)state;
	read_events(&in, events, 3, ALL);
	assert_int_equal(in.history.events.n, 3);
	expect(&in, 0, 100, 0, "[server] [server] | page_fault");
	expect(&in, 1, 110, VPROF_LATENCY_HELD, "[server] [server] | page_fault handle_mm_fault");
	expect(&in, 2, 190, VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU | VPROF_LATENCY_DISK,
	       "[server] [server] | page_fault handle_mm_fault");
	vprof_latency_input_release(&in);
}

/* What is not known is left out and counted. */
static void test_left_out(void **state)
{
	static const struct vprof_kernel_event events[] = {
		TIMER(10, CUT),
		TIMER(20, 77), /* no such stack */
		TIMER(22, DEEP),
		TIMER(24, LONG),
		TIMER(26, UNTABLED),
		TIMER(27, UNTABLED),
		TIMER(28, GONE),
		OUT(29, PREEMPTED, IN_VFS_READ, 0), /* the kernel's stack alone */
		IN(30),
		TIMER(30, ELSEWHERE),
		OUT(40, SLEEPING, IN_VFS_READ, IN_READ),
		{ VP_KIND_KERNEL_LOST, 0, 50, .n_lost = 3 },
		IN(60), /* from where, nobody knows */
		{ VP_KIND_KERNEL_WAKING, 0, 70, .waking = { THREAD, CLIENT, 0, 0, 0, IN_VFS_READ, IN_READ } },
	};
	struct vprof_latency_input in;

	(void)state;
	read_events(&in, events, sizeof events / sizeof *events, ALL);
	assert_int_equal(in.counts.n_cut, 6);
	assert_int_equal(in.counts.n_deep, 1);
	assert_int_equal(in.counts.n_long, 1);
	assert_int_equal(in.counts.n_untabled, 2);
	assert_int_equal(in.counts.n_gone, 1);
	assert_int_equal(in.counts.n_without, 2);
	assert_int_equal(in.counts.n_kernel_only, 1);
	assert_int_equal(in.n_unpaired, 2);
	assert_int_equal(in.n_lost, 3);
	assert_int_equal(in.history.threads.n, 1); /* the client is none of the session's */
	assert_int_equal(in.history.events.n, 2);
	expect(&in, 0, 30, VPROF_LATENCY_TIMER, "[server] [code in no file]");
	expect(&in, 1, 40, VPROF_LATENCY_NEW_CALL, USER " | sys_read vfs_read");
	vprof_latency_input_release(&in);
}

/* A thread that executes another program is another one from then on; its end is known. */
static void test_lives(void **state)
{
	static const struct vprof_kernel_event events[] = {
		{ VP_KIND_KERNEL_FORK, 0, 10, .task = { 102, 102, THREAD, PROCESS, 0, 0, 0, "server" } },
		{ VP_KIND_KERNEL_TIMER, 0, 20, .sample = { .tid = 102, .user_stack = IN_WORK } },
		{ VP_KIND_KERNEL_EXEC, 0, 30, .task = { 102, 102, 102, 0, 0, 0, 0, "other" } },
		{ VP_KIND_KERNEL_TIMER, 0, 40, .sample = { .tid = 102, .user_stack = IN_WORK } },
		{ VP_KIND_KERNEL_EXIT, 0, 50, .task = { 102, 102, 0, 0, 0, 0, 1, "" } },
		TIMER(60, IN_WORK),
	};
	struct vprof_latency_input in;
	const struct vprof_latency_thread *t;

	(void)state;
	read_events(&in, events, 6, ALL);
	assert_int_equal(in.history.threads.n, 3);
	t = in.history.threads.v;
	assert_string_equal(t[1].name, "server");
	assert_int_equal(t[1].begin, 9);
	assert_int_equal(t[1].end, 29);
	assert_int_equal(t[1].begin_is_cut + t[1].end_is_cut, 0);
	assert_string_equal(t[2].name, "other");
	assert_int_equal(t[2].begin, 29);
	assert_int_equal(t[2].end, 49);
	assert_int_equal(t[0].end_is_cut, 1);
	vprof_latency_input_release(&in);
}

/* Of what a thread did between windows nothing is known, but that it slept on where it was. */
static void test_windows(void **state)
{
	static const uint64_t three[][2] = { { 100, 200 }, { 300, 350 }, { 350, 400 }, { 500, 600 } };
	static const struct vprof_kernel_event events[] = {
		CALL(110, 120, SYS_read, IN_READ),
		OUT(180, SLEEPING, IN_VFS_READ, IN_READ),
		IN(360),
		CALL(0, 370, SYS_read, IN_READ), /* entered in the window before */
		TIMER(380, IN_WORK),		 /* it has a CPU when the window ends */
		TIMER(450, IN_WORK),
		OUT(460, SLEEPING, IN_VFS_READ, IN_READ), /* awake again before the next window */
		IN(470),
		OUT(480, SLEEPING, IN_VFS_READ, IN_READ),
		IN(520),
		CALL(0, 530, SYS_read, IN_READ),
		OUT(550, DISK, IN_VFS_READ, IN_READ),
		{ VP_KIND_KERNEL_TIMER, 0, 700, .sample = { .tid = CLIENT, .user_stack = IN_WORK } },
	};
	struct vprof_annotated_tree tree;
	struct vprof_latency_input in;
	const struct vprof_latency_thread *t;
	struct vprof_error err = { "" };

	(void)state;
	windows = three;
	n_windows = 4;
	read_events(&in, events, sizeof events / sizeof *events, ALL | VP_KERNEL_WINDOWS);
	n_windows = 0;
	assert_int_equal(in.history.windows.n, 3);
	assert_int_equal(vprof_latency_observed(&in.history, 349), 150);
	t = in.history.threads.v;
	assert_int_equal(in.history.threads.n, 2);
	assert_int_equal(t[0].n_events, 6);
	expect(&in, 2, 180, VPROF_LATENCY_NEW_CALL, USER " | sys_read vfs_read");
	expect(&in, 3, 360, VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU, USER " | sys_read vfs_read");
	expect(&in, 4, 370, VPROF_LATENCY_HELD, USER " | sys_read");
	expect(&in, 5, 380, VPROF_LATENCY_NEW_CALL | VPROF_LATENCY_TIMER, "[server] [server]");
	assert_int_equal(t[0].begin, 99);
	assert_int_equal(t[0].end, 399);
	assert_int_equal(t[0].begin_is_cut + t[0].end_is_cut, 2);
	assert_int_equal(t[1].is_continued, 1);
	assert_int_equal(t[1].n_events, 4);
	expect(&in, 6, 480, 0, USER " | sys_read vfs_read");
	expect(&in, 7, 520, VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU, USER " | sys_read vfs_read");
	expect(&in, 8, 530, VPROF_LATENCY_HELD, USER " | sys_read");
	assert_int_equal(t[1].begin, 479);
	assert_int_equal(t[1].end, 699);
	/* Sums are of what lies in windows; instances are as long as they are. */
	assert_int_equal(vprof_annotated_tree_build(&tree, &in.history, 1, &err), 0);
	assert_int_equal(tree.total_ns, 300);
	for (uint32_t i = 1; i < tree.tree.nodes.n; i++)
		if (!strcmp(vprof_annotated_function(&tree, i)->name, "vfs_read")) {
			assert_int_equal(tree.contexts[i].low_ns, (200 - 180) + (360 - 300) + (520 - 500));
			assert_int_equal(tree.contexts[i].slowest_ns, 360 - 180);
			assert_int_equal(tree.contexts[i].n, 3);
			assert_int_equal(tree.contexts[i].n_begun, 2);
		}
	vprof_annotated_tree_release(&tree);
	vprof_latency_input_release(&in);
}

/* No time is observed twice where events were lost while a thread slept. */
static void test_loss_in_window(void **state)
{
	static const uint64_t one[][2] = { { 100, 200 } };
	static const struct vprof_kernel_event events[] = {
		TIMER(120, IN_WORK),
		OUT(140, SLEEPING, IN_VFS_READ, IN_READ),
		{ VP_KIND_KERNEL_LOST, 0, 150, .n_lost = 3 },
		IN(160),
		TIMER(180, IN_WORK),
		{ VP_KIND_KERNEL_TIMER, 0, 250, .sample = { .tid = CLIENT, .user_stack = IN_WORK } },
	};
	struct vprof_annotated_tree tree;
	struct vprof_latency_input in;
	const struct vprof_latency_thread *t;
	struct vprof_error err = { "" };

	(void)state;
	windows = one;
	n_windows = 1;
	read_events(&in, events, sizeof events / sizeof *events, ALL | VP_KERNEL_WINDOWS);
	n_windows = 0;
	t = in.history.threads.v;
	assert_int_equal(in.history.threads.n, 2);
	assert_int_equal(t[0].begin, 99);
	assert_int_equal(t[0].end, 139);
	assert_int_equal(t[1].is_continued, 1);
	assert_int_equal(t[1].begin, 139);
	assert_int_equal(t[1].end, 199);
	assert_int_equal(vprof_annotated_tree_build(&tree, &in.history, 1, &err), 0);
	assert_int_equal(tree.total_ns, 100);
	vprof_annotated_tree_release(&tree);
	vprof_latency_input_release(&in);
}

/* The kernel leaves out a switch now and then: that the thread slept meanwhile is possible, not known. */
static void test_missing_switches(void **state)
{
	static const struct vprof_kernel_event events[] = {
		OUT(120, SLEEPING, IN_VFS_READ, IN_READ),
		CALL(100, 160, SYS_read, IN_READ),
		IN(250),
		CALL(200, 260, SYS_read, IN_READ),
		OUT(320, DISK, IN_VFS_READ, IN_READ),
		CALL(300, 360, SYS_read, IN_READ),
		TIMER(400, IN_WORK),
	};
	struct vprof_latency_input in;

	(void)state;
	read_events(&in, events, 7, ALL);
	assert_int_equal(in.n_unpaired, 3);
	assert_int_equal(in.history.events.n, 9);
	expect(&in, 1, 120, VPROF_LATENCY_HELD, USER " | sys_read vfs_read");
	expect(&in, 2, 160, VPROF_LATENCY_HELD | VPROF_LATENCY_UNPAIRED, USER " | sys_read");
	expect(&in, 3, 200, VPROF_LATENCY_NEW_CALL, USER " | sys_read");
	expect(&in, 4, 260, VPROF_LATENCY_HELD | VPROF_LATENCY_UNPAIRED, USER " | sys_read");
	expect(&in, 5, 300, VPROF_LATENCY_NEW_CALL, USER " | sys_read");
	expect(&in, 7, 360, VPROF_LATENCY_HELD, USER " | sys_read"); /* a disk is never idle */
	expect(&in, 8, 400, VPROF_LATENCY_NEW_CALL | VPROF_LATENCY_TIMER, "[server] [server]");
	vprof_latency_input_release(&in);
}

/* ... and with windows it may have run in between. */
static void test_missing_switch_between_windows(void **state)
{
	static const uint64_t two[][2] = { { 100, 200 }, { 300, 400 } };
	static const struct vprof_kernel_event events[] = {
		OUT(180, SLEEPING, IN_VFS_READ, IN_READ), /* in at some time until 310, but in another call then */
		CALL(310, 320, SYS_read, IN_READ),
		{ VP_KIND_KERNEL_TIMER, 0, 450, .sample = { .tid = CLIENT, .user_stack = IN_WORK } },
	};
	struct vprof_latency_input in;

	(void)state;
	windows = two;
	n_windows = 2;
	read_events(&in, events, 3, ALL | VP_KERNEL_WINDOWS);
	n_windows = 0;
	assert_int_equal(in.n_unpaired, 1);
	assert_int_equal(in.history.threads.n, 2);
	assert_int_equal(in.history.threads.v[0].end, 179);
	assert_int_equal(in.history.threads.v[1].is_continued, 1);
	assert_int_equal(in.history.threads.v[1].begin, 299);
	assert_int_equal(in.history.threads.v[1].n_events, 2);
	vprof_latency_input_release(&in);
}

static void test_refuses(void **state)
{
	struct vprof_latency_input in;
	struct vprof_error err = { "" };
	struct vprof_trace trace = { .n_kernel = 0 };

	(void)state;
	assert_int_equal(vprof_latency_input_read(&in, &trace, &err), VPROF_ERR_INPUT);
	assert_non_null(strstr(err.message, "vprof record --stacks"));
	vprof_latency_input_release(&in);
}

/* The runtime's wrapper of a function is no function of the program; a name in two other files is ambiguous. */
static void test_named_wrapper(void **state)
{
	static const struct vprof_latency_function functions[] = {
		{ .name = "usleep", .file = "libvprof.so", .layer = VPROF_LATENCY_LIBRARY },
		{ .name = "usleep", .file = "libc.so.6", .layer = VPROF_LATENCY_LIBRARY },
		{ .name = "sleep", .file = "libvprof.so", .layer = VPROF_LATENCY_LIBRARY },
		{ .name = "step", .file = "server", .display = "step@a.c" },
		{ .name = "step", .file = "server", .display = "step@b.c" },
	};
	struct vprof_latency_input in = { .missing = "" };
	struct vprof_kernel_tables tables = { .devices = { NULL } };
	struct vprof_function_named named;
	struct vprof_error err = { "" };

	(void)state;
	in.frames = vprof_stack_frames_new(&in.history, &in.strings, &in.counts, &tables);
	assert_non_null(in.frames);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		*VPROF_PUSH(&in.history.functions) = functions[i];
	assert_int_equal(vprof_function_named(&named, &in, "usleep", &err), VPROF_OK);
	assert_string_equal(named.file, "libc.so.6");
	vprof_function_named_release(&named);
	assert_int_equal(vprof_function_named(&named, &in, "usleep@libvprof.so", &err), VPROF_OK);
	assert_string_equal(named.file, "libvprof.so");
	vprof_function_named_release(&named);
	assert_int_equal(vprof_function_named(&named, &in, "sleep", &err), VPROF_OK);
	assert_string_equal(named.file, "libvprof.so");
	vprof_function_named_release(&named);
	assert_int_equal(vprof_function_named(&named, &in, "step", &err), VPROF_ERR_INPUT);
	assert_string_equal(err.message, "step is ambiguous: name one of step@a.c and step@b.c");
	vprof_function_named_release(&named);
	assert_int_equal(vprof_function_named(&named, &in, "step@b.c", &err), VPROF_OK);
	assert_string_equal(named.name, "step@b.c");
	vprof_function_named_release(&named);
	vprof_latency_input_release(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_call),
		cmocka_unit_test(test_call_without_end),
		cmocka_unit_test(test_fault),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_named_wrapper),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_loss_in_window),
		cmocka_unit_test(test_missing_switches),
		cmocka_unit_test(test_missing_switch_between_windows),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, kernel_image_setup, kernel_image_teardown);
}
