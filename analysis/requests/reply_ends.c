/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/reply_ends.h"

#define APART_LEAST 0.7 /* where bytes and end come apart, of what follows either that which follows the end */
#define ALL_LEAST 0.9	/* of all that follows either */
#define TESTS_RIGHT 0.5 /* as if one more had followed the end half of the time: four of four are enough */
#define TESTS_SEEN 1.0

enum part { PART_NONE, PART_BYTES, PART_END, PART_BOTH }; /* both: the end came right after the bytes */

struct last { /* what a thread received last, if it has sent nothing since */
	enum part part;
	uint32_t call;
};

struct count { /* what was sent right after one of these parts of a reply */
	uint64_t n_after[PART_BOTH + 1];
};

struct search {
	const struct vprof_socket_history *h;
	const struct vprof_connections *connections;
	const struct vprof_exchanges *x;
	const struct vprof_agreement *a;
	unsigned char *at_end;	  /* first: calls after whose reply their connection ends */
	uint32_t *last_call;	  /* of each connection: whose reply was received last; VPROF_NONE */
	unsigned char *is_parted; /* of each call: its reply was received in several parts */
	struct last *threads;
	struct count (*programs)[2]; /* called: replies received in one part; in several */
};

/* The call whose reply a transfer ends or adds to; VPROF_NONE. Notes what its connection received last. */
static uint32_t call_of(struct search *s, size_t transfer, enum part *part)
{
	const struct vprof_transfer *t = &s->h->transfers.v[transfer];
	struct vprof_exchange_span span = s->x->of_transfer.v[transfer];
	uint32_t connection = s->connections->of_socket.v[t->socket];
	const struct vprof_exchange *e;

	if (connection == VPROF_NONE || s->connections->v.v[connection].client != t->socket)
		return VPROF_NONE;
	if (t->is_send) {
		s->last_call[connection] = VPROF_NONE; /* what ends after it is another's */
		return VPROF_NONE;
	}
	if (!t->n_bytes) {
		*part = PART_END;
		return s->last_call[connection];
	}
	if (span.first > span.last)
		return VPROF_NONE;
	e = &s->x->v.v[span.last];
	if (e->flags & (VPROF_EXCHANGE_NO_REQUEST | VPROF_EXCHANGE_NO_REPLY) || e->client.request_thread == VPROF_NONE)
		return VPROF_NONE;
	*part = PART_BYTES;
	s->last_call[connection] = span.last;
	return span.last;
}

static void forget_calls(struct search *s)
{
	memset(s->last_call, 0xff, s->connections->v.n * sizeof *s->last_call); /* VPROF_NONE */
}

/* Which calls' connections end after their replies, and which replies come in parts. */
static void find_ends(struct search *s)
{
	forget_calls(s);
	for (size_t i = 0; i < s->h->transfers.n; i++) {
		const struct vprof_transfer *t = &s->h->transfers.v[i];
		enum part part = PART_NONE;
		uint32_t call = call_of(s, i, &part);

		if (call == VPROF_NONE || vprof_agreement_is_synchronous(s->a, t->thread))
			continue;
		if (part == PART_END)
			s->at_end[call] = t->thread == s->x->v.v[call].client.reply_thread;
		else if (vprof_transfer_time(t) != s->x->v.v[call].client.reply_from)
			s->is_parted[call] = 1;
	}
}

/* A reply, or a call on a connection that is used again; on a new one the first is sent when it has been made. A reply
 * to a request that waited behind another may follow from that one's. */
static int follows_from_something(const struct search *s, size_t transfer, int may_be_call)
{
	const struct vprof_transfer *t = &s->h->transfers.v[transfer];
	struct vprof_exchange_span span = s->x->of_transfer.v[transfer];
	const struct vprof_exchange *e;

	if (!t->is_send || span.first > span.last)
		return 0;
	e = &s->x->v.v[span.first];
	switch (vprof_transfer_part(s->connections, t, e)) {
	case VPROF_PART_REPLY_SENT:
		return !vprof_exchange_is_behind(s->x, span.first, e->server.request_from);
	case VPROF_PART_REQUEST_SENT:
		return may_be_call && span.first && e[-1].connection == e->connection;
	default:
		return 0;
	}
}

/* By whom it calls, where that was recorded, since one program may call others that end replies otherwise. */
static struct count *count_of(const struct search *s, uint32_t call)
{
	const struct vprof_exchange *e = &s->x->v.v[call];
	uint32_t thread = e->server.request_thread == VPROF_NONE ? e->client.request_thread : e->server.request_thread;

	return &s->programs[s->a->threads[thread].program][s->is_parted[call]];
}

static void count_sent(struct search *s)
{
	forget_calls(s);
	for (size_t i = 0; i < s->h->transfers.n; i++) {
		const struct vprof_transfer *t = &s->h->transfers.v[i];
		struct last *last = &s->threads[t->thread];
		enum part part = PART_NONE;
		uint32_t call = call_of(s, i, &part);
		int is_with_bytes = part == PART_END && last->part == PART_BYTES && last->call == call;

		if (last->part != PART_NONE && follows_from_something(s, i, last->part == PART_BYTES))
			count_of(s, last->call)->n_after[last->part]++;
		if (call == VPROF_NONE || !s->at_end[call])
			part = PART_NONE;
		else if (is_with_bytes)
			part = PART_BOTH;
		*last = (struct last){ part, call };
	}
}

/* Does the program that made the call wait for the end? */
static int waits(const struct search *s, uint32_t call)
{
	const struct count *c = count_of(s, call);
	double n_bytes = (double)c->n_after[PART_BYTES], n_end = (double)c->n_after[PART_END],
	       n_all_ends = n_end + (double)c->n_after[PART_BOTH];

	return n_end > 0 && n_end >= APART_LEAST * (n_end + n_bytes) &&
	       n_all_ends + TESTS_RIGHT >= ALL_LEAST * (n_all_ends + n_bytes + TESTS_SEEN);
}

int vprof_reply_ends_find(unsigned char *at_end, const struct vprof_socket_history *h,
			  const struct vprof_connections *connections, const struct vprof_exchanges *x,
			  const struct vprof_agreement *a)
{
	struct search s = { .h = h, .connections = connections, .x = x, .a = a, .at_end = at_end };
	int ret = VPROF_ERR_NOMEM;

	memset(at_end, 0, x->v.n);
	s.last_call = malloc((connections->v.n + 1) * sizeof *s.last_call);
	s.is_parted = calloc(x->v.n + 1, 1);
	s.threads = calloc(h->threads.n + 1, sizeof *s.threads);
	s.programs = calloc(h->processes.n + 1, sizeof *s.programs);
	if (s.last_call && s.is_parted && s.threads && s.programs) {
		find_ends(&s);
		count_sent(&s);
		for (uint32_t i = 0; i < x->v.n; i++)
			at_end[i] = at_end[i] && waits(&s, i);
		ret = VPROF_OK;
	}
	free(s.last_call);
	free(s.is_parted);
	free(s.threads);
	free(s.programs);
	return ret;
}
