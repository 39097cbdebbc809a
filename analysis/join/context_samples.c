/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One tree of functions for each context. Children are met in the order of time, and told by falling number, then by
 * name. */
#include "analysis/join/context_samples.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/join/seen_threads.h"
#include "common/hash/hash_index.h"

#define NODES_MAX 500  /* of a context */
#define LEAST_PART 500 /* one in so many of a context's samples: functions with fewer are left out */

struct node {
	uint32_t parent, function; /* the first ones are the contexts themselves */
	uint32_t first_child, next;
	uint64_t n;
};

struct sampling {
	struct vprof_results *r;
	const struct vprof_latency_history *events;
	struct vprof_seen_threads seen;
	VPROF_ARRAY(struct node) nodes;
	struct vprof_hash_index by_key;
	uint8_t *is_left_out; /* [functions of the events] */
};

static uint32_t child_of(struct sampling *s, uint32_t parent, uint32_t function)
{
	uint64_t hash = vprof_mix((uint64_t)parent << 32 | function);
	struct node *node;
	size_t at;

	if (vprof_hash_index_room(&s->by_key, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&s->by_key, hash, at, i)
	{
		if (s->nodes.v[i].parent == parent && s->nodes.v[i].function == function)
			return i;
	}
	node = VPROF_PUSH(&s->nodes);
	if (!node)
		return VPROF_NONE;
	*node = (struct node){ parent, function, VPROF_NONE, s->nodes.v[parent].first_child, 0 };
	s->nodes.v[parent].first_child = (uint32_t)s->nodes.n - 1;
	vprof_hash_index_put(&s->by_key, at, hash, (uint32_t)s->nodes.n - 1);
	return (uint32_t)s->nodes.n - 1;
}

static int add_sample(struct sampling *s, uint32_t context, uint32_t stack)
{
	const struct vprof_latency_stack *of = &s->events->stacks.v[stack];
	uint32_t node = context;

	s->nodes.v[node].n++;
	for (uint32_t d = 0; d < of->n; d++) {
		uint32_t function = s->events->frames.v[of->first + d].function;

		if (s->is_left_out[function])
			continue;
		node = child_of(s, node, function);
		if (node == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		s->nodes.v[node].n++;
	}
	return VPROF_OK;
}

static int add_worked(struct sampling *s, const struct vprof_worked *w)
{
	size_t at = vprof_seen_threads_from(&s->seen, w->tid, w->from);
	int ret = VPROF_OK;

	for (; at < s->seen.v.n && s->seen.v.v[at].tid == w->tid && s->seen.v.v[at].begin < w->to && !ret; at++) {
		const struct vprof_latency_thread *t = &s->events->threads.v[s->seen.v.v[at].thread];
		size_t last = t->first_event + t->n_events;

		for (size_t i = vprof_latency_event_at(s->events, t, w->from);
		     i < last && s->events->events.v[i].t < w->to && !ret; i++)
			if (s->events->events.v[i].flags & VPROF_LATENCY_TIMER)
				ret = add_sample(s, w->context, s->events->events.v[i].stack);
	}
	return ret;
}

static int begin(struct sampling *s)
{
	const struct vprof_latency_history *h = s->events;

	s->is_left_out = calloc(h->functions.n + 1, 1);
	if (!s->is_left_out || VPROF_RESERVE(&s->nodes, s->r->n_contexts + 1))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < h->functions.n; i++)
		s->is_left_out[i] = (h->functions.v[i].is_start && strcmp(h->functions.v[i].name, "main") != 0) ||
				    !strncmp(h->functions.v[i].file, "libvprof", strlen("libvprof"));
	for (size_t i = 0; i < s->r->n_contexts; i++)
		s->nodes.v[s->nodes.n++] = (struct node){ VPROF_NONE, VPROF_NONE, VPROF_NONE, VPROF_NONE, 0 };
	return vprof_seen_threads_find(&s->seen, h);
}

/* ---- to the results ---- */

static const char *name_of(const struct sampling *s, uint32_t node)
{
	return vprof_latency_function_display(&s->events->functions.v[s->nodes.v[node].function]);
}

static int comes_before(const struct sampling *s, uint32_t a, uint32_t b)
{
	if (s->nodes.v[a].n != s->nodes.v[b].n)
		return s->nodes.v[a].n > s->nodes.v[b].n;
	return strcmp(name_of(s, a), name_of(s, b)) < 0;
}

/* By insertion: few children of a function have samples enough to be told. */
static void sort_children(struct sampling *s, uint32_t node, uint64_t least)
{
	uint32_t sorted = VPROF_NONE, next;

	for (uint32_t c = s->nodes.v[node].first_child; c != VPROF_NONE; c = next) {
		uint32_t *at = &sorted;

		next = s->nodes.v[c].next;
		if (s->nodes.v[c].n < least)
			continue;
		while (*at != VPROF_NONE && comes_before(s, *at, c))
			at = &s->nodes.v[*at].next;
		s->nodes.v[c].next = *at;
		*at = c;
	}
	s->nodes.v[node].first_child = sorted;
}

struct listing {
	struct sampling *s;
	struct vprof_sampled_function *to;
	size_t n;
	uint64_t least;
};

/* The children of a node, and what lies beneath them. */
static int list_children(struct listing *l, uint32_t node, uint32_t depth)
{
	struct sampling *s = l->s;
	int ret = VPROF_OK;

	sort_children(s, node, l->least);
	for (uint32_t c = s->nodes.v[node].first_child; c != VPROF_NONE && l->n < NODES_MAX && !ret;
	     c = s->nodes.v[c].next) {
		const struct vprof_latency_function *f = &s->events->functions.v[s->nodes.v[c].function];
		struct vprof_sampled_function *out = &l->to[l->n++];
		size_t first = l->n;

		*out = (struct vprof_sampled_function){ vprof_results_string(s->r, name_of(s, c)),
							vprof_results_string(s->r, f->file), depth, s->nodes.v[c].n,
							s->nodes.v[c].n };
		ret = out->name && out->file ? list_children(l, c, depth + 1) : VPROF_ERR_NOMEM;
		for (size_t i = first; i < l->n; i++)
			out->n_own -= l->to[i].depth == depth + 1 ? l->to[i].n : 0;
	}
	return ret;
}

static int falling(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* How many samples a function of the context must be on, so that at most NODES_MAX are told: equal ones are left out
 * together, unless all are equal. scratch: of all nodes; of_context: of each node. */
static uint64_t least_of(const struct sampling *s, uint32_t context, const uint32_t *of_context, uint64_t *scratch)
{
	uint64_t least = s->nodes.v[context].n / LEAST_PART + 1;
	size_t n = 0;

	for (size_t i = s->r->n_contexts; i < s->nodes.n; i++)
		if (of_context[i] == context && s->nodes.v[i].n >= least)
			scratch[n++] = s->nodes.v[i].n;
	qsort(scratch, n, sizeof *scratch, falling);
	if (n <= NODES_MAX)
		return least;
	return scratch[NODES_MAX] < scratch[0] ? scratch[NODES_MAX] + 1 : scratch[0]; /* all equal: the first ones */
}

static int describe_context(struct sampling *s, uint32_t context, uint64_t least)
{
	struct listing l = { .s = s, .least = least };
	int ret;

	s->r->contexts[context].sampled = l.to = calloc(NODES_MAX, sizeof *l.to);
	ret = l.to ? list_children(&l, context, 0) : VPROF_ERR_NOMEM;
	s->r->contexts[context].n_sampled = l.n;
	return ret;
}

static int describe(struct sampling *s)
{
	uint32_t *of_context = malloc((s->nodes.n + 1) * sizeof *of_context);
	uint64_t *scratch = malloc((s->nodes.n + 1) * sizeof *scratch);
	int ret = of_context && scratch ? VPROF_OK : VPROF_ERR_NOMEM;

	for (uint32_t i = 0; i < s->nodes.n && !ret; i++) /* parents come first */
		of_context[i] = i < s->r->n_contexts ? i : of_context[s->nodes.v[i].parent];
	for (uint32_t i = 0; i < s->r->n_contexts && !ret; i++)
		if (s->nodes.v[i].n)
			ret = describe_context(s, i, least_of(s, i, of_context, scratch));
	free(of_context);
	free(scratch);
	return ret;
}

int vprof_context_samples_fill(struct vprof_results *r, const struct vprof_worked *worked, size_t n,
			       const struct vprof_latency_history *events)
{
	struct sampling s = { .r = r, .events = events };
	int ret = begin(&s);

	for (size_t i = 0; i < n && !ret; i++)
		ret = add_worked(&s, &worked[i]);
	ret = ret ? ret : describe(&s);
	vprof_seen_threads_release(&s.seen);
	VPROF_ARRAY_RELEASE(&s.nodes);
	vprof_hash_index_release(&s.by_key);
	free(s.is_left_out);
	return ret;
}
