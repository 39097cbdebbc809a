/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/batches.h"

#include <math.h>

#include "analysis/requests/message_lengths.h"
#include "common/search.h"

#define LENGTHS_LEAST 0.9 /* of tests by known calls that lengths decide right, from here on they are used */
#define RIVALS_MOST 8	  /* known calls that are looked at for one of the same program */
#define PASSES_MOST 100	  /* a chain of conclusions is mostly drawn in a few */
#define FIT_ENOUGH 3.0	  /* logarithm: 20 times as likely as any other */
#define TESTS_RIGHT 0.5	  /* as if one test had been right half of the time */
#define TESTS_SEEN 1.0

struct message {
	uint32_t exchange;
	uint8_t is_call; /* of the thread's: which visit it is for is to be found; else the exchange is the visit */
};

struct list {
	struct message v[VPROF_BATCH_MOST];
	uint8_t n;
};

struct turn { /* a batch while it goes on */
	/* pending: received in earlier turns, and led to nothing yet */
	struct list pending, received, sent;
	uint8_t is_overfull;
};

struct batch {
	uint32_t thread, first; /* first: of its messages, those received before those sent */
	uint8_t n_received, n_sent;
};

struct connect { /* a connection was asked for */
	uint64_t t;
	uint32_t exchange; /* the first one on it */
};

struct matching {
	struct vprof_batches *b;
	const struct vprof_socket_history *h;
	const struct vprof_connections *connections;
	const struct vprof_exchanges *x;
	const struct vprof_agreement *a;
	struct turn *turns;	/* of each thread */
	uint32_t *last_reply;	/* of each connection: exchange of which its client received last; VPROF_NONE */
	unsigned char *is_sent; /* calls: when their connection was asked for */
	VPROF_ARRAY(struct batch) batches;
	VPROF_ARRAY(struct message) messages;
	VPROF_ARRAY(struct connect) connects;
	int has_changed, is_out_of_memory;
};

/* A set of visits, while it is made. */
struct set {
	uint32_t v[VPROF_BATCH_MOST];
	uint32_t n; /* VPROF_CANDIDATES_UNKNOWN: any */
};

static uint8_t place_of(const struct list *l, uint32_t exchange, int is_call)
{
	uint8_t i = 0;

	while (i < l->n && (l->v[i].exchange != exchange || l->v[i].is_call != is_call))
		i++;
	return i;
}

static void take_out(struct list *l, uint8_t at)
{
	if (at >= l->n)
		return;
	l->n--;
	memmove(l->v + at, l->v + at + 1, (size_t)(l->n - at) * sizeof *l->v);
}

static void add(struct turn *t, struct list *l, uint32_t exchange, int is_call)
{
	take_out(l, place_of(l, exchange, is_call));
	if (l->n == VPROF_BATCH_MOST)
		t->is_overfull = 1;
	else
		l->v[l->n++] = (struct message){ exchange, (uint8_t)is_call };
}

/* Replies to requests that were received are their own reason. */
static void drop_direct(struct list *received, struct list *sent)
{
	for (uint8_t i = received->n; i-- > 0;) {
		uint8_t reply = place_of(sent, received->v[i].exchange, 0);

		if (received->v[i].is_call || reply == sent->n)
			continue;
		take_out(received, i);
		take_out(sent, reply);
	}
}

/* Threads work on what they received last: what came before and led to nothing is pending. More sent than received is
 * for what is pending, if that is all. Returns 0 if the reasons of what was sent are not known. */
static int settle(struct turn *t)
{
	drop_direct(&t->received, &t->sent);
	drop_direct(&t->pending, &t->sent);
	while (t->received.n > t->sent.n) {
		if (t->pending.n == VPROF_BATCH_MOST)
			take_out(&t->pending, 0);
		add(t, &t->pending, t->received.v[0].exchange, t->received.v[0].is_call);
		take_out(&t->received, 0);
	}
	if (t->received.n < t->sent.n && t->received.n + t->pending.n == t->sent.n) {
		for (uint8_t i = 0; i < t->pending.n; i++)
			add(t, &t->received, t->pending.v[i].exchange, t->pending.v[i].is_call);
		t->pending.n = 0;
	}
	return t->sent.n && !t->is_overfull && (t->received.n == t->sent.n || (t->received.n == 1 && !t->pending.n));
}

