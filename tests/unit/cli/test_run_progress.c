/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of a run under way: when, and in which words. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/run/run_progress.h"

static void test_distances(void **state)
{
	static const double wanted[] = { 60, 120, 240, 480, 960, 1920, 3840 };
	struct vprof_run_progress p;
	size_t n = 0;

	(void)state;
	vprof_run_progress_begin(&p, NULL, 1);
	for (double s = 0; s < 7000; s += 0.5)
		if (vprof_run_progress_due(&p, s)) {
			assert_true(n < sizeof wanted / sizeof *wanted);
			assert_true(s == wanted[n++]);
		}
	assert_int_equal(n, sizeof wanted / sizeof *wanted);
}

static void test_words(void **state)
{
	static const struct {
		struct vprof_collector_state state;
		double quiet_s;
		const char *text;
	} cases[] = {
		{ { 0 }, 3, "" },
		{ { 0 }, 100, "no program with probes runs yet" },
		{ { .n_unit_bytes = 16, .n_threads = 1 }, 3, "0.0 MB recorded, 1 thread" },
		{ { .n_unit_bytes = 12345678, .n_threads = 5, .full_share = 0.2 }, 3, "12.3 MB recorded, 5 threads" },
		{ { .n_unit_bytes = 12345678, .n_threads = 5, .full_share = 0.43 },
		  30,
		  "12.3 MB recorded, 5 threads, buffers 43 % full" },
		{ { .n_unit_bytes = 12345678, .n_threads = 5 },
		  35,
		  "12.3 MB recorded, 5 threads, nothing new for 35 s" },
		{ { .n_unit_bytes = 12345678, .n_threads = 1234, .n_dropped = 99, .full_share = 1 },
		  35,
		  "12.3 MB recorded, 1,234 threads, 99 lost" },
	};
	char text[80];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		vprof_run_progress_text(text, sizeof text, &cases[i].state, cases[i].quiet_s);
		assert_string_equal(text, cases[i].text);
	}
	vprof_run_progress_text(text, sizeof text,
				&(struct vprof_collector_state){ UINT64_MAX, UINT64_MAX, UINT64_MAX, 1 }, 1e9);
	assert_true(strlen(text) < sizeof text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_distances), cmocka_unit_test(test_words) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
