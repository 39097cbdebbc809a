/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols of this very program, and the common frames of stacks, which name its functions. */
#define _GNU_SOURCE
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/timeline/symbols.h"
#include "tests/unit/analysis/hand_trace.h"

__attribute__((noinline)) void outer_function(void)
{
	__asm__ volatile("nop");
}

__attribute__((noinline)) void inner_function(void)
{
	__asm__ volatile("nop; nop");
}

__attribute__((noinline)) void holding_function(void)
{
	__asm__ volatile("nop; nop; nop");
}

__attribute__((noinline)) void behind_function(void)
{
	__asm__ volatile("nop; nop; nop; nop");
}

__attribute__((noinline)) void beside_function(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop");
}

/* A program may lie in a folder of any name. */
static void test_runtime(void **state)
{
	(void)state;
	assert_true(vprof_symbols_is_runtime("/usr/lib/vprof/libvprof.so"));
	assert_true(vprof_symbols_is_runtime("libvprof.so"));
	assert_false(vprof_symbols_is_runtime("/home/me/libvprof.so-demo/server"));
	assert_false(vprof_symbols_is_runtime("/home/me/libvprof/server"));
	assert_false(vprof_symbols_is_runtime(""));
}

static int first_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

/* This program's module; NULL: with its own path. */
static void add_module(struct hand_thread *th, const char *other)
{
	struct vp_unit u[2 + VP_PATH_MAX / 16] = { { 0, 0 } };
	char path[VP_PATH_MAX] = "";
	uint64_t bias = 0;
	ssize_t n = other ? snprintf(path, sizeof path, "%s", other) :
			    readlink("/proc/self/exe", path, sizeof path - 1);

	assert_true(n > 0);
	dl_iterate_phdr(first_module, &bias);
	u[0] = (struct vp_unit){ bias, VP_W(VP_KIND_MODULE, n) };
	u[1] = (struct vp_unit){ bias, bias + (64 << 20) };
	memcpy(u + 2, path, (size_t)n);
	hand_units(th, u, 2 + ((size_t)n + 15) / 16);
}

static void add_stack(struct hand_thread *th, uint64_t t, enum vp_stack kind, void (*inner)(void), void (*outer)(void))
{
	struct vp_unit u[2] = { { t, VP_W(VP_KIND_STACK, 2 | (uint64_t)kind << 8) },
				{ (uint64_t)(uintptr_t)inner + 1, (uint64_t)(uintptr_t)outer + 1 } };

	hand_units(th, u, 2);
}

static const struct vprof_common_frame *common_frames(const struct vprof_results *r, const char *name)
{
	for (size_t i = 0; i < r->n_common_frames; i++)
		if (!strcmp(r->common_frames[i].name, name))
			return &r->common_frames[i];
	return NULL;
}

static void test_common_frames(void **state)
{
	struct vprof_plan *plan = hand_plan(1);
	const struct vprof_common_frame *s;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	add_module(th, NULL);
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t t = 1000 * (i + 1);

		add_stack(th, t - 1, VP_STACK_INTERVAL, inner_function, outer_function);
		hand_mark(th, VP_KIND_BEGIN, i, t);
		add_stack(th, t + 99 + i, VP_STACK_INTERVAL, outer_function, outer_function);
		hand_mark(th, VP_KIND_END, i, t + 100 + i);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	s = common_frames(r, "outer_function");
	assert_non_null(s);
	assert_true(s->encloses && s->innermost_enclosing && !s->is_waker);
	assert_int_equal(s->n, 30);
	s = common_frames(r, "inner_function");
	assert_non_null(s);
	assert_true(!s->encloses && !s->innermost_enclosing && !s->is_waker);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* A module that is no program any more is a warning with the reason; one that is gone is none. */
static void test_damaged(void **state)
{
	char damaged[] = "/tmp/vprof-symbols-XXXXXX";
	int fd = mkstemp(damaged);

	(void)state;
	assert_true(fd >= 0 && write(fd, "\177ELF", 4) == 4);
	for (int is_there = 1; is_there >= 0; is_there--) {
		struct vprof_plan *plan = hand_plan(1);
		struct vprof_results *r;
		struct hand_thread *th;
		struct hand_trace h;
		int warned = 0;

		hand_init(&h);
		th = hand_thread(&h, 1);
		add_module(th, damaged);
		for (uint64_t i = 0; i < 10; i++) {
			add_stack(th, 1000 * (i + 1) - 1, VP_STACK_INTERVAL, inner_function, outer_function);
			hand_mark(th, VP_KIND_BEGIN, i, 1000 * (i + 1));
			hand_mark(th, VP_KIND_END, i, 1000 * (i + 1) + 100);
		}
		hand_write(&h);
		r = hand_analyze(&h, plan);
		for (size_t i = 0; i < r->n_warnings; i++)
			warned += strstr(r->warnings[i], damaged) != NULL;
		assert_int_equal(warned, is_there);
		assert_int_equal(r->n_common_frames, 0);
		vprof_results_free(r);
		vprof_plan_free(plan);
		hand_release(&h);
		unlink(damaged);
	}
	close(fd);
}

/* Each interval waits for a holder, that one for a second one. A third thread ends waits that no interval's thread
 * awaits. */
static void test_wakers(void **state)
{
	struct vprof_plan *plan = hand_plan(1);
	struct hand_thread *th, *holder, *behind, *beside, *idle;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	holder = hand_thread(&h, 1);
	behind = hand_thread(&h, 1);
	beside = hand_thread(&h, 1);
	idle = hand_thread(&h, 1);
	add_module(th, NULL);
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t t = 1000 * (i + 1);

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_wait(th, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, i + 1, t + 10, t + 90);
		hand_mark(th, VP_KIND_END, i, t + 100 + i);
		hand_wait(holder, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x20, i + 1, t + 5, t + 60);
		add_stack(holder, t + 79, VP_STACK_WAKE, holding_function, holding_function);
		hand_wake(holder, VP_WAIT_MUTEX, 0, 0x10, i, i + 1, t + 80);
		add_stack(behind, t + 49, VP_STACK_WAKE, behind_function, behind_function);
		hand_wake(behind, VP_WAIT_MUTEX, 0, 0x20, i, i + 1, t + 50);
		hand_wait(idle, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x30, i + 1, t + 5, t + 60);
		add_stack(beside, t + 49, VP_STACK_WAKE, beside_function, beside_function);
		hand_wake(beside, VP_WAIT_MUTEX, 0, 0x30, i, i + 1, t + 50);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_waits_matched, 30);
	assert_true(common_frames(r, "holding_function") && common_frames(r, "holding_function")->is_waker);
	assert_true(common_frames(r, "behind_function") && common_frames(r, "behind_function")->is_waker);
	assert_null(common_frames(r, "beside_function"));
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtime),
		cmocka_unit_test(test_common_frames),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_wakers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
