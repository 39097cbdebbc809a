/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees as stacks: time adds up; of variance, what moves together is a frame and what moves apart is scaled; damaged
 * results are refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/export/export.h"
#include "report/export/stacks.h"

/* 0 interval > 1 a, 2 body; a > 3 b, 4 c, 5 body of a */
static struct vprof_results *tree(double b, double c)
{
	static const double means[] = { 100, 80, 20, 50, 20, 10 };
	struct vprof_results *r = vprof_results_new();

	assert_non_null(r);
	r->n_complete = 10;
	r->n_nodes = 6;
	r->nodes = calloc(6, sizeof *r->nodes);
	for (uint32_t i = 0; i < 6; i++)
		r->nodes[i] = (struct vprof_node){ .kind = i == 2 || i == 5 ? VPROF_NODE_BODY :
							   i		    ? VPROF_NODE_FUNCTION :
									      VPROF_NODE_INTERVAL,
						   .parent = i > 2,
						   .mean_ns = means[i],
						   .name = "f",
						   .display = "f",
						   .file = "",
						   .object = "" };
	r->nodes[0].first_child = 1;
	r->nodes[0].n_children = 2;
	r->nodes[1].first_child = 3;
	r->nodes[1].n_children = 3;
	r->nodes[0].share = 1;
	r->nodes[0].var_ns2 = 7;
	r->nodes[1].share = 0.9;
	r->nodes[2].share = 0.1;
	r->nodes[3].share = b;
	r->nodes[4].share = c;
	return r;
}

static uint64_t weight(const struct vprof_stacks *s, uint32_t node, int is_together)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->v.n; i++)
		if (s->v.v[i].node == node && s->v.v[i].is_together == is_together)
			sum += s->v.v[i].weight;
	return sum;
}

static void test_time(void **state)
{
	struct vprof_results *r = tree(0, 0);
	struct vprof_stacks s = { 0 };

	(void)state;
	assert_int_equal(vprof_stacks_of_time(&s, r), 0);
	assert_int_equal(s.total, 1000);
	assert_int_equal(weight(&s, 0, 0), 200);
	assert_int_equal(weight(&s, 1, 0), 100);
	assert_int_equal(weight(&s, 3, 0), 500);
	assert_int_equal(weight(&s, 4, 0), 200);
	vprof_stacks_release(&s);
	vprof_results_free(r);
}

static void test_together(void **state)
{
	struct vprof_results *r = tree(0.5, 0.1);
	struct vprof_stacks s = { 0 };

	(void)state;
	assert_int_equal(vprof_stacks_of_variance(&s, r), 0);
	assert_int_equal(s.total, 1000000);
	assert_int_equal(weight(&s, 0, 0), 100000);
	assert_int_equal(weight(&s, 3, 0), 500000);
	assert_int_equal(weight(&s, 4, 0), 100000);
	assert_int_equal(weight(&s, 1, 1), 300000);
	vprof_stacks_release(&s);
	vprof_results_free(r);
}

static void test_apart(void **state)
{
	struct vprof_results *r = tree(1.2, 0.6);
	struct vprof_stacks s = { 0 };

	(void)state;
	assert_int_equal(vprof_stacks_of_variance(&s, r), 0);
	assert_int_equal(s.total, 1000000);
	assert_int_equal(weight(&s, 3, 0), 600000);
	assert_int_equal(weight(&s, 4, 0), 300000);
	assert_int_equal(weight(&s, 1, 1), 0);
	vprof_stacks_release(&s);
	vprof_results_free(r);
}

static void test_damaged(void **state)
{
	struct vprof_results *r = tree(0, 0);
	struct vprof_error err = { "" };

	(void)state;
	assert_int_equal(vprof_export_check(r, &err), 0);
	r->nodes[3].parent = 4;
	assert_int_equal(vprof_export_check(r, &err), VPROF_ERR_INPUT);
	r->nodes[3].parent = 1;
	r->nodes[1].n_children = UINT32_MAX;
	assert_int_equal(vprof_export_check(r, &err), VPROF_ERR_INPUT);
	r->nodes[1].n_children = 3;
	r->n_selected = 1;
	assert_int_equal(vprof_export_check(r, &err), VPROF_ERR_INPUT);
	r->n_selected = 0;
	r->n_nodes = 0;
	assert_int_equal(vprof_export_check(r, &err), VPROF_ERR_INPUT);
	assert_null(vprof_export_find("no-such"));
	assert_ptr_equal(vprof_export_find("sarif")->write, vprof_export_sarif);
	r->n_nodes = 6;
	vprof_results_free(r);
}

/* Without variance, or without an interval at all, there is nothing to divide; absurd weights do not wrap. */
static void test_nothing(void **state)
{
	struct vprof_results *r = tree(0.4, 0.3);
	struct vprof_stacks s = { 0 };
	uint64_t sum = 0;

	(void)state;
	r->nodes[0].var_ns2 = 0;
	assert_int_equal(vprof_stacks_of_variance(&s, r), 0);
	assert_int_equal(s.v.n, 0);
	r->n_complete = 0;
	assert_int_equal(vprof_stacks_of_time(&s, r), 0);
	assert_int_equal(s.v.n, 0);
	r->n_complete = UINT64_C(1) << 53;
	r->nodes[3].mean_ns = r->nodes[4].mean_ns = 1e3;
	r->nodes[1].mean_ns = 3e3;
	assert_int_equal(vprof_stacks_of_time(&s, r), 0);
	for (size_t i = 0; i < s.v.n; i++) {
		sum += s.v.v[i].weight;
		assert_true(sum <= UINT64_C(1) << 62);
	}
	assert_int_equal(sum, s.total);
	vprof_stacks_release(&s);
	vprof_results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_time), cmocka_unit_test(test_nothing),
					    cmocka_unit_test(test_together), cmocka_unit_test(test_apart),
					    cmocka_unit_test(test_damaged) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
