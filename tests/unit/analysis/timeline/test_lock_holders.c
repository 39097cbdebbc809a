/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several threads held one after the other while an interval waited for it: each is to blame for its own time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/source/relevance.h"
#include "analysis/timeline/edges/lock_holders.h"
#include "tests/unit/analysis/hand_trace.h"

#define NUMBER(seq) ((unsigned)(seq) << 8) /* beside flags */
#define LOCK 0x10

static struct hand_trace h;
static struct hand_steps s;
static struct hand_thread *a, *b, *c, *d;

static int begin(void **state)
{
	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	c = hand_thread(&h, 1);
	d = hand_thread(&h, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hand_steps_release(&s);
	hand_release(&h);
	return 0;
}

/* Thread a's interval waits from 200 to 500, as the seventh arrival. */
static void interval_waits(enum vp_wait kind, uint32_t seq)
{
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, kind | (uint64_t)seq << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, LOCK, 7, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
}

static void releases(struct hand_thread *th, enum vp_wait kind, unsigned flags, uint64_t t)
{
	hand_wake(th, kind, flags, LOCK, 7, 7, t);
}

static void walk(void)
{
	hand_write(&h);
	hand_steps(&s, &h);
	hand_walk(&s, 0);
}

static size_t n_beneath(void)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n_pieces; i++)
		n += s.pieces[i].depth > 0;
	return n;
}

/* b held it; c slept, and took it before a came to run: a free lock, so nothing tells but b's release. */
static void test_taken_late(void **state)
{
	(void)state;
	interval_waits(VP_WAIT_MUTEX, 2);
	releases(b, VP_WAIT_MUTEX, NUMBER(1), 300);
	hand_wait(c, VP_WAIT_SLEEP, VP_CALL_NANOSLEEP, 0, 0, 150, 295);
	releases(c, VP_WAIT_MUTEX, NUMBER(2), 480);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 0, 200, 500, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 200, 300, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 300, 480, 1));
	assert_int_equal(n_beneath(), 2);
	assert_int_equal(s.timeline->threads[0].waits.v[0].waker, 2);
}

/* What happened to the lock before a came, or after it had it, is nothing to a. A thread that gives it up and takes it
 * again has one part. */
static void test_only_within_the_wait(void **state)
{
	(void)state;
	releases(d, VP_WAIT_MUTEX, NUMBER(1), 150);
	releases(b, VP_WAIT_MUTEX, NUMBER(2), 250);
	releases(b, VP_WAIT_MUTEX, NUMBER(3), 300);
	releases(c, VP_WAIT_MUTEX, NUMBER(4), 480);
	interval_waits(VP_WAIT_MUTEX, 4);
	releases(d, VP_WAIT_MUTEX, NUMBER(6), 560);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 200, 300, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 300, 480, 1));
	assert_int_equal(n_beneath(), 2);
}

/* b, which took the lock after c, waited for another one meanwhile: only what is left of that wait was in a's way. */
static void test_part_of_a_holders_wait(void **state)
{
	(void)state;
	interval_waits(VP_WAIT_MUTEX, 3);
	hand_wait(b, VP_WAIT_MUTEX | (uint64_t)9 << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, 0x20, 1, 190, 290);
	releases(b, VP_WAIT_MUTEX, NUMBER(3), 480);
	hand_wake(c, VP_WAIT_MUTEX, NUMBER(8), 0x20, 1, 1, 230);
	hand_wake(d, VP_WAIT_MUTEX, NUMBER(9), 0x20, 1, 1, 280);
	releases(c, VP_WAIT_MUTEX, NUMBER(2), 260);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 200, 260, 1));
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 1, 260, 290, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 3, 260, 280, 2));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 290, 480, 1));
	assert_int_equal(n_beneath(), 4);
}

/* Two waits that are one, by vprof_false_wakeup: meanwhile the waiter had the lock itself. */
static void test_held_by_the_waiter(void **state)
{
	const struct vp_unit false_wake = { 310, VP_W(VP_KIND_FALSE_WAKE, 0) };

	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_MUTEX | 1u << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, LOCK, 7, 200, 300);
	hand_units(a, &false_wake, 1);
	releases(a, VP_WAIT_MUTEX, NUMBER(2), 350);
	hand_wait(a, VP_WAIT_MUTEX | 3u << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, LOCK, 7, 360, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	releases(b, VP_WAIT_MUTEX, NUMBER(1), 290);
	releases(c, VP_WAIT_MUTEX, NUMBER(3), 480);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_WAIT, 0, 200, 500, 0));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 200, 290, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 350, 480, 1));
	assert_int_equal(n_beneath(), 2);
}

/* b's clock was read so late that c had taken the lock, released it and read the clock before: b's time tells nothing.
 */
static void test_clock_read_too_late(void **state)
{
	(void)state;
	interval_waits(VP_WAIT_MUTEX, 6);
	hand_wake(b, VP_WAIT_MUTEX, VP_FLAG_LATE | NUMBER(4), LOCK, 6, 7, 400);
	releases(c, VP_WAIT_MUTEX, NUMBER(5), 350);
	releases(d, VP_WAIT_MUTEX, NUMBER(6), 480);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 200, 350, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 3, 350, 480, 1));
	assert_int_equal(n_beneath(), 2);
}

