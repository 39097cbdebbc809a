/* SPDX-License-Identifier: GPL-3.0-or-later */
/* IntroPerf's figure 3 and table 1 (SIGMETRICS 2014): four events of one thread, at times 10, 20, 30 and 40 in place of
 * t1 to t4; at each of them every register of the table, and in the end every instance with both of its estimates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/latency/annotated_tree.h"
#include "latency_text.h"

#define T1 10
#define T2 20
#define T3 30
#define T4 40

static const char figure_3[] = "recording 10 40\n"
			       "thread main 10 40\n"
			       "event 10 A:1 B:1 D:1\n"
			       "event 20 A:1 B:1 D:1\n"
			       "event 30 A:1 C:1 D:1\n"
			       "event 40 A:1 C:1\n";

/* of the test that runs */
static struct latency_text text;
static struct vprof_annotated_tree tree;

static void build(const char *history, int n_threads)
{
	latency_text_read(&text, history);
	assert_int_equal(vprof_annotated_tree_build(&tree, &text.history, n_threads, NULL), 0);
}

/* IDToPath: how many functions a path has, and at most `most` of them, outermost first. */
static uint32_t functions_of(const struct vprof_context_tree *tree, uint32_t path, uint32_t *functions, uint32_t most)
{
	uint32_t node = tree->paths.v[path], n = tree->nodes.v[node].depth + 1;

	for (uint32_t i = n; i-- > 0; node = tree->nodes.v[node].parent)
		if (i < most)
			functions[i] = tree->nodes.v[node].function;
	return n;
}

static int release(void **state)
{
	(void)state;
	vprof_annotated_tree_release(&tree);
	latency_text_release(&text);
	return 0;
}

struct seen {
	struct vprof_latency_instance v[16];
	size_t n;
};

static int collect(void *seen, const struct vprof_latency_instance *i)
{
	struct seen *s = seen;

	assert_true(s->n < 16);
	s->v[s->n++] = *i;
	return 0;
}

static const char *name(uint32_t node)
{
	return vprof_annotated_function(&tree, node)->name;
}

/* R of table 1: (first, last, function) by depth */
static void expect_register(const struct vprof_latency_inference *g, uint32_t depth, uint64_t first, uint64_t last,
			    const char *function)
{
	assert_true(depth < g->n_registers);
	assert_int_equal(g->registers[depth].first, first);
	assert_int_equal(g->last, last);
	assert_string_equal(name(g->registers[depth].node), function);
}

static void expect_instance(const struct seen *s, size_t number, const char *function, const char *caller,
			    uint64_t conservative, uint64_t aggressive, uint64_t longest)
{
	const struct vprof_latency_instance *i = &s->v[number];
	uint32_t parent = tree.tree.nodes.v[i->node].parent;

	assert_string_equal(name(i->node), function);
	assert_string_equal(parent ? name(parent) : "", caller);
	assert_int_equal(vprof_instance_conservative(i), conservative);
	assert_int_equal(vprof_instance_aggressive(i), aggressive);
	assert_int_equal(vprof_instance_longest(i), longest);
	assert_int_equal(i->sure_ns, conservative);
	assert_int_equal(i->n_unsure, 0);
}

static void test_table_1(void **state)
{
	struct vprof_latency_gaps gaps = { 0 };
	struct seen s = { .n = 0 };
	struct vprof_latency_inference g = { .history = &text.history, .gaps = &gaps, .instance = collect, .arg = &s };
	const struct vprof_latency_event *e;

	(void)state;
	build(figure_3, 1);
	g.tree = &tree.tree;
	g.nodes = tree.nodes;
	g.paths = tree.paths;
	e = text.history.events.v;
	vprof_latency_infer_begin(&g, 0);

	assert_int_equal(vprof_latency_infer_step(&g, e++), 0);
	assert_int_equal(g.n_registers, 3);
	expect_register(&g, 0, T1, T1, "A");
	expect_register(&g, 1, T1, T1, "B");
	expect_register(&g, 2, T1, T1, "D");

	assert_int_equal(vprof_latency_infer_step(&g, e++), 0);
	assert_int_equal(g.n_registers, 3);
	expect_register(&g, 0, T1, T2, "A");
	expect_register(&g, 1, T1, T2, "B");
	expect_register(&g, 2, T1, T2, "D");
	assert_int_equal(s.n, 0);

	assert_int_equal(vprof_latency_infer_step(&g, e++), 0);
	assert_int_equal(g.n_registers, 3);
	expect_register(&g, 0, T1, T3, "A");
	expect_register(&g, 1, T3, T3, "C");
	expect_register(&g, 2, T3, T3, "D");
	assert_int_equal(s.n, 2);
	/* the same function at the same depth, in another context */
	assert_int_not_equal(g.registers[2].node, s.v[0].node);

	assert_int_equal(vprof_latency_infer_step(&g, e++), 0);
	assert_int_equal(g.n_registers, 2);
	expect_register(&g, 0, T1, T4, "A");
	expect_register(&g, 1, T3, T4, "C");
	assert_int_equal(vprof_latency_infer_end(&g), 0);
	assert_int_equal(g.n_registers, 0);

	assert_int_equal(s.n, 5);
	expect_instance(&s, 0, "D", "B", T2 - T1, T3 - T1, T3 - T1);
	expect_instance(&s, 1, "B", "A", T2 - T1, T3 - T1, T3 - T1);
	expect_instance(&s, 2, "D", "C", 0, T4 - T3, T4 - T2);
	expect_instance(&s, 3, "C", "A", T4 - T3, T4 - T3, T4 - T2);
	expect_instance(&s, 4, "A", "", T4 - T1, T4 - T1, T4 - T1);
	vprof_latency_gaps_release(&gaps);
}

