/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/item_evidence.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS_MIN 20	  /* calls of a function that repeats */
#define ITEMS_PER_CALL 10 /* ... for each call of the one around it */
#define ITEMS_SHARE 0.5	  /* of its threads' time */
#define PROVEN_ITEMS 30
#define PROVEN_MIN 0.9 /* of the calls agree */
#define TRIED_MOST 16  /* functions whose calls are looked at */
#define OPENED_MOST 16 /* files of a call that are told apart; more count as this */

struct candidate {		 /* a function */
	uint64_t n, n_around;	 /* calls; of those that called it */
	uint64_t low_ns, top_ns; /* its time; that of the threads in which it was: for sure */
	uint64_t high_ns;	 /* its time at most */
	uint32_t depth;
	int is_tried;
	int is_nested; /* it was called within a call of itself */
};

enum call_kind { CALL_OTHER, CALL_OPEN, CALL_READ };

struct items {
	const struct vprof_annotated_tree *tree;
	const struct vprof_latency_history *history;
	struct candidate *candidates; /* [functions] */
	/* [nodes] function, + 1, for which the node was counted last as the one around it, and as the outermost */
	uint32_t *counted, *counted_outermost;
	uint32_t *by_function; /* nodes, those of a function together */
	size_t *first_of;      /* [functions + 1] where they begin there */
	uint8_t *kinds;	       /* [functions] enum call_kind, of the kernel's */
};

/* what the calls of the chosen function did */
struct proof {
	uint64_t n, n_reading;
	uint64_t by_opened[OPENED_MOST + 1]; /* calls that opened so many files */
	uint64_t n_outside, n_pending;	     /* files opened between two calls; since the last one */
	uint32_t n_opened;		     /* by the call that goes on */
	int reads, is_in;
};

static enum call_kind kind_of(const char *name)
{
	static const char *const opens[] = { "sys_open", "sys_openat", "sys_openat2" };
	static const char *const reads[] = { "sys_read",    "sys_pread64", "sys_readv",	   "sys_preadv",
					     "sys_preadv2", "sys_mmap",	   "sys_getdents", "sys_getdents64" };

	for (size_t i = 0; i < sizeof opens / sizeof *opens; i++)
		if (!strcmp(name, opens[i]))
			return CALL_OPEN;
	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
		if (!strcmp(name, reads[i]))
			return CALL_READ;
	return CALL_OTHER;
}

static void mark_nested(struct items *g)
{
	const struct vprof_context_tree *tree = &g->tree->tree;

	for (uint32_t x = 1; x < tree->nodes.n; x++)
		for (uint32_t p = tree->nodes.v[x].parent; p != VPROF_CONTEXT_ROOT; p = tree->nodes.v[p].parent)
			if (tree->nodes.v[p].function == tree->nodes.v[x].function) {
				g->candidates[tree->nodes.v[x].function].is_nested = 1;
				break;
			}
}

/* The nearest node around it whose function does not call itself; the root: there is none. */
static uint32_t around(const struct items *g, uint32_t node)
{
	const struct vprof_context_tree *tree = &g->tree->tree;
	uint32_t p = tree->nodes.v[node].parent;

	while (p != VPROF_CONTEXT_ROOT && g->candidates[tree->nodes.v[p].function].is_nested)
		p = tree->nodes.v[p].parent;
	return p;
}

static uint32_t outermost(const struct vprof_context_tree *tree, uint32_t node)
{
	while (tree->nodes.v[node].parent != VPROF_CONTEXT_ROOT)
		node = tree->nodes.v[node].parent;
	return node;
}

