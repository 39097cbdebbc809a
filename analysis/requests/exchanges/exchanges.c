/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/exchanges/exchanges.h"

#include "common/hash/hash_index.h"
#include "common/search.h"

#define SPAN_MAX 256 /* exchanges that one transfer is taken to be of: more occur in damaged histories only */

#define SHAPE_SEEN 4 /* exchanges, from which on it is known how a program sends messages */
#define SHAPE_RATE 0.95

/* How a client and a server, two processes, exchange messages. */
struct shape {
	uint32_t client, server;
	uint32_t n_overlaps;	   /* requests that were sent before the previous reply was there */
	uint32_t n_single_request; /* exchanges of one send by the client */
	uint32_t n_single_reply;   /* ... of one send by the server */
	uint32_t n_single;	   /* ... both */
};

/* Of an exchange while those of its connection are found: where its messages end in their streams. */
struct cut {
	uint64_t up, down;
};

struct finding {
	const struct vprof_socket_history *h;
	const struct vprof_connections *c;
	struct vprof_exchanges *x;
	uint32_t *begins, *by_connection; /* transfers of each connection, by time */
	VPROF_ARRAY(struct cut) cuts;	  /* of the connection at hand, one for each exchange */
	const struct vprof_connection *connection;
	uint32_t number, first; /* of the connection; of its first exchange */
	uint64_t start[2];	/* lowest position that the leading end saw, by is_up */
	int has[2];
	VPROF_ARRAY(struct shape) shapes;
	struct vprof_hash_index by_pair;
	int divides; /* with shapes known */
};

static int group_by_connection(struct finding *f)
{
	size_t n = f->h->transfers.n;

	f->begins = calloc(f->c->v.n + 2, sizeof *f->begins);
	f->by_connection = malloc((n + 1) * sizeof *f->by_connection);
	if (!f->begins || !f->by_connection)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		f->begins[f->c->of_socket.v[f->h->transfers.v[i].socket] + 2]++;
	for (size_t c = 2; c < f->c->v.n + 2; c++)
		f->begins[c] += f->begins[c - 1];
	for (uint32_t i = 0; i < n; i++)
		f->by_connection[f->begins[f->c->of_socket.v[f->h->transfers.v[i].socket] + 1]++] = i;
	return VPROF_OK;
}

static int is_up(const struct finding *f, const struct vprof_transfer *t)
{
	return (t->socket == f->connection->client) == (t->is_send != 0);
}

/* Where its bytes begin, as the server's end counts. */
static uint64_t position(const struct finding *f, const struct vprof_transfer *t)
{
	if (t->socket != f->connection->client)
		return t->position;
	return t->position + (is_up(f, t) ? f->connection->up_shift : f->connection->down_shift);
}

static struct vprof_exchange *add_exchange(struct finding *f, uint32_t flags)
{
	struct vprof_exchange *e = VPROF_PUSH(&f->x->v);
	struct cut *cut = VPROF_PUSH(&f->cuts);

	if (!e || !cut)
		return NULL;
	e->connection = f->number;
	e->flags = flags;
	e->client.request_thread = e->client.reply_thread = VPROF_NONE;
	e->server.request_thread = e->server.reply_thread = VPROF_NONE;
	if (f->cuts.n > 1)
		*cut = cut[-1];
	return e;
}

/* A byte that is skipped is the end of the stream, which TCP counts. */
static void note_gap(struct finding *f, struct vprof_exchange *e, uint64_t expected, uint64_t from)
{
	if (from <= expected + 1)
		return;
	e->flags |= VPROF_EXCHANGE_GAP;
	f->x->n_bytes_missing += from - expected;
}

