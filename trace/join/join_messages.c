/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/join/join_messages.h"

#include <math.h>

#include "common/error.h"
#include "common/search.h"

#define FARTHEST_NS 4e18 /* what is damaged may say more */

struct move {			      /* a call that moved data; by channel, direction and time */
	uint64_t channel, begin, end; /* ns by its host's clock */
	uint64_t n_bytes;	      /* in sum, up to and with this one, once they are added up */
	uint32_t host, thread;
	uint8_t is_receive, is_begin; /* is_begin: of the connection, told by who asked for it */
	uint8_t is_rival;	      /* another thread moved data at the same time */
};

typedef VPROF_ARRAY(struct move) moves;

static int order_moves(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	if (x->channel != y->channel)
		return vprof_u64_order(x->channel, y->channel);
	if (x->is_begin != y->is_begin)
		return x->is_begin ? -1 : 1;
	if (x->is_receive != y->is_receive)
		return x->is_receive ? 1 : -1;
	return x->begin != y->begin ? vprof_u64_order(x->begin, y->begin) : vprof_u64_order(x->end, y->end);
}

static uint64_t ns_of(const struct vp_file_header *h, uint64_t t)
{
	double ns = (double)(int64_t)(t - h->start_ticks) * h->ns_per_tick;

	return h->start_ns + (uint64_t)llround(fmin(fmax(ns, -FARTHEST_NS), FARTHEST_NS));
}

static int add_thread(moves *all, const struct vprof_trace *trace, uint32_t host, uint32_t thread)
{
	struct vprof_trace_cursor cursor;
	const struct vp_unit *u;
	uint32_t n;

	vprof_trace_cursor_init(&cursor, &trace->threads[thread]);
	while ((u = vprof_trace_next(&cursor, &n))) {
		int is_receive = VP_CODE(u->w) == VP_KIND_RECEIVE;
		uint64_t took = VP_PAYLOAD(u->w);
		struct move *m;

		if ((!is_receive && VP_CODE(u->w) != VP_KIND_SEND) || !VP_CHANNEL_IS_BETWEEN_HOSTS(u[1].t))
			continue;
		m = VPROF_PUSH(all);
		if (!m) {
			vprof_trace_cursor_release(&cursor);
			return VPROF_ERR_NOMEM;
		}
		*m = (struct move){ .channel = u[1].t,
				    .begin = ns_of(&trace->header, is_receive ? u->t - took : u->t),
				    .end = ns_of(&trace->header, is_receive ? u->t : u->t + took),
				    .n_bytes = u[1].w,
				    .host = host,
				    .thread = thread,
				    .is_receive = (uint8_t)is_receive,
				    .is_begin = !is_receive && !u[1].w };
	}
	return VPROF_OK;
}

/* The latest end of a move, and that of another thread. */
struct latest {
	uint64_t first, second;
	uint32_t thread; /* of the first */
};

static void put(struct latest *l, const struct move *m)
{
	if (m->thread == l->thread || !l->first) {
		l->first = m->end > l->first ? m->end : l->first;
		l->thread = m->thread;
	} else if (m->end > l->first) {
		l->second = l->first;
		l->first = m->end;
		l->thread = m->thread;
	} else if (m->end > l->second) {
		l->second = m->end;
	}
}

/* Adds the amounts of [from, to) up. 0: they are not all of one host, or damaged. */
static int add_up(struct move *v, size_t from, size_t to)
{
	struct latest latest = { 0 };
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++) {
		if (v[i].host != v[from].host || __builtin_add_overflow(sum, v[i].n_bytes, &sum))
			return 0;
		v[i].n_bytes = sum;
		if (i > from && v[i].begin <= (v[i].thread == latest.thread ? latest.second : latest.first))
			v[i].is_rival = v[i - 1].is_rival = 1;
		put(&latest, &v[i]);
	}
	return 1;
}

/* Sends [from, middle), receives [middle, to): each receive with the call that sent its last byte. */
static int add_messages(struct vprof_join_messages *m, const struct move *v, size_t from, size_t middle, size_t to)
{
	size_t send = from;

	for (size_t i = middle; i < to; i++) {
		struct vprof_host_message *message;

		while (send < middle && v[send].n_bytes < v[i].n_bytes)
			send++;
		if (send == middle)
			break;
		if (!v[i].n_bytes || v[i].is_rival || v[send].is_rival)
			continue; /* the end of the stream, or nobody knows which call moved it */
		message = VPROF_PUSH(&m->v);
		if (!message)
			return VPROF_ERR_NOMEM;
		*message = (struct vprof_host_message){ v[send].host, v[i].host, v[send].begin, v[i].end };
	}
	return VPROF_OK;
}

/* Is all of the connection recorded? Whoever asked for it says so, perhaps twice, before it sends or receives. */
static int is_begun(const struct move *v, size_t from, size_t begins, size_t middle)
{
	const struct move *asked = &v[begins > from ? begins - 1 : from],
			  *first = v[begins].host == asked->host ? &v[begins] : &v[middle];

	return begins > from && v[from].host == asked->host && first->host == asked->host &&
	       asked->begin <= first->begin;
}

/* v[from .. to): one way of a connection, the begins of connections first. */
static int add_channel(struct vprof_join_messages *m, struct move *v, size_t from, size_t to, int is_lossy)
{
	size_t begins = from, middle;
	uint64_t *between;

	while (begins < to && v[begins].is_begin)
		begins++;
	for (middle = begins; middle < to && !v[middle].is_receive;)
		middle++;
	if (middle == begins || middle == to)
		return VPROF_OK; /* one end is recorded */
	if (!add_up(v, begins, middle) || !add_up(v, middle, to)) {
		m->n_several++;
		return VPROF_OK;
	}
	if (v[begins].host == v[middle].host)
		return VPROF_OK;
	between = VPROF_PUSH(&m->between);
	if (!between)
		return VPROF_ERR_NOMEM;
	*between = v[from].channel;
	if (!is_begun(v, from, begins, middle)) {
		m->n_older++;
		return VPROF_OK;
	}
	if (v[to - 1].n_bytes > v[middle - 1].n_bytes || (is_lossy && v[to - 1].n_bytes != v[middle - 1].n_bytes)) {
		m->n_unequal++;
		return VPROF_OK;
	}
	return add_messages(m, v, begins, middle, to);
}

int vprof_join_messages_find(struct vprof_join_messages *m, struct vprof_trace *const *traces, size_t n)
{
	moves all = { 0 };
	int is_lossy = 0, rc = VPROF_OK;

	*m = (struct vprof_join_messages){ 0 };
	for (size_t host = 0; host < n && !rc; host++) {
		is_lossy |= traces[host]->n_dropped || traces[host]->is_cut || traces[host]->n_bytes_ignored;
		for (size_t i = 0; i < traces[host]->n_threads && !rc; i++)
			rc = add_thread(&all, traces[host], (uint32_t)host, (uint32_t)i);
	}
	if (!rc && vprof_array_sort(all.v, all.n, sizeof *all.v, order_moves))
		rc = VPROF_ERR_NOMEM;
	for (size_t from = 0, to; from < all.n && !rc; from = to) {
		for (to = from + 1; to < all.n && all.v[to].channel == all.v[from].channel;)
			to++;
		rc = add_channel(m, all.v, from, to, is_lossy);
	}
	VPROF_ARRAY_RELEASE(&all);
	return rc;
}

void vprof_join_messages_release(struct vprof_join_messages *m)
{
	VPROF_ARRAY_RELEASE(&m->v);
	VPROF_ARRAY_RELEASE(&m->between);
}
