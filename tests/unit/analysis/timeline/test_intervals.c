/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instances and segments from marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

static void test_across_threads(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;
	const struct vprof_instance *inst;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_mark(a, VP_KIND_SUSPEND, 1, 150);
	hand_mark(b, VP_KIND_RESUME, 1, 200);
	hand_mark(b, VP_KIND_END, 1, 300);
	hand_mark(b, VP_KIND_END, 1, 310); /* stray */
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.intervals->instances.n, 1);
	inst = s.intervals->instances.v;
	assert_int_equal(inst->state, VPROF_INSTANCE_COMPLETE);
	assert_int_equal(inst->begin, 100);
	assert_int_equal(inst->end, 300);
	assert_int_equal(inst->end_thread, 1);
	assert_int_equal(inst->n_segments, 2);
	assert_int_equal(s.intervals->segments.v[1].t1, 300);
	assert_int_equal(s.intervals->names.v[0].n_stray, 1);
	assert_int_equal(s.intervals->names.v[0].n_ends_only, 0);
	assert_int_equal(vprof_intervals_segment_of(s.intervals, 0, 120, 0), 0);
	assert_int_equal(vprof_intervals_segment_of(s.intervals, 0, 160, 0), VPROF_NONE);
	hand_steps_release(&s);
	hand_release(&h);
}

static void test_two_processes_share_ids(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b, *c;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 2);
	c = hand_thread(&h, 3);
	hand_mark(a, VP_KIND_BEGIN, 5, 100);
	hand_mark(b, VP_KIND_BEGIN, 5, 110);
	hand_mark(a, VP_KIND_END, 5, 200);
	hand_mark(b, VP_KIND_END, 5, 250);
	hand_mark(a, VP_KIND_BEGIN, 6, 300); /* ends in another process: only one is open */
	hand_mark(c, VP_KIND_END, 6, 350);
	hand_mark(a, VP_KIND_BEGIN, 7, 400);
	hand_mark(b, VP_KIND_BEGIN, 7, 410);
	hand_mark(c, VP_KIND_END, 7, 450); /* which one? the later */
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.intervals->instances.v[0].end, 200);
	assert_int_equal(s.intervals->instances.v[1].end, 250);
	assert_int_equal(s.intervals->instances.v[2].end, 350);
	assert_int_equal(s.intervals->instances.v[2].ambiguous, 0);
	assert_int_equal(s.intervals->instances.v[4].end, 450);
	assert_int_equal(s.intervals->instances.v[4].ambiguous, 1);
	assert_int_equal(s.intervals->instances.v[3].state, VPROF_INSTANCE_OPEN);
	assert_int_equal(s.intervals->names.v[0].n_complete, 4);
	assert_int_equal(s.intervals->names.v[0].n_open, 1);
	assert_int_equal(s.intervals->names.v[0].n_ambiguous, 1);
	hand_steps_release(&s);
	hand_release(&h);
}

static void test_cut_and_restarted(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	hand_mark(a, VP_KIND_RESUME, 9, 50); /* begun before the trace */
	hand_mark(a, VP_KIND_END, 9, 60);
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_mark(a, VP_KIND_BEGIN, 1, 200);
	hand_mark(a, VP_KIND_END, 1, 300);
	hand_mark(a, VP_KIND_BEGIN, 2, 400);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.intervals->instances.n, 3);
	assert_int_equal(s.intervals->instances.v[0].state, VPROF_INSTANCE_RESTARTED);
	assert_int_equal(s.intervals->instances.v[1].begin, 200);
	assert_int_equal(s.intervals->instances.v[1].state, VPROF_INSTANCE_COMPLETE);
	assert_int_equal(s.intervals->instances.v[2].state, VPROF_INSTANCE_OPEN);
	assert_int_equal(s.intervals->names.v[0].n_ends_only, 1);
	assert_int_equal(s.intervals->names.v[0].n_restarted, 1);
	hand_steps_release(&s);
	hand_release(&h);
}

/* Thousands of keys that open and close in any order, beside a table of all of them that forgets nothing. */
static void test_many_keys(void **state)
{
	enum { KEYS = 3000, MARKS = 60000 };
	static const enum vp_kind kinds[] = { VP_KIND_BEGIN, VP_KIND_BEGIN, VP_KIND_END, VP_KIND_RESUME,
					      VP_KIND_SUSPEND };
	static uint8_t is_open[KEYS], is_used[KEYS];
	uint64_t random = 42, n_complete = 0, n_restarted = 0, n_stray = 0, n_ends_only = 0, n_open = 0;
	const struct vprof_interval_name *name;
	struct hand_thread *a;
	struct hand_trace h;
	struct hand_steps s;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	for (uint64_t i = 0; i < MARKS; i++) {
		uint64_t key = hand_random(&random) % KEYS;
		enum vp_kind kind = kinds[hand_random(&random) % 5];

		hand_mark(a, kind, key * key, 100 + i);
		if (kind == VP_KIND_BEGIN) {
			n_restarted += is_open[key];
			n_open += !is_open[key];
			is_open[key] = is_used[key] = 1;
		} else if (is_open[key]) {
			n_complete += kind == VP_KIND_END;
			n_open -= kind == VP_KIND_END;
			is_open[key] = kind != VP_KIND_END;
		} else if (is_used[key]) {
			n_stray++;
		} else if (kind == VP_KIND_END) {
			n_ends_only++;
			is_used[key] = 1;
		}
	}
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.intervals->names.n, 1);
	name = s.intervals->names.v;
	assert_true(n_open > 1024 && n_stray && n_ends_only);
	assert_int_equal(name->n_complete, n_complete);
	assert_int_equal(name->n_restarted, n_restarted);
	assert_int_equal(name->n_open, n_open);
	assert_int_equal(name->n_stray, n_stray);
	assert_int_equal(name->n_ends_only, n_ends_only);
	hand_steps_release(&s);
	hand_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_across_threads),
		cmocka_unit_test(test_two_processes_share_ids),
		cmocka_unit_test(test_cut_and_restarted),
		cmocka_unit_test(test_many_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
