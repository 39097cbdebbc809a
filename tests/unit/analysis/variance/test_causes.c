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

#include "analysis/causes/causes.h"
#include "tests/unit/analysis/hand_trace.h"

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
	assert_int_equal(c->status, VPROF_CAUSE_SETTLED_HERE);
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

static struct vprof_plan *plan_with_rename(int n)
{
	struct vprof_plan *plan = hand_plan(n);

	assert_int_equal(vprof_plan_add(plan, &(struct vprof_probe){ .code = S(7),
								     .kind = VPROF_PROBE_SITE,
								     .mask = VPROF_MASK_ANY,
								     .context = VPROF_CONTEXT_LEAF,
								     .name = "rename",
								     .display = "rename",
								     .file = "src/f.c",
								     .line = 7,
								     .caller = "f7" }),
			 0);
	return plan;
}

/* f1 calls f2 or f3, which wait for a lock while its holder's f5 calls f6, which calls f7, which calls fdatasync and
 * rename. f4 is work of the interval's own. */
static void write_chain(void)
{
	struct hand_thread *holder;

	hand_init(&h);
	th = hand_thread(&h, 1);
	holder = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t x = 1000 + 100 * BIT(i, 0) + 40 * BIT(i, 1), y = 1000 + 80 * BIT(i, 0), t, wake;

		begin(i);
		t = now + 100;
		wake = t + x + y;
		hand_wait(th, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, (uint32_t)i + 1, t, wake);
		hand_call(th, BIT(i, 4) ? F(2) : F(3), t - 10, wake + 10);
		hand_call(th, F(1), t - 20, wake + 20);
		now = wake + 30;
		call(F(4), 1000 + 50 * BIT(i, 2));
		hand_mark(th, VP_KIND_END, i, now);
		hand_call(holder, S(1), t, t + x);
		hand_call(holder, S(7), t + x, wake);
		hand_wake(holder, VP_WAIT_MUTEX, 0, 0x10, (uint32_t)i + 1, (uint32_t)i + 1, wake);
		hand_call(holder, F(7), t, wake + 1);
		hand_call(holder, F(6), t - 5, wake + 5);
		hand_call(holder, F(5), t - 6, wake + 6);
	}
	hand_write(&h);
}

static int folds(const struct vprof_results *r, const struct vprof_cause *c, const char *key)
{
	for (size_t i = 0; i < c->n_factors; i++)
		if (!strcmp(r->factors[c->factors[i]].key, key))
			return 1;
	return 0;
}

