/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/turns.h"

#include "common/search.h"

#define JOINED_MOST 8 /* turns; a loop mostly gets done with all that it received in a few */

struct list {
	struct vprof_turn_message v[VPROF_TURN_MOST];
	uint8_t n;
};

struct turn { /* while it goes on */
	/* pending: received in earlier turns, and led to nothing yet; blocked: requests behind one on their connection
	 * that is not replied to yet */
	struct list pending, blocked, received, sent;
	uint32_t n_messages; /* so far */
	uint8_t n_joined;    /* earlier turns that are in it, since it is not known which of their messages led to what
				was sent */
	uint8_t is_overfull, is_sending;
	uint8_t is_ordered; /* some of what was received came after some was sent */
};

struct connect { /* a connection was asked for */
	uint64_t t;
	uint32_t exchange; /* the first one on it */
};

struct gathering {
	struct vprof_turns *found;
	const struct vprof_socket_history *h;
	const struct vprof_connections *connections;
	const struct vprof_exchanges *x;
	const struct vprof_agreement *a;
	const unsigned char *joins;
	const unsigned char *at_end;
	uint32_t transfer;	/* that is looked at */
	struct turn *turns;	/* of each thread */
	uint32_t *last_reply;	/* of each connection: exchange of which its client received last; VPROF_NONE */
	unsigned char *is_sent; /* calls: when their connection was asked for */
	/* calls: the visit whose reply followed from a part of theirs; VPROF_NONE */
	uint32_t *led_to;
	VPROF_ARRAY(struct connect) connects;
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

static void put(struct turn *t, struct list *l, struct vprof_turn_message message)
{
	take_out(l, place_of(l, message.exchange, message.is_call));
	if (l->n == VPROF_TURN_MOST)
		t->is_overfull = 1;
	else
		l->v[l->n++] = message;
}

static void add(struct turn *t, struct list *l, uint32_t exchange, int is_call)
{
	put(t, l, (struct vprof_turn_message){ exchange, t->n_messages++, (uint8_t)is_call });
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

static uint8_t n_calls(const struct list *l)
{
	uint8_t n = 0;

	for (uint8_t i = 0; i < l->n; i++)
		n += l->v[i].is_call;
	return n;
}

static void move(struct turn *t, struct list *from, struct list *to, uint8_t at)
{
	struct vprof_turn_message moved = from->v[at];

	take_out(from, at);
	if (to->n == VPROF_TURN_MOST)
		take_out(to, 0);
	put(t, to, moved);
}

static int is_earlier(const void *a, const void *b)
{
	const struct vprof_turn_message *x = a, *y = b;

	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

/* The rest of a reply of which a part was passed on: mostly it leads to nothing any more. */
static int is_rest(const struct gathering *g, const struct vprof_turn_message *m)
{
	return m->is_call && g->led_to[m->exchange] != VPROF_NONE;
}

static uint32_t n_waiting(const struct gathering *g, const struct turn *t)
{
	uint32_t n = 0;

	for (uint8_t i = 0; i < t->pending.n; i++)
		n += !is_rest(g, &t->pending.v[i]);
	return n;
}

/* All that waits may be a reason, too. */
static void bring_all(const struct gathering *g, struct turn *t)
{
	for (uint8_t i = t->pending.n; i-- > 0;)
		if (!is_rest(g, &t->pending.v[i]))
			move(t, &t->pending, &t->received, i);
	qsort(t->received.v, t->received.n, sizeof *t->received.v, is_earlier);
}

/* Is it a further part of a reply that is passed on? */
static int is_passed_on(const struct gathering *g, const struct turn *t, const struct vprof_turn_message *m)
{
	return is_rest(g, m) && place_of(&t->sent, g->led_to[m->exchange], 0) < t->sent.n;
}

/* A reply that is sent follows from a reply to a call, not from another request. */
static void bring_calls(const struct gathering *g, struct turn *t)
{
	uint8_t n_replies = (uint8_t)(t->sent.n - n_calls(&t->sent));

	for (int any = 0; any < 2; any++)
		for (uint8_t i = t->pending.n; i-- > 0 && n_calls(&t->received) < n_replies;)
			if (any ? t->pending.v[i].is_call : is_passed_on(g, t, &t->pending.v[i]))
				move(t, &t->pending, &t->received, i);
}

/* Which of more messages than it sent led to nothing yet? The rest of a reply; else threads work on what they received
 * last. Calls from whose replies the sent ones follow stay. */
static uint8_t left_over(const struct gathering *g, const struct turn *t)
{
	int may_be_call = n_calls(&t->received) > t->sent.n - n_calls(&t->sent);
	uint8_t first = 0;

	for (uint8_t i = 0; i < t->received.n && may_be_call; i++)
		if (is_rest(g, &t->received.v[i]) && !is_passed_on(g, t, &t->received.v[i]))
			return i;
	while (first < t->received.n &&
	       (may_be_call ? is_passed_on(g, t, &t->received.v[first]) : t->received.v[first].is_call))
		first++;
	return first < t->received.n ? first : 0;
}

/* More received than sent: some of it is left over, and pending. More sent than received: it is for what is pending, if
 * that is all. */
static void balance(const struct gathering *g, struct turn *t)
{
	bring_calls(g, t);
	while (t->received.n > t->sent.n)
		move(t, &t->received, &t->pending, left_over(g, t));
	if (t->received.n < t->sent.n && t->received.n + n_waiting(g, t) == t->sent.n) {
		bring_all(g, t);
	} else if (t->blocked.n && t->received.n + n_waiting(g, t) + t->blocked.n == t->sent.n) {
		while (t->blocked.n) /* it does not wait for the reply before */
			move(t, &t->blocked, &t->received, 0);
		bring_all(g, t);
	}
}

/* More was sent than it received, and there is more pending than that: it received while it was still working on what
 * it had received before. What has not led to anything yet will, if the next turns have as much more sent. */
static int goes_on(const struct gathering *g, struct turn *t)
{
	uint32_t n = t->received.n + n_waiting(g, t);

	if (!t->sent.n || t->is_overfull || t->n_joined == JOINED_MOST || n <= t->sent.n || n > VPROF_TURN_MOST)
		return 0;
	bring_all(g, t);
	t->n_joined++;
	return 1;
}

/* Is it known which messages led to what was sent: one each, or one to all? */
static int is_settled(const struct gathering *g, const struct turn *t)
{
	if (t->is_overfull || !t->sent.n)
		return 0;
	for (uint8_t i = 0; i < t->sent.n && t->n_joined; i++)
		if (t->sent.v[i].is_call && place_of(&t->received, t->sent.v[i].exchange, 1) < t->received.n)
			return 0; /* its request is in it twice */
	return t->received.n == t->sent.n || (t->received.n == 1 && !n_waiting(g, t) && !t->blocked.n);
}

static void note_led(struct gathering *g, const struct turn *t)
{
	if (t->received.n == 1 && t->sent.n == 1 && t->received.v[0].is_call && !t->sent.v[0].is_call)
		g->led_to[t->received.v[0].exchange] = t->sent.v[0].exchange;
}

/* What became free after all was sent is no reason of that. */
static void put_off(struct turn *t)
{
	for (uint8_t i = t->received.n; i-- > 0 && t->is_ordered && t->sent.n;)
		if (t->received.v[i].nth > t->sent.v[t->sent.n - 1].nth)
			move(t, &t->received, &t->pending, i);
}

static int end_turn(struct gathering *g, uint32_t thread)
{
	struct turn *t = &g->turns[thread];
	struct vprof_turn *added;

	put_off(t);
	drop_direct(&t->received, &t->sent);
	drop_direct(&t->pending, &t->sent);
	if (g->joins[g->transfer] && goes_on(g, t))
		return VPROF_OK;
	if (!t->n_joined || !t->sent.n)
		balance(g, t);
	if (is_settled(g, t)) {
		added = VPROF_PUSH(&g->found->v);
		if (!added || VPROF_ROOM(&g->found->messages, g->found->messages.n + t->received.n + t->sent.n))
			return VPROF_ERR_NOMEM;
		*added = (struct vprof_turn){ thread,	  (uint32_t)g->found->messages.n,   t->received.n,
					      t->sent.n,  t->n_joined > 0 || t->is_ordered, n_waiting(g, t) > 0,
					      g->transfer };
		memcpy(g->found->messages.v + g->found->messages.n, t->received.v,
		       t->received.n * sizeof *t->received.v);
		g->found->messages.n += t->received.n;
		note_led(g, t);
		memcpy(g->found->messages.v + g->found->messages.n, t->sent.v, t->sent.n * sizeof *t->sent.v);
		g->found->messages.n += t->sent.n;
	} else if (goes_on(g, t)) {
		return VPROF_OK;
	}
	t->received.n = t->sent.n = t->n_joined = t->is_overfull = t->is_ordered = 0;
	return VPROF_OK;
}

static void block(struct turn *t, uint32_t exchange)
{
	if (t->blocked.n == VPROF_TURN_MOST)
		take_out(&t->blocked, 0);
	add(t, &t->blocked, exchange, 0);
}

static int receive(struct gathering *g, uint32_t thread, uint32_t exchange, int is_call)
{
	struct turn *t = &g->turns[thread];

	if (t->is_sending && end_turn(g, thread))
		return VPROF_ERR_NOMEM;
	t->is_sending = 0;
	take_out(&t->pending, place_of(&t->pending, exchange, is_call));
	if (!is_call && vprof_exchange_is_behind(g->x, exchange, vprof_transfer_time(&g->h->transfers.v[g->transfer])))
		block(t, exchange);
	else
		add(t, &t->received, exchange, is_call);
	return VPROF_OK;
}

/* With the end of a reply the next request of its connection is as if received. */
static void end_reply(struct gathering *g, const struct vprof_transfer *t, uint32_t exchange)
{
	const struct vprof_exchange *e = &g->x->v.v[exchange], *next = e + 1;
	struct turn *turn;
	uint8_t at;

	if (!t->is_send || g->connections->v.v[e->connection].server != t->socket || !vprof_exchange_is_visit(e) ||
	    !vprof_transfer_is_last(t, &e->server))
		return;
	turn = &g->turns[e->server.request_thread];
	take_out(&turn->blocked, place_of(&turn->blocked, exchange, 0));
	if (exchange + 1 == g->x->v.n || next->server.request_thread == VPROF_NONE)
		return;
	turn = &g->turns[next->server.request_thread];
	at = place_of(&turn->blocked, exchange + 1, 0);
	if (at == turn->blocked.n)
		return;
	take_out(&turn->blocked, at);
	add(turn, &turn->received, exchange + 1, 0);
	turn->is_ordered |= turn->sent.n > 0;
}

/* The end of a reply whose length nothing else tells. Where that reply led to something before, it is the end of an
 * idle connection. */
static int receive_end(struct gathering *g, const struct vprof_transfer *t)
{
	uint32_t connection = g->connections->of_socket.v[t->socket], call = g->last_reply[connection];
	const struct turn *turn = &g->turns[t->thread];

	if (call != VPROF_NONE && g->at_end[call]) {
		if (g->connections->v.v[connection].client != t->socket)
			return VPROF_OK;		/* the client has closed its direction */
		g->last_reply[connection] = VPROF_NONE; /* it ends once */
		return receive(g, t->thread, call, 1);
	}
	if (call == VPROF_NONE || (place_of(&turn->pending, call, 1) == turn->pending.n &&
				   (turn->sent.n || place_of(&turn->received, call, 1) == turn->received.n)))
		return VPROF_OK;
	return receive(g, t->thread, call, 1);
}

static int take(struct gathering *g, const struct vprof_transfer *t, uint32_t number)
{
	const struct vprof_exchange *e = &g->x->v.v[number];
	int is_client = g->connections->v.v[e->connection].client == t->socket;
	struct turn *turn = &g->turns[t->thread];

	if (e->flags & VPROF_EXCHANGE_NO_REQUEST || (!is_client && e->flags & VPROF_EXCHANGE_NO_REPLY))
		return VPROF_OK; /* nobody waits for anything */
	if (!t->is_send && !is_client && e->server.reply_thread != VPROF_NONE && t->to > e->server.reply_from)
		return VPROF_OK; /* the rest of a request that it replied to before it had read it */
	if (!t->is_send && is_client)
		g->last_reply[e->connection] = number;
	if (!t->is_send && is_client && g->at_end[number])
		return VPROF_OK;
	if (!t->is_send)
		return is_client && e->client.request_thread == VPROF_NONE ? VPROF_OK :
									     receive(g, t->thread, number, is_client);
	if (is_client && (g->is_sent[number] || vprof_transfer_time(t) != e->client.request_from))
		return VPROF_OK;
	turn->is_sending = 1;
	add(turn, &turn->sent, number, is_client);
	return VPROF_OK;
}

static int earlier(const void *a, const void *b)
{
	const struct connect *x = a, *y = b;

	return x->t != y->t ? vprof_u64_order(x->t, y->t) : x->exchange < y->exchange ? -1 : x->exchange > y->exchange;
}

/* When the connections were asked for whose first request is in the recording. */
static int list_connects(struct gathering *g)
{
	for (uint32_t i = 0; i < g->x->v.n; i++) {
		const struct vprof_exchange *e = &g->x->v.v[i];
		uint32_t client = g->connections->v.v[e->connection].client;
		struct connect *added;

		if ((i && g->x->v.v[i - 1].connection == e->connection) || client == VPROF_NONE ||
		    e->client.request_thread == VPROF_NONE || !g->h->sockets.v[client].connect_ns)
			continue;
		added = VPROF_PUSH(&g->connects);
		if (!added)
			return VPROF_ERR_NOMEM;
		*added = (struct connect){ g->h->sockets.v[client].connect_ns, i };
	}
	return vprof_array_sort(g->connects.v, g->connects.n, sizeof *g->connects.v, earlier) ? VPROF_ERR_NOMEM :
												VPROF_OK;
}

static void take_connect(struct gathering *g, uint32_t exchange)
{
	uint32_t thread = g->x->v.v[exchange].client.request_thread;
	struct turn *t = &g->turns[thread];

	if (vprof_agreement_is_synchronous(g->a, thread) || !t->received.n)
		return;
	g->is_sent[exchange] = 1;
	t->is_sending = 1;
	add(t, &t->sent, exchange, 1);
}

static int gather(struct gathering *g)
{
	size_t connect = 0;
	int ret = list_connects(g), is_synchronous;

	for (size_t i = 0; i < g->h->transfers.n && !ret; i++) {
		const struct vprof_transfer *t = &g->h->transfers.v[i];
		struct vprof_exchange_span span = g->x->of_transfer.v[i];

		g->transfer = (uint32_t)i;
		for (; connect < g->connects.n && g->connects.v[connect].t <= vprof_transfer_time(t); connect++)
			take_connect(g, g->connects.v[connect].exchange);
		is_synchronous = vprof_agreement_is_synchronous(g->a, t->thread);
		if (!is_synchronous && !t->is_send && !t->n_bytes)
			ret = receive_end(g, t);
		for (uint32_t k = span.first; k <= span.last && !ret; k++) {
			if (!is_synchronous)
				ret = take(g, t, k);
			end_reply(g, t, k);
		}
	}
	g->transfer = (uint32_t)g->h->transfers.n;
	for (uint32_t i = 0; i < g->h->threads.n && !ret; i++)
		ret = end_turn(g, i);
	return ret;
}

int vprof_turns_find(struct vprof_turns *turns, const struct vprof_socket_history *h,
		     const struct vprof_connections *connections, const struct vprof_exchanges *x,
		     const struct vprof_agreement *a, const unsigned char *joins, const unsigned char *at_end)
{
	struct gathering g = {
		.found = turns, .h = h, .connections = connections, .x = x, .a = a, .joins = joins, .at_end = at_end
	};
	int ret = VPROF_ERR_NOMEM;

	memset(turns, 0, sizeof *turns);
	g.turns = calloc(h->threads.n + 1, sizeof *g.turns);
	g.last_reply = malloc((connections->v.n + 1) * sizeof *g.last_reply);
	g.is_sent = calloc(x->v.n + 1, 1);
	g.led_to = malloc((x->v.n + 1) * sizeof *g.led_to);
	if (g.turns && g.last_reply && g.is_sent && g.led_to) {
		memset(g.last_reply, 0xff, connections->v.n * sizeof *g.last_reply); /* VPROF_NONE */
		memset(g.led_to, 0xff, x->v.n * sizeof *g.led_to);
		ret = gather(&g);
	}
	free(g.turns);
	free(g.last_reply);
	free(g.is_sent);
	free(g.led_to);
	VPROF_ARRAY_RELEASE(&g.connects);
	return ret;
}

void vprof_turns_release(struct vprof_turns *turns)
{
	VPROF_ARRAY_RELEASE(&turns->v);
	VPROF_ARRAY_RELEASE(&turns->messages);
}