static int end_turn(struct matching *m, uint32_t thread)
{
	struct turn *t = &m->turns[thread];
	struct batch *batch;

	if (settle(t)) {
		batch = VPROF_PUSH(&m->batches);
		if (!batch || VPROF_ROOM(&m->messages, m->messages.n + t->received.n + t->sent.n))
			return VPROF_ERR_NOMEM;
		*batch = (struct batch){ thread, (uint32_t)m->messages.n, t->received.n, t->sent.n };
		memcpy(m->messages.v + m->messages.n, t->received.v, t->received.n * sizeof *t->received.v);
		m->messages.n += t->received.n;
		memcpy(m->messages.v + m->messages.n, t->sent.v, t->sent.n * sizeof *t->sent.v);
		m->messages.n += t->sent.n;
	}
	t->received.n = t->sent.n = t->is_overfull = 0;
	return VPROF_OK;
}

static int receive(struct matching *m, uint32_t thread, uint32_t exchange, int is_call)
{
	struct turn *t = &m->turns[thread];

	if (t->sent.n && end_turn(m, thread))
		return VPROF_ERR_NOMEM;
	take_out(&t->pending, place_of(&t->pending, exchange, is_call));
	add(t, &t->received, exchange, is_call);
	return VPROF_OK;
}

/* The end of a reply whose length nothing else tells. Where that reply led to something before, it is the end of an
 * idle connection. */
static int receive_end(struct matching *m, const struct vprof_transfer *t)
{
	uint32_t call = m->last_reply[m->connections->of_socket.v[t->socket]];
	const struct turn *turn = &m->turns[t->thread];

	if (call == VPROF_NONE || (place_of(&turn->pending, call, 1) == turn->pending.n &&
				   (turn->sent.n || place_of(&turn->received, call, 1) == turn->received.n)))
		return VPROF_OK;
	return receive(m, t->thread, call, 1);
}

static int take(struct matching *m, const struct vprof_transfer *t, uint32_t number)
{
	const struct vprof_exchange *e = &m->x->v.v[number];
	int is_client = m->connections->v.v[e->connection].client == t->socket;
	struct turn *turn = &m->turns[t->thread];

	if (e->flags & VPROF_EXCHANGE_NO_REQUEST || (!is_client && e->flags & VPROF_EXCHANGE_NO_REPLY))
		return VPROF_OK; /* nobody waits for anything */
	if (!t->is_send && !is_client && e->server.reply_thread != VPROF_NONE && t->to > e->server.reply_from)
		return VPROF_OK; /* the rest of a request that it replied to before it had read it */
	if (!t->is_send && is_client)
		m->last_reply[e->connection] = number;
	if (!t->is_send)
		return is_client && e->client.request_thread == VPROF_NONE ? VPROF_OK :
									     receive(m, t->thread, number, is_client);
	if (is_client && (m->is_sent[number] || vprof_transfer_time(t) != e->client.request_from))
		return VPROF_OK;
	add(turn, &turn->sent, number, is_client);
	return VPROF_OK;
}

static int earlier(const void *a, const void *b)
{
	const struct connect *x = a, *y = b;

	return x->t != y->t ? vprof_u64_order(x->t, y->t) : x->exchange < y->exchange ? -1 : x->exchange > y->exchange;
}

/* When the connections were asked for whose first request is in the recording. */
static int list_connects(struct matching *m)
{
	for (uint32_t i = 0; i < m->x->v.n; i++) {
		const struct vprof_exchange *e = &m->x->v.v[i];
		uint32_t client = m->connections->v.v[e->connection].client;
		struct connect *added;

		if ((i && m->x->v.v[i - 1].connection == e->connection) || client == VPROF_NONE ||
		    e->client.request_thread == VPROF_NONE || !m->h->sockets.v[client].connect_ns)
			continue;
		added = VPROF_PUSH(&m->connects);
		if (!added)
			return VPROF_ERR_NOMEM;
		*added = (struct connect){ m->h->sockets.v[client].connect_ns, i };
	}
	return vprof_array_sort(m->connects.v, m->connects.n, sizeof *m->connects.v, earlier) ? VPROF_ERR_NOMEM :
												VPROF_OK;
}

