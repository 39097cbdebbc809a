/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bounds functions have that tell whether they are worth recording (analysis/variance/reported.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/array.h"
#include "tests/unit/analysis/hand_trace.h"

#define N 400

/* f1 calls f2, f3 and f4 once in each interval; f3 takes up to 20 units, f2 always 1, f4 always 2. */
static struct vprof_results *analyse(uint64_t unit, double record_ns)
{
	struct vprof_plan *plan = hand_plan(4);
	uint64_t random = 1, t = 1000;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	hand_init(&h);
	h.record_ns = record_ns;
	h.record_inside_ns = record_ns / 2;
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t long_ticks = unit + vprof_mix(random++) % (19 * unit), at = t + 20;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(2), at, at + unit);
		at += unit + 20;
		hand_call(th, F(3), at, at + long_ticks);
		at += long_ticks + 20;
		hand_call(th, F(4), at, at + 2 * unit);
		at += 2 * unit + 20;
		hand_call(th, F(1), t + 10, at);
		hand_mark(th, VP_KIND_END, i, at + 10);
		t += 30 * unit + 1000;
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	vprof_plan_free(plan);
	hand_release(&h);
	return r;
}

static double bound(const struct vprof_results *r, const char *key)
{
	const struct vprof_factor *f = hand_factor(r, key);

	assert_non_null(f);
	return fmax(f->code_share_high, f->code_constant_high);
}

static void check(uint64_t unit, double record_ns)
{
	struct vprof_results *r = analyse(unit, record_ns);

	assert_true(bound(r, "v:f2") < 0.02);
	assert_true(bound(r, "v:f4") < 0.02);
	assert_true(bound(r, "v:f3") > 0.9);
	vprof_results_free(r);
}

static void test_every_function_is_bounded(void **state)
{
	(void)state;
	check(100, 20);	  /* 20 ns of 1.4 us */
	check(10000, 20); /* and of 140 us, */
	check(100, 0);	  /* and where what a record costs is not known */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_function_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
