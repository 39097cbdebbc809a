/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls found again by time, over many chunks, against all of them held at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/timeline/calls.h"
#include "tests/unit/analysis/hand_trace.h"

#define N_MAX 60000

static struct vprof_call all[N_MAX]; /* in the order of ends */
static size_t n_all;
static struct hand_trace h;
static struct hand_steps s;
static struct vprof_calls *reader;
static uint64_t seed;

static uint64_t below(uint64_t n)
{
	return hand_random(&seed) % n;
}

static uint64_t make_calls(struct hand_thread *th, uint64_t t, int depth)
{
	uint64_t t0 = t;

	t += below(3);
	for (uint64_t n = depth ? below(depth < 3 ? 60 : 4) : 60; n > 0 && depth < 9; n--)
		t = make_calls(th, t, depth + 1) + below(4);
	t += below(20);
	if (n_all < N_MAX) {
		all[n_all] = (struct vprof_call){ t0, t, F(1 + (uint32_t)depth), 0, VPROF_NONE };
		hand_call(th, all[n_all].code, t0, t);
		n_all++;
	}
	return t;
}

static int setup(uint64_t from)
{
	struct hand_thread *th;
	uint64_t t = 1000;

	seed = from;
	n_all = 0;
	hand_init(&h);
	th = hand_thread(&h, 1);
	hand_thread(&h, 1);
	while (n_all < 20000)
		t = make_calls(th, t, (int)below(3)) + below(50);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_true(s.timeline->threads[0].calls.blocks.n > 4);
	reader = vprof_calls_new(s.timeline->n_threads, 300000); /* room for two or three blocks */
	assert_non_null(reader);
	return 0;
}

static void teardown(void)
{
	vprof_calls_free(reader);
	hand_steps_release(&s);
	hand_release(&h);
}

static int overlaps(const struct vprof_call *c, uint64_t from, uint64_t to)
{
	return c->t0 < to && c->t1 > from;
}

/* Every call that overlaps is there once, cut to the stretch, within the one around it. */
static void check_stretch(uint64_t from, uint64_t to)
{
	const struct vprof_call_index *index = &s.timeline->threads[0].calls;
	size_t n = 0, n_found = 0;
	uint64_t ticks = 0, ticks_found = 0;
	struct vprof_stretch stretch;
	int ret;

	for (size_t i = 0; i < n_all; i++) {
		if (!overlaps(&all[i], from, to))
			continue;
		n++;
		ticks += (all[i].t1 < to ? all[i].t1 : to) - (all[i].t0 > from ? all[i].t0 : from);
	}
	vprof_stretch_begin(&stretch, reader, 0, index, from, to);
	while ((ret = vprof_stretch_next(&stretch)) > 0) {
		for (size_t i = 0; i < stretch.n_kept; i++)
			assert_true(stretch.kept[i] >= i);
		for (size_t i = stretch.n_kept; i < stretch.n; i++) {
			const struct vprof_stretch_call *c = &stretch.v[i];

			n_found++;
			ticks_found += c->high - c->low;
			assert_true(c->t0 < to && c->t1 > from);
			if (c->parent == VPROF_NONE)
				continue;
			assert_true(c->parent < i);
			assert_true(stretch.v[c->parent].low <= c->low && c->high <= stretch.v[c->parent].high);
			/* Of two calls that begin at one tick the one recorded last counts as the outer one. */
			assert_true(stretch.v[c->parent].code < c->code || stretch.v[c->parent].t0 == c->t0);
		}
	}
	assert_int_equal(ret, 0);
	assert_int_equal(n_found, n);
	assert_int_equal(ticks_found, ticks);
}

static void check_open(uint64_t t)
{
	const struct vprof_call *v;
	size_t n, n_open = 0;

	for (size_t i = 0; i < n_all; i++)
		n_open += all[i].t0 <= t && t < all[i].t1;
	assert_int_equal(vprof_calls_open(reader, 0, &s.timeline->threads[0].calls, t, &v, &n), 0);
	assert_int_equal(n, n_open);
	for (size_t i = 0; i < n; i++)
		assert_true(v[i].t0 <= t && t < v[i].t1 && (!i || v[i].t0 <= v[i - 1].t0));
}

