/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the recorder says of programs whose every switch, wake-up, fork and name is known: they count these by their own
 * means. Each program is a child of this test, which is its recorder, too.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#ifdef VPROF_TEST_LIBBPF
#include <bpf/bpf.h>
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/recorder/recorded.h"
#include "recorder/requirements.h"
#include "trace/clock.h"

#define BEGIN "t:begin"
#define END "t:end"

/* What a program tells of itself; shared with the test. */
static struct told {
	uint32_t tids[8];
	uint64_t n[8];
	struct {
		struct rusage outer, inner;
	} at_begin[2], at_end[2]; /* of two threads */
	uint64_t t0, t1;
	uint32_t other; /* process of record_whole */
} *told;

/* Records it again while the kernel kept something to itself; `other`: another process, not recorded, or NULL. */
#define ATTEMPTS 30
static void record_whole(struct recorded *r, int (*program)(void), int how, int (*other)(void))
{
	for (int i = 0; i < ATTEMPTS; i++) {
		pid_t pid = -1;
		int status = 0;

		memset(told, 0, sizeof *told);
		if (other) {
			pid = fork();
			if (!pid)
				_exit(other());
		}
		record(r, program, how, 0);
		if (other && (waitpid(pid, &status, 0) != pid || status))
			fail_msg("the other process: %d", status);
		told->other = (uint32_t)pid;
		if (is_whole(r))
			return;
		print_message("again: the kernel kept events to itself\n");
		release(r);
	}
	fail_msg("no kernel keeps events of so short a program to itself %d times in a row: the recorder lacks them",
		 ATTEMPTS);
}

static void mark(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static void begin(int thread)
{
	told->tids[thread] = (uint32_t)gettid();
	getrusage(RUSAGE_THREAD, &told->at_begin[thread].outer);
	mark(BEGIN);
	getrusage(RUSAGE_THREAD, &told->at_begin[thread].inner);
}

static void end(int thread)
{
	getrusage(RUSAGE_THREAD, &told->at_end[thread].inner);
	mark(END);
	getrusage(RUSAGE_THREAD, &told->at_end[thread].outer);
}

/* Two threads wake each other in turns, each only when the other sleeps. */
#define ROUNDS 300
static int pipes[2][2];
static pthread_barrier_t both;

static void *answer(void *unused)
{
	char c;

	begin(1);
	pthread_barrier_wait(&both);
	mark("t:play");
	for (int i = 0; i < ROUNDS; i++) {
		if (read(pipes[0][0], &c, 1) != 1)
			abort();
		wait_until_asleep((uint32_t)getpid(), told->tids[0]);
		if (write(pipes[1][1], &c, 1) != 1)
			abort();
	}
	end(1);
	return unused;
}

static int play_ping_pong(void)
{
	pthread_t thread;
	char c = 'x';

	if (pipe(pipes[0]) || pipe(pipes[1]) || pthread_barrier_init(&both, NULL, 2))
		return 1;
	begin(0);
	if (pthread_create(&thread, NULL, answer, NULL))
		return 1;
	pthread_barrier_wait(&both);
	mark("t:play");
	for (int i = 0; i < ROUNDS; i++) {
		wait_until_asleep((uint32_t)getpid(), told->tids[1]);
		if (write(pipes[0][1], &c, 1) != 1 || read(pipes[1][0], &c, 1) != 1)
			return 1;
	}
	end(0);
	pthread_join(thread, NULL);
	return 0;
}

static void test_wakers(void **state)
{
	struct recorded r;
	uint64_t n[2] = { 0 };
	int plays[2] = { 0 };

	(void)state;
	record_whole(&r, play_ping_pong, 0, NULL);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		for (int k = 0; k < 2; k++) {
			if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == told->tids[k])
				plays[k] = !strcmp(e->task.comm, "t:play");
			if (e->kind != VP_KIND_KERNEL_WAKING || e->waking.wakee_tid != told->tids[k] || !plays[0] ||
			    !plays[1])
				continue;
			assert_int_equal(e->waking.context, VP_CONTEXT_TASK);
			assert_int_equal(e->waking.current_tid, told->tids[!k]);
			n[k]++;
		}
	}
	assert_int_equal(r.header.n_kernel_lost, 0);
	/* The last answer may come after the asker's own end. */
	assert_in_range(n[0], ROUNDS - 1, ROUNDS);
	assert_in_range(n[1], ROUNDS - 1, ROUNDS);
	release(&r);
}