/* Readers hold a lock together: of those between two writers the last one counts. */
static void test_last_reader_before_a_writer(void **state)
{
	(void)state;
	interval_waits(VP_WAIT_RWLOCK_WRITE, 5);
	releases(b, VP_WAIT_RWLOCK_READ, VP_FLAG_LATE | NUMBER(4), 250);
	releases(c, VP_WAIT_RWLOCK_READ, VP_FLAG_LATE | NUMBER(4), 300);
	releases(d, VP_WAIT_RWLOCK_WRITE, NUMBER(5), 480);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 200, 300, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 3, 300, 480, 1));
	assert_int_equal(n_beneath(), 2);
}

/* The last of the readers ended the writer's wait: all of it is its. */
static void test_readers_to_the_end(void **state)
{
	(void)state;
	interval_waits(VP_WAIT_RWLOCK_WRITE, 5);
	releases(d, VP_WAIT_RWLOCK_WRITE, NUMBER(5), 250);
	releases(b, VP_WAIT_RWLOCK_READ, VP_FLAG_LATE | NUMBER(5), 300);
	releases(c, VP_WAIT_RWLOCK_READ, VP_FLAG_LATE | NUMBER(5), 480);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 3, 200, 250, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 250, 480, 1));
	assert_int_equal(n_beneath(), 2);
}

/* One reader does not keep another one waiting. */
static void test_reader_passes_readers(void **state)
{
	(void)state;
	interval_waits(VP_WAIT_RWLOCK_READ, 5);
	releases(b, VP_WAIT_RWLOCK_WRITE, NUMBER(4), 250);
	releases(c, VP_WAIT_RWLOCK_READ, VP_FLAG_LATE | NUMBER(4), 300);
	releases(d, VP_WAIT_RWLOCK_WRITE, NUMBER(5), 480);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 200, 250, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 3, 250, 480, 1));
	assert_int_equal(n_beneath(), 2);
}

/* A semaphore's tokens are alike, and several threads may have some: its last post alone is to blame. */
static void test_semaphores_are_not_cut(void **state)
{
	(void)state;
	interval_waits(VP_WAIT_SEMAPHORE, 2);
	hand_wake(b, VP_WAIT_SEMAPHORE, NUMBER(1), LOCK, 6, 6, 300);
	releases(c, VP_WAIT_SEMAPHORE, NUMBER(2), 480);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 200, 480, 1));
	assert_int_equal(n_beneath(), 1);
}

/* Locks at one place of different shared pages are told apart by their addresses. */
static void test_same_place_in_other_pages(void **state)
{
	(void)state;
	hand_mark(a, VP_KIND_BEGIN, 1, 100);
	hand_wait(a, VP_WAIT_ANNOTATED | VP_FLAG_SHARED << 8, 0, 0x7010, 7, 200, 500);
	hand_mark(a, VP_KIND_END, 1, 600);
	hand_wake(b, VP_WAIT_ANNOTATED, VP_FLAG_SHARED, 0x8010, 7, 7, 250);
	hand_wake(b, VP_WAIT_ANNOTATED, VP_FLAG_SHARED, 0x7010, 7, 7, 300);
	hand_wake(c, VP_WAIT_ANNOTATED, VP_FLAG_SHARED, 0x8010, 7, 7, 350);
	hand_wake(c, VP_WAIT_ANNOTATED, VP_FLAG_SHARED, 0x7010, 7, 7, 480);
	walk();
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 1, 200, 300, 1));
	assert_true(hand_has(&s, VPROF_PIECE_RUN, 2, 300, 480, 1));
	assert_int_equal(n_beneath(), 2);
}

/* Two intervals' threads waited: for each release, the time that both waited until then, once. */
static void test_concern_of_all_holders(void **state)
{
	struct vprof_relevance *relevance;

	(void)state;
	interval_waits(VP_WAIT_MUTEX, 3);
	hand_mark(d, VP_KIND_BEGIN, 2, 100);
	/* d was as quick: both name b */
	hand_wait(d, VP_WAIT_MUTEX | 3u << VP_SEQ_SHIFT, VP_CALL_MUTEX_LOCK, LOCK, 6, 270, 495);
	hand_mark(d, VP_KIND_END, 2, 700);
	releases(b, VP_WAIT_MUTEX, NUMBER(1), 260);
	releases(c, VP_WAIT_MUTEX, NUMBER(2), 300);
	releases(b, VP_WAIT_MUTEX, NUMBER(3), 480);
	walk();
	assert_int_equal(vprof_relevance_find(&relevance, s.timeline), 0);
	assert_int_equal(vprof_relevance_waited(&relevance[1], 260), 60);
	assert_int_equal(vprof_relevance_waited(&relevance[2], 300), 40 + 30);
	assert_int_equal(vprof_relevance_waited(&relevance[1], 480), 200 + 195);
	assert_true(vprof_relevance_covers(&relevance[1], 230));
	assert_false(vprof_relevance_covers(&relevance[1], 280));
	assert_true(vprof_relevance_covers(&relevance[2], 280));
	assert_false(vprof_relevance_covers(&relevance[2], 350));
	vprof_relevance_free(relevance, s.timeline->n_threads);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_taken_late),
		CASE(test_only_within_the_wait),
		CASE(test_part_of_a_holders_wait),
		CASE(test_held_by_the_waiter),
		CASE(test_clock_read_too_late),
		CASE(test_last_reader_before_a_writer),
		CASE(test_readers_to_the_end),
		CASE(test_reader_passes_readers),
		CASE(test_semaphores_are_not_cut),
		CASE(test_same_place_in_other_pages),
		CASE(test_concern_of_all_holders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