/* In units of V: fdatasync 100^2 + 40^2 = 11600, rename 6400, their covariance 8000; f4 2500. */
static void test_chain(void **state)
{
	static const char *const steps[] = { "f1", "", "pthread_mutex_lock", "f5", "f6", "f7" };
	static const char *const folded[] = { "v:beneath:fdatasync",
					      "v:beneath:rename",
					      "v:beneath:f7",
					      "v:beneath:f6",
					      "v:beneath:f5",
					      "v:pthread_mutex_lock",
					      "v:f2",
					      "v:f3",
					      "v:f1",
					      "c:beneath:fdatasync|rename" };
	struct vprof_plan *plan = plan_with_rename(7);
	struct vprof_results *r;
	const struct vprof_cause *c;

	(void)state;
	write_chain();
	r = hand_analyze(&h, plan);
	c = r->causes;
	assert_int_equal(r->n_causes, 2);
	assert_int_equal(c->kind, VPROF_CAUSE_WORK);
	assert_string_equal(c->key, "v:f7");
	assert_string_equal(c->name, "f7");
	assert_int_equal(c->line, 70);
	assert_near(c->share, 34000 / 36500.0);
	assert_near(c->if_constant, 34000 / 36500.0);
	assert_near(c->waiting_part, 1);
	assert_near(c->own_part, 0);
	assert_int_equal(c->n_places, 2);
	assert_int_equal(c->status, VPROF_CAUSE_SETTLED_HERE);
	assert_int_equal(c->n_steps, 6);
	for (size_t i = 0; i < c->n_steps; i++) {
		if (*steps[i])
			assert_string_equal(c->steps[i].name, steps[i]);
		assert_int_equal(c->steps[i].is_blame, i > 2);
	}
	assert_int_equal(c->steps[2].kind, VPROF_NODE_WAIT);
	assert_string_equal(c->steps[2].object, "0x10");
	assert_int_equal(c->n_splits, 2); /* the end's body and all the rest: nothing */
	assert_string_equal(c->splits[0].name, "fdatasync");
	assert_near(c->splits[0].part, 19600 / 34000.0);
	assert_near(c->splits[0].share, 19600 / 36500.0);
	assert_near(c->splits[1].part, 14400 / 34000.0);
	for (size_t i = 0; i < sizeof folded / sizeof *folded; i++)
		if (!folds(r, c, folded[i]))
			fail_msg("%s is not folded", folded[i]);
	assert_string_equal(r->causes[1].key, "v:f4");
	assert_near(r->causes[1].if_constant, 2500 / 36500.0);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* f2 runs for the interval and, on another thread, while that waits: one cause, and two factors with their sum. */
static void test_own_and_beneath(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	const struct vprof_factor *own, *beneath;
	const struct vprof_cause *c;
	struct vprof_results *r;
	struct hand_thread *holder;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	holder = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t x = 1000 + 60 * BIT(i, 0), t;

		begin(i);
		call(F(2), 1000 + 100 * BIT(i, 0) + 30 * BIT(i, 1));
		t = now;
		hand_wait(th, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, (uint32_t)i + 1, t, t + x);
		now = t + x;
		call(F(3), 1000 + 50 * BIT(i, 2));
		hand_mark(th, VP_KIND_END, i, now);
		hand_wake(holder, VP_WAIT_MUTEX, 0, 0x10, (uint32_t)i + 1, (uint32_t)i + 1, t + x);
		hand_call(holder, F(2), t, t + x + 1);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan); /* own 10900, beneath 3600, covariance 6000; all 26500 + 2500 */
	own = hand_factor(r, "v:f2");
	beneath = hand_factor(r, "v:beneath:f2");
	assert_ptr_equal(&r->factors[own->counterpart - 1], beneath);
	assert_ptr_equal(&r->factors[beneath->counterpart - 1], own);
	assert_near(own->share, 10900 / 29000.0);
	assert_near(own->if_constant, (2 * 16900 - 10900) / 29000.0);
	assert_near(own->together, 26500 / 29000.0);
	assert_near(own->together_constant, 26500 / 29000.0);
	assert_near(beneath->together, own->together);
	assert_near(beneath->if_constant, (2 * 9600 - 3600) / 29000.0);
	assert_true(own->together_low < own->together && own->together < own->together_high);
	c = r->causes;
	assert_string_equal(c->key, "v:f2");
	assert_near(c->share, 26500 / 29000.0);
	assert_near(c->own_part, 16900 / 26500.0);
	assert_near(c->waiting_part, 9600 / 26500.0);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* f3 and f4, which f2 calls, are too small by themselves; so is f2's own code. f2 is not. */
static void test_small_ones_belong_to_their_caller(void **state)
{
	struct vprof_plan *plan = hand_plan(6);
	const struct vprof_cause *c;
	struct vprof_results *r;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t from;

		begin(i);
		from = now;
		call(F(3), 1000 + 10 * BIT(i, 0));
		call(F(4), 1000 + 10 * BIT(i, 1));
		now += 500 + 10 * BIT(i, 2);
		hand_call(th, F(2), from, now);
		call(F(5), 1000 + 80 * BIT(i, 3)); /* 6400 */
		call(F(6), 1000 + 5 * BIT(i, 4));  /* 25: nothing at all */
		hand_call(th, F(1), from, now);
		hand_mark(th, VP_KIND_END, i, now);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_causes, 2);
	assert_string_equal(r->causes[0].key, "v:f5");
	c = &r->causes[1];
	assert_string_equal(c->key, "v:f2");
	assert_near(c->share, 300 / 6725.0);
	assert_int_equal(c->n_splits, 3);
	for (size_t i = 0; i < 3; i++)
		assert_near(c->splits[i].part, 1.0 / 3);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Callees that move together are their caller, if that is a part of the interval only; what moves by itself is not in
 * it. The caller is also where one member's own work dominates. */
static void test_stops_where_none_dominates(void **state)
{
	struct vprof_plan *plan = hand_plan(6);
	const struct vprof_cause *c;
	struct vprof_results *r;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t from, begun;

		begin(i);
		begun = now;
		call(F(6), 1000 + 60 * BIT(i, 3));
		from = now;
		call(F(3), 1000 + 100 * BIT(i, 0));
		call(F(4), 1000 + 90 * BIT(i, 0) + 10 * BIT(i, 1));
		call(F(5), 1000 + 50 * BIT(i, 2)); /* by itself */
		hand_call(th, F(2), from, now);
		hand_call(th, F(1), begun, now);
		hand_mark(th, VP_KIND_END, i, now);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan); /* f3 and f4: 190^2 + 100 = 36200; f5 2500; f6 3600: 42300 */
	c = r->causes;
	assert_int_equal(r->n_causes, 3);
	assert_int_equal(c->kind, VPROF_CAUSE_WORK);
	assert_string_equal(c->key, "v:f2");
	assert_near(c->share, 36200 / 42300.0);
	assert_int_equal(c->n_splits, 2);
	assert_string_equal(c->splits[0].name, "f3");
	assert_near(c->splits[0].part, 19000 / 36200.0);
	assert_string_equal(r->causes[1].key, "v:f6");
	assert_string_equal(r->causes[2].key, "v:f5");
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* One of two that move together has most of it: it is the cause, and so is the other, as far as it goes. */
static void test_dominating(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct vprof_results *r;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t from;

		begin(i);
		from = now;
		call(F(2), 1000 + 170 * BIT(i, 0));
		call(F(3), 1000 + 30 * BIT(i, 0));
		hand_call(th, F(1), from, now);
		hand_mark(th, VP_KIND_END, i, now);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_causes, 2);
	assert_string_equal(r->causes[0].key, "v:f2");
	assert_near(r->causes[0].share, 0.85 * 0.85);
	assert_near(r->causes[0].if_constant, 1 - 0.15 * 0.15);
	assert_string_equal(r->causes[1].key, "v:f3");
	assert_near(r->causes[1].if_constant, 1 - 0.85 * 0.85);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* What a function calls, and what varies little beside its own work, is in it; the same where it is the interval by
 * another name is not. */
static void test_contained(void **state)
{
	struct vprof_plan *plan = hand_plan(6);
	struct vprof_results *r;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t from, begun;

		begin(i);
		begun = now;
		from = now;
		call(F(3), 1000 + 80 * BIT(i, 1));
		now += 500 + 200 * BIT(i, 0);
		hand_call(th, F(2), from, now);
		call(F(4), 1000 + 80 * BIT(i, 2));
		now += 5000 + 500 * BIT(i, 3);
		hand_call(th, F(1), begun, now);
		hand_mark(th, VP_KIND_END, i, now);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan); /* f2 40000 and f3 in it 6400, f4 6400, f1 250000: 302800 */
	assert_int_equal(r->n_causes, 3);
	assert_string_equal(r->causes[0].key, "v:f1");
	assert_near(r->causes[0].share, 250000 / 302800.0);
	assert_string_equal(r->causes[1].key, "v:f2");
	assert_near(r->causes[1].share, 46400 / 302800.0);
	assert_int_equal(r->causes[1].n_splits, 2);
	assert_int_equal(r->causes[1].splits[0].kind, VPROF_NODE_BODY);
	assert_string_equal(r->causes[1].splits[1].name, "f3");
	assert_near(r->causes[1].splits[1].part, 6400 / 46400.0);
	assert_string_equal(r->causes[2].key, "v:f4");
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Longer work is preempted more: the scheduler's time correlates with it, here wherever it is, and is a cause of its
 * own. */
static void test_preempted_apart(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct hand_thread *cpu;
	struct vprof_results *r;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	cpu = hand_processor(&h, 0);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t from, wait = BIT(i, 0);

		begin(i);
		from = now;
		hand_switch(cpu, now - 10, 1, 0);
		hand_switch(cpu, now + 500, 1, VP_SWITCH_OUT | VP_SWITCH_PREEMPTED);
		hand_switch(cpu, now + 600 + 100 * wait, 1, 0);
		call(F(2), 1000 + 200 * wait);
		hand_switch(cpu, now + 500, 1, VP_SWITCH_OUT | VP_SWITCH_PREEMPTED);
		hand_switch(cpu, now + 600 + 60 * wait, 1, 0);
		call(F(3), 1000 + 60 * wait);
		hand_call(th, F(1), from, now);
		hand_mark(th, VP_KIND_END, i, now);
		hand_switch(cpu, now + 10, 1, VP_SWITCH_OUT);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan); /* f2's own 100, the scheduler 100 in f2 and 60 in f3: of 260 */
	assert_int_equal(r->n_causes, 2);
	assert_string_equal(r->causes[0].key, "v:preempted");
	assert_near(r->causes[0].if_constant, 1 - 100 * 100 / (260.0 * 260));
	assert_string_equal(r->causes[1].key, "v:f2");
	assert_near(r->causes[1].share, 100 * 100 / (260.0 * 260));
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* What may be due to chance is no more than a candidate. */
static void test_settled(void **state)
{
	static const struct {
		double if_constant, low, place_kept, first_kept;
		int inconclusive;
		enum vprof_cause_kind kind;
		uint64_t n_runs;
		enum vprof_cause_status status;
	} given[] = {
		{ 0.95, 0.91, 1, 1, 0, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_SETTLED },
		{ 0.95, 0.91, 1, 1, 0, VPROF_CAUSE_WORK, 1, VPROF_CAUSE_SETTLED_HERE }, /* the next may differ */
		{ 0.12, 0.01, 1, 1, 0, VPROF_CAUSE_WORK, 1, VPROF_CAUSE_CANDIDATE },
		{ 0.12, 0.01, 1, 1, 0, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_CANDIDATE }, /* (1 .. 34) */
		{ 0.04, 0.015, 1, 1, 0, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_CANDIDATE },
		{ 0.3, 0.25, 0.33, 1, 0, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_CANDIDATE }, /* one of three equal ones */
		{ 0.3, 0.25, 0.6, 1, 0, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_SETTLED },    /* one of two */
		{ 0.2, 0.15, 0.5, 0.8, 0, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_CANDIDATE },
		{ 0.95, 0.91, 1, 1, 1, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_CANDIDATE },
		{ 0.95, 0.91, 1, 1, 0, VPROF_CAUSE_UNDIVIDED, 2, VPROF_CAUSE_CANDIDATE },
		{ 0.95, 0.91, 1, 1, 0, VPROF_CAUSE_PREEMPTED, 2, VPROF_CAUSE_SETTLED },
		{ 0.95, NAN, NAN, NAN, 0, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_CANDIDATE },
		{ -0.5, -0.6, 1, 1, 0, VPROF_CAUSE_WORK, 2, VPROF_CAUSE_CANDIDATE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
		struct vprof_cause c = { .kind = given[i].kind,
					 .if_constant = given[i].if_constant,
					 .if_constant_low = given[i].low,
					 .place_kept = given[i].place_kept,
					 .first_kept = given[i].first_kept };
		struct vprof_results r = { .causes = &c,
					   .n_causes = 1,
					   .threshold = 0.02,
					   .inconclusive = given[i].inconclusive,
					   .n_runs = given[i].n_runs };

		vprof_causes_judge(&r);
		if (c.status != given[i].status)
			fail_msg("case %zu: %d", i, (int)c.status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_if_constant),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_negative),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_own_and_beneath),
		cmocka_unit_test(test_small_ones_belong_to_their_caller),
		cmocka_unit_test(test_stops_where_none_dominates),
		cmocka_unit_test(test_dominating),
		cmocka_unit_test(test_contained),
		cmocka_unit_test(test_preempted_apart),
		cmocka_unit_test(test_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
