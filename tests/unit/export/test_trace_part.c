/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which part of a trace is taken, and that its slices nest. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"
#include "report/export/slices.h"

#define N 4000
#define SLOWEST 3123
#define CALLS 50 /* of each interval */

struct made {
	struct hand_trace h;
	char plan[100];
};

/* Interval i: id i % 100, 1000 + i ticks long but the slowest 60,000, with calls in pairs within one. */
static void make(struct made *m)
{
	struct vprof_plan *plan = hand_plan(3);
	struct hand_thread *a;

	hand_init(&m->h);
	a = hand_thread(&m->h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 100000 * (i + 1), d = i == SLOWEST ? 60000 : 1000 + i;

		hand_mark(a, VP_KIND_BEGIN, i % 100, t);
		for (uint64_t k = 0; k < CALLS / 2; k++) {
			hand_call(a, F(3), t + 10 + 20 * k + 5, t + 10 + 20 * k + 15);
			hand_call(a, F(2), t + 10 + 20 * k, t + 10 + 20 * k + 18);
		}
		hand_call(a, F(1), t + 1, t + d - 1);
		hand_mark(a, VP_KIND_END, i % 100, t + d);
	}
	m->h.end = 100000 * (N + 1);
	hand_write(&m->h);
	snprintf(m->plan, sizeof m->plan, "%s/plan.json", m->h.dir);
	assert_int_equal(vprof_plan_write(plan, m->plan, NULL), 0);
	vprof_plan_free(plan);
}

static struct vprof_trace_part *open_part(const struct made *m, enum vprof_part_kind kind, struct vprof_part_options o)
{
	struct vprof_trace_part *part;
	struct vprof_error err = { "" };

	o.trace_dir = m->h.dir;
	o.plan_path = m->plan;
	if (vprof_part_open(&part, kind, &o, &err))
		fail_msg("%s", err.message);
	return part;
}

static size_t n_slices(const struct vprof_trace_part *part)
{
	struct vprof_slices s;
	size_t n = 0;

	assert_int_equal(vprof_slices_init(&s, part), 0);
	for (uint32_t t = 0; t < part->timeline->n_threads; t++) {
		assert_int_equal(vprof_slices_gather(&s, t), 0);
		n += s.v.n;
		s.open.n = 0;
		for (size_t i = 0; i < s.v.n; i++) {
			const struct vprof_slice *x = &s.v.v[i];

			assert_true(part->from <= x->low && x->low <= x->high && x->high <= part->to &&
				    x->depth <= s.open.n);
			s.open.n = x->depth;
			if (x->depth) {
				const struct vprof_slice *outer = &s.v.v[s.open.v[x->depth - 1]];

				assert_true(outer->low <= x->low && x->high <= outer->high);
			}
			*VPROF_PUSH(&s.open) = (uint32_t)i;
		}
	}
	assert_int_equal(s.n_left_out, 0);
	vprof_slices_release(&s);
	return n;
}

static void test_whole(void **state)
{
	struct vprof_trace_part *part = open_part(*state, VPROF_PART_SLICES, (struct vprof_part_options){ 0 });

	assert_string_equal(part->note, "");
	assert_int_equal(part->instances.n, N);
	assert_int_equal(n_slices(part), N * (CALLS + 1));
	vprof_part_free(part);
}

/* What a limit leaves lies around the slowest interval, is not much less than the limit, and is told. */
static void test_limit(void **state)
{
	for (uint64_t limit = 1000; limit <= 100000; limit *= 10) {
		struct vprof_trace_part *part =
			open_part(*state, VPROF_PART_SLICES, (struct vprof_part_options){ .limit = limit });
		uint64_t t = 100000 * (SLOWEST + 1);
		size_t n = n_slices(part);

		assert_true(part->from < t + 30000 && part->to > t + 30000);
		assert_true(n > limit / 2 && n < 2 * limit);
		assert_non_null(strstr(part->note, "--limit"));
		vprof_part_free(part);
	}
}

