/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds the static call graph from facts and condenses it with Tarjan's algorithm, iteratively: call chains of
 * real programs are deep, and the facts file is not trusted. */
#include "common/facts/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash/string_set.h"

struct edge {
	uint32_t from, to;
};

struct builder {
	const struct vprof_facts *f;
	struct edge *edges;
	size_t n_edges, cap;
	struct vprof_strings names; /* of external callees: name i is node n_functions + i */
	uint32_t *targets;	    /* [n_functions] room for one call's targets */
	int failed;
};

static void add_edge(struct builder *b, uint32_t from, uint32_t to)
{
	if (b->n_edges == b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 4096;
		struct edge *grown = realloc(b->edges, cap * sizeof *grown);

		if (!grown) {
			b->failed = 1;
			return;
		}
		b->edges = grown;
		b->cap = cap;
	}
	b->edges[b->n_edges++] = (struct edge){ from, to };
}

/* Node of an external callee; created if it is new. */
static uint32_t external_node(struct builder *b, const char *name)
{
	uint32_t number = vprof_strings_number(&b->names, name);

	if (number != VPROF_NONE)
		return (uint32_t)b->f->n_functions + number;
	b->failed = 1;
	return 0;
}

static int compare_pointer_calls(const void *a, const void *b)
{
	const struct vprof_facts_call *x = *(struct vprof_facts_call *const *)a;
	const struct vprof_facts_call *y = *(struct vprof_facts_call *const *)b;

	return strcmp(x->signature, y->signature);
}

/* Calls of one signature share their targets, so they are looked up once per signature. */
static void add_pointer_edges(struct builder *b)
{
	const struct vprof_facts *f = b->f;
	const struct vprof_facts_call **calls = malloc((f->n_calls + 1) * sizeof *calls);
	size_t n = 0, n_targets = 0;

	if (!calls) {
		b->failed = 1;
		return;
	}
	for (size_t i = 0; i < f->n_calls; i++)
		if (f->calls[i].kind == VPROF_CALL_POINTER)
			calls[n++] = &f->calls[i];
	qsort(calls, n, sizeof *calls, compare_pointer_calls);
	for (size_t i = 0; i < n; i++) {
		if (!i || strcmp(calls[i]->signature, calls[i - 1]->signature))
			n_targets = vprof_facts_pointer_targets(f, calls[i]->signature, b->targets, f->n_functions);
		for (size_t k = 0; k < n_targets; k++)
			add_edge(b, vprof_facts_caller(b->f, calls[i]), b->targets[k]);
	}
	free(calls);
}

static void add_call_edges(struct builder *b)
{
	const struct vprof_facts *f = b->f;

	for (size_t i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *c = &f->calls[i];
		uint32_t from = vprof_facts_caller(b->f, c);
		size_t n = 0;

		if (c->kind == VPROF_CALL_POINTER)
			continue;
		if (c->kind == VPROF_CALL_VIRTUAL) {
			n = vprof_facts_overriders(f, c->callee_usr, b->targets, f->n_functions);
			for (size_t k = 0; k < n; k++)
				add_edge(b, from, b->targets[k]);
		}
		if (c->callee_function)
			add_edge(b, from, c->callee_function - 1);
		else if (!n)
			add_edge(b, from, external_node(b, c->callee));
	}
	add_pointer_edges(b);
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void drop_doubles(struct builder *b)
{
	size_t n = 0;

	if (b->n_edges)
		qsort(b->edges, b->n_edges, sizeof *b->edges, compare_edges);
	for (size_t i = 0; i < b->n_edges; i++)
		if (!n || compare_edges(&b->edges[n - 1], &b->edges[i]))
			b->edges[n++] = b->edges[i];
	b->n_edges = n;
}

/* the public struct's arrays, writable */
struct graph {
	struct vprof_callgraph g;
	uint32_t *first, *edges, *rfirst, *redges, *component, *height;
	struct vprof_strings names; /* of external callees */
};

static int allocate(struct graph *g, size_t n, size_t m)
{
	g->first = calloc(n + 2, sizeof *g->first);
	g->rfirst = calloc(n + 2, sizeof *g->rfirst);
	g->edges = calloc(m + 1, sizeof *g->edges);
	g->redges = calloc(m + 1, sizeof *g->redges);
	g->component = calloc(n + 1, sizeof *g->component);
	g->height = calloc(n + 1, sizeof *g->height);
	return g->first && g->rfirst && g->edges && g->redges && g->component && g->height;
}

/* Edges are sorted by caller: forward edges only need offsets, backward edges a counting sort. */
static void fill_edges(struct graph *g, const struct builder *b, size_t n)
{
	for (size_t i = 0; i < b->n_edges; i++) {
		g->edges[i] = b->edges[i].to;
		g->first[b->edges[i].from + 1]++;
		g->rfirst[b->edges[i].to + 2]++;
	}
	for (size_t i = 0; i < n; i++) {
		g->first[i + 1] += g->first[i];
		g->rfirst[i + 2] += g->rfirst[i + 1];
	}
	for (size_t i = 0; i < b->n_edges; i++) /* rfirst[to + 1] moves from the start of `to` to its end */
		g->redges[g->rfirst[b->edges[i].to + 1]++] = b->edges[i].from;
}

struct tarjan {
	uint32_t *index, *low, *stack, *path, *next; /* path: the recursion; next: each node's next edge */
	char *on_stack;
	size_t n_stack, n_path;
	uint32_t counter, n_components;
};

static void enter_node(struct tarjan *t, const struct graph *g, uint32_t v)
{
	t->index[v] = t->low[v] = ++t->counter;
	t->next[v] = g->first[v];
	t->stack[t->n_stack++] = v;
	t->on_stack[v] = 1;
	t->path[t->n_path++] = v;
}

/* The component's nodes are on the stack, from `root` up; everything that they call outside is finished. */
static void close_component(struct tarjan *t, struct graph *g, uint32_t root)
{
	size_t from = t->n_stack;
	uint32_t height = 0;

	while (t->stack[--from] != root)
		;
	for (size_t i = from; i < t->n_stack; i++)
		g->component[t->stack[i]] = t->n_components;
	for (size_t i = from; i < t->n_stack; i++) {
		uint32_t v = t->stack[i];

		t->on_stack[v] = 0;
		for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
			uint32_t w = g->edges[e];

			if (g->component[w] != t->n_components && g->height[w] + 1 > height)
				height = g->height[w] + 1;
		}
	}
	for (size_t i = from; i < t->n_stack; i++)
		g->height[t->stack[i]] = height;
	t->n_stack = from;
	t->n_components++;
}

