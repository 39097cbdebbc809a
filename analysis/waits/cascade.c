/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sweep of cascade.h. The recording is cut into shares of time whose number depends on the history alone; each
 * starts with the waits that reach into it, and adds whole ns to sums of its own. So the weights do not depend on who
 * swept which share.
 *
 * In a share, parent[a] is the entity that a waits for, and size[a] counts a and all that wait for it, directly or
 * not. When a blocks, its size is added to all that it then waits for, and taken away again when it is woken. Before a
 * size changes, what it was is added up for the time since it last changed.
 */
#include "analysis/waits/cascade.h"

#include "common/parallel.h"
#include "common/radix.h"
#include "common/search.h"

#define EVENTS_PER_SHARE (1u << 18)
#define SHARES_MAX 1024
#define NO_REASON (VPROF_NONE >> 1) /* in 31 bits */

struct entity_state {
	uint32_t parent; /* VPROF_NONE: not blocked, or what for is not known */
	uint32_t reason; /* of its wait; VPROF_NONE: none to add to */
	uint32_t size;
	uint8_t is_cut; /* circular: what it waits for does not count it */
	uint64_t since; /* when size last changed, or the wait began */
	uint64_t sum;	/* of size over the wait's time until then */
};

/* What the sweep needs of a wait's segment: these lie close together, the segments do not. */
struct swept_wait {
	uint32_t waker;
	uint32_t reason : 31, is_before : 1; /* is_before: began before the share */
};

struct sweep_worker {
	struct entity_state *state;	      /* [n entities] */
	size_t *next;			      /* [n entities] in `waits` */
	uint64_t *weight;		      /* [n reasons] */
	VPROF_ARRAY(struct swept_wait) waits; /* of the share: by entity, then time */
	uint64_t n_circular;
	VPROF_ARRAY(struct vprof_keyed) events; /* key: 2 x time since the share's begin, + 1 when a wait begins */
};

struct sweep {
	const struct vprof_waits_history *history;
	const struct vprof_waits_reasons *reasons;
	struct sweep_worker *workers;
	uint64_t n_shares;
};

static uint64_t share_begin(const struct sweep *g, size_t share)
{
	uint64_t length = g->history->end - g->history->begin;

	return g->history->begin + (uint64_t)((unsigned __int128)length * share / g->n_shares);
}

static inline void advance(struct entity_state *a, uint64_t t)
{
	a->sum += a->size * (t - a->since);
	a->since = t;
}

static void add_to_waited_for(struct entity_state *state, uint32_t a, uint32_t by, uint64_t t)
{
	for (; a != VPROF_NONE; a = state[a].is_cut ? VPROF_NONE : state[a].parent) {
		advance(&state[a], t);
		state[a].size += by;
	}
}

static void block(struct sweep_worker *w, uint32_t entity, uint64_t t)
{
	const struct swept_wait *s = &w->waits.v[w->next[entity]++];
	struct entity_state *a = &w->state[entity];

	a->sum = 0;
	a->since = t;
	a->parent = s->waker;
	a->reason = s->reason == NO_REASON ? VPROF_NONE : s->reason;
	a->is_cut = 0;
	if (a->parent == VPROF_NONE)
		return;
	for (uint32_t b = a->parent; b != VPROF_NONE && !a->is_cut;
	     b = w->state[b].is_cut ? VPROF_NONE : w->state[b].parent)
		a->is_cut = b == entity;
	if (a->is_cut)
		w->n_circular += !s->is_before; /* counted in the share where it begins */
	else
		add_to_waited_for(w->state, a->parent, a->size, t);
}

static void wake(struct sweep_worker *w, uint32_t entity, uint64_t t)
{
	struct entity_state *a = &w->state[entity];

	advance(a, t);
	if (a->reason != VPROF_NONE)
		w->weight[a->reason] += a->sum;
	if (a->parent != VPROF_NONE && !a->is_cut)
		add_to_waited_for(w->state, a->parent, 0u - a->size, t);
	a->parent = a->reason = VPROF_NONE;
	a->is_cut = 0;
}

