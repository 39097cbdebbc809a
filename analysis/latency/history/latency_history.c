/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/history/latency_history.h"

#include "common/search.h"

static int refuse(struct vprof_error *err, const char *what, size_t number)
{
	return vprof_error_set(err, VPROF_ERR_INPUT, "the events with stacks are inconsistent: %s %zu", what, number);
}

static int check_stacks(const struct vprof_latency_history *h, struct vprof_error *err)
{
	for (size_t i = 0; i < h->frames.n; i++)
		if (h->frames.v[i].function >= h->functions.n)
			return refuse(err, "no such function in frame", i);
	for (size_t i = 0; i < h->stacks.n; i++) {
		const struct vprof_latency_stack *s = &h->stacks.v[i];

		if (!s->n || s->n > VPROF_LATENCY_DEPTH_MAX || s->n_user > s->n || s->first > h->frames.n ||
		    s->n > h->frames.n - s->first)
			return refuse(err, "no such frames in stack", i);
	}
	return VPROF_OK;
}

static int check_thread(const struct vprof_latency_history *h, size_t thread, struct vprof_error *err)
{
	const struct vprof_latency_thread *t = &h->threads.v[thread];
	uint64_t before = t->begin;

	if (t->first_event > h->events.n || t->n_events > h->events.n - t->first_event)
		return refuse(err, "no such events of thread", thread);
	if (t->begin < h->begin || t->begin > t->end || t->end > h->end)
		return refuse(err, "impossible begin or end of thread", thread);
	for (size_t i = t->first_event; i < t->first_event + t->n_events; i++) {
		const struct vprof_latency_event *e = &h->events.v[i];

		if (e->stack >= h->stacks.n || e->flags >= VPROF_LATENCY_FLAGS)
			return refuse(err, "no such stack in event", i);
		if (e->t < before || e->t > t->end)
			return refuse(err, "times out of order at event", i);
		before = e->t;
	}
	return VPROF_OK;
}

static int check_windows(const struct vprof_latency_history *h, struct vprof_error *err)
{
	uint64_t end = h->begin, observed = 0;

	for (size_t i = 0; i < h->windows.n; i++) {
		const struct vprof_latency_window *w = &h->windows.v[i];

		if (w->begin < end || w->end < w->begin || w->end > h->end || w->observed != observed)
			return refuse(err, "impossible times of window", i);
		end = w->end;
		observed += w->end - w->begin;
	}
	return VPROF_OK;
}

uint64_t vprof_latency_observed(const struct vprof_latency_history *h, uint64_t t)
{
	size_t n = VPROF_BISECT(h->windows.n, i, h->windows.v[i].begin <= t);
	const struct vprof_latency_window *w = n ? &h->windows.v[n - 1] : NULL;

	if (!h->windows.n)
		return t > h->begin ? t - h->begin : 0;
	return w ? w->observed + (t < w->end ? t : w->end) - w->begin : 0;
}

