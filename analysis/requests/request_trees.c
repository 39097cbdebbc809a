/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/request_trees.h"

#include "common/radix.h"

/* Follows the links from each exchange; one that leads to where it came from is dropped. */
static int drop_circles(struct vprof_request_trees *t, struct vprof_causality *c)
{
	uint32_t *seen_from = malloc((c->links.n + 1) * sizeof *seen_from);

	if (!seen_from)
		return VPROF_ERR_NOMEM;
	memset(seen_from, 0xff, c->links.n * sizeof *seen_from); /* VPROF_NONE */
	for (uint32_t i = 0; i < c->links.n; i++)
		for (uint32_t at = i; at != VPROF_NONE && seen_from[at] == VPROF_NONE; at = c->links.v[at].parent) {
			uint32_t parent = c->links.v[at].parent;

			seen_from[at] = i;
			if (parent == VPROF_NONE || seen_from[parent] != i)
				continue;
			c->links.v[at].parent = VPROF_NONE;
			c->links.v[at].how = VPROF_LINK_AMBIGUOUS;
			t->n_circular++;
		}
	free(seen_from);
	return VPROF_OK;
}

static uint64_t begin_of(const struct vprof_exchange *e)
{
	return e->client.request_thread != VPROF_NONE ? e->client.request_from : e->server.request_from;
}

static int list_calls(struct vprof_request_trees *t, const struct vprof_exchanges *x, const struct vprof_causality *c)
{
	size_t n = x->v.n;
	struct vprof_keyed *by_time = malloc((n + 1) * sizeof *by_time);
	int ret = VPROF_ERR_NOMEM;

	if (!by_time || VPROF_RESERVE(&t->first_call, n + 2) || VPROF_RESERVE(&t->calls, n + 1))
		goto out;
	memset(t->first_call.v, 0, (n + 2) * sizeof *t->first_call.v);
	t->first_call.n = n + 1;
	for (uint32_t i = 0; i < n; i++) {
		by_time[i] = (struct vprof_keyed){ begin_of(&x->v.v[i]), i };
		if (c->links.v[i].parent != VPROF_NONE)
			t->first_call.v[c->links.v[i].parent + 1]++;
	}
	if (vprof_radix_sort(by_time, n))
		goto out;
	for (size_t i = 0; i < n; i++)
		t->first_call.v[i + 1] += t->first_call.v[i];
	t->calls.n = t->first_call.v[n];
	for (size_t i = n; i-- > 0;) { /* from the last one on, each takes the last free place of its parent */
		uint32_t parent = c->links.v[by_time[i].item].parent;

		if (parent != VPROF_NONE)
			t->calls.v[--t->first_call.v[parent + 1]] = by_time[i].item;
	}
	/* first_call[p + 1] is now where p's calls begin */
	memmove(t->first_call.v, t->first_call.v + 1, n * sizeof *t->first_call.v);
	t->first_call.v[n] = (uint32_t)t->calls.n;
	ret = VPROF_OK;
out:
	free(by_time);
	return ret;
}

/* A call to which no reply is expected: the last message on its connection, and its caller replied without it. */
static int is_one_way(const struct vprof_exchanges *x, const struct vprof_socket_history *h, uint32_t call,
		      uint32_t parent)
{
	return !h->n_lost && parent != VPROF_NONE && x->v.v[call].flags & VPROF_EXCHANGE_NO_REPLY &&
	       (call + 1 == x->v.n || x->v.v[call + 1].connection != x->v.v[call].connection) &&
	       !(x->v.v[parent].flags & VPROF_EXCHANGE_NO_REPLY);
}

