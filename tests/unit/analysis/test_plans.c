/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A live session's trace: plans change at random while a made-up program runs, whose gates are followed call by call.
 * What counts under a plan is whole, what straddles a change is known, and no call is beneath one that did not make it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/source/source.h"
#include "analysis/timeline/calls.h"
#include "tests/unit/analysis/hand_trace.h"

#define N_WORLDS 40
#define N_REQUESTS 300
#define N_TURNS 24
#define CHANGE 40 /* ticks that a change takes */
#define GATE_TOP 1u
#define GATE_LEAF 2u

/* f1 is the request's, f4 a background thread's; both call f2, which calls f3. Under plan 1 f4 is not broken down. */
enum { F1 = 1, F2, F3, F4 };

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 33) % below;
}

struct turn {
	uint64_t t0, t1;
	uint32_t number;
};

struct world {
	struct hand_trace trace;
	struct turn turns[N_TURNS];
};

/* During a change either plan may be what a call sees. */
static uint32_t plan_at(const struct world *w, uint64_t t)
{
	uint32_t number = 0;

	for (int i = 0; i < N_TURNS; i++)
		if (t > w->turns[i].t1 || (t >= w->turns[i].t0 && draw(2)))
			number = w->turns[i].number;
	return number;
}

static uint64_t gate_bit(int f)
{
	return UINT64_C(1) << (VPROF_CONTEXT_FIRST + f);
}

static uint64_t mask_of(uint32_t plan, int f)
{
	if (!plan)
		return 0;
	return f == F1 || f == F4 ? UINT64_MAX : f == F3 ? gate_bit(F2) : gate_bit(F1) | (plan == 2 ? gate_bit(F4) : 0);
}

static uint64_t opens(uint32_t plan, int f)
{
	return f == F3 || (f == F4 && plan == 1) ? GATE_LEAF : gate_bit(f);
}

/* The call and all within it, from *t on. Returns the gate's state to the caller by value: gates nest. */
static void call(struct world *w, struct hand_thread *th, int f, uint64_t gate, uint64_t *t)
{
	uint64_t t0 = *t += 1 + draw(5);
	uint32_t plan = plan_at(w, t0);
	int is_recorded = (gate & mask_of(plan, f)) != 0;
	uint64_t inner = is_recorded ? opens(plan, f) : gate;
	int n = f == F4 ? (int)draw(60) : f == F3 ? 0 : 2;

	for (int i = 0; i < n; i++)
		call(w, th, f == F2 ? F3 : F2, inner, t);
	*t += 1 + draw(10);
	if (is_recorded)
		hand_call(th, F((uint32_t)f), t0, *t);
}

static void make_turns(struct world *w, uint64_t end)
{
	struct hand_thread *plans = hand_thread(&w->trace, 1), *windows;

	plans->thread_seq = VP_THREAD_PLANS;
	for (int i = 0; i < N_TURNS; i++) {
		uint64_t t0 = end / N_TURNS * (uint64_t)i + 1 + draw(end / N_TURNS / 2);
		uint32_t number = i < 3 ? 1 : (uint32_t)(i == 3 ? 2 : 2 * draw(2));
		struct vp_unit units[] = { { t0, VP_W(VP_KIND_PLAN, number) },
					   { t0 + CHANGE, 0 },
					   { t0 > 200 ? t0 - 200 : 0, 0 } };

		w->turns[i] = (struct turn){ t0, t0 + CHANGE, number };
		hand_units(plans, units, 3);
	}
	windows = hand_thread(&w->trace, 1);
	windows->thread_seq = VP_THREAD_WINDOWS;
	hand_units(windows, &(struct vp_unit){ 1, VP_W(VP_KIND_WINDOW, 1) }, 1);
}

static void make(struct world *w)
{
	uint64_t end = N_REQUESTS * 130, t = 1, background = 1;
	struct hand_thread *requests, *jobs;

	hand_init(&w->trace);
	requests = hand_thread(&w->trace, 1);
	jobs = hand_thread(&w->trace, 1);
	make_turns(w, end);
	for (uint64_t i = 0; i < N_REQUESTS; i++) {
		hand_mark(requests, VP_KIND_BEGIN, i, ++t);
		call(w, requests, F1, GATE_TOP, &t);
		hand_mark(requests, VP_KIND_END, i, ++t);
		t += draw(60);
	}
	while (background < t)
		call(w, jobs, F4, GATE_TOP, &background);
	hand_write(&w->trace);
}

