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

#include "hand_trace.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_by_name),
		cmocka_unit_test(test_confidence),
		cmocka_unit_test(test_specificity_and_break_down),
		cmocka_unit_test(test_siblings_of_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
