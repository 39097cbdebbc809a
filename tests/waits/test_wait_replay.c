/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would it give: histories whose changed course can be worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/waits/replay_scope.h"
#include "common/text.h"
#include "history_text.h"

struct analysed {
	struct history_text text;
	struct vprof_waits waits;
};

static void analyse(struct analysed *a, const char *text)
{
	struct vprof_error err = { "" };

	history_text_read(&a->text, text);
	if (vprof_waits_analyze(&a->waits, &a->text.history, &a->text.options, &err))
		fail_msg("%s", err.message);
}

static void release(struct analysed *a)
{
	vprof_waits_release(&a->waits);
	history_text_release(&a->text);
}

static const struct vprof_waits_estimate *estimate(const struct analysed *a, const char *from, const char *to)
{
	const struct vprof_waits_graph *g = &a->waits.graph;
	uint32_t e = vprof_waits_graph_edge(g, g->vertex_of[history_text_entity(&a->text, from)],
					    g->vertex_of[history_text_entity(&a->text, to)]);

	for (size_t i = 0; i < a->waits.estimates.v.n; i++)
		if (a->waits.estimates.v.v[i].edge == e)
			return &a->waits.estimates.v.v[i];
	fail_msg("no estimate for %s -> %s", from, to);
	return NULL;
}

static void expect(const struct analysed *a, const char *from, const char *to, double halved, double gone)
{
	const struct vprof_waits_estimate *e = estimate(a, from, to);

	assert_true(fabs(e->halved - halved) < 1e-9);
	assert_true(fabs(e->gone - gone) < 1e-9);
}

static void expect_scope(const char *text, const char *counted, uint32_t n_cpus, const char *matters)
{
	struct vprof_waits_program p = { .n_cpus = n_cpus };
	unsigned char counts[16] = { 0 }, is_in[16];
	char names[17] = "";
	struct analysed a;

	analyse(&a, text);
	p.history = &a.text.history;
	for (const char *c = counted; *c; c++)
		counts[history_text_entity(&a.text, (char[]){ *c, '\0' })] = 1;
	assert_int_equal(vprof_waits_replay_scope(is_in, &p, &a.waits.reasons, counts), 0);
	for (size_t e = 0; e < a.text.history.entities.n; e++)
		if (is_in[e])
			strcat(names, a.text.tokens[e]);
	assert_string_equal(names, matters);
	release(&a);
}

/* A and B wait for each other, and B for C; E waits for F, which G made; C and E use the disk D. */
static void test_scope(void **state)
{
	static const char first[] = "recording 0 100\noptions 0.2 0.99 0 2\nthread A\nthread B\nthread C\ndisk D\n"
				    "thread E\nthread G\nthread F by G from 0 to 100\nrun A 0 10\nwait A 10 20 B\n"
				    "run A 20 100\nwait B 0 10 A\nrun B 10 20\nwait B 20 40 C\nrun B 40 100\n"
				    "run C 0 100\nrun E 0 50\nwait E 50 60 F\nrun E 60 100\nrun G 0 100\n"
				    "run F 0 100\nrequest D E 0 5 4096\n";
	struct vprof_text text = VPROF_TEXT_INIT;

	(void)state;
	expect_scope(first, "AB", 1, "ABCDEGF"); /* they compete for the CPU */
	expect_scope(first, "AB", 0, "AB");	 /* for C they wait as long as they did */
	expect_scope(first, "ABC", 0, "ABC");
	expect_scope(first, "", 0, "");
	vprof_text_addf(&text, "%srequest D C 5 9 4096\n", first);
	expect_scope(text.s, "AB", 0, "AB");
	expect_scope(text.s, "C", 0, "CDEGF"); /* the disk keeps C waiting, for E too, which waits for F */
	expect_scope(text.s, "G", 0, "G");
	vprof_text_release(&text);
}

static struct vprof_text b_and_disk(const char *first, int n_requests)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_text_addf(&text, "recording 0 %d\n%sthread A\nthread B\ndisk D\n", n_requests * 10, first);
	for (int t = 0; t < n_requests * 10; t += 10)
		vprof_text_addf(&text,
				"run A %d %d\nwait A %d %d B\nrun B %d %d\nwait B %d %d D\nrequest D B %d %d 4096\n", t,
				t + 2, t + 2, t + 10, t, t + 5, t + 5, t + 10, t + 5, t + 10);
	return text;
}

