/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See noise.h. The time of sampled calls is collected while an interval is added, sorted by block, and reduced to
 * products of differences between siblings.
 *
 * Intervals with hot functions have many thousands of entries, so what is of the same call and node, or of the same
 * difference, is added up at once, and not brought together by sorting. */
#include "analysis/variance/noise.h"

struct spent {
	const struct vprof_sampled *call;
	uint32_t thread, node;
	double ticks, cost;
};

struct difference {
	uint32_t group; /* the parent whose children, body included, share the time */
	uint32_t node;
	double ticks, cost;
};

/* Where something was put last: of use only if it is still there. */
typedef VPROF_ARRAY(uint32_t) places;

struct vprof_noise {
	VPROF_ARRAY(struct spent) spent;
	places spent_at;		  /* [nodes] */
	const struct vprof_sampled *call; /* to which time was added last, */
	uint32_t node;			  /* ... and where, */
	size_t run;			  /* ... over and over again since `spent` had so many entries */
	VPROF_ARRAY(struct difference) differences;
	places difference_at;			    /* [2 * nodes] of a node and of its body */
	VPROF_ARRAY(struct vprof_noise_item) fresh; /* of the interval being stored */
	VPROF_ARRAY(struct vprof_noise_item) items;
	VPROF_ARRAY(uint64_t) first; /* [n intervals + 1] */
};

struct vprof_noise *vprof_noise_new(void)
{
	struct vprof_noise *noise = calloc(1, sizeof *noise);

	if (noise && !VPROF_PUSH(&noise->first)) {
		free(noise);
		return NULL;
	}
	return noise;
}

void vprof_noise_free(struct vprof_noise *noise)
{
	if (!noise)
		return;
	VPROF_ARRAY_RELEASE(&noise->spent);
	VPROF_ARRAY_RELEASE(&noise->spent_at);
	VPROF_ARRAY_RELEASE(&noise->differences);
	VPROF_ARRAY_RELEASE(&noise->difference_at);
	VPROF_ARRAY_RELEASE(&noise->fresh);
	VPROF_ARRAY_RELEASE(&noise->items);
	VPROF_ARRAY_RELEASE(&noise->first);
	free(noise);
}

static uint32_t *place(places *p, size_t i)
{
	if (i >= p->n) {
		if (VPROF_ROOM(p, i + 1))
			return NULL;
		memset(p->v + p->n, 0, (i + 1 - p->n) * sizeof *p->v);
		p->n = i + 1;
	}
	return &p->v[i];
}

/* Ticks are whole numbers, so they are added to whatever entry the call has for the node. The last digits of a sum of
 * costs depend on how it is taken: only those that come one after another are one entry. */
int vprof_noise_spend(struct vprof_noise *noise, const struct vprof_sampled *call, uint32_t thread, uint32_t node,
		      uint64_t ticks, double cost)
{
	uint32_t *at = place(&noise->spent_at, node);
	struct spent *s = at && *at < noise->spent.n ? &noise->spent.v[*at] : NULL;

	if (noise->call != call || noise->node != node)
		noise->run = noise->spent.n;
	noise->call = call;
	noise->node = node;
	if (at && (!s || s->call != call || s->node != node || (cost != 0 && *at < noise->run))) {
		*at = (uint32_t)noise->spent.n;
		s = VPROF_PUSH(&noise->spent);
		if (s)
			*s = (struct spent){ .call = call, .thread = thread, .node = node };
	}
	if (!at || !s)
		return VPROF_ERR_NOMEM;
	s->ticks += (double)ticks;
	s->cost += cost;
	return 0;
}

static int block_order(const struct spent *x, const struct spent *y)
{
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->call->code != y->call->code)
		return x->call->code < y->call->code ? -1 : 1;
	if (x->call->block != y->call->block)
		return x->call->block < y->call->block ? -1 : 1;
	return 0;
}

