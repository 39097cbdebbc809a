/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/exchanges/connections.h"

#include "common/hash/hash_index.h"
#include "common/search.h"

#define CANDIDATES_MAX 256 /* of one address pair that are looked at: more occur in damaged histories only */

struct use {			    /* what a socket did */
	uint64_t first, last;	    /* times of its transfers, and of its making */
	uint64_t first_position[2]; /* by is_send */
	uint64_t end_position[2];
	uint8_t has[2];
	uint8_t begins_with_send;
	uint32_t peer; /* + 1; of the one of both whose transfers come first */
	uint32_t next; /* of the same address pair, in the order of `first`; + 1 */
};

struct pairing {
	const struct vprof_socket_history *h;
	struct vprof_connections *c;
	struct use *uses;			  /* of each socket */
	VPROF_ARRAY(uint32_t) order;		  /* sockets by their first transfer */
	struct vprof_hash_index by_pair, by_port; /* -> heads; -> ports */
	struct vprof_hash_index by_streams;	  /* -> sockets of TCP, by where their streams begin */
	VPROF_ARRAY(uint32_t) heads, tails;	  /* first and last socket of each address pair */
	VPROF_ARRAY(struct port_use) ports;
};

struct port_use { /* sockets of one network that have the same local, or remote, port */
	uint64_t network;
	uint32_t host, n;
	uint16_t port;
	uint8_t is_remote;
};

static void look_at_transfers(struct pairing *p)
{
	for (size_t i = 0; i < p->h->transfers.n; i++) {
		const struct vprof_transfer *t = &p->h->transfers.v[i];
		struct use *u = &p->uses[t->socket];
		int send = t->is_send != 0;

		if (!u->has[0] && !u->has[1]) {
			u->first = vprof_transfer_time(t);
			u->begins_with_send = (uint8_t)send;
			p->order.v[p->order.n++] = t->socket;
		}
		if (!u->has[send] || t->position < u->first_position[send])
			u->first_position[send] = t->position;
		if (!u->has[send] || t->position + t->n_bytes > u->end_position[send])
			u->end_position[send] = t->position + t->n_bytes;
		u->has[send] = 1;
		u->last = t->to > u->last ? t->to : u->last;
	}
	for (size_t i = 0; i < p->h->sockets.n; i++) {
		uint64_t made = p->h->sockets.v[i].established_ns;

		if (made && made < p->uses[i].first)
			p->uses[i].first = made;
	}
}

static uint64_t address_hash(const struct vprof_socket_address *a)
{
	uint64_t words[2];

	memcpy(words, a->bytes, sizeof words);
	return vprof_mix(words[0] + vprof_mix(words[1] + vprof_mix(a->port)));
}

/* The same for both ends. */
static uint64_t pair_hash(const struct vprof_socket *s)
{
	if (s->kind == VPROF_SOCKET_UNIX)
		return vprof_mix(s->cookie) + vprof_mix(s->peer) + s->host;
	return address_hash(&s->local) + address_hash(&s->remote);
}