struct switches {
	uint64_t voluntary, involuntary;
};

static struct switches rusage_between(const struct rusage *a, const struct rusage *b)
{
	return (struct switches){ (uint64_t)(b->ru_nvcsw - a->ru_nvcsw), (uint64_t)(b->ru_nivcsw - a->ru_nivcsw) };
}

static struct switches count_switches(const struct recorded *r, uint32_t tid)
{
	struct switches n = { 0, 0 };
	int inside = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct vprof_kernel_event *e = &r->events[i];

		if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == tid)
			inside = strcmp(e->task.comm, BEGIN) ? inside && strcmp(e->task.comm, END) : 1;
		if (!inside || e->kind != VP_KIND_KERNEL_SWITCH || e->sched.prev_tid != tid)
			continue;
		if (e->sched.state == VP_TASK_STATE_RUNNABLE || e->sched.state == VP_TASK_STATE_PREEMPTED)
			n.involuntary++;
		else
			n.voluntary++;
	}
	return n;
}

/* The kernel's own counters, read on both sides of the marks, enclose what was recorded between these. */
static void test_every_switch(void **state)
{
	struct recorded r;

	(void)state;
	record_whole(&r, play_ping_pong, 0, NULL);
	for (int k = 0; k < 2; k++) {
		struct switches n = count_switches(&r, told->tids[k]),
				least = rusage_between(&told->at_begin[k].inner, &told->at_end[k].inner),
				most = rusage_between(&told->at_begin[k].outer, &told->at_end[k].outer);

		print_message("thread %d: %llu voluntary and %llu involuntary switches\n", k,
			      (unsigned long long)n.voluntary, (unsigned long long)n.involuntary);
		assert_in_range(n.voluntary, least.voluntary, most.voluntary);
		assert_in_range(n.involuntary, least.involuntary, most.involuntary);
	}
	release(&r);
}

/* A thread, a child that executes another program, and its child. */
static void *be_named(void *unused)
{
	told->tids[1] = (uint32_t)gettid();
	return unused;
}

