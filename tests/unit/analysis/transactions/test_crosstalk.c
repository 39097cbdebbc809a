/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waited for whom, at which lock, beneath which functions: planted by hand; and that its sums are those of the
 * variance tree, to the tick, over traces made by chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

static const struct vprof_crosstalk *pair(const struct vprof_results *r, const char *waiter, const char *holder)
{
	for (size_t i = 0; i < r->n_crosstalk; i++)
		if (!strcmp(r->parties[r->crosstalk[i].waiter].name, waiter) &&
		    !strcmp(r->parties[r->crosstalk[i].holder].name, holder))
			return &r->crosstalk[i];
	return NULL;
}

static void expect(const struct vprof_results *r, const char *waiter, const char *holder, double total_ns)
{
	const struct vprof_crosstalk *x = pair(r, waiter, holder);

	if (!x ? total_ns != 0 : fabs(x->total_ns - total_ns) > 1e-6)
		fail_msg("%s waits %g for %s, not %g", waiter, x ? x->total_ns : 0, holder, total_ns);
}

static void begin_typed(struct hand_thread *th, uint64_t id, const char *type, uint64_t t)
{
	hand_mark(th, VP_KIND_BEGIN, id, t);
	hand_type(th, type, t);
}

/* a searches and waits at one lock for b, which confirms, then for c, which works for no interval; at another lock for
 * b, between two of its intervals. */