/* Figure 1, 100 requests: without waiting for the disk B is done at 500, and the disk, which takes 5 for each request
 * and gets the last one at 500, at 505. Waiting half as long: 99 x 7.5 + 5, and 5 more for the last request. */
static void test_b_and_disk(void **state)
{
	struct vprof_text text = b_and_disk("", 100);
	struct analysed a;

	(void)state;
	analyse(&a, text.s);
	assert_true(a.waits.estimates.fidelity == 1.0);
	assert_true(a.waits.estimates.replayed == 1.0);
	assert_int_equal(a.waits.estimates.v.n, 1); /* A's wait is in no knot, and the disk's is no wait */
	/* halves are rounded down to 2 */
	expect(&a, "B", "D", 1000.0 / (99 * 7 + 5 + 5) - 1, 1000.0 / 505 - 1);
	assert_true(fabs(estimate(&a, "B", "D")->saved - (1000.0 / 500 - 1)) < 1e-9); /* and nothing of the disk's */
	release(&a);
	/* on one CPU A's 2 and B's 5 follow each other */
	vprof_text_release(&text);
	text = b_and_disk("cpus 1\n", 100);
	analyse(&a, text.s);
	assert_true(estimate(&a, "B", "D")->gone < 1000.0 / 700 - 1 + 0.01);
	assert_true(estimate(&a, "B", "D")->gone > 1000.0 / 720 - 1);
	release(&a);
	vprof_text_release(&text);
}

/* A request at a time from each of two threads: the disk serves 2 at once in 10. The disk does not become faster than
 * it was seen to be: 5 for each. */
static void test_disk_is_busy(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct analysed a;

	(void)state;
	vprof_text_addf(&text, "recording 0 1200\noptions 0.2 0.99 0 2\nthread A\nthread B\ndisk D\n");
	for (int t = 0; t < 1200; t += 12)
		for (int k = 0; k < 2; k++)
			vprof_text_addf(&text, "run %c %d %d\nwait %c %d %d D\nrequest D %c %d %d 4096\n", 'A' + k, t,
					t + 2, 'A' + k, t + 2, t + 12, 'A' + k, t + 2, t + 12);
	analyse(&a, text.s);
	assert_true(a.waits.estimates.fidelity > 0.99 && a.waits.estimates.fidelity < 1.01);
	release(&a);
	vprof_text_release(&text);
}

/* Two threads and a lock: 6 of each round of 10 under it. What A does alone overlaps with what B does under the lock.
 */
static void test_lock(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct analysed a;

	(void)state;
	/* period 12: A has the lock in [0,6), B in [6,12); each does 4 alone, then waits 2 */
	vprof_text_addf(&text, "recording 0 1200\nthread A\nthread B\n");
	for (int t = 0; t < 1200; t += 12) {
		vprof_text_addf(&text, "run A %d %d\nwait A %d %d B\n", t, t + 10, t + 10, t + 12);
		if (t)
			vprof_text_addf(&text, "wait B %d %d A\n", t + 4, t + 6);
		vprof_text_addf(&text, "run B %d %d\n", t ? t + 6 : 0, t + 16 < 1200 ? t + 16 : 1200);
	}
	analyse(&a, text.s);
	assert_true(a.waits.estimates.fidelity == 1.0);
	/* A alone without waiting is done sooner, but B is not: it still waits for A */
	assert_true(estimate(&a, "A", "B")->gone >= 0);
	assert_true(estimate(&a, "A", "B")->gone < 0.2);
	release(&a);
	vprof_text_release(&text);
}

/* The phases of section 3.2.1, 50 times: A three tasks, then one; B one, then three. Without waiting at the ends of
 * phases both work through: 4 a round instead of 6. One edge alone gives nothing, as the other thread is still late. */
