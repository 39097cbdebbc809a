/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over the calls of all threads, and one over their waits. Stacks are cut once for each pair of stack and
 * depth. */
#include "analysis/join/measured_calls.h"

#include <string.h>

#include "analysis/join/seen_threads.h"
#include "analysis/timeline/calls.h"
#include "common/hash/hash_index.h"

#define CALLS_BYTES ((size_t)32 << 20)
#define CHAIN_MAX 256
#define PLACE_EDGE UINT32_MAX /* where a call is at its begin and end */

struct cut_stack { /* a stack of the events from `depth` on, in a target's history */
	uint32_t target, stack, depth, made;
};

struct gathering {
	struct vprof_measured_target *targets;
	size_t n_targets;
	const struct vprof_timeline *timeline;
	const struct vprof_plan *plan;
	const struct vprof_latency_history *events;
	struct vprof_seen_threads seen;
	VPROF_ARRAY(struct cut_stack) cuts;
	struct vprof_hash_index by_cut;
	unsigned char *is_own; /* [functions of the events] libvprof's */
	/* the call at hand: names of its measured callers and of itself, outermost first */
	const char *chain[CHAIN_MAX];
	size_t n_chain;
};

/* The last part of a qualified name, without underscores that C libraries put before theirs. */
static const char *plain_name(const char *name, size_t *n)
{
	const char *from = name, *end = name + strcspn(name, "<(");

	for (const char *p = name; p + 1 < end; p++)
		if (p[0] == ':' && p[1] == ':')
			from = p + 2;
	while (*from == '_' && from + 1 < end)
		from++;
	*n = (size_t)(end - from);
	return from;
}

static int is_same_name(const char *a, const char *b)
{
	size_t n_a, n_b;
	const char *x = plain_name(a, &n_a), *y = plain_name(b, &n_b);

	return n_a == n_b && n_a && !memcmp(x, y, n_a);
}

/* How many frames at the outer end of a stack are outside of the call; VPROF_NONE: it is not on it. */
static uint32_t find_depth(const struct gathering *g, const struct vprof_latency_stack *s)
{
	const struct vprof_latency_frame *f = g->events->frames.v + s->first;
	uint32_t depth = 0;
	size_t last = 0; /* of the chain, found so far */

	for (size_t c = 0; c < g->n_chain; c++)
		for (uint32_t d = depth; d < s->n_user; d++)
			if (!g->is_own[f[d].function] &&
			    is_same_name(g->events->functions.v[f[d].function].name, g->chain[c])) {
				depth = d + 1;
				last = c + 1;
				break;
			}
	return last && last + 1 >= g->n_chain ? depth : VPROF_NONE;
}