static void count_node(struct items *g, uint32_t x)
{
	const struct vprof_annotated_tree *t = g->tree;
	const struct vprof_context_node *node = &t->tree.nodes.v[x];
	struct candidate *c = &g->candidates[node->function];
	uint32_t caller = around(g, x), top = outermost(&t->tree, x);

	c->depth = !c->n || node->depth < c->depth ? node->depth : c->depth;
	c->n += t->contexts[x].n;
	c->low_ns += t->contexts[x].low_ns;
	c->high_ns += t->contexts[x].high_ns;
	if (g->counted[caller] != node->function + 1) {
		g->counted[caller] = node->function + 1;
		c->n_around += caller == VPROF_CONTEXT_ROOT ? 1 : t->contexts[caller].n;
	}
	if (g->counted_outermost[top] != node->function + 1) {
		g->counted_outermost[top] = node->function + 1;
		c->top_ns += t->contexts[top].low_ns;
	}
}

/* Each function's in turn, so that its callers count once. */
static void count_nodes(struct items *g)
{
	const struct vprof_context_tree *tree = &g->tree->tree;
	size_t *first = g->first_of;

	for (uint32_t x = 1; x < tree->nodes.n; x++)
		first[tree->nodes.v[x].function + 1]++;
	for (size_t f = 0; f < g->history->functions.n; f++)
		first[f + 1] += first[f];
	for (uint32_t x = 1; x < tree->nodes.n; x++)
		g->by_function[first[tree->nodes.v[x].function]++] = x;
	for (size_t i = 0; i + 1 < tree->nodes.n; i++)
		count_node(g, g->by_function[i]);
}

static double share_of(const struct candidate *c)
{
	return c->top_ns ? (double)c->low_ns / (double)c->top_ns : 0;
}

static double share_at_most(const struct candidate *c)
{
	return c->top_ns ? (double)c->high_ns / (double)c->top_ns : 0;
}

/* VPROF_NONE: none. With `to_be_proven`, of those not tried yet whose share may be as large: what a call does behind
 * its last event is not seen to be its own, but its files may prove it. */
static uint32_t choose(const struct items *g, const unsigned char *is_project, int to_be_proven)
{
	uint32_t best = VPROF_NONE;

	for (uint32_t f = 0; f < g->history->functions.n; f++) {
		const struct candidate *c = &g->candidates[f];

		if (is_project[f] != VPROF_EVIDENCE_CANDIDATE || c->is_nested || c->n < ITEMS_MIN ||
		    c->n < ITEMS_PER_CALL * c->n_around ||
		    (to_be_proven ? c->is_tried || share_at_most(c) < ITEMS_SHARE : share_of(c) < ITEMS_SHARE))
			continue;
		if (best == VPROF_NONE || c->depth < g->candidates[best].depth ||
		    (c->depth == g->candidates[best].depth && share_of(c) > share_of(&g->candidates[best])))
			best = f;
	}
	return best;
}

static void end_call(struct proof *p)
{
	if (!p->is_in)
		return;
	p->n++;
	p->n_reading += p->reads;
	p->by_opened[p->n_opened]++;
	p->is_in = p->reads = 0;
	p->n_opened = p->n_pending = 0;
}

/* The frame of a function on a stack, VPROF_NONE: it is not there. */
static uint32_t frame_of(const struct vprof_latency_history *h, const struct vprof_latency_stack *s, uint32_t function)
{
	for (uint32_t d = 0; d < s->n_user; d++)
		if (h->frames.v[s->first + d].function == function)
			return d;
	return VPROF_NONE;
}

static void follow_thread(const struct items *g, const struct vprof_latency_thread *thread, uint32_t function,
			  struct proof *p)
{
	const struct vprof_latency_history *h = g->history;
	uint32_t in = VPROF_NONE;