static void test_phases(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct analysed a;

	(void)state;
	vprof_text_addf(&text, "recording 0 300\nthread A\nthread B\n");
	for (int t = 0; t < 300; t += 6)
		vprof_text_addf(&text, "run A %d %d\nwait A %d %d B\nrun B %d %d\nwait B %d %d A\nrun B %d %d\n", t,
				t + 4, t + 4, t + 6, t, t + 1, t + 1, t + 3, t + 3, t + 6);
	analyse(&a, text.s);
	assert_true(a.waits.estimates.fidelity == 1.0);
	/* A runs through its 200; B still waits for A's third task of each round, at 4 r + 3, and ends with 3 more */
	expect(&a, "A", "B", estimate(&a, "A", "B")->halved, 300.0 / (4 * 49 + 3 + 3) - 1);
	release(&a);
	vprof_text_release(&text);
}

/* A sleep takes its time; a thread paced by a timer does not count, and does not hide what the others gain. */
static void test_timer(void **state)
{
	struct vprof_text text = b_and_disk("thread H\ntimer T\n", 100);
	struct analysed a;

	(void)state;
	vprof_text_addf(&text, "run H 0 10\nwait H 10 900 T\nrun H 900 1000\n");
	analyse(&a, text.s);
	assert_true(fabs(estimate(&a, "B", "D")->gone - (1000.0 / 505 - 1)) < 1e-9);
	release(&a);
	vprof_text_release(&text);
}

/* The main thread sleeps and then ends the run: that B's last wait was for it does not hold up B in the replay. */
static void test_end_by_background(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct analysed a;

	(void)state;
	vprof_text_addf(&text,
			"recording 0 1010\nthread M\ntimer T\nthread B\ndisk D\nwait M 0 1002 T\nrun M 1002 1005\n");
	for (int t = 0; t < 1000; t += 10)
		vprof_text_addf(&text, "run B %d %d\nwait B %d %d D\nrequest D B %d %d 4096\n", t, t + 5, t + 5, t + 10,
				t + 5, t + 10);
	vprof_text_addf(&text, "wait B 1000 1005 M\nrun B 1005 1010\n");
	analyse(&a, text.s);
	/* 100 x 5, 5 until it is told to stop, 5 more */
	assert_true(fabs(estimate(&a, "B", "D")->gone - (1010.0 / 510 - 1)) < 1e-9);
	release(&a);
	vprof_text_release(&text);
}

/* A thread that is made later begins when its maker has come to that point. */
static void test_made(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 100\noptions 0.2 0.99 0 2\nthread M\nthread C by M from 60 to 100\ndisk D\n"
		    "run M 0 10\nwait M 10 50 D\nrun M 50 100\nrun C 60 100\nrequest D M 10 50 4096\n"
		    "request D M 51 52 4096\n");
	/* a knot of M and the disk; without the wait all is done 40 sooner */
	assert_true(fabs(estimate(&a, "M", "D")->gone - (100.0 / 60 - 1)) < 1e-9);
	release(&a);
}

/* The disk takes 8 of each 10: as long as nobody saves its requests, there is no more to be had than that. */
static void test_saved(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct analysed a;

	(void)state;
	vprof_text_addf(&text, "recording 0 1000\nthread B\ndisk D\n");
	for (int t = 0; t < 1000; t += 10)
		vprof_text_addf(&text, "run B %d %d\nwait B %d %d D\nrequest D B %d %d 4096\n", t, t + 3, t + 3, t + 10,
				t + 3, t + 10);
	analyse(&a, text.s);
	expect(&a, "B", "D", 1000.0 / (99 * 7 + 3 + 7) - 1, 1000.0 / (100 * 7 + 3) - 1);
	assert_true(fabs(estimate(&a, "B", "D")->saved - (1000.0 / 300 - 1)) < 1e-9);
	release(&a);
	vprof_text_release(&text);
}

/* S sends a message that H hands it every 10, the answer comes 8 later and R wakes H by it. If H does not wait, S sends
 * one after the other, and the answers follow as they did: H's first 1, 1 for each, and 7 and R's 1 for the last. */