static int make_family(void)
{
	pthread_t thread;
	int status;
	pid_t child;

	told->tids[0] = (uint32_t)getpid();
	if (pthread_create(&thread, NULL, be_named, NULL) || pthread_join(thread, NULL))
		return 1;
	child = fork();
	if (!child) {
		pid_t grandchild = fork();

		if (!grandchild) {
			told->tids[3] = (uint32_t)getpid();
			raise(SIGKILL);
		}
		waitpid(grandchild, NULL, 0);
		execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(1);
	}
	told->tids[2] = (uint32_t)child;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static const struct vprof_kernel_event *find(const struct recorded *r, enum vp_kind kind, uint32_t tid)
{
	const struct vprof_kernel_event *found = NULL;

	for (size_t i = 0; i < r->n; i++)
		if (r->events[i].kind == kind && r->events[i].task.tid == tid) {
			assert_null(found);
			found = &r->events[i];
		}
	assert_non_null(found);
	return found;
}

static void test_family(void **state)
{
	const struct vprof_kernel_event *e;
	struct recorded r;

	(void)state;
	record_whole(&r, make_family, 0, NULL);
	assert_int_equal(WEXITSTATUS(r.status), 5);
	e = find(&r, VP_KIND_KERNEL_FORK, told->tids[1]);
	assert_int_equal(e->task.pid, told->tids[0]);
	assert_int_equal(e->task.by_tid, told->tids[0]);
	e = find(&r, VP_KIND_KERNEL_FORK, told->tids[2]);
	assert_int_equal(e->task.pid, told->tids[2]);
	assert_int_equal(e->task.parent_pid, told->tids[0]);
	e = find(&r, VP_KIND_KERNEL_FORK, told->tids[3]);
	assert_int_equal(e->task.parent_pid, told->tids[2]);
	e = find(&r, VP_KIND_KERNEL_EXEC, told->tids[2]);
	assert_string_equal(e->task.comm, "sh");
	e = find(&r, VP_KIND_KERNEL_EXIT, told->tids[1]);
	assert_false(e->task.is_last);
	e = find(&r, VP_KIND_KERNEL_EXIT, told->tids[2]);
	assert_true(e->task.is_last);
	assert_int_equal(WEXITSTATUS(e->task.exit_code), 5);
	e = find(&r, VP_KIND_KERNEL_EXIT, told->tids[3]);
	assert_int_equal(WTERMSIG(e->task.exit_code), SIGKILL);
	e = find(&r, VP_KIND_KERNEL_EXIT, told->tids[0]);
	assert_true(e->task.is_last);
	release(&r);
}

/* Each of these is one event. Nobody empties the rings meanwhile. */
#define NAMES 50000
static int take_names(void)
{
	for (int i = 0; i < NAMES; i++)
		mark("t:name");
	return 0;
}

static void test_lost(void **state)
{
	struct recorded r;
	uint64_t n_names = 0, n_told = 0, n_switches;

	(void)state;
	record(&r, take_names, RECORD_WITHOUT_DRAIN, 4096);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		n_names += e->kind == VP_KIND_KERNEL_TASK && !strcmp(e->task.comm, "t:name");
		n_told += e->kind == VP_KIND_KERNEL_LOST ? e->n_lost : 0;
	}
	print_message("%llu of %d recorded, %llu lost\n", (unsigned long long)n_names, NAMES,
		      (unsigned long long)n_told);
	assert_in_range(n_names, 1, NAMES / 100);
	assert_int_equal(n_told, r.header.n_kernel_lost);
	/* What else can be lost: two switches for each time it was off its CPU, its end and its recorder's waking it.
	 */
	n_switches = 2 * (uint64_t)(r.usage.ru_nvcsw + r.usage.ru_nivcsw);
	assert_in_range(n_told, NAMES - n_names, NAMES - n_names + n_switches + 20);
	release(&r);
}

/* A process that nobody named wakes the program: from then on it is recorded. */
static int elsewhere[2], back[2];

