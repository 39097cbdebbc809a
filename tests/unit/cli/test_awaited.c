/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a wait is for, as the source has it; also sources that are not C, or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/drilldown/awaited.h"

static void arguments(void **state)
{
	static const struct {
		const char *text, *callee, *expected;
	} cases[] = {
		{ "\tpthread_mutex_lock(&store_lock);\n", "pthread_mutex_lock", "store_lock" },
		{ "if (pthread_mutex_lock (&c->locks[i + 1]))", "pthread_mutex_lock", "c->locks[i + 1]" },
		{ "\tLWLockAcquire(lock_of(proc, 1), LW_SHARED);", "LWLockAcquire", "lock_of(proc, 1)" },
		{ "\tlock(\n\t\t&a\n\t\t,\n\t\tb);", "lock", "a" },
		{ "my_lock(&x); lock(&y);", "lock", "y" },
		{ "unlock(&x);", "lock", "" },
		{ "sem_wait()", "sem_wait", "" },
		{ "sem_wait(", "sem_wait", "" },
		{ "sem_wait(find(\"a)\"))", "sem_wait", "" },
		{ "sem_wait(\303\274)", "sem_wait", "" },
		{ "sem_wait(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)", "sem_wait",
		  "" },
		{ "anything(x)", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char out[VPROF_AWAITED_BYTES];

		vprof_awaited_of(cases[i].text, cases[i].callee, out);
		if (strcmp(out, cases[i].expected))
			fail_msg("%s: \"%s\"", cases[i].text, out);
	}
}

static void a_missing_source_leaves_it(void **state)
{
	struct vprof_step step = { .kind = VPROF_NODE_WAIT,
				   .name = "lock",
				   .file = "no/such/file.c",
				   .line = 3,
				   .object = "0x1",
				   .awaited = "" };
	struct vprof_results *r = vprof_results_new();
	struct vprof_cause cause = { .steps = &step, .n_steps = 1 };

	(void)state;
	assert_non_null(r);
	r->causes = &cause;
	r->n_causes = 1;
	assert_int_equal(vprof_awaited_fill(r, "/nowhere"), 0);
	assert_string_equal(step.awaited, "");
	r->causes = NULL;
	r->n_causes = 0;
	vprof_results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),
		cmocka_unit_test(a_missing_source_leaves_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
