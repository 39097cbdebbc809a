/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The examples of wPerf (OSDI 2018) as histories written by hand, with the exact weights that its text gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

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

static uint32_t vertex(const struct analysed *a, const char *name)
{
	return a->waits.graph.vertex_of[history_text_entity(&a->text, name)];
}

static const struct vprof_waits_edge *edge(const struct analysed *a, const char *from, const char *to)
{
	uint32_t e = vprof_waits_graph_edge(&a->waits.graph, vertex(a, from), vertex(a, to));

	return e == VPROF_NONE ? NULL : &a->waits.graph.edges.v[e];
}

static void expect_edge(const struct analysed *a, const char *from, const char *to, uint64_t own, uint64_t weight)
{
	const struct vprof_waits_edge *e = edge(a, from, to);

	assert_non_null(e);
	assert_int_equal(e->own_ns, own);
	assert_int_equal(e->weight_ns, weight);
}

/* Is the knot made of these vertices (names with a space between them)? */
static void expect_knot(const struct analysed *a, size_t knot, const char *names, enum vprof_waits_end end,
			size_t n_edges)
{
	const struct vprof_waits_knot *k;
	char name[64];
	uint32_t n = 0;
	int used;

	assert_true(knot < a->waits.knots.knots.n);
	k = &a->waits.knots.knots.v[knot];
	for (; sscanf(names, "%63s%n", name, &used) == 1; names += used, n++) {
		int found = 0;

		for (uint32_t i = 0; i < k->n_vertices; i++)
			found |= a->waits.knots.vertices.v[k->first_vertex + i] == vertex(a, name);
		assert_true(found);
	}
	assert_int_equal(k->n_vertices, n);
	assert_int_equal(k->end, end);
	assert_int_equal(k->n_edges, n_edges);
}

/* Figures 1 and 2: B computes for 5 ms and syncs for 5 ms, A needs 2 ms for each request. Ten requests. */
static void test_b_and_disk(void **state)
{
	struct analysed a;
	char text[8192];
	int n = snprintf(text, sizeof text, "recording 0 100\nthread A\nthread B\ndisk D\n");

	(void)state;
	for (int t = 0; t < 100; t += 10)
		n += snprintf(text + n, sizeof text - (size_t)n,
			      "run A %d %d\nwait A %d %d B\nrun B %d %d\nwait B %d %d D\nrequest D B %d %d 4096\n", t,
			      t + 2, t + 2, t + 10, t, t + 5, t + 5, t + 10, t + 5, t + 10);
	analyse(&a, text);
	assert_int_equal(a.waits.graph.edges.n, 3);
	expect_edge(&a, "A", "B", 80, 80); /* 80 % of its time, and not the bottleneck */
	expect_edge(&a, "B", "D", 50, 100);
	expect_edge(&a, "D", "B", 50, 50);
	assert_int_equal(a.waits.knots.knots.n, 1);
	expect_knot(&a, 0, "B D", VPROF_WAITS_CYCLE, 2);
	assert_true(edge(&a, "D", "B")->is_idle);
	release(&a);
}

/* Figure 3: C wakes B at t1 = 4, B wakes A at t2 = 10; both wait from t0 = 0 on. */
static void test_asymmetric(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 12\nthread A\nthread B\nthread C\n"
		    "wait A 0 10 B\nrun A 10 12\n"
		    "wait B 0 4 C\nrun B 4 12\n"
		    "run C 0 12\n");
	expect_edge(&a, "A", "B", 10, 10); /* t2 - t0 */
	expect_edge(&a, "B", "C", 4, 8);   /* t1 - t0, once for B and once for A */
	assert_int_equal(a.waits.graph.edges.n, 2);
	expect_knot(&a, 0, "C", VPROF_WAITS_VERTEX, 0);
	assert_true(a.waits.knots.knots.v[0].is_sink);
	release(&a);
}

