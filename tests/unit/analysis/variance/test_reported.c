/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions are asked whether they are worth their records: those with most, at however many places they are
 * called, each with the time that is not divided between it and its siblings there. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/variance/reported.h"

#define N_PARENTS 600u /* functions, each with helpers, and time that is not divided between them */
#define N_INTERVALS 100u
#define HOT 7u /* parents whose helpers are called often */

enum { UNDIVIDED, HELPER, SHARED, CHILDREN }; /* SHARED: the same function everywhere */

static struct vprof_node nodes[1 + N_PARENTS + CHILDREN * N_PARENTS];
static struct vprof_factor factors[sizeof nodes / sizeof *nodes - 1];
static uint32_t shared[N_PARENTS], node_of[sizeof nodes / sizeof *nodes - 1];

static uint32_t child(uint32_t parent, uint32_t which)
{
	return 1 + N_PARENTS + CHILDREN * (parent - 1) + which;
}

static void set(uint32_t i, enum vprof_node_kind kind, uint32_t parent, uint64_t n_timed)
{
	nodes[i].kind = kind;
	nodes[i].parent = parent;
	nodes[i].factor = i;
	nodes[i].n_calls = nodes[i].n_timed = n_timed;
	node_of[i - 1] = i;
	factors[i - 1] = (struct vprof_factor){ .kind = VPROF_FACTOR_VARIANCE,
						.node_kind = kind,
						.nodes = &node_of[i - 1],
						.n_nodes = 1,
						.n_calls = n_timed,
						.n_timed = n_timed };
}

/* NULL: it is not asked about. */
static const struct vprof_costly *asked(const struct vprof_reported *of, uint32_t node)
{
	for (size_t i = 0; i < of->n_costly; i++)
		if (of->costly[i].factor == nodes[node].factor - 1)
			return &of->costly[i];
	return NULL;
}

static size_t n_members(const struct vprof_reported *of, uint32_t quantity, uint32_t which)
{
	const struct vprof_quantities *q = &of->quantities;
	size_t n = 0;

	for (size_t i = 0; i < q->members.n; i++)
		n += q->members.v[i].quantity == quantity && q->members.v[i].node > N_PARENTS &&
		     (q->members.v[i].node - 1 - N_PARENTS) % CHILDREN == which;
	return n;
}

static void test_hot_helpers(void **state)
{
	struct vprof_results r = { .nodes = nodes,
				   .n_nodes = sizeof nodes / sizeof *nodes,
				   .factors = factors,
				   .n_factors = sizeof factors / sizeof *factors,
				   .n_complete = N_INTERVALS,
				   .cost_scale = NAN };
	const struct vprof_costly *costly;
	struct vprof_reported of;

	(void)state;
	nodes[0].kind = VPROF_NODE_INTERVAL;
	nodes[0].first_child = 1;
	nodes[0].n_children = N_PARENTS;
	for (uint32_t i = 1; i <= N_PARENTS; i++) {
		set(i, VPROF_NODE_FUNCTION, 0, N_INTERVALS);
		nodes[i].first_child = child(i, 0);
		nodes[i].n_children = CHILDREN;
		set(child(i, UNDIVIDED), VPROF_NODE_UNDIVIDED, i, 0);
		set(child(i, HELPER), VPROF_NODE_FUNCTION, i, (i <= HOT ? 1000 : 1) * N_INTERVALS);
		set(child(i, SHARED), VPROF_NODE_FUNCTION, i, 0);
		nodes[child(i, SHARED)].factor = child(1, SHARED);
		shared[i - 1] = child(i, SHARED);
	}
	factors[child(1, SHARED) - 1].nodes = shared;
	factors[child(1, SHARED) - 1].n_nodes = N_PARENTS;
	factors[child(1, SHARED) - 1].n_timed = 10000 * N_INTERVALS;
	assert_int_equal(vprof_reported_take(&of, &r), 0);
	assert_int_equal(of.n_costly, VPROF_COSTLY_MAX);
	for (uint32_t i = 1; i <= HOT; i++) {
		costly = asked(&of, child(i, HELPER));
		assert_non_null(costly);
		assert_int_equal(costly->n_quantities, 2);
		assert_int_equal(n_members(&of, costly->quantity, UNDIVIDED), 0);
		assert_int_equal(n_members(&of, costly->quantity + 1, UNDIVIDED), 1);
	}
	costly = asked(&of, child(1, SHARED));
	assert_non_null(costly);
	assert_int_equal(costly->n_quantities, 2);
	assert_int_equal(n_members(&of, costly->quantity, SHARED), N_PARENTS);
	assert_int_equal(n_members(&of, costly->quantity, UNDIVIDED), 0);
	assert_int_equal(n_members(&of, costly->quantity + 1, SHARED), N_PARENTS);
	assert_int_equal(n_members(&of, costly->quantity + 1, UNDIVIDED), N_PARENTS);
	assert_int_equal(n_members(&of, costly->quantity + 1, HELPER), 0);
	vprof_reported_release(&of);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_hot_helpers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
