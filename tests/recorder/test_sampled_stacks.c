/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events that are recorded for their stacks: a program that knows its system calls, the pages it touches, and where it
 * computes. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder/requirements.h"
#include "tests/recorder/recorded.h"

#define CALLS 300
#define PAGES 64
#define CALLERS 3
#define DEEP_BYTES 5000
#define FAR_BYTES 10000 /* with what lies beneath more than is copied of a stack that is seen the first time */
#define FAR_CALLS 1500
#define SLOW_CALLS 20
#define QUICK_CALLS 2000 /* before each slow one: more than are saved up for a burst */
#define SLOW_TICKS 30000000ull
#define RANDOM_BYTES ((32u << 20) - 1)
#define COMPUTE_NS 300000000ull /* of CPU time: three hundred periods of the timer */

static struct told {
	uint64_t pages, return_address[3], caller[CALLERS]; /* of the functions below */
} *told;

static __attribute__((noinline)) void make_calls(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	told->return_address[0] = (uint64_t)__builtin_return_address(0);
}

static __attribute__((noinline)) void touch_pages(void)
{
	char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	madvise(p, PAGES * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)p)[i * 4096] = 1;
	told->pages = (uint64_t)p;
	told->return_address[1] = (uint64_t)__builtin_return_address(0);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void compute(void)
{
	volatile uint64_t x = 0;

	for (uint64_t end = cpu_ns() + COMPUTE_NS; cpu_ns() < end;)
		for (int i = 0; i < 100000; i++)
			x = x * 3 + 1;
	told->return_address[2] = (uint64_t)__builtin_return_address(0);
}

static int work(void)
{
	make_calls();
	touch_pages();
	compute();
	return 0;
}

static int has_address(const struct recorded *r, uint32_t id, uint64_t address)
{
	const struct vprof_kernel_stack *s = id ? vprof_kernel_stack_find(&r->tables, id) : NULL;

	for (uint32_t i = 0; s && i < s->n; i++)
		if (r->tables.addresses.v[s->first + i] == address)
			return 1;
	return 0;
}

static uint64_t count_lost(const struct recorded *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->events[i].kind == VP_KIND_KERNEL_LOST ? r->events[i].n_lost : 0;
	return n;
}

static void test_calls_faults_timer(void **state)
{
	uint64_t n_calls = 0, n_inside = 0, n_faults = 0, n_timer = 0, n_lost, returned = 0;
	struct recorded r;

	(void)state;
	record(&r, work, RECORD_CALLS, 0);
	n_lost = count_lost(&r);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind == VP_KIND_KERNEL_CALL && e->call.tid == (uint32_t)r.pid) {
			assert_true(e->call.entered <= e->t);
			assert_true(e->call.entered >= returned); /* one after the other */
			returned = e->t;
			if (e->call.number != SYS_getppid)
				continue;
			n_calls++;
			n_inside += has_address(&r, e->call.user_stack, told->return_address[0]);
		} else if (e->kind == VP_KIND_KERNEL_FAULT && e->sample.address >= told->pages &&
			   e->sample.address < told->pages + PAGES * 4096) {
			n_faults++;
			assert_true(has_address(&r, e->sample.user_stack, told->return_address[1]));
		} else if (e->kind == VP_KIND_KERNEL_TIMER && e->sample.tid == (uint32_t)r.pid) {
			n_timer += has_address(&r, e->sample.user_stack, told->return_address[2]);
		}
	}
	print_message("%llu calls, %llu faults, %llu by timer, %llu lost\n", (unsigned long long)n_calls,
		      (unsigned long long)n_faults, (unsigned long long)n_timer, (unsigned long long)n_lost);
	assert_true(n_calls <= CALLS && n_calls + n_lost >= CALLS);
	assert_int_equal(n_inside, n_calls);
	if (r.header.kernel_kinds & VP_KERNEL_FAULTS)
		assert_true(n_faults <= PAGES && n_faults + n_lost >= PAGES);
	assert_true(n_timer > 0);
	release(&r);
}

/* Stacks of one depth that differ only far out: what is called, and how far its stack reaches, is the same. */
static __attribute__((noinline)) void call_deep(int caller)
{
	volatile char frame[DEEP_BYTES];

	frame[0] = (char)caller;
	syscall(SYS_getppid);
	told->caller[(int)frame[0]] = (uint64_t)__builtin_return_address(0);
}

static __attribute__((noinline)) void call_from(int caller)
{
	switch (caller) { /* calls that the compiler cannot make one of */
	case 0:
		call_deep(0);
		break;
	case 1:
		call_deep(1);
		break;
	default:
		call_deep(2);
		break;
	}
	__asm__ volatile("" ::: "memory");
}

static int work_deep(void)
{
	for (int i = 0; i < CALLS; i++)
		call_from(i * i % CALLERS);
	for (int i = 0; i < CALLS; i++)
		call_from(i % CALLERS);
	return 0;
}

static void test_callers_far_out(void **state)
{
	uint64_t n_calls = 0, n_wrong = 0, n_lost;
	struct recorded r;

	(void)state;
	memset(told, 0, sizeof *told);
	record(&r, work_deep, RECORD_CALLS, 0);
	n_lost = count_lost(&r);
	for (int i = 0; i < CALLERS; i++)
		for (int k = 0; k < i; k++)
			assert_true(told->caller[i] != told->caller[k]);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];
		int caller;

		if (e->kind != VP_KIND_KERNEL_CALL || e->call.number != SYS_getppid)
			continue;
		n_calls += 1 + e->call.n_skipped;
		caller = (int)((n_calls - 1 < CALLS ? (n_calls - 1) * (n_calls - 1) : n_calls - 1) % CALLERS);
		n_wrong += e->call.user_stack && !has_address(&r, e->call.user_stack, told->caller[caller]);
	}
	print_message("%llu calls, %llu by another caller, %llu lost\n", (unsigned long long)n_calls,
		      (unsigned long long)n_wrong, (unsigned long long)n_lost);
	assert_true(n_calls > 0 && n_calls <= 2 * CALLS);
	if (!n_lost) /* else calls cannot be counted off */
		assert_int_equal(n_wrong, 0);
	release(&r);
}

