/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A long time in a gap between timed calls of a hot function: undivided between the function and its caller. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

#define STEPS 20 /* timed calls in an interval */
#define STEP 100 /* from one to the next; three more are counted between them */
#define LONG 5000

static void chosen(struct hand_thread *th, uint32_t code, uint64_t t0, uint64_t t1, uint32_t represented, uint32_t k)
{
	uint64_t payload = 4 | (uint64_t)(k % 2) << 7 | represented << 8 | (uint64_t)(k / 2) << 16;

	hand_units(th, (struct vp_unit[]){ { t0, VP_W(VP_KIND_SAMPLE, payload) }, { t1 - t0, code } }, 2);
}

static void counted(struct hand_thread *th, uint32_t code, uint64_t n, uint64_t t)
{
	hand_units(th, &(struct vp_unit){ t, VP_W(VP_KIND_COUNT, code | n << 24) }, 1);
}

struct scene {
	struct hand_trace h;
	struct hand_thread *th;
	struct vprof_plan *plan;
	struct vprof_results *r;
	uint64_t t;
};

static void begin(struct scene *s)
{
	hand_init(&s->h);
	s->th = hand_thread(&s->h, 1);
	s->plan = hand_plan(4);
	s->t = 100000;
}

static void analyze(struct scene *s)
{
	hand_write(&s->h);
	s->r = hand_analyze(&s->h, s->plan);
}

static void end(struct scene *s)
{
	vprof_results_free(s->r);
	vprof_plan_free(s->plan);
	hand_release(&s->h);
}

static double mean(const struct scene *s, const char *name)
{
	const struct vprof_node *n = hand_node(s->r, name, VPROF_NONE);

	return n ? n->mean_ns : 0;
}

/* f1 from here on; f2 in it, timed calls of 10 and gaps of 90 with three more. The gap before call `at` is longer, the
 * one behind the last call is where at is STEPS. */
static void interval(struct scene *s, uint64_t id, int at, uint64_t longer)
{
	uint64_t from = s->t, t = from;

	hand_mark(s->th, VP_KIND_BEGIN, id, from);
	for (int k = 0; k < STEPS; k++) {
		t += STEP - 10 + (k == at ? longer : 0);
		chosen(s->th, F(2), t, t + 10, 4, (uint32_t)k);
		t += 10;
	}
	t += STEP - 10 + (at == STEPS ? longer : 0);
	hand_call(s->th, F(1), from, t);
	hand_mark(s->th, VP_KIND_END, id, t);
	counted(s->th, F(2), 3, t - 50);
	s->t = t + 1000;
}

static void check(const struct scene *s, int n, double undivided)
{
	assert_true(fabs(mean(s, "undivided in f1") - undivided) < 1e-9);
	assert_true(fabs(mean(s, "f2") - STEPS * 40) < 1e-9);
	assert_true(fabs(mean(s, "body of f1") - ((STEPS + 1) * (STEP - 10) - STEPS * 30)) < 1e-9);
	assert_true(fabs(s->r->mean_ns - ((STEPS + 1) * STEP - 10) - undivided) < 1e-9);
	assert_int_equal(s->r->n_complete, n);
}

static void test_between(void **state)
{
	static const int places[] = { 0, 1, 7, STEPS - 1, STEPS }; /* with the first and the last gap of a stretch */

	(void)state;
	for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
		struct scene s;
		const struct vprof_node *n;

		begin(&s);
		for (uint64_t i = 1; i <= 10; i++)
			interval(&s, i, places[p], i == 4 ? LONG : 0);
		analyze(&s);
		check(&s, 10, LONG / 10.0);
		n = hand_node(s.r, "undivided in f1", VPROF_NONE);
		assert_int_equal(n->kind, VPROF_NODE_UNDIVIDED);
		assert_int_equal(n->n_calls, 1);
		assert_true(fabs(n->share - 1) < 1e-9);
		assert_string_equal(s.r->factors[0].key, "v:undivided in f1");
		assert_int_equal(s.r->factors[0].can_break_down, 1);
		assert_int_equal(s.r->factors[0].n_unmeasured, 1);
		assert_int_equal(s.r->n_causes, 1);
		assert_int_equal(s.r->causes[0].kind, VPROF_CAUSE_UNDIVIDED);
		assert_int_equal(s.r->causes[0].status, VPROF_CAUSE_CANDIDATE);
		assert_string_equal(s.r->causes[0].key, "v:undivided in f1");
		assert_int_equal(s.r->causes[0].n_unmeasured, 1);
		end(&s);
	}
}