/* The same with a lock that C releases, and that A and B get first in turn: all get the same. */
static void test_symmetric(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 24\nthread A\nthread B\nthread C\n"
		    "wait A 0 10 B\nrun A 10 12\nwait A 12 16 C\nrun A 16 24\n"
		    "wait B 0 4 C\nrun B 4 12\nwait B 12 22 A\nrun B 22 24\n"
		    "run C 0 24\n");
	expect_edge(&a, "A", "B", 10, 10);
	expect_edge(&a, "B", "A", 10, 10);
	expect_edge(&a, "A", "C", 4, 8);
	expect_edge(&a, "B", "C", 4, 8);
	release(&a);
}

/* Three deep: a moment of C's wait counts for itself, for B's and for A's. */
static void test_nested(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 20\nthread A\nthread B\nthread C\nthread D\n"
		    "wait A 2 18 B\nrun A 18 20\n"
		    "run B 0 4\nwait B 4 16 C\nrun B 16 20\n"
		    "run C 0 1\nwait C 1 9 D\nrun C 9 11\nwait C 11 13 D\nrun C 13 20\n"
		    "run D 0 20\n");
	expect_edge(&a, "A", "B", 16, 16);
	expect_edge(&a, "B", "C", 12, 24);
	/* [1,4) once, [4,9) and [11,13) three times */
	expect_edge(&a, "C", "D", 10, 3 + 15 + 6);
	release(&a);
}

/* Section 3.2.1, load imbalance: A has three tasks in phase 1 and one in phase 2, B the other way round. */
static void test_imbalance(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 6\nthread A\nthread B\n"
		    "run A 0 4\nwait A 4 6 B\n"
		    "run B 0 1\nwait B 1 3 A\nrun B 3 6\n");
	expect_edge(&a, "A", "B", 2, 2);
	expect_edge(&a, "B", "A", 2, 2);
	expect_knot(&a, 0, "A B", VPROF_WAITS_CYCLE, 2);
	release(&a);
}

/* Two knots below a common thread: the heartbeat (no device, less than a CPU) is set aside, the other remains. */
static void test_background(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 100\nthread H\nthread I\ntimer T\nthread A\nthread B\n"
		    "run H 0 5\nwait H 5 50 T\nrun H 50 55\nwait H 55 60 I\nrun H 60 61\nwait H 61 100 T\n"
		    "wait I 0 52 H\nrun I 52 60\nwait I 60 100 -\n"
		    "run A 0 50\nwait A 50 100 B\n"
		    "wait B 0 50 A\nrun B 50 100\n");
	assert_int_equal(a.waits.knots.knots.n, 3);
	expect_knot(&a, 0, "T", VPROF_WAITS_BACKGROUND, 0);
	expect_knot(&a, 1, "H I", VPROF_WAITS_BACKGROUND, 2);
	expect_knot(&a, 2, "A B", VPROF_WAITS_CYCLE, 2);
	release(&a);
}

/* The lightest edge goes first, and the knot is what remains strongly connected: A and B, not C. */
static void test_refinement(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 100\nthread A\nthread B\nthread C\n"
		    "run A 0 10\nwait A 10 60 B\nrun A 60 98\nwait A 98 99 C\nrun A 99 100\n"
		    "run B 0 60\nwait B 60 95 A\nrun B 95 100\n"
		    "run C 0 40\nwait C 40 90 A\nrun C 90 100\n");
	/* A -> C weighs 1: without it C leads to the knot, and nothing leads to C */
	expect_knot(&a, 0, "A B", VPROF_WAITS_CYCLE, 2);
	assert_int_equal(a.waits.knots.knots.v[0].depth, 1);
	assert_int_equal(a.waits.knots.knots.n, 1);
	release(&a);
}