static __attribute__((noinline)) void call_far(int caller)
{
	volatile char frame[FAR_BYTES];
	struct timespec pause = { 0, 1000000 };

	frame[0] = (char)caller;
	syscall(SYS_getppid);
	told->caller[(int)frame[0]] = (uint64_t)__builtin_return_address(0);
	nanosleep(&pause, NULL);
}

static int work_far(void)
{
	for (int i = 0; i < FAR_CALLS; i++) {
		if (i % 2) {
			call_far(1);
			__asm__ volatile("# the first");
		} else {
			call_far(0);
			__asm__ volatile("# the second");
		}
		__asm__ volatile("" ::: "memory");
	}
	return 0;
}

/* Callers beyond what is usually copied of a stack: once the recorder has seen one it asks for more, and all are known.
 */
static void test_far_callers(void **state)
{
	uint64_t n_calls = 0, n_cut = 0, n_known = 0, n_last_cut = 0;
	struct recorded r;

	(void)state;
	memset(told, 0, sizeof *told);
	record(&r, work_far, RECORD_CALLS, 0);
	assert_true(told->caller[0] != told->caller[1]);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];
		const struct vprof_kernel_stack *s;

		if (e->kind != VP_KIND_KERNEL_CALL || e->call.number != SYS_getppid)
			continue;
		n_calls++;
		s = e->call.user_stack ? vprof_kernel_stack_find(&r.tables, e->call.user_stack) : NULL;
		if (!s)
			continue;
		n_cut += s->cut != 0;
		if (s->cut) {
			assert_int_equal(s->cut, VP_STACK_CUT | VP_STACK_DEEP);
			n_last_cut = n_calls;
		} else {
			assert_true(has_address(&r, e->call.user_stack, told->caller[0]) !=
				    has_address(&r, e->call.user_stack, told->caller[1]));
			n_known++;
		}
	}
	print_message("%llu calls, %llu cut, the last of them call %llu; %llu whole\n", (unsigned long long)n_calls,
		      (unsigned long long)n_cut, (unsigned long long)n_last_cut, (unsigned long long)n_known);
	if (!count_lost(&r)) {
		assert_true(n_known > 0);
		assert_true(n_known + n_last_cut >= n_calls); /* none is cut after that */
	}
	release(&r);
}

#ifdef __x86_64__
static char random_bytes[RANDOM_BYTES];

static __attribute__((noinline)) void call_long(void)
{
	syscall(SYS_getrandom, random_bytes, RANDOM_BYTES, 0);
	told->return_address[0] = (uint64_t)__builtin_return_address(0);
}

static __attribute__((noinline)) void compute_long(void)
{
	for (uint64_t end = __builtin_ia32_rdtsc() + SLOW_TICKS; __builtin_ia32_rdtsc() < end;)
		;
	syscall(SYS_getpid);
	told->return_address[1] = (uint64_t)__builtin_return_address(0);
}

static int work_slow(void)
{
	for (int i = 0; i < SLOW_CALLS; i++) {
		for (int k = 0; k < QUICK_CALLS; k++)
			syscall(SYS_getppid);
		call_long();
		compute_long();
	}
	return 0;
}

/* Of many quick calls most are left out, but none that makes its function slow: a long call, and one behind a long
 * stretch without any. */
static void test_slow_ones_are_recorded(void **state)
{
	uint64_t n_long = 0, n_behind = 0, n_quick = 0, n_skipped = 0, n_lost;
	struct recorded r;

	(void)state;
	memset(told, 0, sizeof *told);
	record(&r, work_slow, RECORD_CALLS | RECORD_SPACED, 0);
	n_lost = count_lost(&r);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind != VP_KIND_KERNEL_CALL || e->call.tid != (uint32_t)r.pid)
			continue;
		n_skipped += e->call.n_skipped;
		n_quick += e->call.number == SYS_getppid;
		n_long += e->call.number == SYS_getrandom &&
			  has_address(&r, e->call.user_stack, told->return_address[0]);
		n_behind += e->call.number == SYS_getpid &&
			    has_address(&r, e->call.user_stack, told->return_address[1]);
	}
	print_message("%llu long calls, %llu behind long stretches, %llu quick ones, %llu left out, %llu lost\n",
		      (unsigned long long)n_long, (unsigned long long)n_behind, (unsigned long long)n_quick,
		      (unsigned long long)n_skipped, (unsigned long long)n_lost);
	assert_true(n_long <= SLOW_CALLS && n_long + n_lost >= SLOW_CALLS);
	assert_true(n_behind <= SLOW_CALLS && n_behind + n_lost >= SLOW_CALLS);
	assert_true(n_quick + n_skipped <= SLOW_CALLS * QUICK_CALLS + 100);
	assert_true(n_skipped > 0);
	release(&r);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_faults_timer),
		cmocka_unit_test(test_callers_far_out),
		cmocka_unit_test(test_far_callers),
#ifdef __x86_64__
		cmocka_unit_test(test_slow_ones_are_recorded),
#endif
	};
	struct vprof_error err = { "" };

	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return 2;
#ifndef __x86_64__
	printf("skipped: stacks of programs are recorded on x86-64 only\n");
	return 77;
#endif
	if (vprof_recorder_require(&err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