static int add_frame(struct vprof_latency_history *h, uint32_t function, uint32_t place)
{
	struct vprof_latency_frame *f = VPROF_PUSH(&h->frames);

	if (f)
		*f = (struct vprof_latency_frame){ function, place };
	return f ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* The target's stack of what lies within `depth` frames of a stack of the events; VPROF_NONE without memory. Stack
 * VPROF_NONE: the function alone. */
static uint32_t cut_stack(struct gathering *g, uint32_t target, uint32_t stack, uint32_t depth)
{
	uint64_t hash = vprof_mix(vprof_mix((uint64_t)stack << 32 | depth) + target);
	const struct vprof_latency_stack *from = stack == VPROF_NONE ? NULL : &g->events->stacks.v[stack];
	struct vprof_latency_history *h = &g->targets[target].history;
	struct vprof_latency_stack *to;
	struct cut_stack *c;
	size_t at, first = h->frames.n;
	uint32_t n_user = 1;

	if (vprof_hash_index_room(&g->by_cut, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&g->by_cut, hash, at, i)
	{
		c = &g->cuts.v[i];
		if (c->target == target && c->stack == stack && c->depth == depth)
			return c->made;
	}
	if (add_frame(h, (uint32_t)g->events->functions.n,
		      from && depth ? g->events->frames.v[from->first + depth - 1].place : PLACE_EDGE))
		return VPROF_NONE;
	for (uint32_t d = depth; from && d < from->n; d++) {
		const struct vprof_latency_frame *f = &g->events->frames.v[from->first + d];

		if (d < from->n_user && g->is_own[f->function])
			continue;
		if (add_frame(h, f->function, f->place))
			return VPROF_NONE;
		n_user += d < from->n_user;
	}
	to = VPROF_PUSH(&h->stacks);
	c = to ? VPROF_PUSH(&g->cuts) : NULL;
	if (!c)
		return VPROF_NONE;
	*to = (struct vprof_latency_stack){ first, (uint32_t)(h->frames.n - first), n_user };
	*c = (struct cut_stack){ target, stack, depth, (uint32_t)h->stacks.n - 1 };
	vprof_hash_index_put(&g->by_cut, at, hash, (uint32_t)g->cuts.n - 1);
	return c->made;
}

/* The part of a call, from t0 to t1, in which this thread's stacks were taken. *n_parts: those before it. */
static int add_part(struct gathering *g, uint32_t target, const struct vprof_latency_thread *t, uint64_t t0,
		    uint64_t t1, uint32_t *n_parts)
{
	struct vprof_measured_target *to = &g->targets[target];
	struct vprof_latency_history *h = &to->history;
	uint64_t begin = t0 > t->begin ? t0 : t->begin, end = t1 < t->end ? t1 : t->end;
	struct vprof_latency_thread *part;
	size_t last = t->first_event + t->n_events, i = vprof_latency_event_at(g->events, t, begin),
	       first = h->events.n;
	int ret = VPROF_OK, is_next = 1;

	if (begin >= end)
		return VPROF_OK;
	if (begin == t0)
		ret = vprof_latency_event_add(h, t0, cut_stack(g, target, VPROF_NONE, 0), 0);
	for (; i < last && g->events->events.v[i].t <= end && !ret; i++) {
		const struct vprof_latency_event *e = &g->events->events.v[i];
		uint32_t depth = find_depth(g, &g->events->stacks.v[e->stack]);
		/* code of the program has run since the event before, if that was left out or lies before the call */
		uint32_t flags = e->flags & (is_next ? VPROF_LATENCY_NEW_CALL | VPROF_LATENCY_SKIPPED : ~0u);

		is_next = depth == VPROF_NONE;
		to->n_unplaced += depth == VPROF_NONE;
		if (depth != VPROF_NONE)
			ret = vprof_latency_event_add(h, e->t, cut_stack(g, target, e->stack, depth), flags);
	}
	if (end == t1 && !ret) /* what was skipped before the end, the next event tells */
		ret = vprof_latency_event_add(h, t1, cut_stack(g, target, VPROF_NONE, 0),
					      i < last ? g->events->events.v[i].flags & VPROF_LATENCY_SKIPPED :
							 VPROF_LATENCY_SKIPPED);
	part = ret ? NULL : VPROF_PUSH(&h->threads);
	if (!part)
		return VPROF_ERR_NOMEM;
	*part = (struct vprof_latency_thread){ .name = t->name,
					       .pid = t->pid,
					       .tid = t->tid,
					       .begin = begin,
					       .end = end,
					       .begin_is_cut = begin != t0,
					       .end_is_cut = end != t1,
					       .is_continued = (*n_parts)++ > 0,
					       .first_event = first,
					       .n_events = h->events.n - first };
	return VPROF_OK;
}

static uint64_t to_ns(const struct gathering *g, uint64_t ticks)
{
	return vprof_latency_time(vprof_trace_ns(g->timeline->trace, ticks));
}

static int add_call(struct gathering *g, uint32_t target, uint32_t tid, uint64_t t0_ticks, uint64_t t1_ticks)
{
	uint64_t t0 = to_ns(g, t0_ticks), t1 = to_ns(g, t1_ticks);
	size_t at = vprof_seen_threads_from(&g->seen, tid, t0);
	uint32_t n_parts = 0;
	int ret = VPROF_OK;

	g->targets[target].n_calls++;
	for (; at < g->seen.v.n && g->seen.v.v[at].tid == tid && g->seen.v.v[at].begin < t1 && !ret; at++)
		ret = add_part(g, target, &g->events->threads.v[g->seen.v.v[at].thread], t0, t1, &n_parts);
	g->targets[target].n_outside += !n_parts;
	return ret;
}

static const char *name_of(const struct gathering *g, uint32_t code)
{
	const struct vprof_probe *p = g->plan ? vprof_plan_probe(g->plan, code) : NULL;

	return p ? p->name : "";
}

static uint32_t target_of(const struct gathering *g, uint32_t code)
{
	for (uint32_t i = 0; i < g->n_targets; i++)
		for (size_t k = 0; !g->targets[i].is_wait && k < g->targets[i].n_codes; k++)
			if (g->targets[i].codes[k] == code)
				return i;
	return VPROF_NONE;
}

static void turn_chain(struct gathering *g)
{
	for (size_t i = 0; i < g->n_chain / 2; i++) {
		const char *name = g->chain[i];

		g->chain[i] = g->chain[g->n_chain - 1 - i];
		g->chain[g->n_chain - 1 - i] = name;
	}
}

static int gather_calls(struct gathering *g, struct vprof_calls *calls, uint32_t thread)
{
	const struct vprof_thread_timeline *t = &g->timeline->threads[thread];
	struct vprof_stretch s;
	int more, ret = VPROF_OK;

	vprof_stretch_begin(&s, calls, thread, &t->calls, 0, VPROF_CALL_TIME_MAX);
	while (!ret && (more = vprof_stretch_next(&s)) != 0) {
		if (more < 0)
			return more;
		for (size_t i = s.n_kept; i < s.n && !ret; i++) {
			uint32_t target = target_of(g, s.v[i].code);

			if (target == VPROF_NONE)
				continue;
			g->n_chain = 0;
			for (uint32_t k = (uint32_t)i; k != VPROF_NONE && g->n_chain < CHAIN_MAX; k = s.v[k].parent)
				g->chain[g->n_chain++] = name_of(g, s.v[k].code);
			turn_chain(g);
			ret = add_call(g, target, t->tid, s.v[i].t0, s.v[i].t1);
		}
	}
	return ret;
}

static int gather_waits(struct gathering *g, struct vprof_calls *calls, uint32_t thread)
{
	const struct vprof_thread_timeline *t = &g->timeline->threads[thread];
	int ret = VPROF_OK;

	for (size_t i = 0; i < t->waits.n && !ret; i++) {
		const struct vprof_wait *w = &t->waits.v[i];
		const struct vprof_call *open;
		uint32_t target = 0;
		size_t n;

		while (target < g->n_targets && !(g->targets[target].is_wait && w->name < g->timeline->n_names &&
						  !strcmp(g->targets[target].name, g->timeline->names[w->name])))
			target++;
		if (target == g->n_targets)
			continue;
		ret = vprof_calls_open(calls, thread, &t->calls, w->t0, &open, &n);
		if (ret)
			break;
		g->n_chain = 0;
		g->chain[g->n_chain++] = g->targets[target].name;
		for (size_t k = 0; k < n && g->n_chain < CHAIN_MAX; k++)
			g->chain[g->n_chain++] = name_of(g, open[k].code);
		turn_chain(g);
		ret = add_call(g, target, t->tid, w->t0, w->t1);
	}
	return ret;
}

static int prepare(struct gathering *g)
{
	g->is_own = calloc(g->events->functions.n + 1, 1);
	if (!g->is_own || vprof_seen_threads_find(&g->seen, g->events))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < g->events->functions.n; i++)
		g->is_own[i] = !strncmp(g->events->functions.v[i].file, "libvprof", 8);
	for (size_t i = 0; i < g->n_targets; i++) {
		struct vprof_latency_history *h = &g->targets[i].history;

		h->begin = g->events->begin;
		h->end = g->events->end;
		h->may_follow = g->events->may_follow;
		h->may_become = g->events->may_become;
		h->arg = g->events->arg;
		h->is_continuous = g->events->is_continuous;
		if (VPROF_RESERVE(&h->functions, g->events->functions.n + 1))
			return VPROF_ERR_NOMEM;
		memcpy(h->functions.v, g->events->functions.v, g->events->functions.n * sizeof *h->functions.v);
		h->functions.n = g->events->functions.n;
		h->functions.v[h->functions.n++] =
			(struct vprof_latency_function){ .name = g->targets[i].name, .file = "" };
	}
	return VPROF_OK;
}

int vprof_measured_calls_gather(struct vprof_measured_target *targets, size_t n_targets,
				const struct vprof_timeline *timeline, const struct vprof_plan *plan,
				const struct vprof_latency_history *events)
{
	struct gathering g = {
		.targets = targets, .n_targets = n_targets, .timeline = timeline, .plan = plan, .events = events
	};
	struct vprof_calls *calls = vprof_calls_new(timeline->n_threads, CALLS_BYTES);
	int ret = calls ? prepare(&g) : VPROF_ERR_NOMEM;

	for (uint32_t t = 0; t < timeline->n_threads && !ret; t++) {
		ret = gather_calls(&g, calls, t);
		if (!ret)
			ret = gather_waits(&g, calls, t);
	}
	vprof_calls_free(calls);
	vprof_seen_threads_release(&g.seen);
	VPROF_ARRAY_RELEASE(&g.cuts);
	vprof_hash_index_release(&g.by_cut);
	free(g.is_own);
	return ret;
}

void vprof_measured_target_release(struct vprof_measured_target *target)
{
	vprof_latency_history_release(&target->history);
}
