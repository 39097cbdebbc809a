/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is looked at interval by interval: the histogram and the periods hold every interval once, and an example's path
 * tiles it. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/examples.h"
#include "analysis/results/results_json.h"
#include "tests/unit/analysis/hand_trace.h"

#define N 1000

/* Each interval calls F(1), which waits for the other thread's F(2) on a lock in every tenth. */
static struct vprof_results *analysed(struct hand_trace *h, struct vprof_plan *plan, unsigned n_inner)
{
	struct hand_thread *a, *b;

	hand_init(h);
	a = hand_thread(h, 1);
	b = hand_thread(h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 100000 * (i + 1), d = i % 10 ? 100 : 5000 + i;

		hand_mark(a, VP_KIND_BEGIN, i, t);
		hand_type(a, i % 4 ? "GET" : "SET", t + 1);
		for (unsigned k = 0; k < n_inner; k++)
			hand_call(a, F(2), t + 12 + 2 * k, t + 13 + 2 * k);
		if (i % 10 == 0) {
			hand_call(b, F(2), t + 100, t + d);
			hand_wake(b, VP_WAIT_MUTEX, 0, 77, 1, 1, t + d + 20);
			hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 77, 0, t + 60, t + d + 30);
		}
		hand_call(a, F(1), t + 10, t + d + 50);
		hand_mark(a, VP_KIND_END, i, t + d + 60);
	}
	h->end = 100000 * (N + 1);
	hand_write(h);
	return hand_analyze(h, plan);
}

static void test_histogram(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	uint64_t n[3] = { 0 }, in_periods = 0;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	r = analysed(&h, plan, 1);
	for (size_t i = 0; i < r->n_histogram; i++) {
		const struct vprof_bucket *b = &r->histogram[i];

		assert_true(b->type <= 2 && b->n > 0 && b->from_ns < b->to_ns);
		assert_true(b->to_ns <= b->from_ns * (1 + 1.0 / 16) || b->to_ns <= b->from_ns + 1);
		n[b->type] += b->n;
	}
	assert_int_equal(n[0], N);
	assert_int_equal(n[1], r->types[0].n);
	assert_int_equal(n[2], r->types[1].n);
	/* 160 ns: the bucket of most intervals. */
	for (size_t i = 0; i < r->n_histogram; i++)
		if (r->histogram[i].type == 0 && r->histogram[i].n == 900)
			assert_true(r->histogram[i].from_ns == 160 && r->histogram[i].to_ns == 168);
	for (size_t i = 0; i < r->n_periods; i++) {
		const struct vprof_period *p = &r->periods[i];

		assert_true(p->from_ns < p->to_ns && (!i || p->from_ns >= r->periods[i - 1].to_ns * (1 - 1e-12)));
		assert_true(p->p50_ns <= p->p99_ns && p->p99_ns <= p->max_ns && p->max_ns <= r->max_ns);
		in_periods += p->n;
	}
	assert_int_equal(r->n_periods, N / 25);
	assert_int_equal(in_periods, N);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Pieces of its own from 0 to the latency, one after the other. */
static void assert_tiles(const struct vprof_results *r, const struct vprof_example *x)
{
	double at = 0;

	for (uint32_t i = x->first_piece; i < x->first_piece + x->n_pieces; i++) {
		const struct vprof_shown_piece *p = &r->pieces[i];

		assert_true(p->from_ns >= 0 && p->from_ns < p->to_ns && p->to_ns <= x->latency_ns + 1e-6);
		assert_true(p->thread < r->n_threads);
		if (p->is_blame || p->kind == VPROF_SHOWN_CALL)
			continue;
		assert_true(fabs(p->from_ns - at) < 1e-6);
		at = p->to_ns;
	}
	assert_true(fabs(at - x->latency_ns) < 1e-6);
}

static void test_examples(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_example *x;
	struct vprof_results *r;
	struct hand_trace h;
	unsigned calls = 0, waits = 0, blame = 0;

	(void)state;
	r = analysed(&h, plan, 1);
	assert_int_equal(r->n_examples, 18);
	for (size_t i = 0; i < r->n_examples; i++) {
		assert_int_equal(r->examples[i].n_left_out, 0);
		assert_tiles(r, &r->examples[i]);
	}
	x = &r->examples[0];
	assert_int_equal(x->why, VPROF_EXAMPLE_SLOWEST);
	assert_true(x->latency_ns == r->max_ns);
	assert_true(x->at_ns > 99000000 - 1e6);
	for (uint32_t i = x->first_piece; i < x->first_piece + x->n_pieces; i++) {
		const struct vprof_shown_piece *p = &r->pieces[i];

		if (p->kind == VPROF_SHOWN_CALL && !p->is_blame && p->depth == 0) {
			assert_true(p->from_ns == 10 && p->to_ns == x->latency_ns - 10);
			calls++;
		}
		if (p->kind == VPROF_SHOWN_WAIT) {
			assert_string_equal(p->name, "pthread_mutex_lock");
			assert_string_equal(p->object, "0x4d");
			waits++;
		}
		if (p->is_blame && p->kind == VPROF_SHOWN_CALL) {
			assert_true(p->from_ns == 100 && p->to_ns == 5990);
			assert_string_not_equal(r->threads[p->thread].name, r->threads[0].name);
			blame++;
		}
	}
	assert_int_equal(calls, 1);
	assert_int_equal(waits, 1);
	assert_int_equal(blame, 1);
	assert_int_equal(r->examples[r->n_examples - 1].why, VPROF_EXAMPLE_FASTEST);
	assert_true(r->examples[r->n_examples - 1].latency_ns == r->min_ns);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* More calls than are kept: the longest stay, the others are counted. */
static void test_bounded(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	r = analysed(&h, plan, 2000);
	for (size_t i = 0; i < r->n_examples; i++) {
		const struct vprof_example *x = &r->examples[i];

		assert_true(x->n_pieces <= VPROF_EXAMPLE_PIECES);
		assert_true(x->latency_ns < 4000 || x->n_pieces + x->n_left_out >= 2000);
	}
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_histogram), cmocka_unit_test(test_examples),
					    cmocka_unit_test(test_bounded) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
