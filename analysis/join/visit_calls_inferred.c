/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of visits whose threads have stacks: the events between begin and end, each with one more frame outside. */
#include <string.h>

#include "analysis/join/seen_threads.h"
#include "analysis/join/visit_stacks.h"

struct inferring {
	struct vprof_visit_group *groups;
	size_t n_groups;
	const struct vprof_latency_history *events;
	uint32_t **made; /* [groups][stacks of the events] number in the group's history + 1; 0: not made */
	struct vprof_seen_threads seen;
};

/* NULL: the thread was not seen for all of the stretch. */
static const struct vprof_latency_thread *find_thread(const struct inferring *g, const struct vprof_visit_stretch *s)
{
	size_t at = vprof_seen_threads_from(&g->seen, s->tid, 0);

	for (; at < g->seen.v.n && g->seen.v.v[at].tid == s->tid; at++) {
		const struct vprof_latency_thread *t = &g->events->threads.v[g->seen.v.v[at].thread];

		if (t->begin <= s->from && s->to <= t->end)
			return t;
	}
	return NULL;
}

static uint32_t stack_of(struct inferring *g, uint32_t group, uint32_t stack)
{
	const struct vprof_latency_stack *from = &g->events->stacks.v[stack];
	uint32_t *made = g->made[group], n = from->n;

	if (!made)
		made = g->made[group] = calloc(g->events->stacks.n + 1, sizeof *made);
	if (!made)
		return VPROF_NONE;
	n = n < VPROF_LATENCY_DEPTH_MAX ? n : VPROF_LATENCY_DEPTH_MAX - 1;
	if (!made[stack])
		made[stack] = 1 + vprof_visit_stack_add(&g->groups[group].history, g->events->frames.v + from->first, n,
							from->n_user < n ? from->n_user : n);
	return made[stack] ? made[stack] - 1 : VPROF_NONE;
}

/* Adds what is known of a stretch. *n: of the visit's stretches, those before it. */
static int add_stretch(struct inferring *g, uint32_t group, const struct vprof_latency_thread *t,
		       const struct vprof_visit_stretch *s, uint32_t n)
{
	struct vprof_latency_history *h = &g->groups[group].history;
	const struct vprof_latency_event *e = g->events->events.v;
	size_t i = vprof_latency_event_at(g->events, t, s->from), last = t->first_event + t->n_events;
	/* the time since the stretch before is nobody's */
	uint32_t flags = n ? VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU : 0;
	int ran_nothing = i > t->first_event && i < last && (e[i].flags & VPROF_LATENCY_HELD), ret;

	ret = vprof_latency_event_add(h, s->from, VPROF_VISIT_STACK_ALONE, flags);
	if (!ret && ran_nothing)
		ret = vprof_latency_event_add(h, s->from, stack_of(g, group, e[i - 1].stack), 0);
	for (int is_next = !ran_nothing; i < last && e[i].t <= s->to && !ret; i++, is_next = 0)
		ret = vprof_latency_event_add(h, e[i].t, stack_of(g, group, e[i].stack),
					      is_next ? e[i].flags & (VPROF_LATENCY_NEW_CALL | VPROF_LATENCY_SKIPPED) :
							e[i].flags);
	if (ret)
		return ret;
	if (i < last && i > t->first_event && (e[i].flags & VPROF_LATENCY_HELD) &&
	    (ran_nothing || e[i - 1].t >= s->from)) {
		ret = vprof_latency_event_add(h, s->to, stack_of(g, group, e[i - 1].stack), e[i].flags);
		flags = VPROF_LATENCY_NEW_CALL;
	} else {
		flags = i < last ? e[i].flags & VPROF_LATENCY_SKIPPED : VPROF_LATENCY_SKIPPED;
	}
	return ret ? ret : vprof_latency_event_add(h, s->to, VPROF_VISIT_STACK_ALONE, flags);
}

/* With its first visit: there may be many tiers, most of which nothing is known of. */
static int prepare_group(const struct inferring *g, struct vprof_visit_group *group)
{
	struct vprof_latency_history *h = &group->history;

	if (h->stacks.n)
		return VPROF_OK;
	h->may_follow = g->events->may_follow;
	h->may_become = g->events->may_become;
	h->arg = g->events->arg;
	h->is_continuous = g->events->is_continuous;
	if (VPROF_RESERVE(&h->functions, g->events->functions.n + 1))
		return VPROF_ERR_NOMEM;
	memcpy(h->functions.v, g->events->functions.v, g->events->functions.n * sizeof *h->functions.v);
	h->functions.n = g->events->functions.n;
	return vprof_visit_group_begin(group, g->events->begin, g->events->end);
}

static int infer_one(struct inferring *g, const struct vprof_visit_work *w, const struct vprof_visit_stretch *s,
		     unsigned char *is_done)
{
	struct vprof_visit_group *group = &g->groups[w->group];
	const struct vprof_latency_thread *t = NULL;
	size_t first = group->history.events.n;
	int ret = VPROF_OK;

	for (uint32_t i = 0; i < w->n && !ret; i++) {
		t = find_thread(g, &s[i]);
		if (!t) {
			group->history.events.n = first;
			group->n_outside++;
			*is_done = 1;
			return VPROF_OK;
		}
		ret = prepare_group(g, group);
		ret = ret ? ret : add_stretch(g, w->group, t, &s[i], i);
	}
	*is_done = 1;
	return ret ? ret : vprof_visit_group_add(group, w->visit, s, w->n, first);
}

static int prepare(struct inferring *g)
{
	g->made = calloc(g->n_groups + 1, sizeof *g->made);
	return g->made ? vprof_seen_threads_find(&g->seen, g->events) : VPROF_ERR_NOMEM;
}

int vprof_visit_calls_inferred(struct vprof_visit_group *groups, size_t n_groups, const struct vprof_visit_work *work,
			       size_t n_work, const struct vprof_visit_stretch *stretches, unsigned char *is_done,
			       const struct vprof_latency_history *events)
{
	struct inferring g = { .groups = groups, .n_groups = n_groups, .events = events };
	int ret = prepare(&g);

	for (size_t i = 0; i < n_work && !ret; i++)
		if (!is_done[i])
			ret = infer_one(&g, &work[i], stretches + work[i].first, &is_done[i]);
	for (size_t i = 0; i < n_groups && g.made; i++)
		free(g.made[i]);
	free(g.made);
	vprof_seen_threads_release(&g.seen);
	return ret;
}
