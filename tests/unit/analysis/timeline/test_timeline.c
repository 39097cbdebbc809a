/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls from the order of their ends, frames that never ended, waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"
#include "analysis/timeline/calls.h"

static struct vprof_calls *reader;
static const struct vprof_call_index *calls_index;

/* All calls of the first thread, n of them; opens `reader`. */
static const struct vprof_call *calls_of(const struct hand_steps *s, size_t n)
{
	const struct vprof_call *v;
	size_t n_calls;

	reader = vprof_calls_new(s->timeline->n_threads, 1 << 20);
	calls_index = &s->timeline->threads[0].calls;
	assert_non_null(reader);
	assert_int_equal(vprof_calls_window(reader, 0, calls_index, 0, UINT64_MAX / 2, &v, &n_calls), 0);
	assert_int_equal(n_calls, n);
	return v;
}

/* Number of calls open at t; each lies within the next. */
static size_t open_at(uint64_t t)
{
	const struct vprof_call *v;
	size_t n;

	assert_int_equal(vprof_calls_open(reader, 0, calls_index, t, &v, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(v[i].t0 <= t && t < v[i].t1);
		assert_int_equal(v[i].parent, i + 1 < n ? i + 1 : VPROF_NONE);
	}
	return n;
}

static void test_preorder(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	const struct vprof_call *c;
	struct hand_thread *th;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	hand_call(th, F(3), 120, 130);
	hand_call(th, F(2), 110, 140);
	hand_call(th, F(2), 150, 160);
	hand_call(th, F(1), 100, 200);
	hand_call(th, F(1), 300, 400);
	hand_write(&h);
	hand_steps(&s, &h);
	c = calls_of(&s, 5);
	assert_int_equal(c[0].t0, 100);
	assert_int_equal(c[0].parent, VPROF_NONE);
	assert_int_equal(c[1].t0, 110);
	assert_int_equal(c[1].parent, 0);
	assert_int_equal(c[2].t0, 120);
	assert_int_equal(c[2].parent, 1);
	assert_int_equal(c[3].t0, 150);
	assert_int_equal(c[3].parent, 0);
	assert_int_equal(c[4].parent, VPROF_NONE);
	assert_int_equal(open_at(125), 3);
	assert_int_equal(open_at(145), 1);
	assert_int_equal(open_at(250), 0);
	assert_int_equal(open_at(50), 0);
	vprof_calls_free(reader);
	hand_steps_release(&s);
	hand_release(&h);
}

static void test_open_frames(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *th;
	const struct vprof_call *c;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	hand_enter(th, F(1), 100); /* never leaves */
	hand_enter(th, F(2), 10000);
	hand_call(th, F(3), 10100, 10200);
	hand_call(th, F(2), 10001, 10300);
	hand_enter(th, F(2), 20000);	   /* left by longjmp */
	hand_call(th, F(4), 19000, 21000); /* encloses it */
	hand_call(th, F(3), 30000, 31000);
	hand_write(&h);
	hand_steps(&s, &h);
	c = calls_of(&s, 6);
	assert_int_equal(s.timeline->n_unclosed, 2);
	assert_int_equal(c[0].code, F(1));
	assert_int_equal(c[0].t1, 31000);
	assert_int_equal(c[1].code, F(2));
	assert_int_equal(c[1].parent, 0);
	assert_int_equal(c[2].parent, 1);
	assert_int_equal(c[3].code, F(4));
	assert_int_equal(c[3].parent, 0);
	assert_int_equal(c[4].code, F(2));
	assert_int_equal(c[4].parent, 3);
	assert_true(c[4].t1 <= 21000);
	assert_int_equal(c[5].parent, 0);
	vprof_calls_free(reader);
	hand_steps_release(&s);
	hand_release(&h);
}

static void test_overlaps_are_cut(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *th;
	const struct vprof_call *all;
	uint64_t random = 7;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (int i = 0; i < 5000; i++) {
		uint64_t t = 1 + hand_random(&random) % 100000;

		hand_call(th, F(1 + i % 5), t, t + hand_random(&random) % 5000);
	}
	hand_write(&h);
	hand_steps(&s, &h);
	all = calls_of(&s, 5000);
	for (size_t i = 1; i < 5000; i++) {
		const struct vprof_call *c = &all[i];

		assert_true(c->t0 <= c->t1);
		assert_true(all[i - 1].t0 <= c->t0);
		if (c->parent != VPROF_NONE) {
			assert_true(c->parent < i);
			assert_true(all[c->parent].t0 <= c->t0 && c->t1 <= all[c->parent].t1);
		}
	}
	vprof_calls_free(reader);
	hand_steps_release(&s);
	hand_release(&h);
}

static void test_waits(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b;
	const struct vprof_wait *w;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x1000, 7, 100, 200);
	/* An annotated lock without a known release, around a semaphore: the semaphore's waker is lent. */
	hand_wait(a, VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT, 0x2000, 3, 310, 390);
	hand_wait(a, VP_WAIT_ANNOTATED, 0, 0x3000, 0, 300, 400);
	/* A false wake-up joins two waits. */
	hand_wait(a, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x4000, 1, 500, 510);
	hand_units(a, &(struct vp_unit){ 511, VP_W(VP_KIND_FALSE_WAKE, 0) }, 1);
	hand_wait(a, VP_WAIT_COND, VP_CALL_COND_WAIT, 0x4000, 2, 515, 600);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x1000, 5, 5, 150); /* let an earlier arrival go */
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x1000, 7, 7, 180);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x1000, 8, 8, 230);
	hand_wake(b, VP_WAIT_MUTEX, 0, 0x9000, 8, 8, 190);
	hand_wake(b, VP_WAIT_SEMAPHORE, 0, 0x2000, 3, 3, 380);
	hand_wake(b, VP_WAIT_COND, 0, 0x4000, 2, 2, 590);
	hand_write(&h);
	hand_steps(&s, &h);
	w = s.timeline->threads[0].waits.v;
	assert_int_equal(s.timeline->threads[0].waits.n, 3);
	assert_int_equal(w[0].waker, 1);
	assert_int_equal(w[0].wake_t, 180);
	assert_int_equal(w[1].kind, VP_WAIT_ANNOTATED);
	assert_int_equal(w[1].waker, 1);
	assert_int_equal(w[1].wake_t, 380);
	assert_int_equal(w[2].t0, 500);
	assert_int_equal(w[2].wake_t, 590);
	assert_int_equal(s.wakes.n_waits, 4);
	assert_int_equal(s.wakes.n_matched, 3);
	hand_steps_release(&s);
	hand_release(&h);
}

