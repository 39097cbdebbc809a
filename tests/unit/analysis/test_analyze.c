/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole analysis where there is little or damaged data: a result that says what to do, or a clear error. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/files.h"
#include "tests/unit/analysis/hand_trace.h"

static int warns(const struct vprof_results *r, const char *part)
{
	for (size_t i = 0; i < r->n_warnings; i++)
		if (strstr(r->warnings[i], part))
			return 1;
	return 0;
}

static struct vprof_results *analyze(struct hand_trace *h, const char *interval, double warmup)
{
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_analyze_options o = {
		.trace_dir = h->dir, .plan = plan, .interval = interval, .warmup_share = warmup
	};
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };

	if (vprof_analyze(&r, &o, &err))
		fail_msg("%s", err.message);
	vprof_plan_free(plan);
	assert_true(r->n_nodes >= 1);
	return r;
}

static void test_nothing(void **state)
{
	struct hand_trace h;
	struct vprof_results *r;
	struct hand_thread *th;

	(void)state;
	hand_init(&h);
	hand_write(&h);
	r = analyze(&h, NULL, 0);
	assert_true(r->inconclusive && warns(r, "the trace is empty"));
	vprof_results_free(r);
	th = hand_thread(&h, 1);
	hand_call(th, F(1), 10, 20);
	hand_write(&h);
	r = analyze(&h, NULL, 0);
	assert_true(r->inconclusive && warns(r, "no interval began"));
	vprof_results_free(r);
	r = analyze(&h, "job", 0);
	assert_true(r->inconclusive && warns(r, "\"job\""));
	vprof_results_free(r);
	hand_mark(th, VP_KIND_BEGIN, 1, 100);
	hand_write(&h);
	r = analyze(&h, NULL, 0);
	assert_true(r->inconclusive && warns(r, "no interval is complete"));
	assert_int_equal(r->n_cut, 1);
	vprof_results_free(r);
	hand_release(&h);
}

static void test_few_and_names(void **state)
{
	struct hand_trace h;
	struct vprof_results *r;
	struct hand_thread *th;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 100; i++) {
		hand_mark_of(th, VP_KIND_BEGIN, "job", i, 1000 * i + 10);
		hand_mark_of(th, VP_KIND_END, "job", i, 1000 * i + 100 + i);
	}
	hand_mark(th, VP_KIND_BEGIN, 1, 200000);
	hand_mark(th, VP_KIND_END, 1, 200100);
	hand_mark(th, VP_KIND_BEGIN, 2, 201000);
	hand_mark(th, VP_KIND_END, 2, 201500);
	h.end = 202000;
	hand_write(&h);
	r = analyze(&h, NULL, 0);
	assert_string_equal(r->interval, "job"); /* the most frequent */
	assert_int_equal(r->inconclusive, 0);
	assert_true(warns(r, "no measured function"));
	assert_false(warns(r, "of the kernel's events"));
	vprof_results_free(r);
	h.n_kernel_lost = 7;
	hand_write(&h);
	r = analyze(&h, NULL, 0);
	assert_true(warns(r, "7 of the kernel's events were lost"));
	vprof_results_free(r);
	r = analyze(&h, INTERVAL, 0);
	assert_int_equal(r->n_complete, 2);
	assert_true(r->inconclusive && warns(r, "only 2 complete"));
	vprof_results_free(r);
	r = analyze(&h, "job", 0.25);
	assert_int_equal(r->n_complete, 100 - 51);
	vprof_results_free(r);
	hand_release(&h);
}

static void test_types(void **state)
{
	struct hand_trace h;
	struct vprof_results *r;
	struct hand_thread *th;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 100; i++) {
		hand_mark(th, VP_KIND_BEGIN, i, 10000 * i + 10);
		hand_type(th, i % 4 ? "GET" : "LRANGE", 10000 * i + 20);
		hand_mark(th, VP_KIND_END, i, 10000 * i + (i % 4 ? 110 : 1110));
	}
	hand_write(&h);
	r = analyze(&h, NULL, 0);
	assert_int_equal(r->n_types, 2);
	assert_string_equal(r->types[0].name, "GET");
	assert_int_equal(r->types[0].n, 75);
	assert_true(fabs(r->types[1].mean_ns - 1100) < 1e-9);
	assert_true(fabs(r->between_types - 1) < 1e-9);
	assert_true(fabs(r->p50_ns - 100) < 1e-9 && fabs(r->max_ns - 1100) < 1e-9);
	vprof_results_free(r);
	hand_release(&h);
}

