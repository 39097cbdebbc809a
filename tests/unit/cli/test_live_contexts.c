/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Context bits of a live session's probes: kept from plan to plan, and what a plan means is what its masks say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/live/live_contexts.h"

#define ONE UINT64_C(1)

/* A probe for `code`; context 0: not broken down. Its height is its code. From 1000 on they are calls of what has no
 * body. */
static void add(struct vprof_plan *plan, uint32_t code, uint64_t mask, int context)
{
	int has_body = code < 1000;
	const struct vprof_probe p = { .code = code,
				       .kind = has_body ? VPROF_PROBE_FUNCTION : VPROF_PROBE_SITE,
				       .mask = mask,
				       .context = context ? context : VPROF_CONTEXT_LEAF,
				       .broken_down = context != 0,
				       .height = has_body ? code : 0,
				       .n_children = has_body,
				       .name = "f",
				       .display = "f",
				       .file = "f.c",
				       .caller = "" };

	assert_int_equal(vprof_plan_add(plan, &p), 0);
}

static struct vprof_plan *new_plan(void)
{
	struct vprof_plan *plan = vprof_plan_new("/");

	assert_non_null(plan);
	return plan;
}

static const struct vprof_probe *probe(const struct vprof_plan *plan, uint32_t code)
{
	const struct vprof_probe *p = vprof_plan_probe(plan, code);

	assert_non_null(p);
	return p;
}

/* Opened as a leaf and then broken down: a call that began before sets the bit that the children's masks have. */
static void test_kept(void **state)
{
	struct vprof_live_contexts c = { .v = { NULL, 0, 0 } };
	struct vprof_plan *first = new_plan(), *second = new_plan();
	int loop;

	(void)state;
	add(first, 300, VPROF_MASK_ANY, 2);
	add(first, 301, ONE << 2, 0); /* a connection's loop, say */
	assert_int_equal(vprof_live_contexts_assign(&c, first), 0);
	loop = probe(first, 301)->context;
	assert_true(loop >= VPROF_CONTEXT_FIRST && loop != probe(first, 300)->context);
	assert_true(probe(first, 301)->mask == ONE << probe(first, 300)->context);
	assert_true(probe(first, 300)->mask == VPROF_MASK_ANY);

	add(second, 300, VPROF_MASK_ANY, 2);
	add(second, 301, ONE << 2, 3);
	add(second, 302, ONE << 3 | ONE << 2 | ONE << VPROF_CONTEXT_TOP, 0);
	assert_int_equal(vprof_live_contexts_assign(&c, second), 0);
	assert_int_equal(probe(second, 301)->context, loop);
	assert_false(probe(second, 301)->is_changed);
	assert_true(probe(second, 302)->mask ==
		    (ONE << loop | ONE << probe(first, 300)->context | ONE << VPROF_CONTEXT_TOP));

	vprof_live_contexts_forget(&c);
	assert_int_equal(vprof_live_contexts_assign(&c, second), 0);
	assert_false(probe(second, 301)->is_changed);
	vprof_live_contexts_release(&c);
	vprof_plan_free(first);
	vprof_plan_free(second);
}

/* Several functions of one name are broken down by one bit of the plan, and call the same. */
static void test_namesakes(void **state)
{
	struct vprof_live_contexts c = { .v = { NULL, 0, 0 } };
	struct vprof_plan *plan = new_plan();
	const struct vprof_plan_call call = { 7, 303, ONE << 2 };

	(void)state;
	add(plan, 300, VPROF_MASK_ANY, 2);
	add(plan, 301, VPROF_MASK_ANY, 2);
	add(plan, 302, ONE << 2, 0);
	assert_int_equal(vprof_plan_add_call(plan, &call), 0);
	assert_int_equal(vprof_live_contexts_assign(&c, plan), 0);
	assert_true(probe(plan, 302)->mask == (ONE << probe(plan, 300)->context | ONE << probe(plan, 301)->context));
	assert_true(plan->at_calls[0].mask == probe(plan, 302)->mask);
	vprof_live_contexts_release(&c);
	vprof_plan_free(plan);
}

/* More than there are bits: the highest have them, and those whose bit changes say so. */
static void test_many(void **state)
{
	struct vprof_live_contexts c = { .v = { NULL, 0, 0 } };
	struct vprof_plan *first = new_plan(), *second = new_plan();

	(void)state;
	for (uint32_t code = 300; code < 500; code++)
		add(first, code, VPROF_MASK_ANY, 0);
	assert_int_equal(vprof_live_contexts_assign(&c, first), 0);
	for (uint32_t code = 300; code < 500; code++) {
		int has_own = code >= 500 - VPROF_LIVE_CONTEXTS_WHOLE;

		assert_true((probe(first, code)->context != VPROF_CONTEXT_LEAF) == has_own);
		for (uint32_t other = 300; has_own && other < code; other++)
			assert_int_not_equal(probe(first, other)->context, probe(first, code)->context);
	}
	for (uint32_t code = 300; code < 500; code++)
		add(second, code, VPROF_MASK_ANY, code == 300 || code == 499 ? 2 + (int)code % 2 : 0);
	assert_int_equal(vprof_live_contexts_assign(&c, second), 0);
	assert_true(probe(second, 300)->is_changed && probe(second, 300)->context >= VPROF_CONTEXT_FIRST);
	assert_false(probe(second, 499)->is_changed);
	for (uint32_t code = 301; code < 500; code++)
		assert_int_not_equal(probe(second, code)->context, probe(second, 300)->context);
	vprof_live_contexts_release(&c);
	vprof_plan_free(first);
	vprof_plan_free(second);
}

/* Calls that cannot be broken down take no bit from what a later plan opens. */
static void test_sites(void **state)
{
	struct vprof_live_contexts c = { .v = { NULL, 0, 0 } };
	struct vprof_plan *first = new_plan(), *second = new_plan();

	(void)state;
	for (uint32_t code = 1000; code < 1100; code++) {
		add(first, code, VPROF_MASK_ANY, 0);
		add(second, code, VPROF_MASK_ANY, 0);
	}
	add(second, 300, VPROF_MASK_ANY, 0);
	assert_int_equal(vprof_live_contexts_assign(&c, first), 0);
	assert_int_equal(probe(first, 1000)->context, VPROF_CONTEXT_LEAF);
	assert_int_equal(vprof_live_contexts_assign(&c, second), 0);
	assert_true(probe(second, 300)->context >= VPROF_CONTEXT_FIRST);
	vprof_live_contexts_release(&c);
	vprof_plan_free(first);
	vprof_plan_free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_namesakes),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