static void test_waits_across_processes(void **state)
{
	struct hand_trace h;
	struct hand_steps s;
	struct hand_thread *a, *b, *c;
	const struct vprof_wait *w;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 2);
	c = hand_thread(&h, 3);
	/* Private: the same address in another process is another object. */
	hand_wait(a, VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT, 0x7000, 1, 100, 200);
	/* Shared: another mapping, the same place in the page. */
	hand_units(a,
		   (struct vp_unit[]){ { 300, VP_W(VP_KIND_WAIT, VP_WAIT_SEMAPHORE | VP_FLAG_SHARED << 8) },
				       { 0x7010, 2 },
				       { 400, VP_CALL_SEM_WAIT } },
		   3);
	/* Timed out: nobody woke it. */
	hand_units(a,
		   (struct vp_unit[]){ { 500, VP_W(VP_KIND_WAIT, VP_WAIT_SEMAPHORE | VP_FLAG_TIMEOUT << 8) },
				       { 0x7000, 3 },
				       { 600, VP_CALL_SEM_TIMEDWAIT } },
		   3);
	/* A child that was waited for. */
	hand_units(a,
		   (struct vp_unit[]){ { 700, VP_W(VP_KIND_WAIT, VP_WAIT_CHILD | VP_FLAG_SHARED << 8) },
				       { 4242, 0 },
				       { 800, VP_CALL_WAITPID } },
		   3);
	hand_wake(b, VP_WAIT_SEMAPHORE, 0, 0x7000, 1, 1, 150);
	hand_wake(b, VP_WAIT_SEMAPHORE, VP_FLAG_SHARED, 0x99010, 2, 2, 350);
	hand_wake(c, VP_WAIT_CHILD, VP_FLAG_SHARED | VP_FLAG_ALL, 4242, 0, 0, 780);
	hand_write(&h);
	hand_steps(&s, &h);
	w = s.timeline->threads[0].waits.v;
	assert_int_equal(w[0].waker, VPROF_NONE);
	assert_int_equal(w[1].waker, 1);
	assert_int_equal(w[2].waker, VPROF_NONE);
	assert_int_equal(w[3].waker, 2);
	assert_int_equal(s.wakes.n_waits, 3);
	assert_int_equal(s.wakes.n_unmatched, 1);
	hand_steps_release(&s);
	hand_release(&h);
}

/* One shared object, mapped at another address in each process: the last release counts, wherever it is mapped. Two
 * objects at the same place of different pages: their addresses tell them apart. */
static void test_shared_mappings(void **state)
{
	for (int several = 0; several < 2; several++) {
		struct hand_thread *a, *b, *c;
		struct hand_steps s;
		struct hand_trace h;

		hand_init(&h);
		a = hand_thread(&h, 1);
		b = hand_thread(&h, 2);
		c = hand_thread(&h, 1);
		hand_units(a,
			   (struct vp_unit[]){ { 300, VP_W(VP_KIND_WAIT, VP_WAIT_SEMAPHORE | VP_FLAG_SHARED << 8) },
					       { 0x7010, 4 },
					       { 400, VP_CALL_SEM_WAIT } },
			   3);
		hand_wake(c, VP_WAIT_SEMAPHORE, VP_FLAG_SHARED, 0x7010, 4, 4, 320);
		hand_wake(b, VP_WAIT_SEMAPHORE, VP_FLAG_SHARED, 0x99010, 4, 4, 390);
		if (several)
			hand_wake(b, VP_WAIT_SEMAPHORE, VP_FLAG_SHARED, 0x9a010, 1, 1, 1000);
		hand_write(&h);
		hand_steps(&s, &h);
		assert_int_equal(s.timeline->threads[0].waits.v[0].waker, several ? 2 : 1);
		hand_steps_release(&s);
		hand_release(&h);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preorder),
		cmocka_unit_test(test_open_frames),
		cmocka_unit_test(test_overlaps_are_cut),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_waits_across_processes),
		cmocka_unit_test(test_shared_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