static struct vprof_plan *plan_2(void)
{
	struct vprof_plan *plan = vprof_plan_new("/");

	plan->number = 2;
	for (uint32_t f = F1; f <= F4; f++)
		hand_plan_function(
			plan, f,
			(struct vprof_probe){ .mask = mask_of(2, (int)f),
					      .context = f == F3 ? VPROF_CONTEXT_LEAF : VPROF_CONTEXT_FIRST + (int)f,
					      .is_root = f == F1 || f == F4,
					      .broken_down = f != F3,
					      .is_changed = f == F4 });
	return plan;
}

static int makes(uint32_t caller, uint32_t code)
{
	return code == F(F3) ? caller == F(F2) : code == F(F2) ? caller == F(F1) || caller == F(F4) : !caller;
}

static size_t calls_between(const struct vprof_source *s, struct vprof_calls *calls, uint32_t thread, uint64_t from,
			    uint64_t to, const struct vprof_call **v)
{
	size_t n;

	assert_int_equal(vprof_calls_window(calls, thread, &s->timeline->threads[thread].calls, from, to, v, &n), 0);
	for (size_t i = 0; i < n; i++)
		assert_true(makes((*v)[i].parent == VPROF_NONE ? 0 : (*v)[(*v)[i].parent].code, (*v)[i].code));
	return n;
}

/* Of the background thread: calls of f4 that lie in the time hold two calls of f3 for each call of f2. */
static void check_background(const struct vprof_source *s, struct vprof_calls *calls, uint64_t from, uint64_t to)
{
	const struct vprof_call *v;
	size_t n = calls_between(s, calls, 1, from, to, &v), n_f2 = 0, n_f3 = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i].t0 < from || v[i].t1 > to)
			continue;
		n_f2 += v[i].code == F(F2);
		n_f3 += v[i].code == F(F3) && v[i].parent != VPROF_NONE && v[v[i].parent].t0 >= from &&
			v[v[i].parent].t1 <= to;
	}
	assert_int_equal(n_f3, 2 * n_f2);
}

/* Returns how many were chosen. */
static size_t check(const struct world *w, const struct vprof_plan *plan)
{
	struct vprof_source s = { .plan = plan };
	struct vprof_error err = { "" };
	struct vprof_calls *calls;
	const struct vprof_call *v;
	size_t n_chosen;

	assert_int_equal(vprof_source_open(&s, w->trace.dir, 1, NULL, NULL, &err), 0);
	assert_int_equal(vprof_source_choose(&s, s.intervals->names.v[0].name, 1, 0, 0, 0), 0);
	calls = vprof_calls_new(s.timeline->n_threads, (size_t)1 << 20);
	calls_between(&s, calls, 1, 0, s.timeline->t_last + 1, &v);
	for (size_t i = 0; i < s.chosen.n; i++) {
		const struct vprof_instance *inst = &s.intervals->instances.v[s.chosen.v[i]];

		assert_int_equal(calls_between(&s, calls, 0, inst->begin, inst->end + 1, &v), 1 + 2 + 4);
		check_background(&s, calls, inst->begin, inst->end);
		for (int k = 0; k < N_TURNS; k++)
			assert_false(w->turns[k].t0 <= inst->end && w->turns[k].t1 >= inst->begin);
		calls_between(&s, calls, 1, inst->begin, inst->begin + 1, &v);
		/* whoever is in f4 began it when what it calls was measured */
		assert_true(!calls_between(&s, calls, 1, inst->begin, inst->begin + 1, &v) || v[0].code != F(F4) ||
			    v[0].t0 >= w->turns[3].t0);
	}
	for (size_t i = 0; i < s.latencies.n; i++)
		assert_true(s.latencies.v[i].turn < N_TURNS &&
			    (w->turns[s.latencies.v[i].turn].number == 0) == s.latencies.v[i].is_baseline);
	n_chosen = s.chosen.n;
	vprof_calls_free(calls);
	vprof_source_release(&s);
	return n_chosen;
}