static void take_connect(struct matching *m, uint32_t exchange)
{
	uint32_t thread = m->x->v.v[exchange].client.request_thread;
	struct turn *t = &m->turns[thread];

	if (vprof_agreement_is_synchronous(m->a, thread) || !t->received.n)
		return;
	m->is_sent[exchange] = 1;
	add(t, &t->sent, exchange, 1);
}

static int gather(struct matching *m)
{
	size_t connect = 0;
	int ret = list_connects(m);

	for (size_t i = 0; i < m->h->transfers.n && !ret; i++) {
		const struct vprof_transfer *t = &m->h->transfers.v[i];
		struct vprof_exchange_span span = m->x->of_transfer.v[i];

		for (; connect < m->connects.n && m->connects.v[connect].t <= vprof_transfer_time(t); connect++)
			take_connect(m, m->connects.v[connect].exchange);
		if (vprof_agreement_is_synchronous(m->a, t->thread))
			continue;
		if (!t->is_send && !t->n_bytes)
			ret = receive_end(m, t);
		for (uint32_t k = span.first; k <= span.last && !ret; k++)
			ret = take(m, t, k);
	}
	for (uint32_t i = 0; i < m->h->threads.n && !ret; i++)
		ret = end_turn(m, i);
	return ret;
}

static void unite(struct set *s, const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n && s->n != VPROF_CANDIDATES_UNKNOWN; i++) {
		uint32_t k = 0;

		while (k < s->n && s->v[k] != v[i])
			k++;
		if (k < s->n)
			continue;
		if (s->n == VPROF_BATCH_MOST)
			s->n = VPROF_CANDIDATES_UNKNOWN;
		else
			s->v[s->n++] = v[i];
	}
}

static void unite_message(const struct matching *m, struct set *s, const struct message *message)
{
	const struct vprof_candidates *c = &m->b->of[message->exchange];

	if (!message->is_call)
		unite(s, &message->exchange, 1);
	else if (c->n == VPROF_CANDIDATES_UNKNOWN || !c->n)
		s->n = VPROF_CANDIDATES_UNKNOWN;
	else
		unite(s, m->b->visits.v + c->first, c->n);
}

static struct set unite_all(const struct matching *m, const struct message *list, uint32_t n)
{
	struct set s = { .n = 0 };

	for (uint32_t i = 0; i < n; i++)
		unite_message(m, &s, &list[i]);
	return s;
}

static int holds(const struct set *s, uint32_t visit)
{
	for (uint32_t i = 0; i < s->n && s->n != VPROF_CANDIDATES_UNKNOWN; i++)
		if (s->v[i] == visit)
			return 1;
	return s->n == VPROF_CANDIDATES_UNKNOWN;
}

static void note_test(struct matching *m, uint32_t thread, int agrees)
{
	uint32_t program = m->a->threads[thread].program;

	m->b->n_tests[program]++;
	m->b->n_agree[program] += agrees != 0;
}

static int keep_candidates(struct matching *m, struct vprof_candidates *c, const struct set *s)
{
	c->n = (uint8_t)s->n;
	if (s->n == VPROF_CANDIDATES_UNKNOWN)
		return VPROF_OK;
	if (VPROF_ROOM(&m->b->visits, m->b->visits.n + s->n))
		return VPROF_ERR_NOMEM;
	c->first = (uint32_t)m->b->visits.n;
	c->n_first = c->n;
	memcpy(m->b->visits.v + c->first, s->v, s->n * sizeof *s->v);
	m->b->visits.n += s->n;
	return VPROF_OK;
}

/* Leaves the candidates that the set holds. A call that lost all of them is contradicted. */
static void restrict_to(struct matching *m, uint32_t thread, uint32_t call, const struct set *s)
{
	struct vprof_candidates *c = &m->b->of[call];
	uint32_t *v = m->b->visits.v + c->first;
	uint8_t n = 0;

	if (s->n == VPROF_CANDIDATES_UNKNOWN || !c->n)
		return;
	if (c->n == VPROF_CANDIDATES_UNKNOWN) {
		m->is_out_of_memory |= keep_candidates(m, c, s) != VPROF_OK;
		m->has_changed = 1;
		return;
	} else {
		for (uint8_t i = 0; i < c->n; i++)
			if (holds(s, v[i])) {
				uint32_t struck_out = v[n];

				v[n++] = v[i];
				v[i] = struck_out;
			}
	}
	m->has_changed |= n != c->n;
	c->n = n;
	if (!n)
		note_test(m, thread, 0);
}