static void test_answer(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct analysed a;

	(void)state;
	vprof_text_addf(&text,
			"recording 0 1000\noptions 0.05 0.99 0 2\nthread H\nthread S\nthread R\nnetwork N 1e9\n");
	for (int t = 0; t < 1000; t += 10) {
		vprof_text_addf(&text, "run H %d %d\nwait H %d %d R\n", t, t + 1, t + 1, t + 10);
		vprof_text_addf(&text, "wait S %d %d H\nrun S %d %d\n", t ? t - 8 : 0, t + 1, t + 1, t + 2);
		vprof_text_addf(&text, "wait R %d %d N\nrun R %d %d\n", t, t + 9, t + 9, t + 10);
		vprof_text_addf(&text, "request N S %d %d 1\n", t + 2, t + 2);
	}
	analyse(&a, text.s);
	assert_true(fabs(a.waits.estimates.fidelity - 1) < 0.02);
	assert_true(fabs(estimate(&a, "H", "R")->gone - (1000.0 / 109 - 1)) < 1e-9);
	release(&a);
	vprof_text_release(&text);
}

/* Who is in no knot and waits for none, and a knot beside it, hold up nothing. */
static void test_two_knots(void **state)
{
	struct vprof_text text = b_and_disk("thread P\ndisk Q\n", 100);
	struct analysed a;

	(void)state;
	for (int t = 0; t < 1000; t += 10)
		vprof_text_addf(&text, "run P %d %d\nwait P %d %d Q\nrequest Q P %d %d 512\n", t, t + 2, t + 2, t + 10,
				t + 2, t + 10);
	analyse(&a, text.s);
	assert_true(fabs(estimate(&a, "B", "D")->gone - (1000.0 / 505 - 1)) < 1e-9);
	assert_true(fabs(estimate(&a, "P", "Q")->gone - (1000.0 / 802 - 1)) < 1e-9);
	release(&a);
	vprof_text_release(&text);
}

/* W waits for M, and M for the knot, but who ended M's long wait is not known: neither holds up what the knot gains. */
static void test_waits_for_paced(void **state)
{
	struct vprof_text text = b_and_disk("thread W\nthread M\n", 100);
	struct analysed a;

	(void)state;
	vprof_text_addf(&text, "run M 0 5\nwait M 5 30 B\nrun M 30 31\nwait M 31 990 -\nrun M 990 1000\n");
	vprof_text_addf(&text, "run W 0 1\nwait W 1 995 M\nrun W 995 1000\n");
	analyse(&a, text.s);
	assert_true(fabs(estimate(&a, "B", "D")->gone - (1000.0 / 505 - 1)) < 1e-9);
	release(&a);
	vprof_text_release(&text);
}

/* Waits for a thread that is not part of the graph are of no edge, whatever their number is. */
static void test_foreign(void **state)
{
	struct vprof_text text = b_and_disk("thread F\nthread G\n", 100);
	struct vprof_error err = { "" };
	struct analysed a;

	(void)state;
	vprof_text_addf(&text, "run F 0 10\nwait F 10 12 G\nrun F 12 1000\nrun G 0 1000\n");
	history_text_read(&a.text, text.s);
	a.text.history.entities.v[history_text_entity(&a.text, "F")].is_foreign = 1;
	a.text.history.entities.v[history_text_entity(&a.text, "G")].is_foreign = 1;
	assert_int_equal(vprof_waits_analyze(&a.waits, &a.text.history, &a.text.options, &err), 0);
	assert_true(fabs(estimate(&a, "B", "D")->gone - (1000.0 / 505 - 1)) < 1e-9);
	release(&a);
	vprof_text_release(&text);
}

#define MS 1000000

/* Three threads, 2 ms each, give S 6 ms of work a round, on two CPUs. When they no longer wait for it they have 600 ms
 * to do, as S has. S waits for C's work of its round: it is done soon after 604 ms if none of those that are rounds
 * ahead has a CPU instead of it for longer than a slice, which is of many steps of theirs. */