static int same_address(const struct vprof_socket_address *a, const struct vprof_socket_address *b)
{
	return a->port == b->port && !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static int mirrors(const struct vprof_socket *a, const struct vprof_socket *b)
{
	if (a->kind != b->kind)
		return 0;
	if (a->kind == VPROF_SOCKET_UNIX)
		return a->host == b->host && a->peer == b->cookie && b->peer == a->cookie;
	if (!same_address(&a->local, &b->remote) || !same_address(&a->remote, &b->local))
		return 0;
	return !vprof_socket_address_is_loopback(&a->local) || (a->host == b->host && a->network == b->network);
}

/* Do what one sent and the other received overlap? Modulo 2^32; 1 when nothing speaks against it. */
static int streams_agree(const struct use *a, const struct use *b)
{
	for (int send = 0; send < 2; send++) {
		uint32_t gap;

		if (!a->has[send] || !b->has[!send])
			continue;
		gap = (uint32_t)(b->first_position[!send] - a->first_position[send]);
		if (gap > (uint32_t)(a->end_position[send] - a->first_position[send]) &&
		    -gap > (uint32_t)(b->end_position[!send] - b->first_position[!send]))
			return 0;
	}
	return 1;
}

static uint64_t time_between(const struct use *a, const struct use *b)
{
	return a->last < b->first ? b->first - a->last : b->last < a->first ? a->first - b->last : 0;
}

/* Chains the sockets of each address pair. */
static int gather_pairs(struct pairing *p)
{
	for (size_t i = 0; i < p->order.n; i++) {
		uint32_t socket = p->order.v[i], found = VPROF_NONE, *head, *tail;
		const struct vprof_socket *s = &p->h->sockets.v[socket];
		uint64_t hash = pair_hash(s);
		size_t at;

		if (vprof_hash_index_room(&p->by_pair, 1))
			return VPROF_ERR_NOMEM;
		VPROF_HASH_EACH(&p->by_pair, hash, at, k)
		if (found == VPROF_NONE && pair_hash(&p->h->sockets.v[p->heads.v[k]]) == hash)
			found = k;
		if (found != VPROF_NONE) {
			p->uses[p->tails.v[found]].next = socket + 1;
			p->tails.v[found] = socket;
			continue;
		}
		vprof_hash_index_put(&p->by_pair, at, hash, (uint32_t)p->heads.n);
		head = VPROF_PUSH(&p->heads);
		tail = head ? VPROF_PUSH(&p->tails) : NULL;
		if (!tail)
			return VPROF_ERR_NOMEM;
		*head = *tail = socket;
	}
	return VPROF_OK;
}

/* The other end of a socket, VPROF_NONE: not recorded. Those before it in the chain have looked at it already. */
static uint32_t find_peer(const struct pairing *p, uint32_t socket)
{
	const struct use *mine = &p->uses[socket];
	uint32_t best = VPROF_NONE;
	uint64_t best_gap = UINT64_MAX;
	int best_agrees = 0, n = 0;

	for (uint32_t other = mine->next - 1; other != VPROF_NONE && n < CANDIDATES_MAX;
	     other = p->uses[other].next - 1, n++) {
		const struct use *u = &p->uses[other];
		uint64_t gap = time_between(mine, u);
		int agrees;

		if (p->c->of_socket.v[other] != VPROF_NONE ||
		    !mirrors(&p->h->sockets.v[socket], &p->h->sockets.v[other]))
			continue;
		agrees = streams_agree(mine, u);
		if (best == VPROF_NONE || agrees > best_agrees || (agrees == best_agrees && gap < best_gap)) {
			best = other;
			best_gap = gap;
			best_agrees = agrees;
		}
	}
	return best;
}

/* Where the streams of a TCP connection begin, to the server and from it; both ends have the same. */
static uint64_t streams_key(const struct pairing *p, uint32_t socket)
{
	int is_client = p->h->sockets.v[socket].role == VPROF_ROLE_CLIENT;
	const struct use *u = &p->uses[socket];

	return (uint64_t)(uint32_t)u->first_position[is_client] << 32 | (uint32_t)u->first_position[!is_client];
}

/* Its begin was recorded, and both of its directions. */
static int has_streams(const struct pairing *p, uint32_t socket)
{
	const struct vprof_socket *s = &p->h->sockets.v[socket];

	return s->kind == VPROF_SOCKET_TCP && s->role != VPROF_ROLE_UNKNOWN && p->uses[socket].has[0] &&
	       p->uses[socket].has[1];
}

static int gather_streams(struct pairing *p)
{
	size_t at;

	for (size_t i = 0; i < p->order.n; i++) {
		uint32_t socket = p->order.v[i];
		uint64_t hash = vprof_mix(streams_key(p, socket));
		size_t n = 0;

		if (!has_streams(p, socket))
			continue;
		if (vprof_hash_index_room(&p->by_streams, 1))
			return VPROF_ERR_NOMEM;
		VPROF_HASH_EACH(&p->by_streams, hash, at, other)
		n += other != VPROF_NONE;
		if (n < CANDIDATES_MAX)
			vprof_hash_index_put(&p->by_streams, at, hash, socket);
	}
	return VPROF_OK;
}

/* The other end of a socket whose address was translated on the way: the sequence numbers are the same, in both
 * directions, which is chance once in 2^64. VPROF_NONE: there is none, or more than one. */
static uint32_t find_translated(const struct pairing *p, uint32_t socket)
{
	uint64_t key = streams_key(p, socket);
	uint32_t found = VPROF_NONE, n = 0;
	size_t at;

	if (!has_streams(p, socket))
		return VPROF_NONE;
	VPROF_HASH_EACH(&p->by_streams, vprof_mix(key), at, other)
	{
		if (p->c->of_socket.v[other] != VPROF_NONE || streams_key(p, other) != key ||
		    p->h->sockets.v[other].role == p->h->sockets.v[socket].role)
			continue;
		found = other;
		n++;
	}
	return n == 1 ? found : VPROF_NONE;
}

static struct port_use *port_of(struct pairing *p, const struct vprof_socket *s, int is_remote)
{
	uint16_t port = is_remote ? s->remote.port : s->local.port;
	uint64_t hash = vprof_mix(port + vprof_mix(s->network + vprof_mix(2 * s->host + (uint64_t)is_remote)));
	struct port_use *added;
	size_t at;

	if (vprof_hash_index_room(&p->by_port, 1))
		return NULL;
	VPROF_HASH_EACH(&p->by_port, hash, at, k)
	{
		struct port_use *known = &p->ports.v[k];

		if (known->port == port && known->is_remote == is_remote && known->network == s->network &&
		    known->host == s->host)
			return known;
	}
	added = VPROF_PUSH(&p->ports);
	if (added) {
		vprof_hash_index_put(&p->by_port, at, hash, (uint32_t)(p->ports.n - 1));
		*added = (struct port_use){ s->network, s->host, 0, port, (uint8_t)is_remote };
	}
	return added;
}

static int count_ports(struct pairing *p)
{
	for (size_t i = 0; i < 2 * p->order.n; i++) {
		const struct vprof_socket *s = &p->h->sockets.v[p->order.v[i / 2]];
		struct port_use *use = s->kind == VPROF_SOCKET_TCP ? port_of(p, s, i & 1) : NULL;

		if (use)
			use->n++;
		else if (s->kind == VPROF_SOCKET_TCP)
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

/* Who is the server of a connection that nobody saw being made: where several connections have the same port; or the
 * lower one; or who did not speak first. */
static int guess_is_server(struct pairing *p, uint32_t socket)
{
	const struct vprof_socket *s = &p->h->sockets.v[socket];

	if (s->kind == VPROF_SOCKET_TCP) {
		const struct port_use *local = port_of(p, s, 0), *remote = port_of(p, s, 1);

		if (local && remote && local->n != remote->n)
			return local->n > remote->n;
		if (s->local.port != s->remote.port)
			return s->local.port < s->remote.port;
	}
	return !p->uses[socket].begins_with_send;
}

/* A multiple of 2^32 that brings `from` closest to `to`. */
static uint64_t shift_between(uint64_t from, uint64_t to)
{
	int64_t difference = (int64_t)(to - from);
	int64_t turns = (difference + (difference < 0 ? -(INT64_C(1) << 31) : INT64_C(1) << 31)) / (INT64_C(1) << 32);

	return (uint64_t)(turns * (INT64_C(1) << 32));
}

static int add_connection(struct pairing *p, uint32_t socket, uint32_t peer)
{
	const struct vprof_socket *s = &p->h->sockets.v[socket];
	struct vprof_connection *c = VPROF_PUSH(&p->c->v);
	int role = s->role;

	if (!c)
		return VPROF_ERR_NOMEM;
	if (role == VPROF_ROLE_UNKNOWN && peer != VPROF_NONE && p->h->sockets.v[peer].role != VPROF_ROLE_UNKNOWN)
		role = p->h->sockets.v[peer].role == VPROF_ROLE_CLIENT ? VPROF_ROLE_SERVER : VPROF_ROLE_CLIENT;
	if (role == VPROF_ROLE_UNKNOWN) {
		c->is_role_guessed = 1;
		p->c->n_guessed++;
		role = guess_is_server(p, socket) ? VPROF_ROLE_SERVER : VPROF_ROLE_CLIENT;
	}
	c->server = role == VPROF_ROLE_SERVER ? socket : peer;
	c->client = role == VPROF_ROLE_SERVER ? peer : socket;
	p->c->of_socket.v[socket] = (uint32_t)(p->c->v.n - 1);
	if (peer == VPROF_NONE)
		return VPROF_OK;
	p->c->of_socket.v[peer] = (uint32_t)(p->c->v.n - 1);
	if (p->uses[c->client].has[1] && p->uses[c->server].has[0])
		c->up_shift = shift_between(p->uses[c->client].first_position[1], p->uses[c->server].first_position[0]);
	if (p->uses[c->client].has[0] && p->uses[c->server].has[1])
		c->down_shift =
			shift_between(p->uses[c->client].first_position[0], p->uses[c->server].first_position[1]);
	return VPROF_OK;
}

static void note_peers(struct pairing *p, uint32_t socket, uint32_t peer)
{
	if (peer == VPROF_NONE)
		return;
	p->uses[socket].peer = peer + 1;
	p->c->of_socket.v[socket] = p->c->of_socket.v[peer] = 0; /* for the time being: has one */
}

/* Addresses first: what is left then has no end that they name. */
static int pair_all(struct pairing *p)
{
	for (size_t i = 0; i < p->order.n; i++)
		if (p->c->of_socket.v[p->order.v[i]] == VPROF_NONE)
			note_peers(p, p->order.v[i], find_peer(p, p->order.v[i]));
	for (size_t i = 0; i < p->order.n; i++) {
		uint32_t socket = p->order.v[i], peer;

		if (p->c->of_socket.v[socket] != VPROF_NONE)
			continue;
		peer = find_translated(p, socket);
		p->c->n_translated += peer != VPROF_NONE;
		note_peers(p, socket, peer);
	}
	memset(p->c->of_socket.v, 0xff, p->h->sockets.n * sizeof *p->c->of_socket.v); /* VPROF_NONE */
	for (size_t i = 0; i < p->order.n; i++) {
		uint32_t socket = p->order.v[i];

		if (p->c->of_socket.v[socket] == VPROF_NONE && add_connection(p, socket, p->uses[socket].peer - 1))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

int vprof_connections_find(struct vprof_connections *c, const struct vprof_socket_history *h)
{
	struct pairing p = { .h = h, .c = c };
	int ret = VPROF_ERR_NOMEM;

	memset(c, 0, sizeof *c);
	p.uses = calloc(h->sockets.n + 1, sizeof *p.uses);
	if (!p.uses || VPROF_RESERVE(&p.order, h->sockets.n + 1) || VPROF_RESERVE(&c->of_socket, h->sockets.n + 1))
		goto out;
	memset(c->of_socket.v, 0xff, h->sockets.n * sizeof *c->of_socket.v); /* VPROF_NONE */
	c->of_socket.n = h->sockets.n;
	look_at_transfers(&p);
	ret = gather_pairs(&p);
	if (!ret)
		ret = gather_streams(&p);
	if (!ret)
		ret = count_ports(&p);
	if (!ret)
		ret = pair_all(&p);
out:
	free(p.uses);
	vprof_hash_index_release(&p.by_pair);
	vprof_hash_index_release(&p.by_port);
	vprof_hash_index_release(&p.by_streams);
	VPROF_ARRAY_RELEASE(&p.order);
	VPROF_ARRAY_RELEASE(&p.heads);
	VPROF_ARRAY_RELEASE(&p.tails);
	VPROF_ARRAY_RELEASE(&p.ports);
	return ret;
}

/* Made by socketpair(), as far as is known: a connection to a path, or by TCP, may be one to oneself. */
static int is_pair(const struct vprof_socket_history *h, const struct vprof_connection *c)
{
	if (c->client == VPROF_NONE || c->server == VPROF_NONE || !c->is_role_guessed)
		return 0;
	return h->sockets.v[c->client].kind == VPROF_SOCKET_UNIX && !*h->sockets.v[c->client].path &&
	       !*h->sockets.v[c->server].path;
}

int vprof_connections_leave_out_inside(struct vprof_connections *c, struct vprof_socket_history *h)
{
	uint32_t *user = malloc((c->v.n + 1) * sizeof *user); /* the process + 1; 0: none yet */
	size_t kept = 0;

	if (!user)
		return VPROF_ERR_NOMEM;
	memset(user, 0, (c->v.n + 1) * sizeof *user);
	for (size_t i = 0; i < c->v.n; i++)
		c->v.v[i].is_inside = (uint8_t)is_pair(h, &c->v.v[i]);
	for (size_t i = 0; i < h->transfers.n; i++) {
		uint32_t connection = c->of_socket.v[h->transfers.v[i].socket];
		uint32_t process = h->threads.v[h->transfers.v[i].thread].process + 1;

		if (user[connection] && user[connection] != process)
			c->v.v[connection].is_inside = 0;
		user[connection] = process;
	}
	for (size_t i = 0; i < h->transfers.n; i++)
		if (!c->v.v[c->of_socket.v[h->transfers.v[i].socket]].is_inside)
			h->transfers.v[kept++] = h->transfers.v[i];
	h->transfers.n = kept;
	for (size_t i = 0; i < c->v.n; i++) {
		c->n_inside += c->v.v[i].is_inside;
		c->n_guessed -= c->v.v[i].is_inside;
	}
	free(user);
	return VPROF_OK;
}

struct received {
	uint64_t stream; /* the connection, and which way */
	uint64_t end, t; /* of its bytes, as the server's end counts */
};

static int order_received(const void *a, const void *b)
{
	const struct received *x = a, *y = b;

	return x->stream != y->stream ? vprof_u64_order(x->stream, y->stream) : vprof_u64_order(x->end, y->end);
}

int vprof_connection_is_between_hosts(const struct vprof_connection *connection, const struct vprof_socket_history *h)
{
	return connection->client != VPROF_NONE && connection->server != VPROF_NONE &&
	       h->sockets.v[connection->client].host != h->sockets.v[connection->server].host;
}

int vprof_connections_place(const struct vprof_connections *c, const struct vprof_transfer *t, uint64_t *stream,
			    uint64_t *position)
{
	const struct vprof_connection *connection = &c->v.v[c->of_socket.v[t->socket]];
	int is_client = t->socket == connection->client, up = is_client == (t->is_send != 0);

	if (!t->n_bytes || connection->client == VPROF_NONE || connection->server == VPROF_NONE)
		return 0;
	*stream = (uint64_t)c->of_socket.v[t->socket] * 2 + (unsigned)up;
	*position = t->position + (!is_client ? 0 : up ? connection->up_shift : connection->down_shift);
	return 1;
}

/* The same if both ends are on one host. */
static int place(const struct vprof_connections *c, const struct vprof_socket_history *h,
		 const struct vprof_transfer *t, uint64_t *stream, uint64_t *position)
{
	return !vprof_connection_is_between_hosts(&c->v.v[c->of_socket.v[t->socket]], h) &&
	       vprof_connections_place(c, t, stream, position);
}

/* When the first of its bytes had been received; UINT64_MAX: not known. */
static uint64_t first_received(const struct received *all, size_t n, uint64_t stream, uint64_t position)
{
	size_t at = VPROF_BISECT(n, i, all[i].stream < stream || (all[i].stream == stream && all[i].end <= position));

	return at < n && all[at].stream == stream ? all[at].t : UINT64_MAX;
}

int vprof_connections_settle_sends(const struct vprof_connections *c, struct vprof_socket_history *h)
{
	VPROF_ARRAY(struct received) all = { 0 };
	uint64_t stream, position, *before = calloc(h->threads.n + 1, sizeof *before);
	int ret = before ? VPROF_OK : VPROF_ERR_NOMEM, is_moved = 0;

	for (size_t i = 0; i < h->transfers.n && !ret; i++) {
		const struct vprof_transfer *t = &h->transfers.v[i];
		struct received *r;

		if (t->is_send || !place(c, h, t, &stream, &position))
			continue;
		r = VPROF_PUSH(&all);
		if (r)
			*r = (struct received){ stream, position + t->n_bytes, t->to };
		else
			ret = VPROF_ERR_NOMEM;
	}
	if (!ret && vprof_array_sort(all.v, all.n, sizeof *all.v, order_received))
		ret = VPROF_ERR_NOMEM;
	for (size_t i = 0; i < h->transfers.n && !ret; i++) {
		struct vprof_transfer *t = &h->transfers.v[i];
		uint64_t received = t->is_send && place(c, h, t, &stream, &position) ?
					    first_received(all.v, all.n, stream, position) :
					    UINT64_MAX;

		/* else something was understood wrongly: its thread was not there yet */
		if (received <= t->from && received > before[t->thread] + 1) {
			t->from = received - 1;
			is_moved = 1;
		}
		before[t->thread] = t->to > before[t->thread] ? t->to : before[t->thread];
	}
	free(before);
	VPROF_ARRAY_RELEASE(&all);
	return !ret && is_moved && vprof_socket_history_sort(h) ? VPROF_ERR_NOMEM : ret;
}

void vprof_connections_release(struct vprof_connections *c)
{
	VPROF_ARRAY_RELEASE(&c->v);
	VPROF_ARRAY_RELEASE(&c->of_socket);
}