/* The alternation of requests and replies at the leading end. */
static int cut_exchanges(struct finding *f, uint32_t lead)
{
	struct vprof_exchange *e = NULL;
	int is_replying = 0;

	for (uint32_t i = f->begins[f->number]; i < f->begins[f->number + 1]; i++) {
		const struct vprof_transfer *t = &f->h->transfers.v[f->by_connection[i]];
		int up = is_up(f, t);
		uint64_t from = position(f, t), end = from + t->n_bytes, *cut;

		if (t->socket != lead || !t->n_bytes)
			continue;
		if (!e || (up && is_replying)) {
			e = add_exchange(f, up ? VPROF_EXCHANGE_NO_REPLY : VPROF_EXCHANGE_NO_REQUEST);
			if (!e)
				return VPROF_ERR_NOMEM;
		}
		is_replying = !up;
		if (!up)
			e->flags &= ~VPROF_EXCHANGE_NO_REPLY;
		cut = up ? &f->cuts.v[f->cuts.n - 1].up : &f->cuts.v[f->cuts.n - 1].down;
		if (f->has[up])
			note_gap(f, e, *cut, from);
		else
			f->start[up] = from;
		*cut = !f->has[up] || end > *cut ? end : *cut;
		f->has[up] = 1;
		*(up ? &e->request_bytes : &e->reply_bytes) += t->n_bytes;
	}
	return VPROF_OK;
}

/* Requests that the client sent and the server did not receive before the recording ended. */
static int add_unreceived(struct finding *f)
{
	uint64_t received = f->has[1] ? f->cuts.v[f->cuts.n - 1].up : 0, end = received;

	if (f->connection->server == VPROF_NONE || f->connection->client == VPROF_NONE)
		return VPROF_OK;
	for (uint32_t i = f->begins[f->number]; i < f->begins[f->number + 1]; i++) {
		const struct vprof_transfer *t = &f->h->transfers.v[f->by_connection[i]];

		if (t->n_bytes && is_up(f, t) && position(f, t) + t->n_bytes > end)
			end = position(f, t) + t->n_bytes;
	}
	if (end == received)
		return VPROF_OK;
	if (!add_exchange(f, VPROF_EXCHANGE_NO_REPLY))
		return VPROF_ERR_NOMEM;
	f->cuts.v[f->cuts.n - 1].up = end;
	return VPROF_OK;
}

/* A server may reply before it has read a request to its end: the rest, received later, is what the client sent
 * together with it. Of a send that the server's cut divides, the last part is the previous request's rest if it is no
 * request by itself, but was replied to with later sends only, or never. */
static void move_cuts(struct finding *f)
{
	if (f->connection->server == VPROF_NONE || f->connection->client == VPROF_NONE)
		return;
	for (uint32_t i = f->begins[f->number]; i < f->begins[f->number + 1]; i++) {
		const struct vprof_transfer *t = &f->h->transfers.v[f->by_connection[i]];
		uint64_t from = position(f, t), end = from + t->n_bytes;
		size_t last = VPROF_BISECT(f->cuts.n, k, f->cuts.v[k].up < end);
		struct vprof_exchange *e = &f->x->v.v[f->first + last];
		struct cut *cut = &f->cuts.v[last];

		if (t->socket != f->connection->client || !t->is_send || !last || last >= f->cuts.n ||
		    cut[-1].up <= from)
			continue;
		if (cut->up > end) {
			e[-1].request_bytes += end - cut[-1].up;
			e->request_bytes -= end - cut[-1].up < e->request_bytes ? end - cut[-1].up : e->request_bytes;
			cut[-1].up = end;
		} else if (last + 1 == f->cuts.n && e->flags & VPROF_EXCHANGE_NO_REPLY) {
			e[-1].request_bytes += e->request_bytes;
			cut[-1].up = end;
			f->cuts.n--;
			f->x->v.n--;
		}
	}
}