static void test_planted(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	const struct vprof_crosstalk *x;
	const struct vprof_crosstalk_lock *lock;
	struct hand_thread *a, *b, *c;
	struct vprof_results *r;
	struct hand_trace h;
	unsigned n = 70;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	c = hand_thread(&h, 1);
	for (unsigned i = 1; i <= n; i++) {
		uint64_t t = 100000 * (uint64_t)i;

		begin_typed(a, 2 * i, "search", t);
		begin_typed(b, 2 * i + 1, "confirm", t + 10);
		/* b holds 0x10 up to 500, and then c up to 700; a runs again at 720 */
		hand_wake(b, VP_WAIT_MUTEX, (2 * i - 1) << 8, 0x10, 2 * i, 2 * i, t + 500);
		hand_call(b, F(3), t + 20, t + 600);
		hand_mark(b, VP_KIND_END, 2 * i + 1, t + 1000);
		hand_call(c, F(4), t + 550, t + 690);
		hand_wake(c, VP_WAIT_MUTEX, (2 * i) << 8, 0x10, 2 * i, 2 * i, t + 700);
		hand_wait(a, VP_WAIT_MUTEX | (uint64_t)(2 * i - 2) << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, 0x10, 2 * i,
			  t + 100, t + 720);
		hand_call(a, S(2), t + 90, t + 730);
		/* 0x20: b has it from its interval, and goes on when that is over */
		hand_wait(a, VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT, 0x20, i, t + 800, t + 1300);
		hand_wake(b, VP_WAIT_SEMAPHORE, 0, 0x20, i - 1, i, t + 1300);
		hand_call(b, F(2), t + 1100, t + 1400);
		hand_call(a, F(1), t + 50, t + 1350);
		hand_mark(a, VP_KIND_END, 2 * i, t + 1400);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	expect(r, "search", "confirm", (400 + 200) * n);
	expect(r, "search", "f4", 200 * n);
	expect(r, "search", "f2", 300 * n);
	expect(r, "search", "released", 20 * n);
	expect(r, "search", "unknown", 0);
	expect(r, "confirm", "search", 0);
	x = pair(r, "search", "confirm");
	assert_int_equal(x->n_locks, 2);
	assert_int_equal(x->n_waits, 2 * n);
	assert_true(fabs(x->mean_ns - 600) < 1e-9);
	assert_true(x->mean_low <= 600 + 1e-9 && x->mean_high >= 600 - 1e-9);
	assert_true(fabs(x->share - 600.0 / 1400) < 1e-9);
	lock = &x->locks[0];
	assert_string_equal(lock->name, "pthread_mutex_lock");
	assert_string_equal(lock->function, "f1");
	assert_string_equal(lock->file, "src/f.c");
	assert_int_equal(lock->line, 5);
	assert_int_equal(lock->is_call, 1);
	assert_string_equal(lock->object, "0x10");
	assert_true(fabs(lock->total_ns - 400 * n) < 1e-6);
	assert_int_equal(lock->n_holder_calls, 1);
	assert_string_equal(lock->holder_calls[0].name, "f3");
	assert_int_equal(lock->holder_calls[0].line, 30);
	lock = &x->locks[1];
	assert_string_equal(lock->name, "sem_wait");
	assert_int_equal(lock->is_call, 0);
	assert_string_equal(lock->function, "f1");
	assert_int_equal(lock->n_holder_calls, 0); /* b's own code */
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Requests without types wait for one another: one party, and not each for itself. */
static void test_no_types(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct hand_thread *a, *b;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	for (uint32_t i = 1; i <= 10; i++) {
		uint64_t t = 10000 * (uint64_t)i;

		hand_mark(a, VP_KIND_BEGIN, 2 * i, t);
		hand_mark(b, VP_KIND_BEGIN, 2 * i + 1, t);
		hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, i, t + 100, t + 500);
		hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, i, i, t + 500);
		hand_mark(a, VP_KIND_END, 2 * i, t + 600);
		hand_mark(b, VP_KIND_END, 2 * i + 1, t + 700);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	expect(r, INTERVAL, INTERVAL, 4000);
	assert_int_equal(r->n_crosstalk, 1);
	assert_true(isnan(r->crosstalk[0].mean_low)); /* ten are too few */
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* a asks b, which serves the very request (a tier behind the first) and waits for a lock that c holds for another. The
 * request waits for c's, at the lock, and not for itself at the reply. */
static void test_behind_the_first(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	const struct vprof_crosstalk *x;
	struct hand_thread *a, *b, *c;
	struct vprof_results *r;
	struct hand_trace h;
	unsigned n = 70;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	c = hand_thread(&h, 1);
	for (unsigned i = 1; i <= n; i++) {
		uint64_t t = 100000 * (uint64_t)i;

		begin_typed(a, 2 * i, "search", t);
		begin_typed(c, 2 * i + 1, "confirm", t + 10);
		hand_mark(b, VP_KIND_RESUME, 2 * i, t + 50);
		hand_call(c, F(4), t + 90, t + 400);
		hand_wake(c, VP_WAIT_MUTEX, (2 * i) << 8, 0x10, 2 * i, 2 * i, t + 500);
		hand_wait(b, VP_WAIT_MUTEX | (uint64_t)(2 * i - 2) << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, 0x10, 2 * i,
			  t + 100, t + 520);
		hand_mark(b, VP_KIND_SUSPEND, 2 * i, t + 900);
		hand_call(b, F(2), t + 30, t + 903);
		hand_wake(b, VP_WAIT_SEMAPHORE, 0, 0x20, i - 1, i, t + 905);
		hand_wait(a, VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT, 0x20, i, t + 40, t + 910);
		hand_call(a, F(1), t + 30, t + 950);
		hand_mark(c, VP_KIND_END, 2 * i + 1, t + 700);
		hand_mark(a, VP_KIND_END, 2 * i, t + 1000);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	expect(r, "search", "confirm", 400 * n);
	expect(r, "search", "itself", (50 + 380) * n);
	expect(r, "search", "f2", 15 * n); /* b, before it took the request up and after it had left it */
	expect(r, "search", "released", (20 + 5) * n);
	expect(r, "search", "unknown", 0);
	x = pair(r, "search", "confirm");
	assert_int_equal(x->n_waits, n);
	assert_int_equal(x->n_locks, 1);
	assert_string_equal(x->locks[0].name, "pthread_mutex_lock");
	assert_string_equal(x->locks[0].function, "f2");
	assert_string_equal(x->locks[0].holder_calls[0].name, "f4");
	x = pair(r, "search", "itself");
	assert_int_equal(x->n_waits, n);
	assert_string_equal(x->locks[0].name, "sem_wait");
	assert_string_equal(x->locks[0].function, "f1");
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

static uint64_t ticks(double mean_ns, uint64_t n)
{
	return (uint64_t)llround(mean_ns * (double)n);
}

static int is_wait(const struct vprof_node *n)
{
	return !n->is_blame && (n->kind == VPROF_NODE_QUEUED || *n->object);
}

/* The tree's waits for others and queue delays, what blame explains of them, and what nothing does. */
static void sum_tree(const struct vprof_results *r, uint64_t *all, uint64_t *blame, uint64_t *rest)
{
	*all = *blame = *rest = 0;
	for (size_t i = 1; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i], *parent = &r->nodes[n->parent];

		if (is_wait(n)) {
			*all += ticks(n->mean_ns, r->n_complete);
			*rest += n->n_children ? 0 : ticks(n->mean_ns, r->n_complete);
		}
		if (!is_wait(parent) || n->parent == i)
			continue;
		if (n->is_unexplained)
			*rest += ticks(n->mean_ns, r->n_complete);
		else if (n->is_blame)
			*blame += ticks(n->mean_ns, r->n_complete);
	}
}

static void sum_crosstalk(const struct vprof_results *r, uint64_t *all, uint64_t *blame, uint64_t *rest)
{
	*all = *blame = 0;
	for (size_t i = 0; i < r->n_crosstalk; i++) {
		const struct vprof_crosstalk *x = &r->crosstalk[i];
		uint64_t of_locks = 0;

		*all += (uint64_t)llround(x->total_ns);
		*blame += (uint64_t)llround(x->measured_ns);
		for (size_t l = 0; l < x->n_locks; l++)
			of_locks += (uint64_t)llround(x->locks[l].total_ns);
		assert_int_equal(of_locks, (uint64_t)llround(x->total_ns));
	}
	*rest = *all - *blame;
}

/* Threads that work for requests of three types, or for none, take two locks in turn; those who hold one wait for the
 * other; items go through a queue; some work is outside measured functions, some preempted. */
static void make(struct hand_trace *h, uint64_t seed)
{
	static const char *const types[] = { "search", "confirm", "home" };
	struct hand_thread *a, *b, *c, *cpu;
	uint64_t t = 1000;

	hand_init(h);
	h->has_switches = 1;
	a = hand_thread(h, 1);
	b = hand_thread(h, 1);
	c = hand_thread(h, 1 + seed % 2);
	cpu = hand_processor(h, 0);
	for (uint32_t i = 1; i <= 80; i++, t += 10000) {
		uint64_t p = 100 + hand_random(&seed) % 400, q = p + 100 + hand_random(&seed) % 900,
			 w = q + 100 + hand_random(&seed) % 900, in_b = hand_random(&seed) % 3;

		begin_typed(a, 3 * i, types[hand_random(&seed) % 3], t);
		if (in_b)
			begin_typed(b, 3 * i + 1, types[hand_random(&seed) % 3], t + in_b * 150);
		/* a waits for b from p to w, and b for c from p + 50 to q */
		hand_wait(b, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x20, i, t + p + 50, t + q);
		hand_wake(c, VP_WAIT_MUTEX, 0, 0x20, i, i, t + q - 20);
		hand_call(c, F(4), t + p + 60, t + q - 30);
		if (hand_random(&seed) % 2) {
			hand_switch(cpu, t + q + 5, 2, VP_SWITCH_OUT | VP_SWITCH_PREEMPTED);
			hand_switch(cpu, t + q + 45, 2, 0);
		}
		hand_call(b, F(3), t + q + 10, t + w - 30);
		if (hand_random(&seed) % 2)
			hand_call(b, F(2), t + p + 10, t + w - 10);
		if (in_b)
			hand_mark(b, VP_KIND_END, 3 * i + 1, t + w - 15 + 40 * (in_b - 1));
		hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, i, i, t + w);
		hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, i, t + p, t + w + 9);
		hand_call(a, F(1), t + 20, t + w + 20);
		/* it goes on in c, which serves something else first */
		hand_queue(a, VP_KIND_ENQUEUE, i, t + w + 30);
		hand_mark(a, VP_KIND_SUSPEND, 3 * i, t + w + 31);
		hand_call(c, F(3), t + w + 40, t + w + 140);
		hand_queue(c, VP_KIND_DEQUEUE, i, t + w + 200);
		hand_mark(c, VP_KIND_RESUME, 3 * i, t + w + 201);
		hand_mark(c, VP_KIND_END, 3 * i, t + w + 300);
	}
	hand_write(h);
}

static void test_equals_the_tree(void **state)
{
	struct vprof_plan *plan = hand_plan(4);

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t all[2], blame[2], rest[2];
		struct vprof_results *r;
		struct hand_trace h;

		make(&h, seed);
		r = hand_analyze(&h, plan);
		sum_tree(r, &all[0], &blame[0], &rest[0]);
		sum_crosstalk(r, &all[1], &blame[1], &rest[1]);
		if (!blame[0] || !rest[0] || all[0] != all[1] || blame[0] != blame[1] || rest[0] != rest[1])
			fail_msg("seed %d: tree %d = %d + %d, crosstalk %d = %d + %d", (int)seed, (int)all[0],
				 (int)blame[0], (int)rest[0], (int)all[1], (int)blame[1], (int)rest[1]);
		vprof_results_free(r);
		hand_release(&h);
	}
	vprof_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_no_types),
		cmocka_unit_test(test_behind_the_first),
		cmocka_unit_test(test_equals_the_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