/* Threads that sleep for long beside the intervals, woken by nobody, leave nothing unexplained; the intervals' own
 * waits do. */
static void test_unknown_wakers(void **state)
{
	struct hand_thread *own, *waker, *beside;
	struct hand_trace h;
	struct vprof_results *r;

	(void)state;
	for (int known = 1; known >= 0; known--) {
		hand_init(&h);
		own = hand_thread(&h, 1);
		waker = hand_thread(&h, 1);
		beside = hand_thread(&h, 1);
		for (uint64_t i = 0; i < 50; i++) {
			uint64_t t = 10000 * (i + 1);

			hand_mark(own, VP_KIND_BEGIN, i, t);
			hand_wait(own, VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT, 0x10, (uint32_t)i, t + 10, t + 100 + i);
			hand_mark(own, VP_KIND_END, i, t + 300 + i);
			if (known)
				hand_wake(waker, VP_WAIT_SEMAPHORE, 0, 0x10, (uint32_t)i, (uint32_t)i, t + 90);
			hand_wait(beside, VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT, 0x20, (uint32_t)i, t, t + 9000);
		}
		hand_write(&h);
		r = analyze(&h, NULL, 0);
		assert_int_equal(r->n_complete, 50);
		assert_int_equal(r->n_waits_unmatched, known ? 50 : 100);
		assert_int_equal(warns(r, "no known waker"), !known);
		vprof_results_free(r);
		hand_release(&h);
	}
}

/* A trace cut anywhere is analysed as far as it goes, or refused in words. */
static void test_cut_anywhere(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_analyze_options o = { .plan = plan };
	struct hand_thread *a, *b;
	struct hand_trace h;
	uint64_t random = 5;
	char *path;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 2);
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t t = 1000 * (i + 1);

		hand_mark(a, VP_KIND_BEGIN, i, t);
		hand_wait(a, VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT, 0x10, (uint32_t)i, t + 10, t + 100 + i);
		hand_call(a, F(1), t + 5, t + 200 + i);
		hand_mark(a, VP_KIND_END, i, t + 300 + i);
		hand_wake(b, VP_WAIT_SEMAPHORE, 0, 0x10, (uint32_t)i, (uint32_t)i, t + 90);
		hand_call(b, F(2), t, t + 95);
	}
	hand_write(&h);
	path = vprof_path_join(h.dir, "records.vpt");
	assert_int_equal(vprof_file_read(path, &text, NULL), 0);
	o.trace_dir = h.dir;
	for (int i = 0; i < 60; i++) {
		struct vprof_results *r = NULL;
		struct vprof_error err = { "" };
		size_t n = hand_random(&random) % text.len;
		char *copy = malloc(text.len);

		assert_non_null(copy);
		memcpy(copy, text.s, text.len);
		if (i % 2) { /* damage instead of a cut */
			for (int k = 0; k < 20; k++)
				copy[sizeof(struct vp_file_header) +
				     hand_random(&random) % (text.len - sizeof(struct vp_file_header))] ^=
					(char)(1 << hand_random(&random) % 8);
			n = text.len;
		}
		assert_int_equal(vprof_file_write(path, copy, n, NULL), 0);
		if (vprof_analyze(&r, &o, &err))
			assert_true(err.message[0] && n < sizeof(struct vp_file_header));
		vprof_results_free(r);
		free(copy);
	}
	free(path);
	vprof_text_release(&text);
	vprof_plan_free(plan);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),	     cmocka_unit_test(test_few_and_names),
		cmocka_unit_test(test_types),	     cmocka_unit_test(test_unknown_wakers),
		cmocka_unit_test(test_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