static void strike_out(struct matching *m, uint32_t thread, uint32_t call, uint32_t visit)
{
	struct vprof_candidates *c = &m->b->of[call];
	struct set rest = { .n = 0 };

	if (c->n == VPROF_CANDIDATES_UNKNOWN || !c->n)
		return;
	for (uint8_t i = 0; i < c->n; i++)
		if (m->b->visits.v[c->first + i] != visit)
			rest.v[rest.n++] = m->b->visits.v[c->first + i];
	restrict_to(m, thread, call, &rest);
}

/* Where a call of a list may only be for one visit, no other of the list is. Where a visit has one call of the list
 * left, that is its. */
static void tell_apart(struct matching *m, uint32_t thread, const struct message *list, uint32_t n,
		       const struct set *needed)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct vprof_candidates *c = &m->b->of[list[i].exchange];
		uint32_t visit = list[i].exchange;

		if (list[i].is_call && c->n != 1)
			continue;
		if (list[i].is_call)
			visit = m->b->visits.v[c->first];
		for (uint32_t k = 0; k < n; k++)
			if (k != i && list[k].is_call)
				strike_out(m, thread, list[k].exchange, visit);
	}
	for (uint32_t i = 0; needed->n != VPROF_CANDIDATES_UNKNOWN && i < needed->n; i++) {
		uint32_t n_left = 0, last = 0;

		for (uint32_t k = 0; k < n; k++) {
			struct set one = unite_all(m, &list[k], 1);

			if (holds(&one, needed->v[i])) {
				n_left++;
				last = k;
			}
		}
		if (n_left == 1 && list[last].is_call)
			restrict_to(m, thread, list[last].exchange, &(struct set){ { needed->v[i] }, 1 });
	}
}

/* The visits that the other side has for certain. */
static struct set certain(const struct matching *m, const struct message *list, uint32_t n)
{
	struct set s = { .n = 0 };

	for (uint32_t i = 0; i < n; i++)
		if (!list[i].is_call || m->b->of[list[i].exchange].n == 1)
			unite_message(m, &s, &list[i]);
	return s;
}

/* One message that was received is the reason of all that was sent. */
static void conclude_from_one(struct matching *m, const struct batch *b)
{
	const struct message *all = m->messages.v + b->first;
	struct set visit = certain(m, all, (uint32_t)b->n_received + b->n_sent);

	for (uint32_t i = 0; i < (uint32_t)b->n_received + b->n_sent && visit.n == 1; i++)
		if (all[i].is_call)
			restrict_to(m, b->thread, all[i].exchange, &visit);
}

static void conclude(struct matching *m, const struct batch *b)
{
	const struct message *received = m->messages.v + b->first, *sent = received + b->n_received;
	struct set from = unite_all(m, received, b->n_received), to = unite_all(m, sent, b->n_sent), needed;

	if (b->n_received == 1)
		conclude_from_one(m, b);
	else if (b->n_received != b->n_sent)
		return;
	for (uint8_t i = 0; i < b->n_received; i++)
		if (received[i].is_call)
			restrict_to(m, b->thread, received[i].exchange, &to);
	for (uint8_t i = 0; i < b->n_sent; i++)
		if (sent[i].is_call)
			restrict_to(m, b->thread, sent[i].exchange, &from);
	if (b->n_received == 1)
		return;
	needed = certain(m, sent, b->n_sent);
	tell_apart(m, b->thread, received, b->n_received, &needed);
	needed = certain(m, received, b->n_received);
	tell_apart(m, b->thread, sent, b->n_sent, &needed);
}

