/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/described/unusual_connections.h"

#define RECORD_HEADER 5u /* of TLS: type, version, length */
#define RECORDS_MIN 3u	 /* hello, and what the other end sends of its own accord */

struct end { /* a socket */
	uint64_t n_received, n_headers;
	uint8_t has_ended;	   /* the other end had closed its direction */
	uint8_t has_sent_after;	   /* ... and was sent something */
	uint8_t is_in_record;	   /* the last receive was a header */
	uint8_t is_other_protocol; /* a receive that began no record */
};

static void receive(struct end *e, uint32_t n_bytes)
{
	if (!n_bytes) {
		e->has_ended = 1;
		return;
	}
	e->n_received++;
	if (e->is_in_record)
		e->is_in_record = 0;
	else if (n_bytes == RECORD_HEADER)
		e->n_headers += e->is_in_record = 1;
	else
		e->is_other_protocol = 1;
}

static int is_encrypted(const struct end *ends, uint32_t socket)
{
	const struct end *e = socket == VPROF_NONE ? NULL : &ends[socket];

	return e && !e->is_other_protocol && e->n_headers >= RECORDS_MIN;
}

static uint32_t n_resent(const struct vprof_socket_history *h, uint32_t socket)
{
	return socket == VPROF_NONE ? 0 : h->sockets.v[socket].n_resent;
}

int vprof_unusual_connections_count(struct vprof_unusual_connections *odd, const struct vprof_requests *r)
{
	const struct vprof_socket_history *h = r->history;
	struct end *ends = calloc(h->sockets.n + 1, sizeof *ends);

	*odd = (struct vprof_unusual_connections){ 0 };
	if (!ends)
		return -1;
	for (size_t i = 0; i < h->transfers.n; i++) {
		const struct vprof_transfer *t = &h->transfers.v[i];
		struct end *e = &ends[t->socket];

		if (!t->is_send)
			receive(e, t->n_bytes);
		else if (e->has_ended && t->n_bytes)
			e->has_sent_after = 1;
	}
	for (size_t i = 0; i < r->connections.v.n; i++) {
		const struct vprof_connection *c = &r->connections.v.v[i];
		uint64_t resent = (uint64_t)n_resent(h, c->client) + n_resent(h, c->server);

		odd->n_half_closed += (c->client != VPROF_NONE && ends[c->client].has_sent_after) ||
				      (c->server != VPROF_NONE && ends[c->server].has_sent_after);
		odd->n_encrypted += is_encrypted(ends, c->client) || is_encrypted(ends, c->server);
		odd->n_resent += resent;
		odd->n_resent_connections += resent != 0;
	}
	free(ends);
	return 0;
}
