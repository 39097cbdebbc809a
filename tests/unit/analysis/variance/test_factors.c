/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Algorithm 1 on trees that were written down by hand through traces. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

/* f1 calls f2 and f3; f4 calls f2. f2's time varies in both places, f3 moves with the first f2. */
static void write_two_places(struct hand_trace *h, size_t n)
{
	struct hand_thread *th;
	uint64_t random = 3;

	hand_init(h);
	th = hand_thread(h, 1);
	for (size_t i = 0; i < n; i++) {
		uint64_t t = 1 + 100000 * (i + 1), a = 10 * (hand_random(&random) % 100),
			 b = hand_random(&random) % 1000;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(2), t + 100, t + 1100 + a);
		hand_call(th, F(3), t + 3000, t + 4000 + a);
		hand_call(th, F(1), t + 50, t + 10000 + 2 * a);
		hand_call(th, F(2), t + 20000, t + 20100 + b);
		hand_call(th, F(4), t + 20000, t + 20100 + b);
		hand_mark(th, VP_KIND_END, i, t + 30000 + 2 * a + b);
	}
	hand_write(h);
}

static void test_sums_by_name(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	struct vprof_results *r;
	const struct vprof_factor *f2, *pair;
	double sum = 0;
	struct hand_trace h;

	(void)state;
	write_two_places(&h, 400);
	r = hand_analyze(&h, plan);
	f2 = hand_factor(r, "v:f2");
	assert_int_equal(f2->n_nodes, 2);
	for (size_t i = 0; i < f2->n_nodes; i++)
		sum += r->nodes[f2->nodes[i]].share;
	assert_true(fabs(f2->share - sum) < 1e-12);
	pair = hand_factor(r, "c:f2|f3");
	assert_string_equal(pair->name, "(f2, f3)");
	assert_int_equal(pair->kind, VPROF_FACTOR_COVARIANCE);
	assert_true(fabs(pair->r - 1) < 1e-9);
	assert_true(fabs(pair->share - 2 * r->nodes[hand_factor(r, "v:f3")->nodes[0]].share) < 1e-9);
	assert_int_equal(pair->height, 2); /* the higher of 2 and 1 */
	/* Sums and links. */
	for (size_t i = 1; i < r->n_nodes; i++)
		assert_true(r->nodes[i].factor >= 1 && r->nodes[i].factor <= r->n_factors);
	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];

		assert_true(fabs(f->specificity - pow((double)r->graph_height - f->height, 2)) < 1e-12);
		assert_true(fabs(f->score - f->specificity * f->share) < 1e-12);
		for (size_t k = 0; k < f->n_nodes && f->kind == VPROF_FACTOR_VARIANCE; k++)
			assert_int_equal(r->nodes[f->nodes[k]].factor, i + 1);
		for (size_t k = 0; k < f->n_nodes && f->kind == VPROF_FACTOR_COVARIANCE; k++)
			assert_int_equal(r->covariances[f->nodes[k]].factor, i + 1);
	}
	for (size_t i = 1; i < r->n_selected; i++)
		assert_true(r->factors[i - 1].score >= r->factors[i].score);
	assert_int_equal(r->n_selected, 3);
	assert_true(r->factors[0].share > r->threshold);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