static void extend(struct vprof_exchange_end *end, const struct vprof_transfer *t, int is_request)
{
	uint64_t time = vprof_transfer_time(t);

	if (is_request) {
		if (end->request_thread == VPROF_NONE || time < end->request_from) {
			end->request_from = time;
			end->request_thread = t->thread;
			end->request_waited = t->waited_ns;
		}
		end->request_to = t->to > end->request_to ? t->to : end->request_to;
		return;
	}
	if (end->reply_thread == VPROF_NONE || time < end->reply_from)
		end->reply_from = time;
	if (end->reply_thread == VPROF_NONE || t->to >= end->reply_to) {
		end->reply_to = t->to;
		end->reply_thread = t->thread;
		end->reply_waited = t->waited_ns;
		end->reply_left = t->from;
	}
}

/* The processes of its ends, by one thread of each; the shape of what they exchange. NULL without memory, or where an
 * end is not there. */
static struct shape *shape_of(struct finding *f)
{
	uint32_t thread[2] = { VPROF_NONE, VPROF_NONE };
	struct shape *added;
	size_t at;

	for (size_t i = f->first; i < f->x->v.n && (thread[0] == VPROF_NONE || thread[1] == VPROF_NONE); i++) {
		const struct vprof_exchange *e = &f->x->v.v[i];

		thread[0] = thread[0] == VPROF_NONE ? e->client.request_thread : thread[0];
		thread[1] = thread[1] == VPROF_NONE ? e->server.request_thread : thread[1];
	}
	if (thread[0] == VPROF_NONE || thread[1] == VPROF_NONE || vprof_hash_index_room(&f->by_pair, 1))
		return NULL;
	for (int i = 0; i < 2; i++)
		thread[i] = f->h->threads.v[thread[i]].process;
	VPROF_HASH_EACH(&f->by_pair, vprof_mix((uint64_t)thread[0] << 32 | thread[1]), at, i)
	{
		if (f->shapes.v[i].client == thread[0] && f->shapes.v[i].server == thread[1])
			return &f->shapes.v[i];
	}
	added = VPROF_PUSH(&f->shapes);
	if (!added)
		return NULL;
	*added = (struct shape){ .client = thread[0], .server = thread[1] };
	vprof_hash_index_put(&f->by_pair, at, vprof_mix((uint64_t)thread[0] << 32 | thread[1]),
			     (uint32_t)(f->shapes.n - 1));
	return added;
}

static void note_shape(struct finding *f)
{
	struct shape *s = f->connection->server != VPROF_NONE && f->connection->client != VPROF_NONE ? shape_of(f) :
												       NULL;

	for (size_t i = f->first; s && i < f->x->v.n; i++) {
		const struct vprof_exchange *e = &f->x->v.v[i];

		if (e->flags & (VPROF_EXCHANGE_NO_REQUEST | VPROF_EXCHANGE_NO_REPLY))
			continue;
		s->n_single_request += e->n_request_sends == 1;
		s->n_single_reply += e->n_reply_sends == 1;
		s->n_single += e->n_request_sends == 1 && e->n_reply_sends == 1;
		s->n_overlaps += i > f->first && e->client.request_thread != VPROF_NONE &&
				 e[-1].client.reply_thread != VPROF_NONE &&
				 e->client.request_from < e[-1].client.reply_to;
	}
}

/* Do they send each message at once, and the client requests without waiting for replies? */
static int sends_at_once(const struct shape *s)
{
	return s && s->n_overlaps && s->n_single >= SHAPE_SEEN && s->n_single >= SHAPE_RATE * s->n_single_request &&
	       s->n_single >= SHAPE_RATE * s->n_single_reply;
}

/* The ends of the sends of a message, in their order, as cuts. Returns how many there are. */
static uint32_t list_sends(const struct finding *f, int up, uint64_t from, uint64_t to, uint64_t *ends, uint32_t most)
{
	uint32_t socket = up ? f->connection->client : f->connection->server, n = 0;

	for (uint32_t i = f->begins[f->number]; i < f->begins[f->number + 1] && n < most; i++) {
		const struct vprof_transfer *t = &f->h->transfers.v[f->by_connection[i]];
		uint64_t end = position(f, t) + t->n_bytes;

		if (t->socket == socket && t->is_send && t->n_bytes && end > from && end <= to)
			ends[n++] = end;
	}
	return n;
}

