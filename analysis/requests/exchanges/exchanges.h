/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchanges: on each connection a request and its reply, as both ends saw them.
 *
 * Consecutive sends, and consecutive receives, are one message: a request ends where the server begins to reply, and a
 * reply where the server receives on. What the server's end saw decides, since a client may send its next request
 * before the reply is there; where that end was not recorded, the client's decides. The other end's transfers belong to
 * the exchange to which their bytes belong, so neither lost events nor clocks that differ shift one against the other.
 *
 * Requests that a client sends without waiting for replies, and that the server takes with one receive, are told apart
 * where their programs send each request, and each reply, at once: then each send is one.
 *
 * An exchange is at once a call of the client's and a visit to the server.
 */
#ifndef VPROF_REQUESTS_EXCHANGES_H
#define VPROF_REQUESTS_EXCHANGES_H

#include "analysis/requests/exchanges/connections.h"

#define VPROF_EXCHANGE_NO_REQUEST 1u /* a greeting, or its request came before the recording */
#define VPROF_EXCHANGE_NO_REPLY 2u   /* not replied to: yet, or ever */
#define VPROF_EXCHANGE_GAP 4u	     /* bytes are missing that nobody was seen sending or receiving */
#define VPROF_EXCHANGE_SEVERAL 8u    /* requests that were received at once, and could not be told apart */

struct vprof_exchange_end {		   /* what one end saw; all 0 and VPROF_NONE where it was not recorded */
	uint64_t request_from, request_to; /* client: first send began, last one ended; server: receives ended */
	uint64_t reply_from, reply_to;	   /* server: first send began, last one ended; client: receives ended */
	uint32_t request_thread;	   /* of the request's first transfer */
	uint32_t reply_thread;		   /* of the reply's last transfer */
	/* server: for so long the request had been there before its first receive; client: the reply, before its last
	   one. At least. */
	uint32_t request_waited, reply_waited;
	uint64_t reply_left; /* server: when its last packet had left, within its last send or at its end */
};

struct vprof_exchange {
	uint32_t connection;
	uint32_t flags; /* VPROF_EXCHANGE_* */
	uint64_t request_bytes, reply_bytes;
	uint32_t n_request_sends, n_reply_sends; /* by its client, and by its server */
	struct vprof_exchange_end client, server;
};

struct vprof_exchange_span { /* the exchanges that a transfer's bytes are of; first > last: none */
	uint32_t first, last;
};

struct vprof_exchanges {
	VPROF_ARRAY(struct vprof_exchange) v;		     /* by connection, then in their order */
	VPROF_ARRAY(struct vprof_exchange_span) of_transfer; /* of each of the history's transfers */
	uint64_t n_bytes_missing;			     /* of the gaps */
	uint64_t n_greetings;				     /* exchanges without a request */
	uint64_t n_divided; /* requests that were received together with others, and told apart */
};

/* OK or NOMEM; to be released in any case. O(transfers log exchanges of a connection). */
int vprof_exchanges_find(struct vprof_exchanges *x, const struct vprof_socket_history *h,
			 const struct vprof_connections *c);
void vprof_exchanges_release(struct vprof_exchanges *x);

/* What a transfer is to the exchange that its bytes are of. */
enum vprof_part {
	VPROF_PART_NONE,
	VPROF_PART_REQUEST_SENT,
	VPROF_PART_REQUEST_RECEIVED,
	VPROF_PART_REPLY_SENT,
	VPROF_PART_REPLY_RECEIVED
};

static inline enum vprof_part vprof_transfer_part(const struct vprof_connections *c, const struct vprof_transfer *t,
						  const struct vprof_exchange *e)
{
	int is_client = c->v.v[e->connection].client == t->socket;

	if (e->flags & VPROF_EXCHANGE_NO_REQUEST)
		return VPROF_PART_NONE;
	if (t->is_send)
		return is_client ? VPROF_PART_REQUEST_SENT : VPROF_PART_REPLY_SENT;
	return is_client ? VPROF_PART_REPLY_RECEIVED : VPROF_PART_REQUEST_RECEIVED;
}

/* Its server's end was recorded, from the request to the reply. */
static inline int vprof_exchange_is_visit(const struct vprof_exchange *e)
{
	return !(e->flags & (VPROF_EXCHANGE_NO_REQUEST | VPROF_EXCHANGE_NO_REPLY)) &&
	       e->server.request_thread != VPROF_NONE && e->server.reply_thread != VPROF_NONE;
}

/* Did its request come, or wait, before the one ahead of it on its connection was replied to? t: until when. Most
 * servers work on the requests of a connection one after the other, and all reply to them in their order. */
static inline int vprof_exchange_is_behind(const struct vprof_exchanges *x, uint32_t exchange, uint64_t t)
{
	const struct vprof_exchange *e = &x->v.v[exchange], *before = exchange ? e - 1 : e;

	return exchange && before->connection == e->connection && vprof_exchange_is_visit(before) &&
	       before->server.reply_left >= t;
}

/* Of the request, as that end saw it. */
static inline int vprof_transfer_is_first(const struct vprof_transfer *t, const struct vprof_exchange_end *end)
{
	return t->thread == end->request_thread && vprof_transfer_time(t) == end->request_from;
}

/* Of the reply. */
static inline int vprof_transfer_is_last(const struct vprof_transfer *t, const struct vprof_exchange_end *end)
{
	return t->thread == end->reply_thread && t->to == end->reply_to;
}

#endif
