/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chosen calls of hot functions: what they stand for, and the error that must not count as variance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

static void chosen(struct hand_thread *th, uint32_t code, uint64_t t0, uint64_t t1, uint32_t weight, uint32_t second,
		   uint32_t represented, uint32_t block)
{
	uint64_t payload = weight | second << 7 | represented << 8 | (uint64_t)block << 16;

	hand_units(th, (struct vp_unit[]){ { t0, VP_W(VP_KIND_SAMPLE, payload) }, { t1 - t0, code } }, 2);
}

static void counted(struct hand_thread *th, uint32_t code, uint64_t n, uint64_t t)
{
	hand_units(th, &(struct vp_unit){ t, VP_W(VP_KIND_COUNT, code | n << 24) }, 1);
}

/* An interval of 1,000 in f1; f2 called 8 times, two of them timed. */
static void interval(struct hand_thread *th, uint64_t id, uint64_t from, uint64_t x, uint64_t y)
{
	hand_mark(th, VP_KIND_BEGIN, id, from);
	chosen(th, F(2), from + 100, from + 100 + x, 4, 0, 3, (uint32_t)id);
	chosen(th, F(2), from + 300, from + 300 + y, 4, 1, 4, (uint32_t)id);
	counted(th, F(2), 1, from + 900);
	hand_call(th, F(1), from, from + 1000);
	hand_mark(th, VP_KIND_END, id, from + 1000);
}

static const struct vprof_covariance *covariance(const struct vprof_results *r, const struct vprof_node *a,
						 const struct vprof_node *b)
{
	for (size_t i = 0; i < r->n_covariances; i++)
		if (&r->nodes[r->covariances[i].a] == a && &r->nodes[r->covariances[i].b] == b)
			return &r->covariances[i];
	return NULL;
}