static void test_who_is_behind(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct analysed a;

	(void)state;
	vprof_text_addf(&text, "recording 0 %d\ncpus 2\nthread A1\nthread A2\nthread A3\nthread S\n", 1000 * MS);
	for (int t = 0; t < 1000 * MS; t += 10 * MS) {
		vprof_text_addf(&text, "ready A3 %d %d\n", t, t + 2 * MS);
		vprof_text_addf(&text, "wait S %d %d A3\nrun S %d %d\n", t, t + 4 * MS, t + 4 * MS, t + 10 * MS);
		for (int i = 1; i <= 3; i++) {
			int from = i == 3 ? t + 2 * MS : t;

			vprof_text_addf(&text, "run A%d %d %d\nwait A%d %d %d S\n", i, from, from + 2 * MS, i,
					from + 2 * MS, t + 10 * MS);
		}
	}
	analyse(&a, text.s);
	assert_true(fabs(a.waits.estimates.fidelity - 1) < 0.01);
	assert_true(estimate(&a, "A1", "S")->gone > 1000.0 / 613 - 1);
	assert_true(estimate(&a, "A1", "S")->gone <= 1000.0 / 604 - 1 + 1e-9);
	release(&a);
	vprof_text_release(&text);
}

/* On two CPUs A and B always find one free: what their wake-ups took (1 to 9) is the wake-ups' own. */
static void test_wakeups_take_time(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct analysed a;
	int t = 0;

	(void)state;
	vprof_text_addf(&text, "recording 0 3000\ncpus 2\nthread A\nthread B\n");
	for (int round = 0; round < 100; round++) {
		int late = 1 + round % 9, b = t + 10, end = b + late + 10;

		vprof_text_addf(&text, "run A %d %d\nwait A %d %d B\nready A %d %d\n", t, b, b, end, end, end + late);
		vprof_text_addf(&text, "wait B %d %d A\nready B %d %d\nrun B %d %d\n", t, b, b, b + late, b + late,
				end);
		t = end + late;
	}
	vprof_text_addf(&text, "run A %d 3000\nwait B %d 3000 -\n", t, t);
	analyse(&a, text.s);
	assert_true(fabs(a.waits.estimates.fidelity - 1) < 1e-9);
	release(&a);
	vprof_text_release(&text);
}

/* W wakes four at once when one of two CPUs is free: one of them gets it, and the others wait for a CPU, which is no
 * latency of their own. */
static void test_woken_together(void **state)
{
	struct vprof_waits_program p;
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 60\ncpus 2\nthread A\nthread B\nthread C\nthread D\nthread W\n"
		    "wait A 0 20 W\nready A 20 21\nrun A 21 30\nwait B 0 20 W\nready B 20 30\nrun B 30 40\n"
		    "wait C 0 20 W\nready C 20 30\nrun C 30 40\nwait D 0 20 W\nready D 20 40\nrun D 40 60\n"
		    "run W 0 30\nwait W 30 60 D\n");
	assert_int_equal(
		vprof_waits_program_build(&p, &a.text.history, &a.waits.graph, SIZE_MAX, VPROF_WAITS_CPUS_SIMULATED),
		0);
	assert_true(p.waits.n >= 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(p.waits.v[i].latency_ns, i ? 10 : 1); /* 10: their lower quartile */
	vprof_waits_program_release(&p);
	release(&a);
}

/* L does nothing but sleep, and M waits for it. Nothing of them counts, which says nothing of the others' replay. */
static void test_nothing_counts(void **state)
{
	struct vprof_text text = b_and_disk("thread L\nthread M\ntimer T\n", 100);
	struct analysed a;

	(void)state;
	vprof_text_addf(&text, "wait L 0 980 T\nrun L 980 1000\nwait M 0 985 L\nrun M 985 1000\n");
	analyse(&a, text.s);
	assert_true(fabs(a.waits.estimates.fidelity - 1) < 1e-9);
	assert_true(fabs(estimate(&a, "B", "D")->gone - (1000.0 / 505 - 1)) < 1e-9);
	assert_true(isnan(estimate(&a, "L", "T")->gone));
	release(&a);
	vprof_text_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_b_and_disk),
		cmocka_unit_test(test_disk_is_busy),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_end_by_background),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_timer),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_two_knots),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_waits_for_paced),
		cmocka_unit_test(test_who_is_behind),
		cmocka_unit_test(test_wakeups_take_time),
		cmocka_unit_test(test_woken_together),
		cmocka_unit_test(test_nothing_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
