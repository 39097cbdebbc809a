/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tarjan's algorithm with a stack of its own: chains of waits may be as long as there are threads. */
#include "analysis/waits/components.h"

#include "common/search.h"

int vprof_waits_components_init(struct vprof_waits_components *c, size_t n)
{
	memset(c, 0, sizeof *c);
	c->of = malloc((n + 1) * sizeof *c->of);
	c->index = malloc((n + 1) * sizeof *c->index);
	c->low = malloc((n + 1) * sizeof *c->low);
	c->stack = malloc((n + 1) * sizeof *c->stack);
	c->calls = malloc((n + 1) * sizeof *c->calls);
	c->at = malloc((n + 1) * sizeof *c->at);
	if (!c->of || !c->index || !c->low || !c->stack || !c->calls || !c->at || VPROF_RESERVE(&c->order, n + 1) ||
	    VPROF_RESERVE(&c->first, n + 2))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		c->of[i] = VPROF_NONE;
	return VPROF_OK;
}

void vprof_waits_components_release(struct vprof_waits_components *c)
{
	free(c->of);
	free(c->index);
	free(c->low);
	free(c->stack);
	free(c->calls);
	free(c->at);
	VPROF_ARRAY_RELEASE(&c->order);
	VPROF_ARRAY_RELEASE(&c->first);
}

#define OUTSIDE (VPROF_NONE - 1) /* index[] of a vertex that is not in the part */
#define UNSEEN VPROF_NONE

struct search {
	struct vprof_waits_components *c;
	const struct vprof_waits_part *part;
	size_t n_stack, n_calls;
	uint32_t n_seen;
};

static void enter(struct search *s, uint32_t v)
{
	s->c->index[v] = s->c->low[v] = s->n_seen++;
	s->c->stack[s->n_stack++] = v;
	s->c->calls[s->n_calls++] = v;
	s->c->at[v] = s->part->first_edge[v];
}

static void leave(struct search *s, uint32_t v)
{
	struct vprof_waits_components *c = s->c;
	uint32_t number = (uint32_t)c->first.n - 1, u;
	size_t begin = c->order.n;

	s->n_calls--;
	if (s->n_calls && c->low[v] < c->low[c->calls[s->n_calls - 1]])
		c->low[c->calls[s->n_calls - 1]] = c->low[v];
	if (c->low[v] != c->index[v])
		return;
	do {
		u = c->stack[--s->n_stack];
		c->of[u] = number;
		c->order.v[c->order.n++] = u;
	} while (u != v);
	qsort(c->order.v + begin, c->order.n - begin, sizeof *c->order.v, vprof_compare_u32);
	c->first.v[c->first.n++] = (uint32_t)c->order.n;
}

/* The next edge of v: goes down it, or takes note of where it leads. */
static void step(struct search *s, uint32_t v)
{
	struct vprof_waits_components *c = s->c;
	uint32_t e = c->at[v]++, to;

	if (s->part->is_removed[e])
		return;
	to = s->part->graph->edges.v[e].to;
	if (c->index[to] == OUTSIDE)
		return;
	if (c->index[to] == UNSEEN)
		enter(s, to);
	else if (c->of[to] == VPROF_NONE && c->index[to] < c->low[v]) /* still on the stack */
		c->low[v] = c->index[to];
}

void vprof_waits_components_find(struct vprof_waits_components *c, const struct vprof_waits_part *part)
{
	struct search s = { .c = c, .part = part };
	size_t n = part->graph->vertices.n;

	c->order.n = 0;
	c->first.n = 1;
	c->first.v[0] = 0;
	for (size_t i = 0; i < n; i++) {
		c->index[i] = OUTSIDE;
		c->of[i] = VPROF_NONE;
	}
	for (size_t i = 0; i < part->n_vertices; i++)
		c->index[part->vertices[i]] = UNSEEN;
	for (size_t i = 0; i < part->n_vertices; i++) {
		if (c->index[part->vertices[i]] != UNSEEN)
			continue;
		enter(&s, part->vertices[i]);
		while (s.n_calls) {
			uint32_t v = c->calls[s.n_calls - 1];

			if (c->at[v] < part->first_edge[v + 1])
				step(&s, v);
			else
				leave(&s, v);
		}
	}
}