static void test_error_is_no_variance(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct hand_trace h;
	struct hand_thread *th;
	struct vprof_results *r;
	const struct vprof_node *f1, *f2, *body;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	interval(th, 1, 1000, 10, 20); /* 4 x 30 = 120, error 8 x 6 / 4 x 10^2 = 1,200 */
	interval(th, 2, 3000, 30, 30); /* 240, none */
	interval(th, 3, 5000, 60, 0);  /* 240: one of the two lay behind the last call; 12 x 60^2 = 43,200 */
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f1 = hand_node(r, "f1", VPROF_NONE);
	f2 = hand_node(r, "f2", VPROF_NONE);
	body = hand_node(r, "body of f1", VPROF_NONE);
	assert_non_null(f2);
	assert_non_null(body);
	assert_int_equal(r->n_calls_sampled, 6);
	assert_int_equal(f2->n_calls, 24);
	assert_int_equal(f2->n_timed, 6);
	assert_true(fabs(f2->mean_ns - 200) < 1e-9);
	assert_true(fabs(body->mean_ns - 800) < 1e-9);
	assert_true(fabs(f2->noise_ns2 - 44400.0 / 3) < 1e-6);
	assert_true(fabs(body->noise_ns2 - 44400.0 / 3) < 1e-6);
	assert_true(fabs(f2->var_ns2) < 1e-9); /* 4,800 less 14,800: nothing is left */
	assert_true(fabs(covariance(r, f2, body)->cov_ns2 - (14800 - 4800)) < 1e-6);
	assert_true(fabs(f1->var_ns2) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Up to its first wait a chosen call stands for four, from there on for itself; one not chosen is seen from its wait
 * on. */
static void test_waits(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct hand_trace h;
	struct hand_thread *th;
	struct vprof_results *r;
	const struct vprof_node *f2;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 1; i <= 2; i++) {
		uint64_t t = 10000 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(3), t + 110, t + 120);
		hand_wait(th, VP_WAIT_SLEEP, VP_CALL_NANOSLEEP, 0, 0, t + 150, t + 180);
		hand_call(th, F(3), t + 185, t + 190);
		chosen(th, F(2), t + 100, t + 200, 4, 0, 2, 1);
		hand_wait(th, VP_WAIT_SLEEP, VP_CALL_NANOSLEEP, 0, 0, t + 300, t + 340);
		chosen(th, F(2), t + 300, t + 350, 0, 0, 0, 0);
		chosen(th, F(2), t + 400, t + 410, 4, 1, 6, 1);
		hand_call(th, F(1), t, t + 1000);
		hand_mark(th, VP_KIND_END, i, t + 1000);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f2 = hand_node(r, "f2", VPROF_NONE);
	assert_non_null(f2);
	assert_int_equal(f2->n_calls, 16);
	assert_int_equal(f2->n_timed, 4);
	/* 4 x 50 + 30 + 20, 50, 4 x 10 */
	assert_true(fabs(f2->mean_ns - 340) < 1e-9);
	assert_true(fabs(f2->blocked_ns - 70) < 1e-9);
	assert_true(fabs(hand_node(r, "f3", VPROF_NONE)->mean_ns - (4 * 10 + 5)) < 1e-9);
	assert_true(fabs(hand_node(r, "body of f1", VPROF_NONE)->mean_ns - 660) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* One call in a few thousand is interrupted: it counts once. */
static void test_rare_length(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct hand_trace h;
	struct hand_thread *th;
	struct vprof_results *r;
	const struct vprof_node *f2;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 1; i <= 2; i++) {
		uint64_t t = 1000000 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		for (uint32_t k = 0; k < 2000; k++)
			chosen(th, F(2), t + 200 * k, t + 200 * k + (i == 1 && k == 1999 ? 10010 : 10), 4, k % 2, 4,
			       k / 2);
		hand_call(th, F(1), t, t + 500000);
		hand_mark(th, VP_KIND_END, i, t + 500000);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f2 = hand_node(r, "f2", VPROF_NONE);
	assert_true(fabs(f2->mean_ns - (2 * 2000 * 4 * 10 + 10000) / 2.0) < 1e-6);
	assert_true(fabs(f2->rare_ns - 3 * 10000 / 2.0) < 1e-6);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* A function that is rarely interrupted in two places of the tree is warned of once. */
static void test_rare_twice(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct hand_trace h;
	struct hand_thread *th;
	struct vprof_results *r;
	int n_warnings = 0;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 1; i <= 2; i++) {
		uint64_t t = 10000000 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		for (uint64_t at = t; at <= t + 2000000; at += 2000000) {
			for (uint32_t k = 0; k < 2000; k++)
				chosen(th, F(2), at + 200 * k, at + 200 * k + (i == 1 && k == 1999 ? 500010 : 10), 4,
				       k % 2, 4, k / 2);
			if (at > t)
				hand_call(th, F(3), at, at + 1000000);
		}
		hand_call(th, F(1), t, t + 4000000);
		hand_mark(th, VP_KIND_END, i, t + 4000000);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	for (size_t i = 0; i < r->n_warnings; i++)
		n_warnings += !strncmp(r->warnings[i], "f2: some of its timed calls", 27);
	assert_int_equal(n_warnings, 1);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Damage: chosen calls in chosen calls, a block without its second, impossible durations. */
static void test_damage(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct hand_trace h;
	struct hand_thread *th;
	struct vprof_results *r;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 1; i <= 2; i++) {
		uint64_t t = 10000 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		counted(th, F(2), 65535, t + 1);
		chosen(th, F(2), t + 20, t + 30, 127, 1, 255, 0);
		chosen(th, F(2), t + 20, t + 40, 127, 1, 255, 0);
		hand_units(th, (struct vp_unit[]){ { t + 50, VP_W(VP_KIND_SAMPLE, 4) }, { UINT64_MAX, F(2) } }, 2);
		hand_units(th, (struct vp_unit[]){ { t + 50, VP_W(VP_KIND_SAMPLE, 4) }, { 1, 3 } }, 2);
		hand_call(th, F(1), t, t + 1000);
		hand_mark(th, VP_KIND_END, i, t + 1000);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_true(fabs(hand_node(r, "f1", VPROF_NONE)->mean_ns - 1000) < 1e-9);
	assert_true(fabs(hand_node(r, "f2", 1)->mean_ns - 127 * 20) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error_is_no_variance),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_rare_length),
		cmocka_unit_test(test_rare_twice),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