/* Algorithm 1: a context has one number, from which its functions come back. */
static void test_path_index(void **state)
{
	uint32_t functions[3];

	(void)state;
	build(figure_3, 1);
	assert_int_equal(tree.tree.nodes.n, 6); /* the root, A, B, D, C, D' */
	assert_int_equal(tree.tree.paths.n, 3);
	assert_int_equal(text.history.stacks.n, 3); /* t1 and t2 have the same */
	for (uint32_t path = 0; path < 3; path++) {
		const struct vprof_latency_stack *s = &text.history.stacks.v[path];

		assert_int_equal(tree.paths[path], path);
		assert_int_equal(functions_of(&tree.tree, path, functions, 3), s->n);
		for (uint32_t d = 0; d < s->n; d++)
			assert_int_equal(functions[d], text.history.frames.v[s->first + d].function);
		assert_int_equal(vprof_context_path(&tree.tree, text.history.frames.v + s->first, s->n, NULL), path);
	}
	assert_int_equal(tree.tree.nodes.n, 6);
	assert_int_equal(functions_of(&tree.tree, 0, functions, 2), 3); /* says how many there are */
}

static const struct vprof_latency_context *context(const char *function, const char *caller)
{
	for (uint32_t i = 1; i < tree.tree.nodes.n; i++) {
		uint32_t parent = tree.tree.nodes.v[i].parent;

		if (!strcmp(vprof_annotated_function(&tree, i)->name, function) &&
		    !strcmp(parent ? vprof_annotated_function(&tree, parent)->name : "", caller))
			return &tree.contexts[i];
	}
	fail_msg("no %s beneath %s", function, caller);
	return NULL;
}

static void expect_context(const char *function, const char *caller, uint64_t low, uint64_t high, uint64_t own_low,
			   uint64_t own, uint64_t own_high)
{
	const struct vprof_latency_context *c = context(function, caller);

	assert_int_equal(c->n, 1);
	assert_int_equal(c->low_ns, low);
	assert_int_equal(c->high_ns, high);
	assert_int_equal(c->own_low_ns, own_low);
	assert_int_equal(c->own_ns, own);
	assert_int_equal(c->own_high_ns, own_high);
}

/* The annotated tree of figure 3, with own times as in figure 4. */
static void test_annotated_tree(void **state)
{
	(void)state;
	build(figure_3, 3);
	expect_context("A", "", 30, 30, 0, 10, 10);
	expect_context("B", "A", 10, 20, 0, 0, 10);
	expect_context("D", "B", 10, 20, 10, 10, 20);
	expect_context("C", "A", 10, 20, 0, 10, 20);
	expect_context("D", "C", 0, 20, 0, 0, 20);
	assert_int_equal(tree.total_ns, 30);
	assert_int_equal(tree.n_instances, 5);
	assert_int_equal(tree.unsure_ns, 0);
}

/* What is known of the code: h() runs from place 1 to 2 and returns; only its caller has a loop. */
static void test_return_seen_by_code(void **state)
{
	(void)state;
	build("recording 0 100\ncannot h 2 1\ncannot h 1 1\ncannot h 2 2\ncannot main 1 1\n"
	      "thread main 0 100\n"
	      "event 10 main:1 loop:1 h:1\nevent 20 main:1 loop:1 h:2\n"
	      "event 30 main:1 loop:1 h:1\nevent 40 main:1 loop:1 h:2\n",
	      1);
	assert_int_equal(context("h", "loop")->n, 2);
	assert_int_equal(context("h", "loop")->low_ns, 20);
	assert_int_equal(context("h", "loop")->slowest_ns, 10);
	assert_int_equal(context("loop", "main")->n, 1);
	assert_int_equal(context("loop", "main")->own_ns, 10);
	assert_int_equal(context("main", "")->n, 1);
	/* 10 to 20: h went on, or loop called it again; either way the other calls are the same ones */
	assert_int_equal(context("h", "loop")->n_unsure, 2);
	assert_int_equal(context("loop", "main")->n_unsure, 0);
}