/* The nodes below a root, parents first. */
static int add_nodes(struct vprof_request_trees *t, struct vprof_request *r, const struct vprof_exchanges *x,
		     const struct vprof_socket_history *h, const struct vprof_causality *c)
{
	r->first_node = (uint32_t)t->nodes.n;
	r->confidence = 1;
	r->is_whole = 1;
	for (size_t at = t->nodes.n; at == r->first_node || at < t->nodes.n; at++) {
		uint32_t node = at == r->first_node ? r->root : t->nodes.v[at], n;
		const struct vprof_link *link = &c->links.v[node];

		n = t->first_call.v[node + 1] - t->first_call.v[node];
		if (VPROF_ROOM(&t->nodes, t->nodes.n + n + 1))
			return VPROF_ERR_NOMEM;
		if (at == r->first_node)
			t->nodes.v[t->nodes.n++] = node;
		memcpy(t->nodes.v + t->nodes.n, t->calls.v + t->first_call.v[node], n * sizeof *t->nodes.v);
		t->nodes.n += n;
		r->confidence *= link->completeness * (link->parent != VPROF_NONE ? link->confidence : 1);
		if (r->state == VPROF_REQUEST_CERTAIN &&
		    (link->completeness < VPROF_LINK_CERTAIN || link->confidence < VPROF_LINK_CERTAIN))
			r->state = VPROF_REQUEST_INFERRED;
		if (link->is_tainted)
			r->state = VPROF_REQUEST_AMBIGUOUS;
		r->is_whole &=
			!(x->v.v[node].flags & VPROF_EXCHANGE_GAP) &&
			(!(x->v.v[node].flags & VPROF_EXCHANGE_NO_REPLY) || is_one_way(x, h, node, link->parent));
	}
	r->n_nodes = (uint32_t)t->nodes.n - r->first_node;
	return VPROF_OK;
}

/* Is it where a request begins? What is not, and why, is counted. */
static int is_request(struct vprof_request_trees *t, const struct vprof_exchange *e, const struct vprof_link *link)
{
	if (e->flags & VPROF_EXCHANGE_NO_REQUEST || link->parent != VPROF_NONE)
		return 0;
	t->n_outside += link->how == VPROF_LINK_OUTSIDE;
	t->n_detached += link->how == VPROF_LINK_AMBIGUOUS;
	if (e->server.request_thread == VPROF_NONE || (link->how != VPROF_LINK_NONE && link->how != VPROF_LINK_ORIGIN))
		return 0;
	if (e->flags & VPROF_EXCHANGE_NO_REPLY || e->server.reply_thread == VPROF_NONE) {
		t->n_cut++;
		return 0;
	}
	return 1;
}

static int order(const void *a, const void *b)
{
	const struct vprof_request *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static int find_requests(struct vprof_request_trees *t, const struct vprof_exchanges *x,
			 const struct vprof_causality *c)
{
	for (uint32_t i = 0; i < x->v.n; i++) {
		const struct vprof_exchange *e = &x->v.v[i];
		const struct vprof_exchange_end *end = vprof_exchange_ns(&e->client) ? &e->client : &e->server;
		struct vprof_request *r;

		if (!is_request(t, e, &c->links.v[i]))
			continue;
		r = VPROF_PUSH(&t->requests);
		if (!r)
			return VPROF_ERR_NOMEM;
		r->root = i;
		r->from = end->request_from;
		r->to = r->from + vprof_exchange_ns(end);
	}
	return vprof_array_sort(t->requests.v, t->requests.n, sizeof *t->requests.v, order) ? VPROF_ERR_NOMEM :
											      VPROF_OK;
}

int vprof_request_trees_build(struct vprof_request_trees *t, const struct vprof_exchanges *x,
			      const struct vprof_socket_history *h, struct vprof_causality *c)
{
	int ret;

	memset(t, 0, sizeof *t);
	ret = drop_circles(t, c);
	if (!ret)
		ret = list_calls(t, x, c);
	if (!ret)
		ret = find_requests(t, x, c);
	for (size_t i = 0; i < t->requests.n && !ret; i++)
		ret = add_nodes(t, &t->requests.v[i], x, h, c);
	return ret;
}

void vprof_request_trees_release(struct vprof_request_trees *t)
{
	VPROF_ARRAY_RELEASE(&t->requests);
	VPROF_ARRAY_RELEASE(&t->nodes);
	VPROF_ARRAY_RELEASE(&t->first_call);
	VPROF_ARRAY_RELEASE(&t->calls);
}
