/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/input/transfers.h"

#include "analysis/latency/history/latency_history.h"
#include "common/hash/hash_index.h"
#include "trace/kernel_events.h"

struct served { /* a socket */
	uint64_t cookie;
	int is_server;
};

struct reading {
	const struct vprof_trace *trace;
	struct vprof_transfers *out;
	VPROF_ARRAY(struct served) sockets;
	struct vprof_hash_index by_cookie;
};

static uint64_t to_ns(const struct vprof_trace *trace, uint64_t ticks)
{
	return vprof_latency_time(vprof_trace_ns(trace, ticks));
}

/* NULL without memory. */
static struct served *socket_of(struct reading *g, uint64_t cookie)
{
	uint64_t hash = vprof_mix(cookie);
	struct served *s;
	size_t at;

	if (vprof_hash_index_room(&g->by_cookie, 1))
		return NULL;
	VPROF_HASH_EACH(&g->by_cookie, hash, at, i)
	if (g->sockets.v[i].cookie == cookie)
		return &g->sockets.v[i];
	s = VPROF_PUSH(&g->sockets);
	if (!s)
		return NULL;
	s->cookie = cookie;
	vprof_hash_index_put(&g->by_cookie, at, hash, (uint32_t)g->sockets.n - 1);
	return s;
}

static int on_event(struct reading *g, const struct vprof_kernel_event *e)
{
	struct vprof_transfer *t;
	struct served *s;

	if (e->kind != VP_KIND_KERNEL_SOCKET && e->kind != VP_KIND_KERNEL_TRANSFER)
		return VPROF_OK;
	s = socket_of(g, e->kind == VP_KIND_KERNEL_SOCKET ? e->socket.cookie : e->transfer.cookie);
	if (!s)
		return VPROF_ERR_NOMEM;
	if (e->kind == VP_KIND_KERNEL_SOCKET) {
		s->is_server |= (e->socket.flags & VP_SOCKET_SERVER) != 0;
		return VPROF_OK;
	}
	if (!s->is_server)
		return VPROF_OK;
	t = VPROF_PUSH(&g->out->v);
	if (!t)
		return VPROF_ERR_NOMEM;
	*t = (struct vprof_transfer){ .from = to_ns(g->trace, e->transfer.from),
				      .t = to_ns(g->trace, e->t),
				      .connection = e->transfer.cookie,
				      .tid = e->transfer.tid,
				      .is_send = (e->transfer.flags & VP_TRANSFER_SEND) != 0,
				      .bytes = e->transfer.bytes };
	return VPROF_OK;
}

int vprof_transfers_read(struct vprof_transfers *out, const struct vprof_trace *trace, struct vprof_error *err)
{
	struct reading g = { .trace = trace, .out = out };
	struct vprof_kernel_stream *stream = NULL;
	struct vprof_kernel_event e;
	int ret = vprof_kernel_stream_open(&stream, trace, err);

	while (!ret && vprof_kernel_stream_next(stream, &e))
		ret = on_event(&g, &e);
	vprof_kernel_stream_close(stream);
	VPROF_ARRAY_RELEASE(&g.sockets);
	vprof_hash_index_release(&g.by_cookie);
	return ret == VPROF_ERR_NOMEM ? vprof_error_no_memory(err) : ret;
}

void vprof_transfers_release(struct vprof_transfers *transfers)
{
	VPROF_ARRAY_RELEASE(&transfers->v);
}