static void test_tiny_limit(void **state)
{
	struct vprof_trace_part *part = open_part(*state, VPROF_PART_SLICES, (struct vprof_part_options){ .limit = 1 });

	assert_true(n_slices(part) < 100);
	assert_non_null(strstr(part->note, "around the slowest"));
	vprof_part_free(part);
}

static const struct vprof_instance *only(const struct vprof_trace_part *part)
{
	assert_int_equal(part->instances.n, 1);
	return &part->intervals->instances.v[part->instances.v[0]];
}

static void test_one_interval(void **state)
{
	static const struct {
		const char *which;
		uint64_t number;
	} cases[] = {
		{ "slowest", SLOWEST }, { "median", 1999 }, { "p99", 3960 }, { "7", 3907 }, { "0x17", SLOWEST },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct vprof_trace_part *part =
			open_part(*state, VPROF_PART_SLICES, (struct vprof_part_options){ .which = cases[i].which });

		assert_int_equal(only(part)->begin, 100000 * (cases[i].number + 1));
		assert_true(part->from < only(part)->begin && part->to > only(part)->end);
		assert_int_equal(n_slices(part), CALLS + 1);
		vprof_part_free(part);
		part = open_part(*state, VPROF_PART_INTERVALS, (struct vprof_part_options){ .which = cases[i].which });
		assert_int_equal(only(part)->begin, 100000 * (cases[i].number + 1));
		vprof_part_free(part);
	}
}

static void test_slowest_intervals(void **state)
{
	struct vprof_trace_part *part =
		open_part(*state, VPROF_PART_INTERVALS, (struct vprof_part_options){ .limit = 3 });

	assert_int_equal(part->instances.n, 3);
	assert_int_equal(part->instances.v[0], SLOWEST);
	assert_int_equal(part->instances.v[1], N - 2);
	assert_int_equal(part->instances.v[2], N - 1);
	assert_non_null(strstr(part->note, "the slowest 3 of 4000"));
	vprof_part_free(part);
}

static void test_stretch(void **state)
{
	struct vprof_trace_part *part = open_part(*state, VPROF_PART_INTERVALS,
						  (struct vprof_part_options){ .from_ns = 1000000, .to_ns = 2000000 });
	uint64_t first = part->intervals->instances.v[part->instances.v[0]].begin;

	assert_in_range(part->instances.n, 9, 11);
	assert_in_range(first, part->start + 1000000, part->start + 1100000);
	assert_int_equal(vprof_part_ns(part, part->start + 5), 5);
	assert_int_equal(vprof_part_ns(part, 0), 0);
	vprof_part_free(part);
}

static void test_refused(void **state)
{
	static const struct vprof_part_options cases[] = {
		{ .which = "fast" },
		{ .which = "12x" },
		{ .which = "100" },
		{ .which = "99999999999999999999999" },
		{ .which = "-1" },
		{ .from_ns = 1e12 },
		{ .from_ns = 2000, .to_ns = 1000 },
	};
	const struct made *m = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct vprof_part_options o = cases[i];
		struct vprof_trace_part *part = (void *)1;
		struct vprof_error err = { "" };

		o.trace_dir = m->h.dir;
		o.plan_path = m->plan;
		assert_int_equal(vprof_part_open(&part, VPROF_PART_SLICES, &o, &err), VPROF_ERR_INPUT);
		assert_null(part);
		assert_true(err.message[0] != 0);
	}
}

static int set_up(void **state)
{
	struct made *m = calloc(1, sizeof *m);

	make(m);
	*state = m;
	return 0;
}

static int tear_down(void **state)
{
	struct made *m = *state;

	hand_release(&m->h);
	free(m);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_whole),
					    cmocka_unit_test(test_limit),
					    cmocka_unit_test(test_tiny_limit),
					    cmocka_unit_test(test_one_interval),
					    cmocka_unit_test(test_slowest_intervals),
					    cmocka_unit_test(test_stretch),
					    cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
