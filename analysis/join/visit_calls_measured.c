/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of visits whose threads have probes: their calls and waits by time, each change as two events at once, the stacks
 * before it and after it. Nothing else than what was recorded ran in between, as far as the figures go: a function's
 * own time holds what it calls unmeasured. */
#include <string.h>

#include "analysis/join/visit_stacks.h"
#include "analysis/timeline/calls.h"
#include "common/hash/hash_index.h"
#include "common/search.h"

#define CALLS_BYTES ((size_t)32 << 20)
#define EXACT (VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU)

struct item { /* a call, or a wait in one, within a stretch */
	uint64_t t0, t1;
	uint32_t key; /* code, or WAIT | name */
};

#define WAIT (1u << 31)

struct deeper { /* a stack with one more frame */
	uint32_t group, stack, function, made;
};

struct numbered { /* a function of a group's history */
	uint32_t group, key, function;
};

struct measuring {
	struct vprof_visit_group *groups;
	const struct vprof_timeline *timeline;
	const struct vprof_plan *plan;
	struct vprof_calls *calls;
	VPROF_ARRAY(struct deeper) deeper;
	struct vprof_hash_index by_deeper;
	VPROF_ARRAY(struct numbered) numbered;
	struct vprof_hash_index by_numbered;
	VPROF_ARRAY(struct item) items; /* of the stretch at hand */
	int is_sampled;			/* some of its calls were only counted */
};

static uint64_t to_ticks(const struct measuring *g, uint64_t ns)
{
	double ticks = (double)ns / g->timeline->ns_per_tick;

	return g->timeline->trace->header.start_ticks +
	       (ticks < (double)VPROF_CALL_TIME_MAX ? (uint64_t)ticks : VPROF_CALL_TIME_MAX);
}

static uint64_t to_ns(const struct measuring *g, uint64_t ticks)
{
	return vprof_latency_time(vprof_trace_ns(g->timeline->trace, ticks));
}

static void describe(const struct measuring *g, uint32_t key, struct vprof_latency_function *f)
{
	const struct vprof_probe *p = key & WAIT ? NULL : vprof_plan_probe(g->plan, key);

	*f = (struct vprof_latency_function){ .name = "", .file = "" };
	if (key & WAIT) {
		f->name = g->timeline->names[key & ~WAIT];
		f->layer = VPROF_LATENCY_LIBRARY;
	} else if (p) {
		f->name = p->display;
		f->file = p->file;
	}
}

/* VPROF_NONE without memory. */
static uint32_t function_of(struct measuring *g, uint32_t group, uint32_t key)
{
	uint64_t hash = vprof_mix((uint64_t)group << 32 | key);
	struct vprof_latency_history *h = &g->groups[group].history;
	struct vprof_latency_function *f;
	struct numbered *n;
	size_t at;

	if (vprof_hash_index_room(&g->by_numbered, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&g->by_numbered, hash, at, i)
	if (g->numbered.v[i].group == group && g->numbered.v[i].key == key)
		return g->numbered.v[i].function;
	f = VPROF_PUSH(&h->functions);
	n = f ? VPROF_PUSH(&g->numbered) : NULL;
	if (!n)
		return VPROF_NONE;
	describe(g, key, f);
	*n = (struct numbered){ group, key, (uint32_t)h->functions.n - 1 };
	vprof_hash_index_put(&g->by_numbered, at, hash, (uint32_t)g->numbered.n - 1);
	return n->function;
}

/* Is it the wait of a call that is measured, too? */
static int is_same(const struct measuring *g, const struct vprof_latency_history *h,
		   const struct vprof_latency_stack *s, uint32_t key)
{
	uint32_t innermost = h->frames.v[s->first + s->n - 1].function;

	return (key & WAIT) && !strcmp(h->functions.v[innermost].name, g->timeline->names[key & ~WAIT]);
}

/* The stack with this function innermost; the same one where there is no room for it. VPROF_NONE without memory. */
static uint32_t deepen(struct measuring *g, uint32_t group, uint32_t stack, uint32_t key)
{
	struct vprof_latency_history *h = &g->groups[group].history;
	uint32_t function = function_of(g, group, key);
	uint64_t hash = vprof_mix(((uint64_t)group << 48) + ((uint64_t)stack << 24) + function);
	struct vprof_latency_frame frames[VPROF_LATENCY_DEPTH_MAX];
	struct vprof_latency_stack s = h->stacks.v[stack];
	struct deeper *d;
	uint32_t made;
	size_t at;

	if (function == VPROF_NONE || vprof_hash_index_room(&g->by_deeper, 1))
		return VPROF_NONE;
	if (s.n >= VPROF_LATENCY_DEPTH_MAX || is_same(g, h, &s, key))
		return stack;
	VPROF_HASH_EACH(&g->by_deeper, hash, at, i)
	if (g->deeper.v[i].group == group && g->deeper.v[i].stack == stack && g->deeper.v[i].function == function)
		return g->deeper.v[i].made;
	memcpy(frames, h->frames.v + s.first + 1, (s.n - 1) * sizeof *frames);
	frames[s.n - 1] = (struct vprof_latency_frame){ function, 0 };
	made = vprof_visit_stack_add(h, frames, s.n, s.n);
	d = made == VPROF_NONE ? NULL : VPROF_PUSH(&g->deeper);
	if (!d)
		return VPROF_NONE;
	*d = (struct deeper){ group, stack, function, made };
	vprof_hash_index_put(&g->by_deeper, at, hash, (uint32_t)g->deeper.n - 1);
	return made;
}

static int outer_first(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	if (x->t1 != y->t1)
		return x->t1 > y->t1 ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key); /* waits within calls */
}