	p->n_pending = 0;
	for (size_t i = thread->first_event; i < thread->first_event + thread->n_events; i++) {
		const struct vprof_latency_event *e = &h->events.v[i];
		const struct vprof_latency_stack *s = &h->stacks.v[e->stack];
		uint32_t at = frame_of(h, s, function);
		enum call_kind kind = CALL_OTHER;

		if (p->is_in &&
		    (at == VPROF_NONE || vprof_latency_common_depth(h, e[-1].stack, e->stack, e->flags).depth <= in))
			end_call(p);
		if (at != VPROF_NONE && !p->is_in) {
			p->n_outside += p->n ? p->n_pending : 0;
			p->is_in = 1;
			in = at;
		}
		if (s->n > s->n_user && !(e->flags & VPROF_LATENCY_HELD))
			kind = g->kinds[h->frames.v[s->first + s->n_user].function];
		if (kind == CALL_OPEN && p->is_in)
			p->n_opened += p->n_opened < OPENED_MOST;
		else if (kind == CALL_OPEN)
			p->n_pending++;
		else if (kind == CALL_READ && p->is_in)
			p->reads = 1;
	}
	end_call(p);
}

/* Does each call open as many files, and read? How many calls do: n_agreeing; 0: that proves nothing. */
static void prove(const struct items *g, uint32_t function, struct vprof_request_evidence *out)
{
	struct proof p = { 0 };
	uint64_t most = 0;

	out->n_opened = 0;

	for (size_t t = 0; t < g->history->threads.n; t++)
		follow_thread(g, &g->history->threads.v[t], function, &p);
	for (uint32_t k = 1; k < OPENED_MOST; k++)
		if (p.by_opened[k] > most) {
			most = p.by_opened[k];
			out->n_opened = k;
		}
	out->n_outside = p.n_outside;
	most = most < p.n_reading ? most : p.n_reading;
	if (most >= PROVEN_ITEMS && (double)most >= PROVEN_MIN * (double)p.n &&
	    (double)p.n_outside <= (1 - PROVEN_MIN) * (double)p.n)
		out->n_agreeing = most;
}

static void find(struct items *g, struct vprof_request_evidence *out, const unsigned char *is_project)
{
	uint32_t best = VPROF_NONE;

	for (uint32_t f = 0; f < g->history->functions.n; f++)
		g->kinds[f] = g->history->functions.v[f].layer == VPROF_LATENCY_KERNEL ?
				      (uint8_t)kind_of(g->history->functions.v[f].name) :
				      CALL_OTHER;
	mark_nested(g);
	count_nodes(g);
	for (int i = 0; i < TRIED_MOST && !out->n_agreeing; i++) {
		best = choose(g, is_project, 1);
		if (best == VPROF_NONE)
			break;
		g->candidates[best].is_tried = 1;
		prove(g, best, out);
	}
	if (!out->n_agreeing)
		best = choose(g, is_project, 0);
	if (best == VPROF_NONE)
		return;
	out->kind = VPROF_EVIDENCE_ITEMS;
	out->begins[0] = best;
	out->n_begins = 1;
	out->n_requests = g->candidates[best].n;
	out->share = share_of(&g->candidates[best]);
	out->confidence = out->n_agreeing ? VPROF_EVIDENCE_HIGH : VPROF_EVIDENCE_MEDIUM;
}

int vprof_item_evidence_find(struct vprof_request_evidence *out, const struct vprof_annotated_tree *t,
			     const unsigned char *is_project)
{
	struct items g = { .tree = t,
			   .history = t->history,
			   .candidates = calloc(t->history->functions.n + 1, sizeof *g.candidates),
			   .counted = calloc(t->tree.nodes.n + 1, sizeof *g.counted),
			   .counted_outermost = calloc(t->tree.nodes.n + 1, sizeof *g.counted_outermost),
			   .by_function = calloc(t->tree.nodes.n + 1, sizeof *g.by_function),
			   .first_of = calloc(t->history->functions.n + 2, sizeof *g.first_of),
			   .kinds = calloc(t->history->functions.n + 1, 1) };
	int is_there = g.candidates && g.counted && g.counted_outermost && g.by_function && g.first_of && g.kinds;

	if (is_there)
		find(&g, out, is_project);
	free(g.candidates);
	free(g.counted);
	free(g.counted_outermost);
	free(g.by_function);
	free(g.first_of);
	free(g.kinds);
	return is_there ? VPROF_OK : VPROF_ERR_NOMEM;
}