static int be_woken(void)
{
	char c;

	told->tids[0] = (uint32_t)getpid();
	for (int i = 0; i < 3; i++)
		if (read(elsewhere[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
			return 1;
	return 0;
}

static int wake_it(void)
{
	char c = 'x';

	mark("t:elsewhere");
	while (!__atomic_load_n(&told->tids[0], __ATOMIC_ACQUIRE))
		usleep(1000);
	for (int i = 0; i < 3; i++) {
		wait_until_asleep(told->tids[0], told->tids[0]);
		if (write(elsewhere[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			return 1;
	}
	return 0;
}

static void test_waker_elsewhere(void **state)
{
	struct recorded r;
	uint64_t n_wakings = 0, n_switches = 0;
	uint32_t waker;
	int known = 0;

	(void)state;
	assert_int_equal(pipe(elsewhere), 0);
	assert_int_equal(pipe(back), 0);
	record_whole(&r, be_woken, 0, wake_it);
	waker = told->other;
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == waker) {
			assert_string_equal(e->task.comm, "t:elsewhere");
			assert_int_equal(e->task.flags & VP_TASK_SESSION, 0);
			known++;
		}
		if (e->kind == VP_KIND_KERNEL_WAKING && e->waking.wakee_tid == told->tids[0] &&
		    e->waking.current_tid == waker && e->waking.context == VP_CONTEXT_TASK) {
			assert_int_equal(known, 1);
			n_wakings++;
		}
		n_switches += e->kind == VP_KIND_KERNEL_SWITCH && e->sched.prev_tid == waker;
	}
	assert_int_equal(known, 1);
	assert_int_equal(n_wakings, 3);
	assert_true(n_switches > 0); /* it waits for the answers */
	release(&r);
}

/* Woken by the clock, by nobody. */
static int sleep_a_little(void)
{
	told->tids[0] = (uint32_t)getpid();
	mark(BEGIN);
	for (int i = 0; i < 20; i++)
		nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
	mark(END);
	return 0;
}

static void test_timer(void **state)
{
	struct recorded r;
	int inside = 0, n = 0;

	(void)state;
	record_whole(&r, sleep_a_little, 0, NULL);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == told->tids[0])
			inside = !strcmp(e->task.comm, BEGIN);
		if (!inside || e->kind != VP_KIND_KERNEL_WAKING || e->waking.wakee_tid != told->tids[0])
			continue;
		assert_int_equal(e->waking.source, VP_SOURCE_TIMER);
		assert_true(e->waking.context == VP_CONTEXT_HARDIRQ || e->waking.context == VP_CONTEXT_HRTIMER);
		n++;
	}
	assert_int_equal(n, 20);
	release(&r);
}

/* The kernel's time of a wake-up lies between two readings of the run's clock around the call that caused it. */
static int event;

static void *wait_for_event(void *unused)
{
	uint64_t n;

	told->tids[1] = (uint32_t)gettid();
	if (read(event, &n, sizeof n) != (ssize_t)sizeof n)
		abort();
	return unused;
}

static int write_event(void)
{
	uint64_t one = 1;
	pthread_t thread;

	event = eventfd(0, 0);
	if (event < 0 || pthread_create(&thread, NULL, wait_for_event, NULL))
		return 1;
	while (!__atomic_load_n(&told->tids[1], __ATOMIC_ACQUIRE))
		usleep(1000);
	wait_until_asleep((uint32_t)getpid(), told->tids[1]);
	told->tids[0] = (uint32_t)gettid();
	told->t0 = vprof_clock_ticks(vprof_clock_choose());
	if (write(event, &one, sizeof one) != (ssize_t)sizeof one)
		return 1;
	told->t1 = vprof_clock_ticks(vprof_clock_choose());
	pthread_join(thread, NULL);
	return 0;
}

#define RATE_ERROR_NS 2500 /* docs/design/recorder.md */

static void test_clock(void **state)
{
	const struct vprof_kernel_event *waking = NULL;
	double ns_per_tick, error;
	struct recorded r;

	(void)state;
	record_whole(&r, write_event, 0, NULL);
	ns_per_tick = r.header.ns_per_tick;
	error = r.header.kernel_error_ns + RATE_ERROR_NS;
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];
		if (e->kind == VP_KIND_KERNEL_WAKING && e->waking.wakee_tid == told->tids[1] &&
		    e->waking.current_tid == told->tids[0])
			waking = e; /* the last: while they began, they may have waited for the same lock of the
				       kernel's */
	}
	assert_non_null(waking);
	print_message("%.0f ns after the first reading, %.0f ns before the second\n",
		      (double)(int64_t)(waking->t - told->t0) * ns_per_tick,
		      (double)(int64_t)(told->t1 - waking->t) * ns_per_tick);
	assert_true((double)(int64_t)(waking->t - told->t0) * ns_per_tick > -error);
	assert_true((double)(int64_t)(told->t1 - waking->t) * ns_per_tick > -error);
	release(&r);
}