static void test_random_changes(void **state)
{
	struct vprof_plan *plan = plan_2();
	uint64_t n_chosen = 0, n_outside = 0, n_straddling = 0;

	(void)state;
	random_state = 20261123;
	for (int i = 0; i < N_WORLDS; i++) {
		struct world w = { .turns = { { 0, 0, 0 } } };
		struct vprof_results *r;
		double sum = 0;

		make(&w);
		n_chosen += check(&w, plan);
		r = hand_analyze(&w.trace, plan);
		n_outside += r->n_outside;
		n_straddling += r->live.n_straddling;
		for (size_t k = 0; k < r->n_contributions; k++)
			sum += r->contributions[k].mean_ns;
		assert_true(!r->n_complete || fabs(sum - r->mean_ns) < 1e-6 * r->mean_ns);
		vprof_results_free(r);
		hand_release(&w.trace);
	}
	assert_true(n_chosen > N_WORLDS && n_outside > N_WORLDS && n_straddling > N_WORLDS);
	vprof_plan_free(plan);
}

/* A process that was opened later than the others counts from then on; another one always. */
static void test_process_of_its_own(void **state)
{
	struct vprof_plan *plan = plan_2();
	struct hand_thread *th;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	for (uint32_t process = 1; process <= 2; process++) {
		th = hand_thread(&h, process);
		for (uint64_t i = 0; i < 100; i++) {
			hand_mark(th, VP_KIND_BEGIN, process * 1000 + i, 100 * i + 10);
			hand_mark(th, VP_KIND_END, process * 1000 + i, 100 * i + 50 + i % 7);
		}
	}
	th = hand_thread(&h, 1);
	th->thread_seq = VP_THREAD_PLANS;
	hand_units(th, (struct vp_unit[]){ { 1, VP_W(VP_KIND_PLAN, 2) }, { 5, 0 }, { 0, 0 } }, 3);
	hand_units(th, (struct vp_unit[]){ { 1, VP_W(VP_KIND_PLAN, 2) }, { 4000, 2 }, { 0, 0 } }, 3);
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_complete, 100 + 60);
	assert_int_equal(r->live.n_straddling, 40);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

#define TURN 10000 /* ticks, of which half are measured */

/* Of the new thread f4 is recorded, of the old one f2 alone, or nothing. */
enum f4 {
	LOOP,	 /* one call for all of its life */
	HANDLER, /* one for each piece of work, begun before the request */
	HOST,	 /* a loop, and f2 lies in its code: the old thread has none */
};

/* Requests wait for work, f2 within f4, of an old thread, which was in f4 when that was opened, or of a new one. */
static struct vprof_results *old_and_new(struct hand_trace *h, struct vprof_plan *plan, enum f4 f4)
{
	struct hand_thread *requests, *old, *new, *th;

	hand_init(h);
	requests = hand_thread(h, 1);
	old = hand_thread(h, 1);
	new = hand_thread(h, 1);
	for (uint64_t i = 0; i < N_REQUESTS; i++) {
		uint64_t t = TURN * (i / 4) + 1000 + 1000 * (i % 4), end = t + 300 + (i * 7) % 400;
		struct hand_thread *worker = i % 2 ? old : new;

		hand_mark(requests, VP_KIND_BEGIN, i, t);
		hand_wait(requests, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, (uint32_t)i + 1, t + 10, end);
		hand_mark(requests, VP_KIND_END, i, end + 10);
		if (worker == new || f4 != HOST)
			hand_call(worker, F(F2), t + 20, end - 10);
		hand_wake(worker, VP_WAIT_MUTEX, 0, 0x10, (uint32_t)i + 1, (uint32_t)i + 1, end - 5);
		if (worker == new && f4 == HANDLER)
			hand_call(new, F(F4), t - 30, end);
	}
	if (f4 != HANDLER)
		hand_call(new, F(F4), 10, TURN * (N_REQUESTS / 4));
	th = hand_thread(h, 1);
	th->thread_seq = VP_THREAD_PLANS;
	for (uint64_t i = 0; i < 2 * N_REQUESTS / 4; i++)
		hand_units(th,
			   (struct vp_unit[]){ { TURN / 2 * i + 1, VP_W(VP_KIND_PLAN, i % 2 ? 0 : 2) },
					       { TURN / 2 * i + 5, 0 },
					       { TURN / 2 * i, 0 } },
			   3);
	th = hand_thread(h, 1);
	th->thread_seq = VP_THREAD_WINDOWS;
	hand_units(th, &(struct vp_unit){ 1, VP_W(VP_KIND_WINDOW, 1) }, 1);
	hand_write(h);
	return hand_analyze(h, plan);
}

