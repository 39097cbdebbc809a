/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variance trees of hand-made traces: what stands where, and that it sums. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

static const struct vprof_node *child(const struct vprof_results *r, const struct vprof_node *n, const char *name)
{
	const struct vprof_node *found = hand_node(r, name, (uint32_t)(n - r->nodes));

	if (!found)
		fail_msg("%s has no child %s", n->name, name);
	return found;
}

static void test_single_thread(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	const struct vprof_node *f1, *f2;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t t = 1000 * (i + 1);

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(2), t + 20, t + 50 + 10 * i); /* 30 + 10 i */
		if (i % 2)
			hand_call(th, F(3), t + 200, t + 300);
		hand_call(th, F(1), t + 10, t + 400);
		hand_mark(th, VP_KIND_END, i, t + 500);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_complete, 10);
	assert_string_equal(r->interval, INTERVAL);
	assert_true(fabs(r->mean_ns - 500) < 1e-9);
	f1 = child(r, r->nodes, "f1");
	f2 = child(r, f1, "f2");
	assert_true(fabs(f1->mean_ns - 390) < 1e-9);
	assert_true(fabs(f2->mean_ns - 75) < 1e-9);
	assert_true(fabs(f2->var_ns2 - 100 * 55.0 / 6) < 1e-9); /* 0..9: n (n + 1) / 12 */
	assert_true(fabs(child(r, f1, "f3")->mean_ns - 50) < 1e-9);
	assert_true(fabs(child(r, f1, "f3")->var_ns2 - 25000.0 / 9) < 1e-9);
	assert_int_equal(child(r, f1, "f3")->n_intervals, 5);
	assert_true(fabs(child(r, f1, "body of f1")->mean_ns - 265) < 1e-9);
	assert_true(fabs(child(r, r->nodes, "body of request")->mean_ns - 110) < 1e-9);
	assert_int_equal(r->inconclusive, 1); /* the latencies are all 500 */
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* A frame that encloses the interval is clipped to it; calls that never ended count as long as the thread was seen. */
static void test_enclosing_and_open(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	const struct vprof_node *f1;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	hand_enter(th, F(1), 10);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t t = 10000 * (i + 1);

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_mark(th, VP_KIND_END, i, t + 100 * (i + 1));
		hand_call(th, F(2), t - 50, t + 100 * (i + 1) + 50);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f1 = child(r, r->nodes, "f1");
	assert_true(fabs(f1->mean_ns - 250) < 1e-9);
	assert_true(fabs(child(r, f1, "f2")->mean_ns - 250) < 1e-9);
	assert_true(fabs(r->nodes[0].share - 1) < 1e-12);
	assert_true(fabs(f1->share - 1) < 1e-12);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

static void test_mutex_blames_the_holder(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	const struct vprof_node *f1, *wait, *holder;
	const struct vprof_factor *factor;
	struct vprof_results *r;
	struct hand_thread *a, *b;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t t = 100000 * (i + 1), end = t + 1000 + 100 * i;

		hand_mark(a, VP_KIND_BEGIN, i, t);
		hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, (uint32_t)i + 1, t + 100, end);
		hand_call(a, F(1), t + 10, end + 50);
		hand_mark(a, VP_KIND_END, i, end + 60);
		hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, (uint32_t)i + 1, (uint32_t)i + 1, end - 20);
		hand_call(b, F(3), t + 50, end - 10); /* holds the lock */
		hand_call(b, F(2), t + 40, end - 5);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_waits_matched, 20);
	f1 = child(r, r->nodes, "f1");
	wait = child(r, f1, "pthread_mutex_lock");
	assert_int_equal(wait->kind, VPROF_NODE_WAIT);
	assert_int_equal(wait->is_blame, 0);
	assert_string_equal(wait->object, "0x10");
	assert_true(fabs(wait->mean_ns - (900 + 950)) < 1e-9);
	assert_true(fabs(f1->blocked_ns - wait->mean_ns) < 1e-9);
	assert_true(fabs(r->blocked_share - wait->mean_ns / r->mean_ns) < 1e-9);
	holder = child(r, child(r, wait, "f2"), "f3");
	assert_int_equal(holder->is_blame, 1);
	assert_true(fabs(holder->mean_ns - (wait->mean_ns - 20)) < 1e-9);
	assert_true(fabs(child(r, wait, "unexplained")->mean_ns - 20) < 1e-9);
	/* The holder explains the wait, so it is more specific. */
	factor = hand_factor(r, "v:beneath:f3");
	assert_non_null(factor);
	assert_ptr_equal(factor, &r->factors[0]);
	assert_true(fabs(factor->share - 1) < 1e-9);
	assert_true(hand_factor(r, "v:pthread_mutex_lock")->height > factor->height);
	assert_true(fabs(hand_factor(r, "v:pthread_mutex_lock")->blocked_share - 1) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* A wait inside the call site of its own name is that node; elsewhere it is a child; one factor sums both. */
static void test_wait_merges_with_its_site(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_node *f1, *site, *wait;
	const struct vprof_factor *factor;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t t = 100000 * (i + 1), d = 100 * (i % 5);

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_wait(th, VP_WAIT_DISK, VP_CALL_FDATASYNC, 3, 0, t + 110, t + 190 + d);
		hand_call(th, S(1), t + 100, t + 200 + d);
		hand_call(th, F(1), t + 50, t + 1000);
		hand_wait(th, VP_WAIT_DISK, VP_CALL_FDATASYNC, 3, 0, t + 1200, t + 1300 + d);
		hand_call(th, F(2), t + 1100, t + 2000);
		hand_mark(th, VP_KIND_END, i, t + 3000);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f1 = child(r, r->nodes, "f1");
	site = child(r, f1, "fdatasync");
	assert_int_equal(site->kind, VPROF_NODE_SITE);
	assert_int_equal(site->n_children, 0);
	assert_true(fabs(site->mean_ns - 300) < 1e-9);
	assert_true(site->blocked_ns == 0 && isnan(site->kernel_ns)); /* without switches nobody knows */
	assert_true(fabs(site->io_ns - 280) < 1e-9);
	wait = child(r, child(r, r->nodes, "f2"), "fdatasync");
	assert_int_equal(wait->kind, VPROF_NODE_WAIT);
	assert_int_equal(wait->n_children, 0);
	factor = hand_factor(r, "v:fdatasync");
	assert_int_equal(factor->n_nodes, 2);
	assert_int_equal(factor->node_kind, VPROF_NODE_SITE);
	assert_true(fabs(factor->mean_ns - 600) < 1e-9);
	assert_true(factor->blocked_share == 0 && isnan(factor->kernel_share));
	assert_true(fabs(factor->io_share - 580.0 / 600) < 1e-9);
	assert_true(r->blocked_share == 0 && isnan(r->kernel_share));
	assert_true(fabs(r->io_share - 580.0 / 3000) < 1e-9);
	assert_true(fabs(r->running_share - 2420.0 / 3000) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* A measured call site of the lock function and its wait are one node, explained by the holder. */
static void test_explained_site(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	const struct vprof_node *site, *rest;
	struct vprof_results *r;
	struct hand_thread *a, *b;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t t = 100000 * (i + 1), end = t + 1000 + 100 * i;

		hand_mark(a, VP_KIND_BEGIN, i, t);
		hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, (uint32_t)i + 1, t + 100, end);
		hand_call(a, S(2), t + 90, end + 10);
		hand_mark(a, VP_KIND_END, i, end + 60);
		hand_call(b, F(1), t + 50, t + 600 + 50 * i);
		hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, (uint32_t)i + 1, (uint32_t)i + 1, end - 20);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	site = child(r, r->nodes, "pthread_mutex_lock");
	assert_int_equal(site->kind, VPROF_NODE_SITE);
	assert_int_equal(child(r, site, "f1")->is_blame, 1);
	rest = child(r, site, "unexplained");
	assert_int_equal(rest->is_blame, 1);
	assert_true(hand_factor(r, "v:pthread_mutex_lock")->height > hand_factor(r, "v:beneath:f1")->height);
	for (size_t i = 0; i < r->n_selected; i++)
		assert_null(strstr(r->factors[i].name, "unexplained"));
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

static void test_queue_delay(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_node *queued;
	struct vprof_results *r;
	struct hand_thread *a, *b;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t t = 100000 * (i + 1), start = t + 1000 + 50 * i;

		hand_mark(a, VP_KIND_BEGIN, i, t);
		hand_queue(a, VP_KIND_ENQUEUE, 0x100 + i % 3, t + 10);
		hand_mark(a, VP_KIND_SUSPEND, i, t + 20);
		hand_call(b, F(1), t - 500, start - 100); /* something else */
		hand_queue(b, VP_KIND_DEQUEUE, 0x100 + i % 3, start - 10);
		hand_mark(b, VP_KIND_RESUME, i, start);
		hand_call(b, F(2), start + 1, start + 99);
		hand_mark(b, VP_KIND_END, i, start + 100);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	queued = child(r, r->nodes, "queued");
	assert_true(fabs(queued->mean_ns - (990 + 475)) < 1e-9);
	assert_true(fabs(queued->share - 1) < 1e-9);
	assert_true(fabs(child(r, queued, "f1")->mean_ns - (queued->mean_ns - 100)) < 1e-9);
	assert_int_equal(child(r, queued, "f1")->is_blame, 1);
	assert_true(fabs(child(r, queued, "unexplained")->mean_ns - 100) < 1e-9);
	assert_true(fabs(child(r, r->nodes, "f2")->mean_ns - 98) < 1e-9);
	assert_true(fabs(r->queued_share - queued->mean_ns / r->mean_ns) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* f1 > f2 > f1 > f2: nodes by path; a factor counts the outermost only. */
static void test_recursion(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_node *outer, *inner;
	const struct vprof_factor *factor;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t t = 100000 * (i + 1), d = 10 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(2), t + 40, t + 50 + d);
		hand_call(th, F(1), t + 30, t + 60 + d);
		hand_call(th, F(2), t + 20, t + 70 + d);
		hand_call(th, F(1), t + 10, t + 80 + d);
		hand_mark(th, VP_KIND_END, i, t + 90 + d);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	outer = child(r, r->nodes, "f1");
	inner = child(r, child(r, outer, "f2"), "f1");
	assert_true(fabs(outer->mean_ns - inner->mean_ns - 40) < 1e-9);
	factor = hand_factor(r, "v:f1");
	assert_int_equal(factor->n_nodes, 1);
	assert_int_equal(factor->nodes[0], outer - r->nodes);
	assert_true(fabs(factor->share - 1) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

static void test_deep_recursion_is_folded(void **state)
{
	struct vprof_plan *plan = hand_plan(1);
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t t = 100000 * (i + 1), n = 1000 + i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		for (uint64_t k = n; k-- > 0;)
			hand_call(th, F(1), t + k, t + 2 * n + 10 - k);
		hand_mark(th, VP_KIND_END, i, t + 2 * n + 10);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_true(r->n_nodes <= 2 * 201);
	assert_true(fabs(hand_node(r, "f1", 0)->mean_ns - r->mean_ns) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_thread),
		cmocka_unit_test(test_enclosing_and_open),
		cmocka_unit_test(test_mutex_blames_the_holder),
		cmocka_unit_test(test_wait_merges_with_its_site),
		cmocka_unit_test(test_explained_site),
		cmocka_unit_test(test_queue_delay),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_deep_recursion_is_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
