/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/reply_ends.h"

#define WAITS_LEAST 0.9 /* of replies that follow bytes or the end, those that follow the end */

enum part { PART_NONE, PART_BYTES, PART_END };

struct last { /* what a thread received last, if it has sent nothing since */
	enum part part;
	uint32_t call;
};

struct count { /* replies that were sent right after bytes, and right after the end, of a reply to a call */
	uint64_t n_bytes, n_end;
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
	struct count (*programs)[2]; /* replies received at once; in parts */
};

/* The call whose reply a transfer ends or adds to; VPROF_NONE. Notes what its connection received last. */
static uint32_t call_of(struct search *s, size_t transfer, enum part *part)
{
	const struct vprof_transfer *t = &s->h->transfers.v[transfer];
	struct vprof_exchange_span span = s->x->of_transfer.v[transfer];
	uint32_t connection = s->connections->of_socket.v[t->socket];
	const struct vprof_exchange *e;

	if (t->is_send || connection == VPROF_NONE || s->connections->v.v[connection].client != t->socket)
		return VPROF_NONE;
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
			s->at_end[call] = 1;
		else if (vprof_transfer_time(t) != s->x->v.v[call].client.reply_from)
			s->is_parted[call] = 1;
	}
}

static int is_reply(const struct search *s, size_t transfer)
{
	const struct vprof_transfer *t = &s->h->transfers.v[transfer];
	struct vprof_exchange_span span = s->x->of_transfer.v[transfer];

	return t->is_send && span.first <= span.last &&
	       vprof_transfer_part(s->connections, t, &s->x->v.v[span.first]) == VPROF_PART_REPLY_SENT;
}

static void count_replies(struct search *s)
{
	forget_calls(s);
	for (size_t i = 0; i < s->h->transfers.n; i++) {
		const struct vprof_transfer *t = &s->h->transfers.v[i];
		struct last *last = &s->threads[t->thread];
		enum part part = PART_NONE;
		uint32_t call = call_of(s, i, &part);

		if (last->part != PART_NONE && is_reply(s, i)) {
			struct count *c = &s->programs[s->a->threads[t->thread].program][s->is_parted[last->call]];

			c->n_bytes += last->part == PART_BYTES;
			c->n_end += last->part == PART_END;
		}
		*last = (struct last){ call != VPROF_NONE && s->at_end[call] ? part : PART_NONE, call };
	}
}

/* Does the program that made the call wait for the end? */
static int waits(const struct search *s, uint32_t call)
{
	uint32_t program = s->a->threads[s->x->v.v[call].client.request_thread].program;
	const struct count *c = &s->programs[program][s->is_parted[call]];

	return c->n_end && (double)c->n_end >= WAITS_LEAST * (double)(c->n_end + c->n_bytes);
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
		count_replies(&s);
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