/* A thread waits for its disk: each request that went there came back, and its completion woke the thread. */
static int write_to_disk(void)
{
	char name[] = "/var/tmp/vprof-disk-XXXXXX";
	int file = mkstemp(name), bad = 0;

	told->tids[0] = (uint32_t)getpid();
	if (file < 0)
		return 1;
	unlink(name);
	for (int i = 0; i < 5; i++)
		bad |= pwrite(file, name, sizeof name, i * 65536) < 0 || fsync(file);
	close(file);
	return bad;
}

static void test_disk(void **state)
{
	struct recorded r;
	uint64_t n_issued = 0, n_completed = 0, n_woken = 0;

	(void)state;
	record_whole(&r, write_to_disk, 0, NULL);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		n_woken += e->kind == VP_KIND_KERNEL_WAKING && e->waking.source == VP_SOURCE_BLOCK;
		if (e->kind != VP_KIND_KERNEL_BLOCK_ISSUE || e->block.tid != told->tids[0])
			continue;
		n_issued++;
		for (size_t k = i + 1; k < r.n; k++) {
			const struct vprof_kernel_event *c = &r.events[k];

			if (c->kind != VP_KIND_KERNEL_BLOCK_COMPLETE || c->block.request != e->block.request)
				continue;
			assert_int_equal(c->block.device, e->block.device);
			assert_int_equal(c->block.error, 0);
			n_completed++;
			break;
		}
	}
	print_message("%llu requests, %llu came back, %llu wake-ups by disks\n", (unsigned long long)n_issued,
		      (unsigned long long)n_completed, (unsigned long long)n_woken);
	if (!n_issued) {
		print_message("skipped: requests of disks: /var/tmp lies on none\n");
		release(&r);
		skip();
	}
	assert_int_equal(n_completed, n_issued);
	assert_true(n_woken > 0);
	release(&r);
}

/* Where a thread waited and where another woke it, through several functions each. */
static int calls[2];

static __attribute__((noinline)) void wait_inside(int depth)
{
	char c[64];

	if (depth) {
		wait_inside(depth - 1);
	} else if (read(calls[0], c, 1) != 1) {
		abort();
	}
	told->n[0] = (uint64_t)__builtin_return_address(0); /* in the end: of the outermost call */
}

static void *wait_for_call(void *unused)
{
	told->tids[1] = (uint32_t)gettid();
	wait_inside(4);
	return unused;
}

static __attribute__((noinline)) void wake_from_here(void)
{
	char c = 'x';

	if (write(calls[1], &c, 1) != 1)
		abort();
	told->n[1] = (uint64_t)__builtin_return_address(0);
}

static int call_it(void)
{
	pthread_t thread;

	if (pipe(calls) || pthread_create(&thread, NULL, wait_for_call, NULL))
		return 1;
	while (!__atomic_load_n(&told->tids[1], __ATOMIC_ACQUIRE))
		usleep(1000);
	wait_until_asleep((uint32_t)getpid(), told->tids[1]);
	told->tids[0] = (uint32_t)gettid();
	wake_from_here();
	pthread_join(thread, NULL);
	return 0;
}

/* Is the address one of the stack's? How many are there? */
static int has_address(const struct recorded *r, uint32_t id, uint64_t address, uint32_t *n)
{
	const struct vprof_kernel_stack *s = vprof_kernel_stack_find(&r->tables, id);
	int found = 0;

	assert_non_null(s);
	*n = s->n;
	for (uint32_t i = 0; i < s->n; i++)
		found |= r->tables.addresses.v[s->first + i] == address;
	return found;
}

static int has_kernel_function(const struct recorded *r, uint32_t id, const char *name)
{
	const struct vprof_kernel_stack *s = vprof_kernel_stack_find(&r->tables, id);
	int found = 0;

	assert_non_null(s);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct vprof_kernel_symbol *k =
			vprof_kernel_symbol_find(&r->tables, r->tables.addresses.v[s->first + i]);

		found |= k && !strcmp(k->name, name);
	}
	return found;
}