/* What is told of work does not depend on the age of who did it. */
static void test_outlasting_calls(void **state)
{
	struct vprof_plan *plan = plan_2();
	struct hand_trace h;
	struct vprof_results *r;
	const struct vprof_node *f2, *f4;

	(void)state;
	for (size_t i = 0; i < plan->n_probes; i++)
		plan->probes[i].is_changed = 0;
	r = old_and_new(&h, plan, LOOP);
	assert_int_equal(r->n_complete, N_REQUESTS);
	f2 = hand_node(r, "f2", VPROF_NONE);
	assert_non_null(f2);
	assert_null(hand_node(r, "f4", VPROF_NONE));
	assert_int_equal(f2->n_intervals, N_REQUESTS);
	assert_true(f2->share > 0.95);
	vprof_results_free(r);
	hand_release(&h);

	r = old_and_new(&h, plan, HANDLER); /* which f4 is on whom is known */
	f4 = hand_node(r, "f4", VPROF_NONE);
	assert_non_null(f4);
	assert_int_equal(f4->n_intervals, N_REQUESTS / 2);
	vprof_results_free(r);
	hand_release(&h);

	plan->probes[1].hosts[0] = F(F4);
	r = old_and_new(&h, plan, HOST);
	assert_null(hand_node(r, "f2", VPROF_NONE));
	assert_null(hand_node(r, "f4", VPROF_NONE));
	vprof_results_free(r);
	hand_release(&h);
	vprof_plan_free(plan);
}

/* Any number in any place, records in any order, the last one cut: nothing is counted twice, and nothing crashes. */
static void test_damaged_records(void **state)
{
	static const uint64_t values[] = {
		0, 1, 2, 60, 5000, 9999, INT64_MAX, UINT64_MAX, UINT32_MAX, UINT64_C(1) << 32
	};
	struct vprof_plan *plan = plan_2();

	(void)state;
	random_state = 77;
	for (int world = 0; world < 200; world++) {
		struct vprof_results *r = NULL;
		struct vprof_error err = { "" };
		struct hand_thread *th;
		struct hand_trace h;

		hand_init(&h);
		th = hand_thread(&h, 1);
		for (uint64_t i = 0; i < 100; i++) {
			hand_mark(th, VP_KIND_BEGIN, i, 100 * i + 10);
			hand_mark(th, VP_KIND_END, i, 100 * i + 50 + i % 7);
		}
		th = hand_thread(&h, 1);
		th->thread_seq = VP_THREAD_PLANS;
		for (uint64_t i = draw(8) + 1; i-- > 0;) {
#define ANY() values[draw(sizeof values / sizeof *values)]
			struct vp_unit units[] = { { ANY(), VP_W(VP_KIND_PLAN, draw(2) ? 2 : ANY() & VP_PAYLOAD_MAX) },
						   { ANY(), ANY() },
						   { ANY(), ANY() } };

			hand_units(th, units, i ? 3 : (uint32_t)draw(3) + 1);
		}
		hand_write(&h);
		if (vprof_analyze(&r, &(struct vprof_analyze_options){ .trace_dir = h.dir, .plan = plan, .k = 3 },
				  &err))
			assert_true(*err.message);
		else
			assert_true(r->n_complete + r->live.n_straddling <= 100);
		vprof_results_free(r);
		hand_release(&h);
	}
	vprof_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_process_of_its_own),
		cmocka_unit_test(test_outlasting_calls),
		cmocka_unit_test(test_damaged_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