/* Two system calls one after the other at the same place: of the kernel's functions each is another instance. */
static void test_calls_of_the_kernel(void **state)
{
	(void)state;
	build("recording 0 100\nthread main 0 100\n"
	      "event 10 main:1 read:1 | sys_read:0\n"
	      "event 20 main:1 read:1 | sys_read:0 ; held off\n"
	      "event 30 main:1 read:1 | sys_read:0 ; new\n"
	      "event 35 main:1 read:1 | sys_read:0 ; held\n",
	      1);
	assert_int_equal(context("sys_read", "read")->n, 2);
	assert_int_equal(context("sys_read", "read")->low_ns, 15);
	assert_int_equal(context("sys_read", "read")->own_off_ns, 10);
	assert_int_equal(context("read", "main")->n, 1);
}

static void test_idle(void **state)
{
	(void)state;
	build("recording 0 100\nidle poll\n"
	      "thread server 0 100\n"
	      "event 10 loop:1 poll:1\nevent 40 loop:1 poll:1 ; held off\nevent 50 loop:1 serve:1\n"
	      "event 60 loop:1 serve:1 ; held off\n"
	      "thread worker 0 100\n"
	      "event 10 work:1 wait:1\nevent 95 work:1 wait:1 ; held off\n"
	      "thread writer 0 100\n"
	      "event 10 write:1 flush:1\nevent 95 write:1 flush:1 ; held off disk\n",
	      2);
	assert_int_equal(context("poll", "loop")->own_idle_ns, 30);
	assert_int_equal(context("serve", "loop")->own_idle_ns, 0);
	assert_int_equal(context("serve", "loop")->own_off_ns, 10);
	assert_int_equal(context("wait", "work")->own_idle_ns, 85);
	assert_int_equal(context("flush", "write")->own_idle_ns, 0);
	assert_int_equal(tree.idle_ns, 115);
}

/* Histories that contradict themselves are refused, whatever is wrong. */
static void test_inconsistent(void **state)
{
	struct vprof_error err = { "" };

	(void)state;
	latency_text_read(&text, figure_3);
	assert_int_equal(vprof_latency_history_check(&text.history, &err), VPROF_OK);
	text.history.events.v[2].t = 5;
	assert_int_equal(vprof_latency_history_check(&text.history, &err), VPROF_ERR_INPUT);
	text.history.events.v[2].t = 30;
	text.history.events.v[3].stack = 3;
	assert_int_equal(vprof_latency_history_check(&text.history, &err), VPROF_ERR_INPUT);
	text.history.events.v[3].stack = 0;
	text.history.stacks.v[1].n = 9;
	assert_int_equal(vprof_latency_history_check(&text.history, &err), VPROF_ERR_INPUT);
	text.history.stacks.v[1].n = 3;
	text.history.frames.v[0].function = 77;
	assert_int_equal(vprof_latency_history_check(&text.history, &err), VPROF_ERR_INPUT);
	text.history.frames.v[0].function = 0;
	text.history.threads.v[0].n_events = 5;
	assert_int_equal(vprof_latency_history_check(&text.history, &err), VPROF_ERR_INPUT);
	text.history.threads.v[0].n_events = 4;
	text.history.threads.v[0].end = 39;
	assert_int_equal(vprof_latency_history_check(&text.history, &err), VPROF_ERR_INPUT);
	latency_text_release(&text);
}

static void test_empty(void **state)
{
	(void)state;
	build("recording 0 100\nthread idle 0 100\n", 1);
	assert_int_equal(vprof_latency_history_check(&text.history, NULL), VPROF_OK);
	assert_int_equal(tree.tree.nodes.n, 1);
	assert_int_equal(tree.contexts[0].own_ns, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_table_1, release),
		cmocka_unit_test_teardown(test_path_index, release),
		cmocka_unit_test_teardown(test_annotated_tree, release),
		cmocka_unit_test_teardown(test_return_seen_by_code, release),
		cmocka_unit_test_teardown(test_calls_of_the_kernel, release),
		cmocka_unit_test_teardown(test_idle, release),
		cmocka_unit_test(test_inconsistent),
		cmocka_unit_test_teardown(test_empty, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
