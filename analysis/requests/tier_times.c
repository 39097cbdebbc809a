/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/tier_times.h"

#include "common/search.h"

struct span {
	uint64_t from, to;
	uint32_t exchange;
};

struct dividing {
	const struct vprof_exchanges *x;
	const struct vprof_request_trees *t;
	const struct vprof_tiers *tiers;
	struct vprof_tier_times *times;
	double *weight;	  /* of each exchange: of the request's time for each of its own */
	double *ns;	  /* of the request at hand, by tier */
	uint32_t *visits; /* ... */
	VPROF_ARRAY(uint32_t) touched;
	VPROF_ARRAY(struct span) calls;
};

static int order(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->to != y->to ? vprof_u64_order(y->to, x->to) : vprof_u64_order(x->from, y->from);
}

static int add(struct dividing *d, uint32_t tier, double ns, uint32_t n_visits)
{
	if (ns == 0 && !n_visits)
		return VPROF_OK;
	if (!d->visits[tier] && d->ns[tier] == 0) {
		uint32_t *touched = VPROF_PUSH(&d->touched);

		if (!touched)
			return VPROF_ERR_NOMEM;
		*touched = tier;
	}
	d->ns[tier] += ns;
	d->visits[tier] += n_visits;
	return VPROF_OK;
}

/* The calls of a visit, cut to its time. */
static int list_calls(struct dividing *d, uint32_t visit)
{
	const struct vprof_exchange_end *own = &d->x->v.v[visit].server;

	d->calls.n = 0;
	for (uint32_t i = d->t->first_call.v[visit]; i < d->t->first_call.v[visit + 1]; i++) {
		uint32_t call = d->t->calls.v[i];
		const struct vprof_exchange_end *c = &d->x->v.v[call].client;
		struct span span = { c->request_from, c->request_from + vprof_exchange_ns(c), call }, *added;

		d->weight[call] = 0;
		span.from = span.from < own->request_from ? own->request_from : span.from;
		span.to = span.to > own->reply_to ? own->reply_to : span.to;
		if (span.from >= span.to)
			continue;
		added = VPROF_PUSH(&d->calls);
		if (!added)
			return VPROF_ERR_NOMEM;
		*added = span;
	}
	return vprof_array_sort(d->calls.v, d->calls.n, sizeof *d->calls.v, order) ? VPROF_ERR_NOMEM : VPROF_OK;
}

/* Gives each call the part of its time in which no call that ends later is under way. Returns what they have
 * together. */
static uint64_t weigh_calls(struct dividing *d, double weight)
{
	uint64_t covered_from = UINT64_MAX, sum = 0;

	for (size_t i = 0; i < d->calls.n; i++) {
		const struct span *s = &d->calls.v[i];
		uint64_t end = s->to < covered_from ? s->to : covered_from;
		uint64_t whole = vprof_exchange_ns(&d->x->v.v[s->exchange].client),
			 part = end > s->from ? end - s->from : 0;

		covered_from = s->from < covered_from ? s->from : covered_from;
		d->weight[s->exchange] = weight * (double)part / (double)whole;
		sum += part;
	}
	return sum;
}

/* A reply may come while its send is under way, which is the visit's time. */
struct vprof_queued vprof_queued_of(const struct vprof_exchange *e)
{
	uint64_t called = vprof_exchange_ns(&e->client), visited = vprof_exchange_ns(&e->server);
	uint64_t transit = called > visited ? called - visited : 0, sending = e->server.reply_to - e->server.reply_left;
	struct vprof_queued q = { e->server.request_waited, 0 };

	if (!called || !visited) /* how long the reply was under way is not known then */
		return q;
	q.request = q.request < transit ? q.request : transit;
	q.reply = e->client.reply_waited > sending ? e->client.reply_waited - sending : 0;
	q.reply = q.reply < transit - q.request ? q.reply : transit - q.request;
	return q;
}

static int divide_node(struct dividing *d, uint32_t node)
{
	const struct vprof_exchange *e = &d->x->v.v[node];
	double weight = d->weight[node], called = (double)vprof_exchange_ns(&e->client);
	double visited = (double)vprof_exchange_ns(&e->server);
	struct vprof_queued q = vprof_queued_of(e);
	double queued = (double)(q.request + q.reply);
	uint32_t tier = d->tiers->of_connection.v[e->connection], transit = (uint32_t)d->tiers->names.kept.n;

	if (!vprof_exchange_ns(&e->server)) /* nobody saw it there, or it took no time */
		return add(d, tier, weight * called, 1);
	if (list_calls(d, node))
		return VPROF_ERR_NOMEM;
	if (called > visited &&
	    (add(d, transit, weight * (called - visited - queued), 0) || add(d, transit + 1, weight * queued, 0)))
		return VPROF_ERR_NOMEM;
	if (called > 0 && called < visited)
		weight *= called / visited;
	return add(d, tier, weight * (visited - (double)weigh_calls(d, weight)), 1);
}

static int divide_request(struct dividing *d, uint32_t number)
{
	const struct vprof_request *r = &d->t->requests.v[number];
	int ret = VPROF_OK;

	d->touched.n = 0;
	d->weight[r->root] = 1;
	for (uint32_t i = 0; i < r->n_nodes && !ret; i++)
		ret = divide_node(d, d->t->nodes.v[r->first_node + i]);
	for (size_t i = 0; i < d->touched.n && !ret; i++) {
		uint32_t tier = d->touched.v[i];
		struct vprof_tier_time *time = VPROF_PUSH(&d->times->v);

		if (!time)
			return VPROF_ERR_NOMEM;
		*time = (struct vprof_tier_time){ number, tier, d->visits[tier], d->ns[tier] };
		d->visits[tier] = 0;
		d->ns[tier] = 0;
	}
	return ret;
}

int vprof_tier_times_find(struct vprof_tier_times *times, const struct vprof_exchanges *x,
			  const struct vprof_request_trees *t, const struct vprof_tiers *tiers)
{
	struct dividing d = { .x = x, .t = t, .tiers = tiers, .times = times };
	int ret = VPROF_ERR_NOMEM;

	memset(times, 0, sizeof *times);
	d.weight = calloc(x->v.n + 1, sizeof *d.weight);
	d.ns = calloc(tiers->names.kept.n + 2, sizeof *d.ns);
	d.visits = calloc(tiers->names.kept.n + 2, sizeof *d.visits);
	if (d.weight && d.ns && d.visits)
		ret = VPROF_OK;
	for (uint32_t i = 0; i < t->requests.n && !ret; i++)
		ret = divide_request(&d, i);
	free(d.weight);
	free(d.ns);
	free(d.visits);
	VPROF_ARRAY_RELEASE(&d.touched);
	VPROF_ARRAY_RELEASE(&d.calls);
	return ret;
}

void vprof_tier_times_release(struct vprof_tier_times *times)
{
	VPROF_ARRAY_RELEASE(&times->v);
}