/* Nothing is removed above the threshold: all three edges of 30 % or more stay. */
static void test_threshold(void **state)
{
	static const char text[] = "recording 0 100\nthread A\nthread B\nthread C\n%s"
				   "wait A 0 40 B\nrun A 40 65\nwait A 65 100 C\n"
				   "run B 0 40\nwait B 40 60 A\nwait B 60 90 C\nrun B 90 100\n"
				   "wait C 0 35 B\nrun C 35 65\nwait C 65 99 B\nrun C 99 100\n";
	struct analysed a;
	char with[1024];

	(void)state;
	snprintf(with, sizeof with, text, "options 0.1 0.99 0 2\n");
	analyse(&a, with);
	expect_knot(&a, 0, "A B C", VPROF_WAITS_HEAVY, 5);
	release(&a);
}

static void test_false_wake(void **state)
{
	struct analysed a;

	(void)state;
	/* section 4.1: A sells one ticket and wakes B and C; C finds none and sleeps on, until D wakes it */
	analyse(&a, "recording 0 100\nthread A\nthread B\nthread C\nthread D\n"
		    "run A 0 100\nrun D 0 100\nwait B 0 10 A\nrun B 10 100\n"
		    "wait C 0 10 A 0 0\nready C 10 11\nrun C 11 13\nwait C 13 50 D\nrun C 50 100\n"
		    "false_wake C 12\n");
	expect_edge(&a, "B", "A", 10, 10);
	assert_null(edge(&a, "C", "A"));
	expect_edge(&a, "C", "D", 50, 50);
	release(&a);
}

static void test_spin(void **state)
{
	struct analysed a;

	(void)state;
	/* A spins until B releases the lock, off its CPU in between */
	analyse(&a, "recording 0 100\nthread A\nthread B\n"
		    "run A 0 30\nready A 30 40\nrun A 40 100\nrun B 0 100\n"
		    "spin A 20 60 B\n");
	expect_edge(&a, "A", "B", 40, 40);
	assert_int_equal(a.waits.graph.vertices.v[vertex(&a, "A")].running_ns, 60);
	assert_int_equal(a.waits.graph.vertices.v[vertex(&a, "A")].runnable_ns, 0);
	release(&a);
}

/* Section 3.3: M makes threads, each for one task. */
static void test_short_lived(void **state)
{
	uint32_t v, to_m, to_l;
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 100\nthread M\nthread L\n"
		    "thread W#1 by M from 10 to 18\nthread W#2 by M from 14 to 22\nthread W#3 by M from 50 to 58\n"
		    "thread X#1 by M from 10 to 11\n" /* of another name: the only one */
		    "run L 0 100\nrun M 0 22\nwait M 22 48 W#2\nrun M 48 100\n"
		    "run W#1 10 18\nready W#2 14 18\nrun W#2 18 20\nwait W#2 20 21 L\nrun W#2 21 22\n"
		    "run W#3 50 58\nrun X#1 10 11\n");
	assert_int_equal(a.text.history.entities.n, 7);
	for (int e = 2; e < 5; e++)
		assert_int_equal(a.text.history.entities.v[e].merged_into, 7);
	assert_int_equal(a.text.history.entities.v[5].merged_into, 0);
	v = a.waits.graph.vertex_of[6];
	assert_int_equal(a.waits.graph.vertices.v[v].n_entities, 3);
	assert_int_equal(a.waits.graph.vertices.v[v].running_ns, 8 + 3 + 8);
	assert_int_equal(a.waits.graph.vertices.v[v].runnable_ns, 4);
	/* [0,10) and [22,50) for new threads, [20,21) for L; the wait from 58 on is not over */
	to_m = vprof_waits_graph_edge(&a.waits.graph, v, vertex(&a, "M"));
	to_l = vprof_waits_graph_edge(&a.waits.graph, v, vertex(&a, "L"));
	assert_int_equal(a.waits.graph.edges.v[to_m].own_ns, 38);
	assert_int_equal(a.waits.graph.edges.v[to_l].own_ns, 1);
	assert_int_equal(a.waits.graph.vertices.v[v].unknown_ns, 0);
	assert_int_equal(a.waits.graph.vertices.v[v].blocked_ns, 38 + 1 + 42);
	release(&a);
}