/* Below a microsecond and twice a usual call nothing is rare. */
static void test_short(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint64_t i = 1; i <= 10; i++)
		interval(&s, i, 7, i == 4 ? 900 : 0);
	analyze(&s);
	assert_null(hand_node(s.r, "undivided in f1", VPROF_NONE));
	assert_true(fabs(mean(&s, "body of f1") - ((STEPS + 1) * (STEP - 10) - STEPS * 30 + 90)) < 1e-9);
	end(&s);
}

/* The function's calls before it was found to be hot are recorded: a long time before the last of them is the
 * caller's. */
static void test_recorded_before(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint64_t i = 1; i <= 10; i++) {
		uint64_t from = s.t, t = from + (i == 4 ? LONG : 0);

		hand_mark(s.th, VP_KIND_BEGIN, i, from);
		for (int k = 0; k < 4; k++)
			hand_call(s.th, F(2), t + 20 * (uint64_t)k, t + 20 * (uint64_t)k + 10);
		t += 80;
		for (int k = 0; k < STEPS; k++)
			chosen(s.th, F(2), t + STEP * ((uint64_t)k + 1), t + STEP * ((uint64_t)k + 1) + 10, 4,
			       (uint32_t)k);
		t += STEP * (STEPS + 1);
		hand_call(s.th, F(1), from, t);
		hand_mark(s.th, VP_KIND_END, i, t);
		s.t = t + 1000;
	}
	analyze(&s);
	assert_null(hand_node(s.r, "undivided in f1", VPROF_NONE));
	assert_true(mean(&s, "body of f1") > LONG / 10.0);
	end(&s);
}

/* What is known of a long gap is not undivided: a call that was recorded, a wait. */
static void test_known(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint64_t i = 1; i <= 10; i++) {
		uint64_t from = s.t, t = from;

		hand_mark(s.th, VP_KIND_BEGIN, i, from);
		for (int k = 0; k < STEPS; k++) {
			if (i == 4 && k == 7) {
				hand_call(s.th, F(3), t + 10, t + 10 + LONG);
				t += LONG;
			}
			if (i == 5 && k == 9) {
				hand_wait(s.th, VP_WAIT_SLEEP, VP_CALL_NANOSLEEP, 0, 0, t + 10, t + 10 + LONG);
				t += LONG;
			}
			chosen(s.th, F(2), t + STEP - 10, t + STEP, 4, (uint32_t)k);
			t += STEP;
		}
		hand_call(s.th, F(1), from, t);
		hand_mark(s.th, VP_KIND_END, i, t);
		s.t = t + 1000;
	}
	analyze(&s);
	assert_null(hand_node(s.r, "undivided in f1", VPROF_NONE));
	assert_true(fabs(mean(&s, "f3") - LONG / 10.0) < 1e-9);
	assert_true(fabs(mean(&s, "nanosleep") - LONG / 10.0) < 1e-9);
	end(&s);
}

/* A wait cuts the gap in two: the time before and after it belongs together. */
static void test_around_wait(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint64_t i = 1; i <= 10; i++) {
		uint64_t from = s.t, t = from;

		hand_mark(s.th, VP_KIND_BEGIN, i, from);
		for (int k = 0; k < STEPS; k++) {
			if (i == 4 && k == 7) {
				hand_wait(s.th, VP_WAIT_SLEEP, VP_CALL_NANOSLEEP, 0, 0, t + 800, t + 1000);
				t += 200 + 1600;
			}
			chosen(s.th, F(2), t + STEP - 10, t + STEP, 4, (uint32_t)k);
			t += STEP;
		}
		hand_call(s.th, F(1), from, t);
		hand_mark(s.th, VP_KIND_END, i, t);
		s.t = t + 1000;
	}
	analyze(&s);
	assert_true(fabs(mean(&s, "undivided in f1") - 1600 / 10.0) < 1e-9);
	end(&s);
}