static void test_stretches(void **state)
{
	(void)state;
	for (uint64_t k = 1; k <= 5; k++) {
		uint64_t end;

		setup(k);
		end = all[n_all - 1].t1 + 100;
		check_stretch(0, end);
		check_stretch(end, end + 10);
		check_stretch(1, 1000);
		for (int i = 0; i < 300; i++) {
			uint64_t from = below(end), length = 1 + below(i % 3 ? 200 : end - from + 1);

			check_stretch(from, from + length);
			check_open(from);
		}
		for (int i = 0; i < 200; i++) { /* at begins and ends */
			const struct vprof_call *c = &all[below(n_all)];

			if (c->t0 < c->t1)
				check_stretch(c->t0, c->t1);
			check_open(c->t0);
			check_open(c->t1);
		}
		teardown();
	}
}

static void test_windows(void **state)
{
	const struct vprof_call_index *index;

	(void)state;
	setup(77);
	index = &s.timeline->threads[0].calls;
	for (int i = 0; i < 50; i++) {
		uint64_t from = below(all[n_all - 1].t1), to = from + 1 + below(5000);
		const struct vprof_call *v;
		size_t n, n_overlapping = 0;

		for (size_t k = 0; k < n_all; k++)
			n_overlapping += (size_t)overlaps(&all[k], from, to);
		assert_int_equal(vprof_calls_window(reader, 0, index, from, to, &v, &n), 0);
		assert_int_equal(n, n_overlapping);
		for (size_t k = 1; k < n; k++) {
			assert_true(v[k - 1].t0 <= v[k].t0);
			if (v[k].parent != VPROF_NONE)
				assert_true(v[k].parent < k && v[v[k].parent].t1 >= v[k].t1);
		}
	}
	teardown();
}

/* A thread without calls, and times that cannot be. */
static void test_nothing(void **state)
{
	struct vprof_stretch stretch;
	const struct vprof_call *v;
	size_t n;

	(void)state;
	setup(5);
	vprof_stretch_begin(&stretch, reader, 1, &(struct vprof_call_index){ 0 }, 1, 100);
	assert_int_equal(vprof_stretch_next(&stretch), 0);
	assert_int_equal(vprof_calls_open(reader, 1, &(struct vprof_call_index){ 0 }, 50, &v, &n), 0);
	assert_int_equal(n, 0);
	vprof_stretch_begin(&stretch, reader, 0, &s.timeline->threads[0].calls, 100, 100);
	assert_int_equal(vprof_stretch_next(&stretch), 0);
	teardown();
}

/* Ends that go back in time (damage): what is found around a time does not depend on what was looked for before. */
static void test_unordered(void **state)
{
	const struct vprof_call_index *index;
	struct hand_thread *th;

	(void)state;
	seed = 3;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t t = 1000 + 10 * (i % 7 ? i : below(20000));

		hand_call(th, F(1), t, t + 1 + below(40));
	}
	hand_write(&h);
	hand_steps(&s, &h);
	index = &s.timeline->threads[0].calls;
	reader = vprof_calls_new(s.timeline->n_threads, 10000000);
	for (int i = 0; i < 300; i++) {
		struct vprof_calls *fresh = vprof_calls_new(s.timeline->n_threads, 10000000);
		uint64_t from = below(210000), to = from + 1 + below(3000);
		const struct vprof_call *v, *w;
		size_t n, m;

		assert_int_equal(vprof_calls_window(reader, 0, index, from, to, &v, &n), 0);
		assert_int_equal(vprof_calls_window(fresh, 0, index, from, to, &w, &m), 0);
		assert_int_equal(n, m);
		for (size_t k = 0; k < n; k++)
			assert_true(v[k].t0 == w[k].t0 && v[k].t1 == w[k].t1);
		vprof_calls_free(fresh);
	}
	teardown();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_stretches), cmocka_unit_test(test_windows),
					    cmocka_unit_test(test_nothing), cmocka_unit_test(test_unordered) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
