/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/socket_clocks.h"

#include "common/search.h"

#define SURE_BYTES (UINT64_C(1) << 31)

/* What one call sent between hosts, or received. */
struct passing {
	uint64_t stream, end, time; /* where its last byte is; by its host's clock */
	uint32_t host;
	uint32_t n_received; /* 0: it was sent */
};

struct passings {
	VPROF_ARRAY(struct passing) v; /* by stream and place; who receives a byte comes after who sent it */
};

static int order_passings(const void *a, const void *b)
{
	const struct passing *x = a, *y = b;

	return x->stream != y->stream ? vprof_u64_order(x->stream, y->stream) :
	       x->end != y->end	      ? vprof_u64_order(x->end, y->end) :
					(x->n_received != 0) - (y->n_received != 0);
}

/* Both ends count alike but for multiples of 2^32: is it known which? */
static int has_sure_positions(const struct vprof_socket_history *h, const struct vprof_connection *c, uint64_t n_bytes)
{
	return n_bytes < SURE_BYTES ||
	       (h->sockets.v[c->client].established_ns && h->sockets.v[c->server].established_ns && !h->n_lost);
}

/* Leaves out the streams whose positions may be off. */
static void keep_sure(struct passings *all, const struct vprof_socket_history *h, const struct vprof_connections *c)
{
	struct passing *v = all->v.v;
	size_t kept = 0, next;

	for (size_t i = 0; i < all->v.n; i = next) {
		for (next = i + 1; next < all->v.n && v[next].stream == v[i].stream;)
			next++;
		if (has_sure_positions(h, &c->v.v[v[i].stream / 2], v[next - 1].end - v[i].end)) {
			memmove(v + kept, v + i, (next - i) * sizeof *v);
			kept += next - i;
		}
	}
	all->v.n = kept;
}

static int gather_passings(struct passings *all, const struct vprof_socket_history *h,
			   const struct vprof_connections *c)
{
	for (size_t i = 0; i < h->transfers.n && h->hosts.n > 1; i++) {
		const struct vprof_transfer *t = &h->transfers.v[i];
		struct passing p = { .time = vprof_transfer_time(t),
				     .host = h->sockets.v[t->socket].host,
				     .n_received = t->is_send ? 0 : t->n_bytes },
			       *added;

		if (!vprof_connection_is_between_hosts(&c->v.v[c->of_socket.v[t->socket]], h) ||
		    !vprof_connections_place(c, t, &p.stream, &p.end))
			continue;
		p.end += t->n_bytes;
		added = VPROF_PUSH(&all->v);
		if (!added)
			return VPROF_ERR_NOMEM;
		*added = p;
	}
	if (vprof_array_sort(all->v.v, all->v.n, sizeof *all->v.v, order_passings))
		return VPROF_ERR_NOMEM;
	keep_sure(all, h, c);
	return VPROF_OK;
}

typedef VPROF_ARRAY(struct vprof_host_message) messages;

/* Each send with the receive that had its last byte, if that is known. */
static int pair_messages(messages *all, const struct passings *passings)
{
	const struct passing *received = NULL;

	for (size_t i = passings->v.n; i-- > 0;) {
		const struct passing *p = &passings->v.v[i];
		struct vprof_host_message *m;

		if (p->n_received)
			received = p;
		if (p->n_received || !received || received->stream != p->stream ||
		    received->end - p->end >= received->n_received)
			continue;
		m = VPROF_PUSH(all);
		if (!m)
			return VPROF_ERR_NOMEM;
		*m = (struct vprof_host_message){ p->host, received->host, p->time, received->time };
	}
	return VPROF_OK;
}

int vprof_socket_clocks_find(struct vprof_host_clocks *clocks, const struct vprof_socket_history *h,
			     const struct vprof_connections *c)
{
	struct passings passings = { 0 };
	messages all = { 0 };
	int ret = gather_passings(&passings, h, c);

	memset(clocks, 0, sizeof *clocks);
	if (!ret)
		ret = pair_messages(&all, &passings);
	VPROF_ARRAY_RELEASE(&passings.v);
	if (!ret)
		ret = vprof_host_clocks_settle(clocks, h->hosts.n, all.v, all.n);
	VPROF_ARRAY_RELEASE(&all);
	return ret;
}