static int divide(struct finding *f, size_t number, uint32_t n)
{
	struct vprof_exchange before = f->x->v.v[f->first + number];
	uint64_t up[SPAN_MAX], down[SPAN_MAX];
	struct cut last = f->cuts.v[number],
		   first = number ? f->cuts.v[number - 1] : (struct cut){ f->start[1], f->start[0] };
	size_t n_after = f->cuts.n - number - 1;

	if (list_sends(f, 1, first.up, last.up, up, n + 1) != n ||
	    list_sends(f, 0, first.down, last.down, down, n + 1) != n || up[n - 1] != last.up ||
	    down[n - 1] != last.down) {
		f->x->v.v[f->first + number].flags |= VPROF_EXCHANGE_SEVERAL;
		return VPROF_OK;
	}
	if (VPROF_ROOM(&f->x->v, f->x->v.n + n) || VPROF_ROOM(&f->cuts, f->cuts.n + n))
		return VPROF_ERR_NOMEM;
	memmove(f->x->v.v + f->first + number + n, f->x->v.v + f->first + number + 1, n_after * sizeof *f->x->v.v);
	memmove(f->cuts.v + number + n, f->cuts.v + number + 1, n_after * sizeof *f->cuts.v);
	for (uint32_t i = 0; i < n; i++) {
		struct vprof_exchange *e = &f->x->v.v[f->first + number + i];

		*e = before;
		e->request_bytes = up[i] - (i ? up[i - 1] : first.up);
		e->reply_bytes = down[i] - (i ? down[i - 1] : first.down);
		f->cuts.v[number + i] = (struct cut){ up[i], down[i] };
	}
	f->x->v.n += n - 1;
	f->cuts.n += n - 1;
	f->x->n_divided += n;
	return VPROF_OK;
}

static void forget_ends(struct finding *f)
{
	for (size_t i = f->first; i < f->x->v.n; i++) {
		struct vprof_exchange *e = &f->x->v.v[i];

		e->n_request_sends = e->n_reply_sends = 0;
		memset(&e->client, 0, sizeof e->client);
		memset(&e->server, 0, sizeof e->server);
		e->client.request_thread = e->client.reply_thread = VPROF_NONE;
		e->server.request_thread = e->server.reply_thread = VPROF_NONE;
	}
}

/* Requests that were received at once. Of as many replies each is to one of them, in their order. */
static int divide_all(struct finding *f)
{
	int ret = VPROF_OK;

	if (!sends_at_once(shape_of(f)))
		return VPROF_OK;
	for (size_t i = 0; i < f->cuts.n && !ret; i++) {
		struct vprof_exchange *e = &f->x->v.v[f->first + i];
		uint32_t n = e->n_request_sends;

		if (n < 2 || e->flags & (VPROF_EXCHANGE_NO_REQUEST | VPROF_EXCHANGE_NO_REPLY))
			continue;
		if (n != e->n_reply_sends || n >= SPAN_MAX) {
			e->flags |= VPROF_EXCHANGE_SEVERAL;
			continue;
		}
		ret = divide(f, i, n);
		i += ret ? 0 : n - 1;
	}
	return ret;
}

