/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "If constant" and causes, on runs whose shares can be worked out by hand. Every interval is one of the combinations
 * of a few independent bits, and all combinations occur equally often, so that a term of c ns x bit has the variance
 * c^2 V, V being the same for all bits, and bits have no covariance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hand_trace.h"

#define N 1024						      /* all combinations of ten bits, as often */
#define BIT(i, k) ((uint64_t)(((i) * 181 % 1024) >> (k) & 1)) /* of interval i; 181 is odd: all combinations */
#define EXACT 1e-9

static struct hand_trace h;
static struct hand_thread *th;
static uint64_t now; /* where the next call begins */

static void begin(uint64_t i)
{
	now = 1000000 * (i + 1);
	hand_mark(th, VP_KIND_BEGIN, i, now);
}

static void call(uint32_t code, uint64_t ns)
{
	hand_call(th, code, now, now + ns);
	now += ns;
}

static const struct vprof_cause *cause_named(const struct vprof_results *r, const char *key)
{
	for (size_t i = 0; i < r->n_causes; i++)
		if (!strcmp(r->causes[i].key, key))
			return &r->causes[i];
	return NULL;
}

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) < EXACT))
		fail_msg("%.12g instead of %.12g", found, expected);
}

/* f1 calls f2, f3 and f4. A hidden size moves f2 and f3 together, as in tests/truth/d-pair. */
static struct vprof_results *analyze_pair(struct vprof_plan *plan)
{
	struct vprof_results *r;

	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t from;

		begin(i);
		from = now;
		call(F(2), 1000 + 100 * BIT(i, 0) + 30 * BIT(i, 1));
		call(F(3), 1000 + 90 * BIT(i, 0) + 30 * BIT(i, 2));
		call(F(4), 1000 + 80 * BIT(i, 3));
		hand_call(th, F(1), from, now);
		hand_mark(th, VP_KIND_END, i, now);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	hand_release(&h);
	return r;
}

/* In units of V: Var f2 = 10900, Var f3 = 9000, Cov(f2, f3) = 9000, Var f4 = 6400, Var T = 44300; Cov(T, f2) = 19900.
 */
static void test_if_constant(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	struct vprof_results *r = analyze_pair(plan);
	const struct vprof_factor *f2 = hand_factor(r, "v:f2"), *pair = hand_factor(r, "c:f2|f3");

	(void)state;
	assert_near(f2->share, 10900 / 44300.0);
	assert_near(f2->if_constant, (2 * 19900 - 10900) / 44300.0);
	assert_near(hand_factor(r, "v:f4")->if_constant, 6400 / 44300.0);
	assert_near(hand_factor(r, "v:f1")->if_constant, 1);
	assert_near(pair->share, 2 * 9000 / 44300.0);
	assert_near(pair->if_constant, 1 - 6400 / 44300.0);
	assert_true(f2->if_constant_low < f2->if_constant && f2->if_constant < f2->if_constant_high);
	assert_true(f2->if_constant_high - f2->if_constant_low < 0.1);
	assert_int_equal(f2->counterpart, 0);
	assert_true(isnan(f2->together));
	vprof_results_free(r);
	vprof_plan_free(plan);
}

/* What moves together is one cause, whose caller is the interval by another name. */
static void test_together(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	struct vprof_results *r = analyze_pair(plan);
	const struct vprof_cause *c = r->causes;

	(void)state;
	assert_int_equal(r->n_causes, 2);
	assert_int_equal(c->kind, VPROF_CAUSE_TOGETHER);
	assert_string_equal(c->key, "c:f2|f3");
	assert_string_equal(c->name, "(f2, f3)");
	assert_near(c->share, 37900 / 44300.0);
	assert_near(c->if_constant, 37900 / 44300.0);
	assert_int_equal(c->status, VPROF_CAUSE_SETTLED);
	assert_int_equal(c->n_steps, 1);
	assert_string_equal(c->steps[0].name, "f1");
	assert_int_equal(c->n_splits, 2);
	assert_string_equal(c->splits[0].name, "f2");
	assert_near(c->splits[0].part, 19900 / 37900.0);
	assert_near(c->splits[1].part, 18000 / 37900.0);
	assert_near(c->own_part, 1);
	c = &r->causes[1];
	assert_int_equal(c->kind, VPROF_CAUSE_WORK);
	assert_string_equal(c->key, "v:f4");
	assert_near(c->if_constant, 6400 / 44300.0);
	vprof_results_free(r);
	vprof_plan_free(plan);
}

/* f3 makes up for what f2 takes: T = f2 + f3, 100 b0 and 60 (1 - b0) + 50 b1. If f2 were constant, f3's variance would
 * come to light: more than before. Nothing is clipped. */
static void test_negative(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct vprof_results *r;
	const struct vprof_cause *c;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		begin(i);
		call(F(2), 1000 + 100 * BIT(i, 0));
		call(F(3), 1000 + 60 * (1 - BIT(i, 0)) + 50 * BIT(i, 1));
		hand_mark(th, VP_KIND_END, i, now);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan); /* Var T = 40^2 + 50^2 = 4100 */
	assert_near(hand_factor(r, "v:f2")->share, 10000 / 4100.0);
	assert_near(hand_factor(r, "v:f2")->if_constant, (2 * 4000 - 10000) / 4100.0);
	assert_near(hand_factor(r, "v:f3")->if_constant, (2 * 100 - 6100) / 4100.0);
	c = cause_named(r, "v:f2");
	assert_non_null(c);
	assert_near(c->share, 10000 / 4100.0);
	assert_near(c->if_constant, -2000 / 4100.0);
	assert_int_equal(c->status, VPROF_CAUSE_CANDIDATE);
	assert_ptr_equal(c, r->causes); /* the other is worse */
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_if_constant),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_negative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