static int add_item(struct measuring *g, const struct vprof_visit_stretch *s, uint64_t t0_ticks, uint64_t t1_ticks,
		    uint32_t key)
{
	uint64_t t0 = to_ns(g, t0_ticks), t1 = to_ns(g, t1_ticks);
	struct item *item;

	t0 = t0 < s->from ? s->from : t0;
	t1 = t1 > s->to ? s->to : t1;
	if (t0 >= t1)
		return VPROF_OK;
	item = VPROF_PUSH(&g->items);
	if (item)
		*item = (struct item){ t0, t1, key };
	return item ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Were calls meanwhile that are only counted? */
static int has_gap(const struct vprof_thread_timeline *t, uint64_t from, uint64_t to)
{
	size_t i = VPROF_BISECT(t->gaps.n, k, t->gaps.v[k].reach <= from);

	for (; i < t->gaps.n && t->gaps.v[i].t0 < to; i++)
		if (t->gaps.v[i].t1 > from)
			return 1;
	return 0;
}

static int gather(struct measuring *g, uint32_t thread, const struct vprof_visit_stretch *s)
{
	const struct vprof_thread_timeline *t = &g->timeline->threads[thread];
	uint64_t from = to_ticks(g, s->from), to = to_ticks(g, s->to) + 1;
	const struct vprof_call *calls;
	size_t n, wait = VPROF_BISECT(t->waits.n, i, t->waits.v[i].t1 < from); /* a thread's follow one another */
	int ret = vprof_calls_window(g->calls, thread, &t->calls, from, to, &calls, &n);

	g->items.n = 0;
	g->is_sampled = has_gap(t, from, to);
	for (size_t i = 0; i < n && !ret; i++) {
		g->is_sampled |= calls[i].is_sampled;
		ret = add_item(g, s, calls[i].t0, calls[i].t1, calls[i].code);
	}
	for (; wait < t->waits.n && t->waits.v[wait].t0 < to && !ret; wait++)
		if (t->waits.v[wait].name < g->timeline->n_names)
			ret = add_item(g, s, t->waits.v[wait].t0, t->waits.v[wait].t1, WAIT | t->waits.v[wait].name);
	if (!ret && vprof_array_sort(g->items.v, g->items.n, sizeof *g->items.v, outer_first))
		ret = VPROF_ERR_NOMEM;
	return ret;
}

/* Both stacks at a change. */
static int change(struct vprof_latency_history *h, uint64_t t, uint32_t before, uint32_t after)
{
	int ret = vprof_latency_event_add(h, t, before, EXACT);

	return ret ? ret : vprof_latency_event_add(h, t, after, EXACT);
}

static int add_stretch(struct measuring *g, uint32_t group, uint32_t thread, const struct vprof_visit_stretch *s)
{
	struct vprof_latency_history *h = &g->groups[group].history;
	struct open {
		uint64_t t1;
		uint32_t stack;
	} open[VPROF_LATENCY_DEPTH_MAX] = { { s->to, VPROF_VISIT_STACK_ALONE } };
	uint32_t n = 1;
	int ret = gather(g, thread, s);

	if (!ret)
		ret = vprof_latency_event_add(h, s->from, VPROF_VISIT_STACK_ALONE, EXACT);
	for (size_t i = 0; i < g->items.n && !ret; i++) {
		const struct item *item = &g->items.v[i];
		uint64_t end;
		uint32_t stack;

		for (; n > 1 && open[n - 1].t1 <= item->t0 && !ret; n--)
			ret = change(h, open[n - 1].t1, open[n - 1].stack, open[n - 2].stack);
		end = item->t1 < open[n - 1].t1 ? item->t1 : open[n - 1].t1;
		if (ret || n == VPROF_LATENCY_DEPTH_MAX || item->t0 >= end)
			continue;
		stack = deepen(g, group, open[n - 1].stack, item->key);
		ret = change(h, item->t0, open[n - 1].stack, stack);
		open[n].t1 = end;
		open[n++].stack = stack;
	}
	for (; n > 1 && !ret; n--)
		ret = change(h, open[n - 1].t1, open[n - 1].stack, open[n - 2].stack);
	return ret ? ret : vprof_latency_event_add(h, s->to, VPROF_VISIT_STACK_ALONE, EXACT);
}

/* The thread that has the stretch; VPROF_NONE: there is none with probes. *is_lost: some of its records are missing. */
static uint32_t thread_of(const struct measuring *g, const struct vprof_visit_stretch *s, int *is_lost)
{
	uint64_t from = to_ticks(g, s->from), to = to_ticks(g, s->to);

	for (uint32_t i = 0; i < g->timeline->n_threads; i++) {
		const struct vprof_thread_timeline *t = &g->timeline->threads[i];

		if (t->tid != s->tid || t->pid != s->pid || t->t_first >= to || t->t_last <= from)
			continue;
		for (size_t k = 0; k < t->losses.n; k++)
			*is_lost |= t->losses.v[k].t0 < to && t->losses.v[k].t1 > from;
		return i;
	}
	return VPROF_NONE;
}

static int measure_one(struct measuring *g, const struct vprof_visit_work *w, const struct vprof_visit_stretch *s,
		       unsigned char *is_done)
{
	struct vprof_visit_group *group = &g->groups[w->group];
	size_t first = group->history.events.n;
	int ret = VPROF_OK, is_lost = 0, is_sampled = 0;

	for (uint32_t i = 0; i < w->n && !ret && !is_lost && !is_sampled; i++) {
		uint32_t thread = thread_of(g, &s[i], &is_lost);

		if (thread == VPROF_NONE) {
			group->history.events.n = first;
			return VPROF_OK;
		}
		if (!group->history.stacks.n)
			ret = vprof_visit_group_begin(group, 0, VPROF_LATENCY_TIME_MAX);
		if (!ret && !is_lost)
			ret = add_stretch(g, w->group, thread, &s[i]);
		is_sampled = !is_lost && g->is_sampled;
	}
	*is_done = 1;
	group->n_outside += is_lost != 0;
	group->n_sampled += !is_lost && is_sampled;
	if (is_lost || is_sampled)
		group->history.events.n = first;
	return ret || is_lost || is_sampled ? ret : vprof_visit_group_add(group, w->visit, s, w->n, first);
}

int vprof_visit_calls_measured(struct vprof_visit_group *groups, const struct vprof_visit_work *work, size_t n_work,
			       const struct vprof_visit_stretch *stretches, unsigned char *is_done,
			       const struct vprof_timeline *timeline, const struct vprof_plan *plan)
{
	struct measuring g = { .groups = groups, .timeline = timeline, .plan = plan };
	int ret = VPROF_OK;

	g.calls = vprof_calls_new(timeline->n_threads, CALLS_BYTES);
	if (!g.calls)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n_work && !ret; i++)
		if (!is_done[i])
			ret = measure_one(&g, &work[i], stretches + work[i].first, &is_done[i]);
	vprof_calls_free(g.calls);
	VPROF_ARRAY_RELEASE(&g.deeper);
	vprof_hash_index_release(&g.by_deeper);
	VPROF_ARRAY_RELEASE(&g.numbered);
	vprof_hash_index_release(&g.by_numbered);
	VPROF_ARRAY_RELEASE(&g.items);
	return ret;
}
