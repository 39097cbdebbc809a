/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons of one entity are told apart in a hash index of its own, so that entities are numbered side by side; then
 * each one's are sorted, and all are put one after the other. Neither depends on who did which. */
#include "analysis/waits/reasons.h"

#include "common/hash/hash_index.h"
#include "common/parallel.h"

struct own_reasons {
	VPROF_ARRAY(struct vprof_waits_reason) v;
	uint32_t *place; /* where each is since they are sorted, by when it was first met */
	size_t base;	 /* of the first, among all */
};

struct numbering {
	struct vprof_waits_history *history;
	struct own_reasons *of; /* [n entities] */
	struct vprof_hash_index index[VPROF_PARALLEL_MAX];
};

static int order(const void *a, const void *b)
{
	const struct vprof_waits_reason *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->wait_stack != y->wait_stack)
		return x->wait_stack < y->wait_stack ? -1 : 1;
	return x->waker_stack < y->waker_stack ? -1 : x->waker_stack > y->waker_stack;
}

static uint32_t find_or_add(struct own_reasons *own, struct vprof_hash_index *index, uint32_t from,
			    const struct vprof_waits_segment *s)
{
	const struct vprof_waits_reason r = { from, s->waker, s->wait_stack, s->waker_stack, 0, 0, 0 };
	uint64_t hash = vprof_mix(vprof_mix((uint64_t)r.to << 32 | r.wait_stack) + r.waker_stack);
	struct vprof_waits_reason *added;
	size_t at;

	if (vprof_hash_index_room(index, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(index, hash, at, i)
	{
		if (!order(&own->v.v[i], &r))
			return i;
	}
	added = VPROF_PUSH(&own->v);
	if (!added)
		return VPROF_NONE;
	*added = r;
	vprof_hash_index_put(index, at, hash, (uint32_t)(own->v.n - 1));
	return (uint32_t)(own->v.n - 1);
}

static int sort_own(struct own_reasons *own)
{
	own->place = malloc((own->v.n + 1) * sizeof *own->place);
	for (size_t i = 0; i < own->v.n; i++)
		own->v.v[i].weight_ns = i; /* where it was, meanwhile */
	if (!own->place || vprof_array_sort(own->v.v, own->v.n, sizeof *own->v.v, order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < own->v.n; i++) {
		own->place[own->v.v[i].weight_ns] = (uint32_t)i;
		own->v.v[i].weight_ns = 0;
	}
	return VPROF_OK;
}

static int is_of(const struct vprof_waits_segment *s, const struct vprof_waits_reason *r)
{
	return r->to == s->waker && r->wait_stack == s->wait_stack && r->waker_stack == s->waker_stack;
}

static int number_entity(void *arg, int worker, size_t entity)
{
	struct numbering *g = arg;
	struct vprof_waits_entity *e = &g->history->entities.v[entity];
	struct own_reasons *own = &g->of[entity];
	uint32_t last = VPROF_NONE;

	vprof_hash_index_release(&g->index[worker]);
	for (size_t i = 0; i < e->segments.n; i++) {
		struct vprof_waits_segment *s = &e->segments.v[i];
		struct vprof_waits_reason *r;

		s->reason = VPROF_NONE;
		if (s->state != VPROF_WAITS_BLOCKED || s->waker == VPROF_NONE)
			continue;
		if (last == VPROF_NONE || !is_of(s, &own->v.v[last]))
			last = find_or_add(own, &g->index[worker], (uint32_t)entity, s);
		if (last == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		s->reason = last;
		r = &own->v.v[last];
		r->n_waits++;
		r->own_ns += s->to - s->from;
	}
	return sort_own(own);
}

/* From when they were first met in their entity to where they are among all. */
static int renumber_entity(void *arg, int worker, size_t entity)
{
	struct numbering *g = arg;
	struct vprof_waits_entity *e = &g->history->entities.v[entity];
	const struct own_reasons *own = &g->of[entity];

	(void)worker;
	for (size_t i = 0; i < e->segments.n; i++)
		if (e->segments.v[i].reason != VPROF_NONE)
			e->segments.v[i].reason = own->place[e->segments.v[i].reason] + (uint32_t)own->base;
	return 0;
}

int vprof_waits_reasons_number(struct vprof_waits_reasons *out, struct vprof_waits_history *h, int n_threads)
{
	struct numbering g = { .history = h, .of = calloc(h->entities.n + 1, sizeof *g.of) };
	int n_workers = vprof_parallel_count(n_threads);
	int ret = g.of ? vprof_parallel_run(n_workers, h->entities.n, number_entity, &g) : VPROF_ERR_NOMEM;
	size_t n = 0;

	for (size_t e = 0; e < h->entities.n && !ret; e++) {
		g.of[e].base = n;
		n += g.of[e].v.n;
	}
	ret = ret || n >= VPROF_NONE / 2 || VPROF_RESERVE(&out->v, n + 1) ? VPROF_ERR_NOMEM : VPROF_OK;
	for (size_t e = 0; e < h->entities.n && !ret; e++) {
		if (g.of[e].v.n)
			memcpy(out->v.v + out->v.n, g.of[e].v.v, g.of[e].v.n * sizeof *out->v.v);
		out->v.n += g.of[e].v.n;
	}
	if (!ret)
		ret = vprof_parallel_run(n_workers, h->entities.n, renumber_entity, &g);
	for (size_t e = 0; e < h->entities.n && g.of; e++) {
		VPROF_ARRAY_RELEASE(&g.of[e].v);
		free(g.of[e].place);
	}
	for (int w = 0; w < VPROF_PARALLEL_MAX; w++)
		vprof_hash_index_release(&g.index[w]);
	free(g.of);
	return ret;
}

void vprof_waits_reasons_release(struct vprof_waits_reasons *reasons)
{
	VPROF_ARRAY_RELEASE(&reasons->v);
}