/* Threads that wait at the same places are one vertex, whose edge to itself is kept. */
static void test_alike(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 100\nthread A\nthread B\nthread C\n"
		    "stack pthread_mutex_lock < work\nstack recv < accept_loop\n"
		    "run A 0 20\nwait A 20 60 B 1 0\nrun A 60 100\n"
		    "wait B 0 20 A 1 0\nrun B 20 60\nwait B 60 100 A 1 0\n"
		    "run C 0 60\nwait C 60 100 A 2 0\n");
	assert_int_equal(a.waits.graph.vertices.n, 2);
	expect_edge(&a, "A", "B", 100, 100);
	expect_edge(&a, "C", "A", 40, 40);
	expect_knot(&a, 0, "A", VPROF_WAITS_VERTEX, 1);
	assert_false(a.waits.knots.knots.v[0].is_sink);
	release(&a);
}

/* A thread elsewhere for which nobody waited long is no vertex, even if it is the first of those with its stacks. */
static void test_alike_to_foreign(void **state)
{
	struct vprof_error err = { "" };
	struct analysed a;

	(void)state;
	history_text_read(&a.text, "recording 0 1000\nthread F\nthread A\nthread B\nstack wait_for_work < work\n"
				   "run F 0 20\nwait F 20 60 A 1 0\nrun F 60 1000\n"
				   "run A 0 100\nwait A 100 900 B 1 0\nrun A 900 1000\nrun B 0 1000\n");
	a.text.history.entities.v[history_text_entity(&a.text, "F")].is_foreign = 1;
	assert_int_equal(vprof_waits_analyze(&a.waits, &a.text.history, &a.text.options, &err), 0);
	assert_int_equal(a.waits.graph.vertices.n, 2);
	assert_int_equal(vertex(&a, "F"), VPROF_NONE);
	expect_edge(&a, "A", "B", 800, 800);
	release(&a);
}

static void test_bad_input(void **state)
{
	static const char *const texts[] = {
		"recording 0 10\nthread A\nrun A 0 5\nrun A 4 6\n",
		"recording 0 10\nthread A\nrun A 5 5\n",
		"recording 0 10\nthread A\nrun A 5 11\n",
		"recording 5 10\nthread A\nrun A 4 6\n",
		"recording 0 10\nthread A\nwait A 5 6 A\n",
		"recording 0 10\nthread A\nwait A 5 6 - 1 0\n",
		"recording 0 10\ndisk D\nrun D 5 6\n",
		"recording 0 10\nthread A\nrequest A A 1 2 3\n",
		"recording 0 10\ndisk D\nrequest D - 3 2 3\n",
		"recording 10 0\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct vprof_error err = { "" };
		struct vprof_waits waits;
		struct history_text text;

		history_text_read(&text, texts[i]);
		assert_int_equal(vprof_waits_analyze(&waits, &text.history, &text.options, &err), VPROF_ERR_INPUT);
		assert_true(*err.message);
		vprof_waits_release(&waits);
		history_text_release(&text);
	}
}

/* A waits for B, which waits for A: impossible, but it ends. */
static void test_circular(void **state)
{
	struct analysed a;

	(void)state;
	analyse(&a, "recording 0 10\nthread A\nthread B\nwait A 0 10 B\nwait B 0 10 A\n");
	assert_int_equal(a.waits.reasons.n_circular, 1);
	release(&a);
	analyse(&a, "recording 0 0\n");
	assert_int_equal(a.waits.knots.knots.n, 0);
	release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_b_and_disk),	 cmocka_unit_test(test_asymmetric),
		cmocka_unit_test(test_symmetric),	 cmocka_unit_test(test_nested),
		cmocka_unit_test(test_imbalance),	 cmocka_unit_test(test_background),
		cmocka_unit_test(test_refinement),	 cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_false_wake),	 cmocka_unit_test(test_spin),
		cmocka_unit_test(test_short_lived),	 cmocka_unit_test(test_alike),
		cmocka_unit_test(test_alike_to_foreign), cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_circular),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
