/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "common/facts/callgraph.h"
#include "tests/unit/common/facts_db.h"

#define N_CHAIN 200000

static int setup(void **state)
{
	(void)state;
	db_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	db_free();
	return 0;
}

static struct vprof_callgraph *graph_of(struct vprof_facts *f)
{
	struct vprof_callgraph *g = NULL;
	struct vprof_error err = { "" };

	if (vprof_callgraph_build(&g, f, &err))
		fail_msg("%s", err.message);
	return g;
}

static int has_edge(const struct vprof_callgraph *g, uint32_t from, uint32_t to)
{
	int forward = 0, backward = 0;

	for (uint32_t e = g->first[from]; e < g->first[from + 1]; e++)
		forward += g->edges[e] == to;
	for (uint32_t e = g->rfirst[to]; e < g->rfirst[to + 1]; e++)
		backward += g->redges[e] == from;
	assert_int_equal(forward, backward);
	assert_true(forward <= 1);
	return forward;
}

/* a -> b <-> c -> d -> fsync;  a -> fsync;  d -> d */
static void test_heights(void **state)
{
	struct vprof_facts *f;
	struct vprof_callgraph *g;
	uint32_t fsync_node;

	(void)state;
	db_function(1, 1, "a", "a", "int (void)");
	db_function(2, 1, "b", "b", "int (void)");
	db_function(3, 1, "c", "c", "int (void)");
	db_function(4, 1, "d", "d", "int (void)");
	db_call(1, 1, "b", "b", "direct", "");
	db_call(2, 1, "b", "b", "direct", "");
	db_call(3, 2, "c", "c", "direct", "");
	db_call(4, 3, "b", "b", "direct", "");
	db_call(5, 3, "d", "d", "direct", "");
	db_call(6, 4, "d", "d", "direct", "");
	db_call(7, 4, "fsync", "x", "direct", "");
	db_call(8, 1, "fsync", "x", "direct", "");
	f = db_facts();
	g = graph_of(f);
	fsync_node = (uint32_t)f->n_functions; /* the only external callee */
	assert_int_equal(g->n_nodes, 5);
	assert_int_equal(g->n_edges, 7);
	assert_int_equal(fsync_node, 4);
	assert_string_equal(g->external_name[0], "fsync");
	assert_int_equal(g->height[4], 0);
	assert_int_equal(g->height[3], 1);
	assert_int_equal(g->height[2], 2);
	assert_int_equal(g->height[1], 2);
	assert_int_equal(g->height[0], 3);
	assert_int_equal(g->component[1], g->component[2]);
	assert_int_not_equal(g->component[0], g->component[1]);
	assert_true(has_edge(g, 0, 1) && has_edge(g, 3, 3) && has_edge(g, 0, 4) && !has_edge(g, 1, 3));
	vprof_callgraph_free(g);
	vprof_facts_free(f);
}

static void test_indirect(void **state)
{
	struct vprof_facts *f;
	struct vprof_callgraph *g;

	(void)state;
	db_function(1, 1, "a", "a", "int (void)");
	db_function(2, 1, "b", "b", "int (int)");
	db_function(3, 1, "c", "c", "int (int)");
	db_function(4, 1, "d", "d", "int (long)");
	db_address("b", "int (int)");
	db_address("d", "int (long)");
	db_exec("INSERT INTO override VALUES('c', 'base'), ('d', 'c')");
	db_call(1, 1, "p->run", "", "pointer", "int (int)");
	db_call(2, 2, "go", "base", "virtual", "");
	f = db_facts();
	g = graph_of(f);
	assert_true(has_edge(g, 0, 1));
	assert_false(has_edge(g, 0, 2)); /* its address is never taken */
	assert_false(has_edge(g, 0, 3)); /* another type */
	assert_true(has_edge(g, 1, 2) && has_edge(g, 1, 3));
	assert_int_equal(g->n_nodes, 4); /* no external node for either */
	assert_int_equal(g->height[0], 2);
	vprof_callgraph_free(g);
	vprof_facts_free(f);
}

/* A recursive algorithm would run out of stack. */
static void test_long_chain(void **state)
{
	struct vprof_facts *f;
	struct vprof_callgraph *g;

	(void)state;
	db_exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
		" INSERT INTO function SELECT i, 1, 'f' || i, 'f' || i, 'u' || i, 1, 1, i, i, 'c', 0, 0, 'int', 'scalar',"
		" '[]', 'int (void)', 1, '', -1, -1, -1, 'head' FROM n;"
		"INSERT INTO call SELECT id, id, 1, id * 2, id * 2 + 1, 1, 1, 'f' || (id + 1), 'u' || (id + 1), 'direct', '',"
		" 1, 'statement', '', 0, '[]' FROM function WHERE id < 200000");
	f = db_facts();
	g = graph_of(f);
	assert_int_equal(g->height[0], N_CHAIN - 1);
	assert_int_equal(g->height[N_CHAIN - 1], 0);
	vprof_callgraph_free(g);
	vprof_facts_free(f);
}

static void test_empty(void **state)
{
	struct vprof_facts *f = db_facts();
	struct vprof_callgraph *g = graph_of(f);

	(void)state;
	assert_int_equal(g->n_nodes, 0);
	assert_int_equal(g->n_edges, 0);
	vprof_callgraph_free(g);
	vprof_facts_free(f);
	vprof_callgraph_free(NULL);
}

int main(void)
{
#define WITH_DB(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = { WITH_DB(test_heights), WITH_DB(test_indirect), WITH_DB(test_long_chain),
					    WITH_DB(test_empty) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