static void visit_from(struct tarjan *t, struct graph *g, uint32_t start)
{
	enter_node(t, g, start);
	while (t->n_path) {
		uint32_t v = t->path[t->n_path - 1], w;

		if (t->next[v] < g->first[v + 1]) {
			w = g->edges[t->next[v]++];
			if (!t->index[w])
				enter_node(t, g, w);
			else if (t->on_stack[w] && t->index[w] < t->low[v])
				t->low[v] = t->index[w];
			continue;
		}
		if (t->low[v] == t->index[v])
			close_component(t, g, v);
		t->n_path--;
		if (t->n_path && t->low[v] < t->low[t->path[t->n_path - 1]])
			t->low[t->path[t->n_path - 1]] = t->low[v];
	}
}

static int condense(struct graph *g, size_t n)
{
	struct tarjan t = { 0 };
	int ok;

	t.index = calloc(n + 1, sizeof *t.index);
	t.low = calloc(n + 1, sizeof *t.low);
	t.stack = calloc(n + 1, sizeof *t.stack);
	t.path = calloc(n + 1, sizeof *t.path);
	t.next = calloc(n + 1, sizeof *t.next);
	t.on_stack = calloc(n + 1, 1);
	ok = t.index && t.low && t.stack && t.path && t.next && t.on_stack;
	for (size_t v = 0; ok && v < n; v++)
		if (!t.index[v])
			visit_from(&t, g, (uint32_t)v);
	free(t.index);
	free(t.low);
	free(t.stack);
	free(t.path);
	free(t.next);
	free(t.on_stack);
	return ok;
}

int vprof_callgraph_build(struct vprof_callgraph **out, const struct vprof_facts *facts, struct vprof_error *err)
{
	struct builder b = { .f = facts };
	struct graph *g = calloc(1, sizeof *g);
	size_t n = 0;
	int ok;

	*out = NULL;
	b.targets = malloc((facts->n_functions + 1) * sizeof *b.targets);
	ok = g && b.targets;
	if (ok) {
		add_call_edges(&b);
		drop_doubles(&b);
		n = facts->n_functions + b.names.kept.n;
		ok = !b.failed && allocate(g, n, b.n_edges);
	}
	if (ok) {
		fill_edges(g, &b, n);
		ok = condense(g, n);
	}
	if (g) {
		g->names = b.names;
		g->g = (struct vprof_callgraph){ facts,	    n,	       b.n_edges,    g->first,	g->edges,
						 g->rfirst, g->redges, g->component, g->height, g->names.kept.v };
	} else {
		vprof_strings_release(&b.names);
	}
	free(b.edges);
	free(b.targets);
	if (!ok) {
		vprof_callgraph_free(g ? &g->g : NULL);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory building the call graph");
	}
	*out = &g->g;
	return VPROF_OK;
}

void vprof_callgraph_free(struct vprof_callgraph *public)
{
	struct graph *g = (struct graph *)public; /* its first member */

	if (!g)
		return;
	free(g->first);
	free(g->rfirst);
	free(g->edges);
	free(g->redges);
	free(g->component);
	free(g->height);
	vprof_strings_release(&g->names);
	free(g);
}