/* Tells the exchanges what a transfer did to them. */
static void assign(struct finding *f, uint32_t transfer)
{
	const struct vprof_transfer *t = &f->h->transfers.v[transfer];
	struct vprof_exchange_span *span = &f->x->of_transfer.v[transfer];
	int up = is_up(f, t);
	uint64_t from = position(f, t), end = from + t->n_bytes;
	size_t n = f->cuts.n, first, last;

	if (!t->n_bytes || !n || (f->has[up] && end <= f->start[up]))
		return;
	first = VPROF_BISECT(n, i, (up ? f->cuts.v[i].up : f->cuts.v[i].down) <= from);
	last = VPROF_BISECT(n, i, (up ? f->cuts.v[i].up : f->cuts.v[i].down) < end);
	first = first < n ? first : n - 1;
	last = last < first ? first : last < n ? last : n - 1; /* in a damaged history cuts may fall */
	last = last - first < SPAN_MAX ? last : first + SPAN_MAX;
	span->first = f->first + (uint32_t)first;
	span->last = f->first + (uint32_t)last;
	for (size_t k = first; k <= last; k++) {
		struct vprof_exchange *e = &f->x->v.v[f->first + k];

		extend(t->socket == f->connection->client ? &e->client : &e->server, t, up);
		if (t->is_send && up && t->socket == f->connection->client)
			e->n_request_sends++;
		if (t->is_send && !up && t->socket == f->connection->server)
			e->n_reply_sends++;
	}
}

static int find_in_connection(struct finding *f, uint32_t number)
{
	f->connection = &f->c->v.v[number];
	f->number = number;
	f->first = (uint32_t)f->x->v.n;
	f->cuts.n = 0;
	f->has[0] = f->has[1] = 0;
	f->start[0] = f->start[1] = 0;
	if (cut_exchanges(f, f->connection->server != VPROF_NONE ? f->connection->server : f->connection->client) ||
	    add_unreceived(f))
		return VPROF_ERR_NOMEM;
	move_cuts(f);
	for (uint32_t i = f->begins[number]; i < f->begins[number + 1]; i++)
		assign(f, f->by_connection[i]);
	if (!f->divides) {
		note_shape(f);
	} else if (f->connection->server != VPROF_NONE && f->connection->client != VPROF_NONE) {
		if (divide_all(f))
			return VPROF_ERR_NOMEM;
		forget_ends(f);
		for (uint32_t i = f->begins[number]; i < f->begins[number + 1]; i++)
			assign(f, f->by_connection[i]);
	}
	for (size_t i = f->first; i < f->x->v.n; i++)
		f->x->n_greetings += (f->x->v.v[i].flags & VPROF_EXCHANGE_NO_REQUEST) != 0;
	return f->x->v.n < VPROF_NONE ? VPROF_OK : VPROF_ERR_NOMEM;
}

int vprof_exchanges_find(struct vprof_exchanges *x, const struct vprof_socket_history *h,
			 const struct vprof_connections *c)
{
	struct finding f = { .h = h, .c = c, .x = x };
	int ret;

	memset(x, 0, sizeof *x);
	ret = VPROF_RESERVE(&x->of_transfer, h->transfers.n + 1) ? VPROF_ERR_NOMEM : group_by_connection(&f);
	for (; !ret && x->of_transfer.n < h->transfers.n; x->of_transfer.n++)
		x->of_transfer.v[x->of_transfer.n] = (struct vprof_exchange_span){ 1, 0 };
	for (uint32_t i = 0; i < c->v.n && !ret; i++)
		ret = find_in_connection(&f, i);
	for (size_t i = 0; i < f.shapes.n; i++)
		f.divides |= sends_at_once(&f.shapes.v[i]);
	if (f.divides) { /* again */
		x->v.n = 0;
		x->n_bytes_missing = x->n_greetings = 0;
		for (uint32_t i = 0; i < c->v.n && !ret; i++)
			ret = find_in_connection(&f, i);
	}
	free(f.begins);
	free(f.by_connection);
	VPROF_ARRAY_RELEASE(&f.cuts);
	VPROF_ARRAY_RELEASE(&f.shapes);
	vprof_hash_index_release(&f.by_pair);
	return ret;
}

void vprof_exchanges_release(struct vprof_exchanges *x)
{
	VPROF_ARRAY_RELEASE(&x->v);
	VPROF_ARRAY_RELEASE(&x->of_transfer);
}
