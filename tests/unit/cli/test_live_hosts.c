/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions lie in the code of others, by the entries that open them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/live/live_hosts.h"

#define SITE 1000 /* codes of call sites, from here on */

static void add(struct vprof_plan *plan, uint32_t code, uint32_t height)
{
	const struct vprof_probe p = { .code = code,
				       .kind = code < SITE ? VPROF_PROBE_FUNCTION : VPROF_PROBE_SITE,
				       .mask = 1,
				       .height = height,
				       .name = "f",
				       .display = "f",
				       .file = "f.c",
				       .caller = "" };

	assert_int_equal(vprof_plan_add(plan, &p), 0);
}

/* 10, a loop, holds 11 and its call 1001; 11 is called from 12 as well. 13 is a function of another module at the same
 * address; 14 is not in the plan. */
static void test_hosts(void **state)
{
	static const uint64_t loop[] = { 0x100 }, both[] = { 0x100, 0x200 }, other[] = { 0x200 };
	const struct vprof_probe_copy copies[] = {
		{ .code = 10, .entries = loop, .n_entries = 1 },
		{ .code = 11, .entries = both, .n_entries = 2 },
		{ .code = 12, .entries = other, .n_entries = 1 },
		{ .code = 13, .module = 1, .entries = loop, .n_entries = 1 },
		{ .code = 14, .entries = loop, .n_entries = 1 },
		{ .code = 1001, .entries = both, .n_entries = 2 },
	};
	const struct vprof_probe_map map = { .copies = copies, .n_copies = 6, .n_modules = 2 };
	struct vprof_plan *plan = vprof_plan_new("/");
	const struct vprof_probe *p;

	(void)state;
	add(plan, 10, 3);
	add(plan, 11, 1);
	add(plan, 12, 2);
	add(plan, 13, 2);
	add(plan, 1001, 0);
	assert_int_equal(vprof_live_hosts_mark(plan, &map), 0);
	p = vprof_plan_probe(plan, 11);
	assert_int_equal(p->hosts[0], 10); /* the highest first */
	assert_int_equal(p->hosts[1], 12);
	assert_int_equal(p->hosts[2], 0);
	p = vprof_plan_probe(plan, 1001);
	assert_int_equal(p->hosts[0], 10);
	assert_int_equal(p->hosts[1], 12);
	assert_int_equal(p->hosts[2], 11);
	assert_int_equal(p->hosts[3], 0);
	assert_int_equal(vprof_plan_probe(plan, 10)->hosts[0], 11);
	assert_int_equal(vprof_plan_probe(plan, 13)->hosts[0], 0);
	vprof_plan_free(plan);
}

/* More than there is room for: those highest in the call graph stay. */
static void test_many(void **state)
{
	static const uint64_t here[] = { 0x100 };
	struct vprof_probe_copy copies[VPROF_HOSTS_MAX + 4];
	struct vprof_probe_map map = { .copies = copies, .n_copies = VPROF_HOSTS_MAX + 4, .n_modules = 1 };
	struct vprof_plan *plan = vprof_plan_new("/");

	(void)state;
	for (uint32_t i = 0; i < VPROF_HOSTS_MAX + 4; i++) {
		copies[i] = (struct vprof_probe_copy){ .code = i + 1, .entries = here, .n_entries = 1 };
		add(plan, i + 1, i);
	}
	assert_int_equal(vprof_live_hosts_mark(plan, &map), 0);
	for (uint32_t i = 0; i < VPROF_HOSTS_MAX; i++)
		assert_int_equal(vprof_plan_probe(plan, 1)->hosts[i], VPROF_HOSTS_MAX + 4 - i);
	vprof_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
