/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a transfer is to the exchange that its bytes are of. */
#ifndef VPROF_REQUESTS_TRANSFER_PARTS_H
#define VPROF_REQUESTS_TRANSFER_PARTS_H

#include "analysis/requests/exchanges.h"

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