/* Two hot functions in turn: the long time lies in gaps of both and counts once. */
static void test_two_functions(void **state)
{
	struct scene s;
	const struct vprof_factor *f;

	(void)state;
	begin(&s);
	for (uint64_t i = 1; i <= 10; i++) {
		uint64_t from = s.t, t = from;

		hand_mark(s.th, VP_KIND_BEGIN, i, from);
		for (int k = 0; k < STEPS; k++) {
			t += i == 4 && k == 7 ? LONG : 0;
			chosen(s.th, F(2), t + 90, t + 100, 4, (uint32_t)k);
			t += i == 6 && k == 9 ? LONG : 0;
			chosen(s.th, F(3), t + 190, t + 200, 4, (uint32_t)k);
			t += 200;
		}
		hand_call(s.th, F(1), from, t);
		hand_mark(s.th, VP_KIND_END, i, t);
		s.t = t + 1000;
	}
	analyze(&s);
	assert_true(fabs(mean(&s, "undivided in f1") - 2 * LONG / 10.0) < 1e-9);
	f = &s.r->factors[0];
	assert_string_equal(f->key, "v:undivided in f1");
	assert_int_equal(f->n_unmeasured, 2);
	end(&s);
}

/* Slow calls that are not rare: sampling tells how much time they take, and nothing is undivided. */
static void test_frequent(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint64_t i = 1; i <= 200; i++) {
		uint64_t from = s.t, t = from;

		hand_mark(s.th, VP_KIND_BEGIN, i, from);
		for (int k = 0; k < STEPS; k++) {
			uint64_t gap = (i + (uint64_t)k) % 10 == 3 ? LONG : 90,
				 call = (i + (uint64_t)k) % 10 ? 10 : LONG;

			chosen(s.th, F(2), t + gap, t + gap + call, 4, (uint32_t)k);
			t += gap + call;
		}
		hand_call(s.th, F(1), from, t);
		hand_mark(s.th, VP_KIND_END, i, t);
		s.t = t + 1000;
	}
	analyze(&s);
	assert_null(hand_node(s.r, "undivided in f1", VPROF_NONE));
	end(&s);
}

/* A lock's holder in a hot loop: all that the waiting request sees of the gap is its middle. */
static void test_blame(void **state)
{
	struct scene s;
	struct hand_thread *holder;
	const struct vprof_node *n;

	(void)state;
	begin(&s);
	holder = hand_thread(&s.h, 1);
	for (uint64_t i = 1; i <= 10; i++) {
		uint64_t from = s.t, t = from, longer = 20000;

		for (int k = 0; k < STEPS; k++) {
			t += STEP - 10 + (k == 7 ? longer : 0);
			chosen(holder, F(2), t, t + 10, 4, (uint32_t)k);
			t += 10;
		}
		hand_wake(holder, VP_WAIT_MUTEX, 0, 0x1000, (uint32_t)i, (uint32_t)i, t);
		hand_call(holder, F(1), from, t + 50);
		hand_mark(s.th, VP_KIND_BEGIN, i, from + 1000);
		hand_wait(s.th, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x1000, (uint32_t)i, from + 1100, t + 20);
		hand_mark(s.th, VP_KIND_END, i, t + 100);
		s.t = t + 1000;
	}
	analyze(&s);
	n = hand_node(s.r, "undivided in f1", VPROF_NONE);
	assert_non_null(n);
	assert_true(n->is_blame);
	assert_string_equal(s.r->factors[n->factor - 1].key, "v:beneath:undivided in f1");
	assert_true(n->mean_ns > 19000 && n->mean_ns <= 20000);
	end(&s);
}

/* Counts that no record can have. */
static void test_damage(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	for (uint64_t i = 1; i <= 10; i++) {
		counted(s.th, F(3), 65535, s.t + 1);
		counted(s.th, F(2), 65535, 1);
		counted(s.th, F(2), 0, s.t + 70);
		interval(&s, i, 3, LONG);
		counted(s.th, F(2), 65535, UINT64_MAX >> 20);
	}
	analyze(&s);
	assert_int_equal(s.r->n_complete, 10);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between),		cmocka_unit_test(test_short),
		cmocka_unit_test(test_recorded_before), cmocka_unit_test(test_known),
		cmocka_unit_test(test_around_wait),	cmocka_unit_test(test_two_functions),
		cmocka_unit_test(test_frequent),	cmocka_unit_test(test_blame),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