size_t vprof_latency_event_at(const struct vprof_latency_history *h, const struct vprof_latency_thread *t, uint64_t at)
{
	size_t low = t->first_event, high = t->first_event + t->n_events;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (h->events.v[middle].t < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int vprof_latency_event_add(struct vprof_latency_history *h, uint64_t t, uint32_t stack, uint32_t flags)
{
	struct vprof_latency_event *e = stack == VPROF_NONE ? NULL : VPROF_PUSH(&h->events);

	if (e)
		*e = (struct vprof_latency_event){ t, stack, flags };
	return e ? VPROF_OK : VPROF_ERR_NOMEM;
}

int vprof_latency_history_check(const struct vprof_latency_history *h, struct vprof_error *err)
{
	int ret = check_stacks(h, err);

	if (!ret && (h->begin > h->end || h->end > VPROF_LATENCY_TIME_MAX))
		ret = refuse(err, "impossible times of the recording", 0);
	if (!ret && (h->stacks.n > UINT32_MAX / 2 || h->functions.n > UINT32_MAX / 2 || h->threads.n > UINT32_MAX / 2))
		ret = refuse(err, "too many stacks, functions or threads:", h->stacks.n);
	if (!ret)
		ret = check_windows(h, err);
	for (size_t i = 0; i < h->threads.n && !ret; i++)
		ret = check_thread(h, i, err);
	return ret;
}

void vprof_latency_history_release(struct vprof_latency_history *h)
{
	VPROF_ARRAY_RELEASE(&h->functions);
	VPROF_ARRAY_RELEASE(&h->frames);
	VPROF_ARRAY_RELEASE(&h->stacks);
	VPROF_ARRAY_RELEASE(&h->events);
	VPROF_ARRAY_RELEASE(&h->windows);
	VPROF_ARRAY_RELEASE(&h->threads);
}

/* Frames of the same calls if none returned unseen: the paper's continuity of context. */
static uint32_t continuous_depth(const struct vprof_latency_frame *f, const struct vprof_latency_frame *g, uint32_t n)
{
	uint32_t depth = 0;

	while (depth < n && f[depth].function == g[depth].function && f[depth].place == g[depth].place)
		depth++;
	return depth < n && f[depth].function == g[depth].function ? depth + 1 : depth;
}

/* Did the innermost of the common frames stay in its call, and only the function that it called was replaced by one to
 * which that jumped? */
static int may_be_replaced(const struct vprof_latency_history *h, const struct vprof_latency_stack *a,
			   const struct vprof_latency_stack *b, uint32_t depth)
{
	const struct vprof_latency_frame *f = h->frames.v + a->first + depth, *g = h->frames.v + b->first + depth;

	return h->may_become && depth && depth < a->n_user && depth < b->n_user && f[-1].place == g[-1].place &&
	       f->function != g->function && h->may_become(h->arg, f->function, f->place, g->place);
}

/* The thread ran on from one stack to the other: in one of the common frames it came from one place to the next, and
 * all calls further in are new ones. Which frames can that be? If none can, nothing is known. */
static struct vprof_latency_common narrow(const struct vprof_latency_history *h, const struct vprof_latency_stack *a,
					  const struct vprof_latency_stack *b, uint32_t depth)
{
	const struct vprof_latency_frame *f = h->frames.v + a->first, *g = h->frames.v + b->first;
	struct vprof_latency_common c = { 0, 0 };

	for (uint32_t i = depth; i-- > 0;)
		if ((i + 1 == depth && may_be_replaced(h, a, b, depth)) ||
		    h->may_follow(h->arg, f[i].function, f[i].place, g[i].place)) {
			c.depth = c.depth ? c.depth : i + 1;
			c.sure_depth = i + 1;
		}
	return c.depth ? c : (struct vprof_latency_common){ depth, depth ? 1 : 0 };
}

/* Of frames that may be of other calls, those at the outer end that surely are not. */
static uint32_t count_starts(const struct vprof_latency_history *h, const struct vprof_latency_frame *f, uint32_t depth)
{
	uint32_t n = 0;

	while (n < depth && h->functions.v[f[n].function].is_start)
		n++;
	return n || !depth ? n : 1;
}

struct vprof_latency_common vprof_latency_common_depth(const struct vprof_latency_history *h, uint32_t stack,
						       uint32_t next, uint32_t flags)
{
	const struct vprof_latency_stack *a = &h->stacks.v[stack], *b = &h->stacks.v[next];
	const struct vprof_latency_frame *f = h->frames.v + a->first, *g = h->frames.v + b->first;
	uint32_t n_user = a->n_user < b->n_user ? a->n_user : b->n_user, n = a->n < b->n ? a->n : b->n, depth;

	if (a->n_user != b->n_user || (flags & VPROF_LATENCY_NEW_CALL))
		n = n < n_user ? n : n_user;
	depth = continuous_depth(f, g, n);
	if (h->may_follow && !(flags & VPROF_LATENCY_HELD)) {
		struct vprof_latency_common c = narrow(h, a, b, depth < n_user ? depth : n_user);

		if (!h->is_continuous)
			return c;
		depth = c.depth;
	}
	return (struct vprof_latency_common){ depth,
					      flags & VPROF_LATENCY_SKIPPED ? count_starts(h, f, depth) : depth };
}