/* A call's first candidates: what its thread received. Replies test them. */
static int begin(struct matching *m, const struct batch *b)
{
	const struct message *received = m->messages.v + b->first, *sent = received + b->n_received;
	struct set from = unite_all(m, received, b->n_received);

	for (uint8_t i = 0; i < b->n_sent; i++) {
		struct vprof_candidates *c = &m->b->of[sent[i].exchange];

		if (!sent[i].is_call) {
			if (from.n != VPROF_CANDIDATES_UNKNOWN)
				note_test(m, b->thread, holds(&from, sent[i].exchange));
			continue;
		}
		if (keep_candidates(m, c, &from))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

/* The visits of which the thread received the request in this batch, in that order; and the calls that it sent. */
struct queue {
	uint32_t requests[VPROF_BATCH_MOST], calls[VPROF_BATCH_MOST];
	uint32_t n_requests, n_calls;
};

/* With is_known those that are known to belong together, each at the same place in order of the calls; else the others.
 */
static struct queue queue_of(const struct matching *m, const struct batch *b, int is_known)
{
	const struct message *received = m->messages.v + b->first, *sent = received + b->n_received;
	struct queue q = { .n_calls = 0 };

	if (b->n_received != b->n_sent)
		return q;
	for (uint8_t i = 0; i < b->n_received; i++) {
		int is_taken = received[i].is_call;

		for (uint8_t k = 0; k < b->n_sent && !is_taken; k++) {
			const struct vprof_candidates *c = &m->b->of[sent[k].exchange];

			is_taken = sent[k].is_call && c->n == 1 && m->b->visits.v[c->first] == received[i].exchange;
			if (is_taken && is_known) {
				q.requests[q.n_requests++] = received[i].exchange;
				q.calls[q.n_calls++] = k;
			}
		}
		if (!is_taken && !is_known)
			q.requests[q.n_requests++] = received[i].exchange;
	}
	for (uint8_t k = 0; k < b->n_sent && !is_known; k++)
		if (sent[k].is_call && m->b->of[sent[k].exchange].n != 1)
			q.calls[q.n_calls++] = sent[k].exchange;
	return q;
}

/* Does the thread make calls in the order in which it received their requests? */
static void count_order(struct matching *m, const struct batch *b)
{
	struct queue q = queue_of(m, b, 1);
	uint32_t program = m->a->threads[b->thread].program;

	for (uint32_t i = 0; i + 1 < q.n_calls; i++) {
		m->b->n_ordered[program]++;
		m->b->n_in_order[program] += q.calls[i] < q.calls[i + 1];
	}
}

static void keep_order(struct matching *m, const struct batch *b)
{
	struct queue q = queue_of(m, b, 0);

	if (q.n_calls != q.n_requests)
		return;
	for (uint32_t i = 0; i < q.n_calls; i++) {
		const struct vprof_candidates *c = &m->b->of[q.calls[i]];
		struct set left = { .n = 0 };

		if (!c->n || c->n == VPROF_CANDIDATES_UNKNOWN)
			return;
		unite(&left, m->b->visits.v + c->first, c->n);
		if (!holds(&left, q.requests[i]))
			return;
	}
	for (uint32_t i = 0; i < q.n_calls; i++)
		m->b->by_order[q.calls[i]] = q.requests[i];
}

/* Calls of which one candidate is left, whose lengths show what goes together. */
static int learn_lengths(const struct matching *m, struct vprof_message_lengths *l)
{
	int ret = VPROF_OK;

	for (uint32_t i = 0; i < m->x->v.n && !ret; i++)
		if (m->b->of[i].n == 1 && m->x->v.v[i].client.request_thread != VPROF_NONE)
			ret = vprof_message_lengths_add(l, m->a->threads[m->x->v.v[i].client.request_thread].program,
							m->b->visits.v[m->b->of[i].first], i);
	return ret;
}

/* Would lengths have told the request of this known call from that of another? */
static void test_lengths(struct matching *m, const struct vprof_message_lengths *l, uint32_t call, uint32_t other)
{
	uint32_t program = m->a->threads[m->x->v.v[call].client.request_thread].program;
	uint32_t visit = m->b->visits.v[m->b->of[call].first], rival = m->b->visits.v[m->b->of[other].first];
	double fit = vprof_message_lengths_fit(l, program, visit, call, 1) -
		     vprof_message_lengths_fit(l, program, rival, call, 0);

	if (visit == rival || (fit < FIT_ENOUGH && fit > -FIT_ENOUGH))
		return;
	m->b->n_fits[program]++;
	m->b->n_fits_right[program] += fit > 0;
}

/* Each known call with one that is far from it among the known ones, since neighbours are of one connection. */
static int test_all_lengths(struct matching *m, const struct vprof_message_lengths *l)
{
	VPROF_ARRAY(uint32_t) known = { 0 };
	int ret = VPROF_RESERVE(&known, m->x->v.n + 1) ? VPROF_ERR_NOMEM : VPROF_OK;

	for (uint32_t i = 0; i < m->x->v.n && !ret; i++)
		if (m->b->of[i].n == 1 && m->x->v.v[i].client.request_thread != VPROF_NONE)
			known.v[known.n++] = i;
	for (size_t i = 0; i < known.n; i++)
		for (size_t k = 0; k < RIVALS_MOST; k++) {
			uint32_t rival = known.v[(i + known.n / 2 + k) % known.n];

			if (m->a->threads[m->x->v.v[known.v[i]].client.request_thread].program !=
			    m->a->threads[m->x->v.v[rival].client.request_thread].program)
				continue;
			test_lengths(m, l, known.v[i], rival);
			break;
		}
	VPROF_ARRAY_RELEASE(&known);
	return ret;
}

/* The candidate of a call that its lengths name; VPROF_NONE: none. */
static uint32_t fitting(const struct matching *m, const struct vprof_message_lengths *l, uint32_t call,
			uint32_t program)
{
	const struct vprof_candidates *c = &m->b->of[call];
	double best = -INFINITY, next = -INFINITY;
	uint32_t at = VPROF_NONE;

	for (uint8_t i = 0; i < c->n; i++) {
		double fit = vprof_message_lengths_fit(l, program, m->b->visits.v[c->first + i], call, 0);

		next = fit > best ? best : fit > next ? fit : next;
		at = fit > best ? m->b->visits.v[c->first + i] : at;
		best = fit > best ? fit : best;
	}
	return best - next >= FIT_ENOUGH ? at : VPROF_NONE;
}

/* Returns how many calls were decided by the lengths of their messages. */
static uint32_t decide_by_lengths(struct matching *m, const struct vprof_message_lengths *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->x->v.n; i++) {
		uint32_t thread = m->x->v.v[i].client.request_thread, visit;

		if (thread == VPROF_NONE || m->b->of[i].n < 2 || m->b->of[i].n == VPROF_CANDIDATES_UNKNOWN ||
		    vprof_batches_length_confidence(m->b, m->a, thread) < LENGTHS_LEAST)
			continue;
		visit = fitting(m, l, i, m->a->threads[thread].program);
		if (visit == VPROF_NONE)
			continue;
		restrict_to(m, thread, i, &(struct set){ { visit }, 1 });
		n++;
	}
	return n;
}

static void conclude_all(struct matching *m)
{
	m->has_changed = 1;
	for (int pass = 0; pass < PASSES_MOST && m->has_changed; pass++) {
		m->has_changed = 0;
		for (size_t i = 0; i < m->batches.n; i++)
			conclude(m, &m->batches.v[i]);
	}
}

/* What follows from a call that lengths decided stands on them, too. */
static int use_lengths(struct matching *m)
{
	struct vprof_message_lengths l = { .x = m->x };
	int ret = learn_lengths(m, &l);

	if (!ret)
		ret = test_all_lengths(m, &l);
	if (!ret) {
		for (uint32_t i = 0; i < m->x->v.n; i++)
			m->b->by_length[i] = m->b->of[i].n != 1;
		if (decide_by_lengths(m, &l))
			conclude_all(m);
	}
	vprof_message_lengths_release(&l);
	return ret;
}

/* A call that lost all its candidates: what was concluded of the others of its batches may be wrong. */
static void find_doubtful(struct matching *m)
{
	for (size_t i = 0; i < m->batches.n; i++) {
		const struct batch *b = &m->batches.v[i];
		const struct message *all = m->messages.v + b->first;
		uint32_t n = (uint32_t)b->n_received + b->n_sent;
		int is_doubtful = 0;

		for (uint32_t k = 0; k < n; k++)
			is_doubtful |= all[k].is_call && !m->b->of[all[k].exchange].n &&
				       m->b->of[all[k].exchange].n_first;
		for (uint32_t k = 0; k < n && is_doubtful; k++)
			m->b->is_doubtful[all[k].exchange] |= all[k].is_call;
	}
}

static int solve(struct matching *m)
{
	int ret = VPROF_OK;

	for (size_t i = 0; i < m->batches.n && !ret; i++)
		ret = begin(m, &m->batches.v[i]);
	if (!ret)
		conclude_all(m);
	if (!ret)
		ret = use_lengths(m);
	find_doubtful(m);
	for (size_t i = 0; i < m->batches.n; i++)
		count_order(m, &m->batches.v[i]);
	for (size_t i = 0; i < m->batches.n; i++)
		keep_order(m, &m->batches.v[i]);
	return m->is_out_of_memory ? VPROF_ERR_NOMEM : ret;
}

int vprof_batches_match(struct vprof_batches *b, const struct vprof_socket_history *h,
			const struct vprof_connections *connections, const struct vprof_exchanges *x,
			const struct vprof_agreement *a)
{
	struct matching m = { .b = b, .h = h, .connections = connections, .x = x, .a = a };
	int ret = VPROF_ERR_NOMEM;

	memset(b, 0, sizeof *b);
	m.turns = calloc(h->threads.n + 1, sizeof *m.turns);
	m.last_reply = malloc((connections->v.n + 1) * sizeof *m.last_reply);
	m.is_sent = calloc(x->v.n + 1, 1);
	b->of = calloc(x->v.n + 1, sizeof *b->of);
	b->n_tests = calloc(h->processes.n + 1, sizeof *b->n_tests);
	b->n_agree = calloc(h->processes.n + 1, sizeof *b->n_agree);
	b->by_length = calloc(x->v.n + 1, 1);
	b->is_doubtful = calloc(x->v.n + 1, 1);
	b->n_fits = calloc(h->processes.n + 1, sizeof *b->n_fits);
	b->n_fits_right = calloc(h->processes.n + 1, sizeof *b->n_fits_right);
	b->n_ordered = calloc(h->processes.n + 1, sizeof *b->n_ordered);
	b->n_in_order = calloc(h->processes.n + 1, sizeof *b->n_in_order);
	b->by_order = malloc((x->v.n + 1) * sizeof *b->by_order);
	if (m.turns && m.last_reply && m.is_sent && b->of && b->n_tests && b->n_agree && b->by_length &&
	    b->is_doubtful && b->n_fits && b->n_fits_right && b->n_ordered && b->n_in_order && b->by_order) {
		memset(m.last_reply, 0xff, connections->v.n * sizeof *m.last_reply);
		memset(b->by_order, 0xff, x->v.n * sizeof *b->by_order); /* VPROF_NONE */
		ret = gather(&m);
	}
	if (!ret)
		ret = solve(&m);
	free(m.turns);
	free(m.last_reply);
	free(m.is_sent);
	VPROF_ARRAY_RELEASE(&m.batches);
	VPROF_ARRAY_RELEASE(&m.messages);
	VPROF_ARRAY_RELEASE(&m.connects);
	return ret;
}

void vprof_batches_release(struct vprof_batches *b)
{
	free(b->of);
	free(b->n_tests);
	free(b->n_agree);
	free(b->by_length);
	free(b->is_doubtful);
	free(b->n_fits);
	free(b->n_fits_right);
	free(b->n_ordered);
	free(b->n_in_order);
	free(b->by_order);
	VPROF_ARRAY_RELEASE(&b->visits);
}

static double rate(uint64_t n_right, uint64_t n)
{
	return ((double)n_right + TESTS_RIGHT) / ((double)n + TESTS_SEEN);
}

double vprof_batches_confidence(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread)
{
	uint32_t program = a->threads[thread].program;

	return b->n_tests[program] ? rate(b->n_agree[program], b->n_tests[program]) : 0;
}

double vprof_batches_length_confidence(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread)
{
	uint32_t program = a->threads[thread].program;

	return rate(b->n_fits_right[program], b->n_fits[program]) * vprof_batches_confidence(b, a, thread);
}

double vprof_batches_order_confidence(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread)
{
	uint32_t program = a->threads[thread].program;

	return rate(b->n_in_order[program], b->n_ordered[program]) * vprof_batches_confidence(b, a, thread);
}