static int spent_order(const void *a, const void *b)
{
	const struct spent *x = a, *y = b;
	int order = block_order(x, y);

	if (order)
		return order;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int difference_order(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int item_order(const void *a, const void *b)
{
	const struct vprof_noise_item *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* A node has one difference among its siblings, and one is its body's. */
static int differ(struct vprof_noise *noise, uint32_t group, uint32_t node, double ticks, double cost)
{
	uint32_t *at =
		place(&noise->difference_at, 2 * (size_t)(node & ~VPROF_NOISE_BODY) + !!(node & VPROF_NOISE_BODY));
	struct difference *d = at && *at < noise->differences.n ? &noise->differences.v[*at] : NULL;

	if (at && (!d || d->node != node)) {
		*at = (uint32_t)noise->differences.n;
		d = VPROF_PUSH(&noise->differences);
		if (d)
			*d = (struct difference){ .group = group, .node = node };
	}
	if (!at || !d)
		return VPROF_ERR_NOMEM;
	d->ticks += ticks;
	d->cost += cost;
	return 0;
}

/* Of one block: the products of all pairs within each group. */
static int add_products(struct vprof_noise *noise, double factor)
{
	const struct difference *v = noise->differences.v;
	size_t n = noise->differences.n;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = i; k < n && v[k].group == v[i].group; k++) {
			struct vprof_noise_item *item = VPROF_PUSH(&noise->fresh);

			if (!item)
				return VPROF_ERR_NOMEM;
			*item = (struct vprof_noise_item){ v[i].node, v[k].node, factor * v[i].ticks * v[k].ticks,
							   factor * (v[i].ticks * v[k].cost + v[i].cost * v[k].ticks),
							   factor * v[i].cost * v[k].cost };
		}
	}
	return 0;
}

/* spent[from, to) is one block. A node's own time moves between its body and its parent's siblings; times here are
 * inclusive, so a body is the node less its children. */
static int add_block(struct vprof_noise *noise, size_t from, size_t to,
		     uint32_t (*parent)(const void *arg, uint32_t node), const void *arg)
{
	const struct spent *s = noise->spent.v;
	double n_calls = 2.0 * s[from].call->weight;

	noise->differences.n = 0;
	for (size_t i = from; i < to; i++) {
		double sign = s[i].call->is_second ? -1 : 1, ticks = sign * s[i].ticks, cost = sign * s[i].cost;
		uint32_t above = parent(arg, s[i].node);

		if (differ(noise, above, s[i].node, ticks, cost) ||
		    differ(noise, above, above | VPROF_NOISE_BODY, -ticks, -cost) ||
		    differ(noise, s[i].node, s[i].node | VPROF_NOISE_BODY, ticks, cost))
			return VPROF_ERR_NOMEM;
	}
	qsort(noise->differences.v, noise->differences.n, sizeof *noise->differences.v, difference_order);
	return add_products(noise, n_calls * (n_calls - 2) / 4);
}

static int keep_fresh(struct vprof_noise *noise)
{
	struct vprof_noise_item *v = noise->fresh.v;
	size_t first = noise->items.n;

	if (noise->fresh.n)
		qsort(v, noise->fresh.n, sizeof *v, item_order);
	for (size_t i = 0; i < noise->fresh.n; i++) {
		struct vprof_noise_item *item;

		if (noise->items.n > first && !item_order(&noise->items.v[noise->items.n - 1], &v[i])) {
			struct vprof_noise_item *same = &noise->items.v[noise->items.n - 1];

			same->ticks2 += v[i].ticks2;
			same->ticks_cost += v[i].ticks_cost;
			same->cost2 += v[i].cost2;
			continue;
		}
		item = VPROF_PUSH(&noise->items);
		if (!item)
			return VPROF_ERR_NOMEM;
		*item = v[i];
	}
	noise->fresh.n = 0;
	return 0;
}

int vprof_noise_store(struct vprof_noise *noise, uint32_t (*parent)(const void *arg, uint32_t node), const void *arg)
{
	struct spent *s = noise->spent.v;
	size_t n = noise->spent.n, to;
	uint64_t *first;

	if (n)
		qsort(s, n, sizeof *s, spent_order);
	for (size_t from = 0; from < n; from = to) {
		for (to = from + 1; to < n && !block_order(&s[from], &s[to]); to++)
			;
		if (add_block(noise, from, to, parent, arg))
			return VPROF_ERR_NOMEM;
	}
	noise->spent.n = 0;
	noise->call = NULL;
	if (keep_fresh(noise))
		return VPROF_ERR_NOMEM;
	first = VPROF_PUSH(&noise->first);
	if (!first)
		return VPROF_ERR_NOMEM;
	*first = noise->items.n;
	return 0;
}

const struct vprof_noise_item *vprof_noise_items(const struct vprof_noise *noise, size_t i, size_t *n)
{
	*n = (size_t)(noise->first.v[i + 1] - noise->first.v[i]);
	return noise->items.v + noise->first.v[i];
}

int vprof_noise_has_items(const struct vprof_noise *noise)
{
	return noise->items.n > 0;
}