/* Waits within the share become events; those that reach into it begin with it. */
static int gather(struct sweep_worker *w, const struct vprof_waits_history *h, uint64_t begin, uint64_t end)
{
	w->events.n = w->waits.n = 0;
	for (uint32_t e = 0; e < h->entities.n; e++) {
		const struct vprof_waits_entity *entity = &h->entities.v[e];
		const struct vprof_waits_segment *s = entity->segments.v;
		size_t i = VPROF_BISECT(entity->segments.n, k, s[k].to <= begin);

		w->next[e] = w->waits.n;
		for (; i < entity->segments.n && s[i].from < end; i++) {
			int is_before = s[i].from < begin;

			if (s[i].state != VPROF_WAITS_BLOCKED)
				continue;
			if (VPROF_ROOM(&w->events, w->events.n + 2) || VPROF_ROOM(&w->waits, w->waits.n + 1))
				return VPROF_ERR_NOMEM;
			w->waits.v[w->waits.n++] =
				(struct swept_wait){ s[i].waker, s[i].reason & NO_REASON, (uint32_t)is_before };
			w->events.v[w->events.n++] =
				(struct vprof_keyed){ 2 * (is_before ? 0 : s[i].from - begin) + 1, e };
			if (s[i].to <= end)
				w->events.v[w->events.n++] = (struct vprof_keyed){ 2 * (s[i].to - begin), e };
		}
	}
	return vprof_radix_sort(w->events.v, w->events.n);
}

static int sweep_share(void *arg, int worker, size_t share)
{
	const struct sweep *g = arg;
	const struct vprof_waits_history *h = g->history;
	struct sweep_worker *w = &g->workers[worker];
	uint64_t begin = share_begin(g, share), end = share_begin(g, share + 1);

	if (gather(w, h, begin, end))
		return VPROF_ERR_NOMEM;
	for (uint32_t e = 0; e < h->entities.n; e++)
		w->state[e] = (struct entity_state){ .parent = VPROF_NONE, .reason = VPROF_NONE, .size = 1 };
	for (size_t i = 0; i < w->events.n; i++) {
		uint64_t t = begin + w->events.v[i].key / 2;

		if (w->events.v[i].key & 1)
			block(w, w->events.v[i].item, t);
		else
			wake(w, w->events.v[i].item, t);
	}
	for (uint32_t e = 0; e < h->entities.n; e++) { /* all at once: nobody's size changes any more */
		advance(&w->state[e], end);
		if (w->state[e].reason != VPROF_NONE)
			w->weight[w->state[e].reason] += w->state[e].sum;
	}
	return 0;
}

static int sweep_all(struct sweep *g, struct vprof_waits_reasons *out, int n_threads)
{
	int n_workers = vprof_parallel_count(n_threads), ret = 0;
	size_t n_entities = g->history->entities.n;

	if (!out->v.n)
		return 0;
	if ((uint64_t)n_workers > g->n_shares)
		n_workers = (int)g->n_shares;
	g->workers = calloc((size_t)n_workers, sizeof *g->workers);
	for (int i = 0; i < n_workers && !ret; i++) {
		struct sweep_worker *w = g->workers ? &g->workers[i] : NULL;

		ret = !w || !(w->state = calloc(n_entities, sizeof *w->state)) ||
		      !(w->next = calloc(n_entities, sizeof *w->next)) ||
		      !(w->weight = calloc(out->v.n, sizeof *w->weight));
	}
	ret = ret ? VPROF_ERR_NOMEM : vprof_parallel_run(n_workers, g->n_shares, sweep_share, g);
	for (int i = 0; g->workers && i < n_workers; i++) {
		struct sweep_worker *w = &g->workers[i];

		for (size_t k = 0; k < out->v.n && !ret; k++)
			out->v.v[k].weight_ns += w->weight[k];
		out->n_circular += w->n_circular;
		free(w->state);
		free(w->next);
		free(w->weight);
		VPROF_ARRAY_RELEASE(&w->events);
		VPROF_ARRAY_RELEASE(&w->waits);
	}
	free(g->workers);
	return ret;
}

int vprof_waits_cascade(struct vprof_waits_reasons *out, struct vprof_waits_history *h, int n_threads,
			struct vprof_error *err)
{
	struct sweep g = { .history = h, .reasons = out, .n_shares = 1 };
	uint64_t n = 0;
	int ret;

	*out = (struct vprof_waits_reasons){ { NULL, 0, 0 }, 0 };
	ret = vprof_waits_reasons_number(out, h, n_threads);
	for (size_t e = 0; e < h->entities.n; e++)
		n += h->entities.v[e].segments.n;
	g.n_shares = n / EVENTS_PER_SHARE + 1;
	if (g.n_shares > SHARES_MAX)
		g.n_shares = SHARES_MAX;
	if (g.n_shares > h->end - h->begin)
		g.n_shares = 1;
	if (!ret)
		ret = sweep_all(&g, out, n_threads);
	return ret ? vprof_error_set(err, ret, "not enough memory for the waits of %zu threads: record a shorter run",
				     h->entities.n) :
		     VPROF_OK;
}