static void test_stacks(void **state)
{
	const struct vprof_kernel_event *out = NULL, *waking = NULL;
	struct recorded r;
	uint32_t n;

	(void)state;
	record_whole(&r, call_it, RECORD_STACKS, NULL);
	for (size_t i = 0; i < r.n && !waking; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind == VP_KIND_KERNEL_SWITCH && e->sched.prev_tid == told->tids[1] &&
		    e->sched.state == VP_TASK_STATE_SLEEPING)
			out = e;
		if (e->kind == VP_KIND_KERNEL_WAKING && e->waking.wakee_tid == told->tids[1] &&
		    e->waking.current_tid == told->tids[0])
			waking = e;
	}
	assert_non_null(waking);
	assert_true(has_address(&r, waking->waking.user_stack, told->n[1], &n));
	assert_true(has_kernel_function(&r, waking->waking.kernel_stack, "vfs_write"));
	/* The thread may be woken before it has left its CPU. */
	if (!out) {
		print_message("skipped: the stack of a switch: the thread was woken before it was switched out\n");
		release(&r);
		skip();
	}
	assert_true(has_address(&r, out->sched.user_stack, told->n[0], &n));
	assert_false(vprof_kernel_stack_find(&r.tables, out->sched.user_stack)->cut);
	assert_in_range(n, 6, 20); /* read, wait_inside five times, the thread's start */
	assert_true(has_kernel_function(&r, out->sched.kernel_stack, "vfs_read"));
	release(&r);
}

#ifdef VPROF_TEST_LIBBPF
static int take_nothing(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	(void)arg, (void)h, (void)units;
	return 0;
}

/* The newest map of this name. */
static int find_map(const char *name)
{
	uint32_t id = 0;
	int found = -1;

	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info = { 0 };
		uint32_t size = sizeof info;
		int fd = bpf_map_get_fd_by_id(id);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) && !strcmp(info.name, name)) {
			if (found >= 0)
				close(found);
			found = fd;
		} else if (fd >= 0) {
			close(fd);
		}
	}
	return found;
}

/* A process of which no event told the end: a recording of processes ends all the same. */
static void test_gone(void **state)
{
	struct vprof_recorder_options o = { .kinds = VP_KERNEL_SCHEDULING, .store = take_nothing };
	struct vprof_recorder *recorder = NULL;
	struct vprof_clock clock;
	struct vprof_error err = { "" };
	uint32_t one = 1, pid = (uint32_t)fork();
	pid_t child;
	int map;

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid((pid_t)pid, NULL, 0), pid);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	vprof_clock_start(&clock, vprof_clock_choose());
	o.clock = clock.kind;
	o.ns_per_tick = clock.ns_per_tick;
	if (vprof_recorder_open(&recorder, &o, &err) || vprof_recorder_add(recorder, child, &err) < 0)
		fail_msg("%s", err.message);
	map = find_map("session");
	assert_true(map >= 0);
	assert_int_equal(bpf_map_update_elem(map, &pid, &one, BPF_ANY), 0);
	close(map);
	assert_true(vprof_recorder_has_targets(recorder));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	while (vprof_recorder_has_targets(recorder)) {
		vprof_recorder_drain(recorder);
		usleep(1000);
	}
	vprof_recorder_close(recorder);
}
#endif

static int prepare(void **state)
{
	(void)state;
	memset(told, 0, sizeof *told);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, prepare)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_wakers),
		TEST(test_every_switch),
		TEST(test_family),
		TEST(test_lost),
		TEST(test_waker_elsewhere),
		TEST(test_timer),
		TEST(test_clock),
		TEST(test_disk),
		TEST(test_stacks),
#ifdef VPROF_TEST_LIBBPF
		TEST(test_gone),
#endif
	};
	struct vprof_error err = { "" };

	if (vprof_recorder_require(&err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