static void test_confidence(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	write_two_places(&h, 400);
	r = hand_analyze(&h, plan);
	for (size_t i = 0; i < r->n_selected; i++) {
		assert_true(r->factors[i].share_low <= r->factors[i].share);
		assert_true(r->factors[i].share_high >= r->factors[i].share);
		assert_true(r->factors[i].share_high - r->factors[i].share_low < 0.3);
	}
	/* reported, though not selected */
	assert_true(r->n_factors < 24 && isfinite(r->factors[r->n_factors - 1].share_low));
	assert_true(r->n_blocks >= 20 && r->n_blocks <= 200);
	assert_true(r->mean_low < r->mean_ns && r->mean_ns < r->mean_high);
	vprof_results_free(r);
	hand_release(&h);
	write_two_places(&h, 50);
	r = hand_analyze(&h, plan);
	assert_true(r->n_selected > 0);
	assert_true(isnan(r->factors[0].share_low));
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* A child as large as its parent ranks above it; a body that could still be broken down stands at its function's
 * height. */
static void test_specificity_and_break_down(void **state)
{
	struct vprof_plan *plan = vprof_plan_new("/p");
	struct vprof_probe parent = { .code = F(1),
				      .mask = VPROF_MASK_ANY,
				      .context = 2,
				      .broken_down = 1,
				      .height = 5,
				      .n_children = 1,
				      .name = "parent",
				      .display = "parent",
				      .file = "p.c",
				      .caller = "" };
	struct vprof_probe child = parent;
	const struct vprof_factor *f;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	child.code = F(2);
	child.name = child.display = "child";
	child.broken_down = 0;
	child.height = 2;
	child.n_children = 7;
	plan->graph_height = 5;
	assert_int_equal(vprof_plan_add(plan, &parent), 0);
	assert_int_equal(vprof_plan_add(plan, &child), 0);
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t t = 100000 * (i + 1), d = 10 * (i % 7);

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_wait(th, VP_WAIT_DISK, VP_CALL_READ, 3, 0, t + 20, t + 30 + d);
		hand_call(th, F(2), t + 10, t + 100 + d);
		hand_call(th, F(1), t + 5, t + 200 + d);
		hand_mark(th, VP_KIND_END, i, t + 300 + d);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->graph_height, 6);
	assert_string_equal(r->factors[0].name, "read");
	assert_string_equal(r->factors[1].name, "child");
	assert_string_equal(r->factors[2].name, "parent");
	assert_int_equal(r->factors[0].can_break_down, 1); /* through the function that it sits in */
	assert_int_equal(r->factors[0].n_unmeasured, 7);
	assert_int_equal(r->factors[1].can_break_down, 1);
	assert_int_equal(r->factors[2].can_break_down, 0);
	f = hand_factor(r, "v:body of child");
	assert_int_equal(f->height, 2);
	assert_int_equal(f->can_break_down, 1);
	f = hand_factor(r, "v:body of parent");
	assert_int_equal(f->height, 0);
	assert_int_equal(f->can_break_down, 0);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* f1 calls f2, f2 calls f1 again: heights do not depend on how often. */
static void test_recursion(void **state)
{
	struct vprof_plan *plan = hand_plan(4);

	(void)state;
	for (uint64_t n_levels = 1; n_levels <= 3; n_levels++) {
		struct hand_thread *th;
		struct vprof_results *r;
		struct hand_trace h;

		hand_init(&h);
		th = hand_thread(&h, 1);
		for (uint64_t i = 0; i < 40; i++) {
			uint64_t t = 100000 * (i + 1), d = 10 * (i % 7);

			hand_mark(th, VP_KIND_BEGIN, i, t);
			hand_call(th, F(3), t + 1000, t + 2000 + d);
			for (uint64_t at = n_levels; at--;) {
				hand_call(th, F(2), t + 20 * at + 20, t + 3000 + 10 * d - 20 * at);
				hand_call(th, F(1), t + 20 * at + 10, t + 3010 + 10 * d - 20 * at);
			}
			hand_call(th, F(4), t + 5, t + 4000 + 10 * d);
			hand_mark(th, VP_KIND_END, i, t + 5000 + 10 * d);
		}
		hand_write(&h);
		r = hand_analyze(&h, plan);
		assert_int_equal(hand_factor(r, "v:f2")->height, hand_factor(r, "v:f3")->height + 1);
		assert_int_equal(hand_factor(r, "v:f1")->height, hand_factor(r, "v:f3")->height + 2);
		assert_int_equal(hand_factor(r, "v:f4")->height, hand_factor(r, "v:f3")->height + 3);
		vprof_results_free(r);
		hand_release(&h);
	}
	vprof_plan_free(plan);
}

/* Two call sites of one callee in one function: their covariance is the callee's own variance. */
static void test_siblings_of_one_name(void **state)
{
	struct vprof_plan *plan = hand_plan(1);
	const struct vprof_factor *f;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	assert_int_equal(vprof_plan_add(plan, &(struct vprof_probe){ .code = S(7),
								     .kind = VPROF_PROBE_SITE,
								     .mask = VPROF_MASK_ANY,
								     .context = 1,
								     .name = "fdatasync",
								     .display = "fdatasync",
								     .file = "g.c",
								     .caller = "f1" }),
			 0);
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 70; i++) {
		uint64_t t = 100000 * (i + 1), d = 10 * (i % 7);

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, S(1), t + 10, t + 100 + d);
		hand_call(th, S(7), t + 1000, t + 1100 + d);
		hand_call(th, F(1), t + 5, t + 2000 + 2 * d);
		hand_mark(th, VP_KIND_END, i, t + 2010 + 2 * d);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f = hand_factor(r, "v:fdatasync");
	assert_int_equal(f->n_nodes, 2);
	assert_true(fabs(f->share - 1) < 1e-9);
	assert_true(fabs(f->sd_ns - r->sd_ns) < 1e-6);
	assert_ptr_equal(f, r->factors);
	assert_true(fabs(f->share_low - 1) < 1e-6 && fabs(f->share_high - 1) < 1e-6);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

#define N 80

/* What factors were given, and what vprof must find of them. */
struct given {
	const char *key, *name;
	double ns[N];
};

static double moment(const double *a, const double *b)
{
	double mean_a = 0, mean_b = 0, sum = 0;

	for (int i = 0; i < N; i++) {
		mean_a += a[i] / N;
		mean_b += b[i] / N;
	}
	for (int i = 0; i < N; i++)
		sum += (a[i] - mean_a) * (b[i] - mean_b);
	return sum / (N - 1);
}

static void assert_found(const struct vprof_results *r, const struct given *g, const double *latency)
{
	const struct vprof_factor *f = hand_factor(r, g->key);
	double mean = 0;

	assert_non_null(f);
	for (int i = 0; i < N; i++)
		mean += g->ns[i] / N;
	assert_string_equal(f->name, g->name);
	assert_true(fabs(f->mean_ns - mean) < 1e-6);
	assert_true(fabs(f->share - moment(g->ns, g->ns) / moment(latency, latency)) < 1e-9);
}

static struct vprof_plan *plan_of(const char *const *names, int n)
{
	struct vprof_plan *plan = vprof_plan_new("/p");

	for (int i = 1; i <= n; i++)
		assert_int_equal(vprof_plan_add(plan, &(struct vprof_probe){ .code = F((uint32_t)i),
									     .mask = VPROF_MASK_ANY,
									     .context = 2,
									     .broken_down = i == 1,
									     .height = i == 1,
									     .name = names[i],
									     .display = names[i],
									     .file = "f.c",
									     .line = i,
									     .caller = "" }),
				 0);
	return plan;
}

/* Functions of the program called as vprof calls its own nodes, as the library's call that waits, as the interval, or
 * as keys are written: factors of their own, with their own shares. */
static void test_namesakes(void **state)
{
	static const char *const names[] = {
		"",	 "request",	     "queued", "preempted", "unexplained", "body", "pthread_mutex_lock",
		"write", "v::beneath::clear"
	};
	static struct given given[] = {
		{ "v:request", "request", { 0 } },
		{ "v:function:queued", "queued", { 0 } },
		{ "v:function:preempted", "preempted", { 0 } },
		{ "v:function:unexplained", "unexplained", { 0 } },
		{ "v:body", "body", { 0 } },
		{ "v:function:pthread_mutex_lock", "pthread_mutex_lock", { 0 } },
		{ "v:function:write", "write", { 0 } },
		{ "v:v::beneath::clear", "v::beneath::clear", { 0 } },
		{ "v:queued", "[queued]", { 0 } },
		{ "v:pthread_mutex_lock", "[pthread_mutex_lock]", { 0 } },
		{ "v:body of request", "body of [request]", { 0 } },
		{ "v:function:body of request", "body of request", { 0 } },
		{ "v:beneath:unexplained", "[unexplained]", { 0 } },
	};
	enum { REQUEST, FIRST = 1, LAST = 7, QUEUED, WAIT, REST, BODY, UNEXPLAINED, N_GIVEN };
	struct vprof_plan *plan = plan_of(names, 8);
	uint64_t random = 5;
	double latency[N];
	struct vprof_results *r;
	struct hand_thread *a, *b;
	struct hand_trace h;
	const struct vprof_factor *pair;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t begin = 100000 * (i + 1), start = begin + 1000 + 10 * (hand_random(&random) % 90),
			 t = start + 7, own, wait = 10 + hand_random(&random) % 200;

		hand_mark(a, VP_KIND_BEGIN, i, begin);
		hand_queue(a, VP_KIND_ENQUEUE, 0x100 + i % 3, begin);
		hand_mark(a, VP_KIND_SUSPEND, i, begin);
		hand_call(b, F(8), begin + 10, begin + 500); /* for others */
		hand_queue(b, VP_KIND_DEQUEUE, 0x100 + i % 3, start);
		hand_mark(b, VP_KIND_RESUME, i, start);
		given[QUEUED].ns[i] = (double)(start - begin);
		for (int f = FIRST; f <= LAST; f++) {
			uint64_t ns = 300 + hand_random(&random) % (uint64_t)(40 * f);

			/* Only the wait is the library's, inside the program's own function of that name. */
			if (!strcmp(given[f].name, "pthread_mutex_lock"))
				hand_wait(b, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x77, 0, t + 20, t + 20 + wait);
			hand_call(b, F((uint32_t)f + 1), t, t + ns);
			given[f].ns[i] = (double)ns;
			t += ns;
		}
		own = hand_random(&random) % 300;
		hand_call(b, F(1), start + 7, t + own);
		hand_mark(b, VP_KIND_END, i, t + own + i % 11);
		given[REQUEST].ns[i] = (double)(t + own - start - 7);
		given[BODY].ns[i] = (double)own;
		given[REST].ns[i] = (double)(7 + i % 11);
		given[WAIT].ns[i] = (double)wait;
		given[UNEXPLAINED].ns[i] = given[QUEUED].ns[i] - 490;
		latency[i] = (double)(t + own + i % 11 - begin);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	for (int i = 0; i < N_GIVEN; i++)
		assert_found(r, &given[i], latency);
	pair = hand_factor(r, "c:function:preempted|function:queued");
	assert_string_equal(pair->name, "(preempted, queued)");
	assert_true(fabs(pair->share - 2 * moment(given[1].ns, given[2].ns) / moment(latency, latency)) < 1e-9);
	pair = hand_factor(r, "c:queued|request");
	assert_string_equal(pair->name, "([queued], request)");
	assert_true(fabs(pair->share - 2 * moment(given[QUEUED].ns, given[REQUEST].ns) / moment(latency, latency)) <
		    1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_by_name),
		cmocka_unit_test(test_confidence),
		cmocka_unit_test(test_specificity_and_break_down),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_siblings_of_one_name),
		cmocka_unit_test(test_namesakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
