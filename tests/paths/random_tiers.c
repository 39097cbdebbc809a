/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests are served one inside the other, depth first; a worker or connection that is taken says until when. So no
 * worker ever does two things at once, while many requests are under way. Times are counted up by random steps.
 */
#include "random_tiers.h"

#include <assert.h>
#include <stdio.h>

#define NAME_BYTES 16

struct link {						/* a connection */
	uint32_t client_thread, client_process, server; /* thread VPROF_NONE: of any of the process */
	uint32_t ends[2];
	uint64_t free_at, sent[2];
	uint32_t n_exchanges;
};

struct making {
	struct random_tiers *r;
	const struct tiers_options *o;
	uint64_t state;
	uint64_t *free_at; /* of each thread; UINT64_MAX: it is at work */
	VPROF_ARRAY(struct link) links;
	uint32_t first_client; /* process */
	char (*names)[NAME_BYTES];
};

static uint64_t draw(struct making *m, uint64_t below)
{
	m->state += UINT64_C(0x9e3779b97f4a7c15);
	return vprof_mix(m->state) % below;
}

uint64_t random_tiers_clock(const struct tiers_options *o, uint32_t host, uint64_t t)
{
	return o->shifts_clocks ? t + host * UINT64_C(3600000000000) + t / TIERS_DRIFT_EACH * host : t;
}

static uint32_t threads_of_server(const struct making *m)
{
	return m->o->n_workers + 1; /* the first is the dispatcher */
}

static uint32_t n_servers(const struct making *m)
{
	return m->o->n_tiers * m->o->n_servers;
}

static void make_processes(struct making *m)
{
	uint32_t n = n_servers(m), n_names = n + m->o->n_sessions;

	m->names = calloc(n_names + 1, NAME_BYTES);
	m->first_client = n;
	for (uint32_t i = 0; i < n_names; i++) {
		struct vprof_socket_process *p = VPROF_PUSH(&m->r->history.processes);
		uint32_t n_threads = i < n ? threads_of_server(m) : 1;

		snprintf(m->names[i], NAME_BYTES, i < n ? "server%u" : "client", i % 10000);
		*p = (struct vprof_socket_process){ i < n ? i : n, 100 + i, m->names[i] };
		for (uint32_t t = 0; t < n_threads; t++) {
			struct vprof_socket_thread *thread = VPROF_PUSH(&m->r->history.threads);

			*thread = (struct vprof_socket_thread){ i, 1000 * (i + 1) + t, m->names[i] };
		}
	}
	for (uint32_t i = 0; i <= n; i++)
		*VPROF_PUSH(&m->r->history.hosts) = "host"; /* servers have one each, clients the last */
	m->free_at = calloc(m->r->history.threads.n, sizeof *m->free_at);
}

static uint32_t add_end(struct making *m, uint32_t process, uint32_t peer, uint16_t port, int is_server)
{
	struct vprof_socket *s = VPROF_PUSH(&m->r->history.sockets);
	struct vprof_socket_address mine = { .bytes = { [10] = 0xff, [11] = 0xff, [12] = 10 } }, other = mine;

	mine.bytes[14] = (uint8_t)(process >> 8);
	mine.bytes[15] = (uint8_t)process;
	other.bytes[14] = (uint8_t)(peer >> 8);
	other.bytes[15] = (uint8_t)peer;
	mine.port = is_server ? 80 : port;
	other.port = is_server ? port : 80;
	*s = (struct vprof_socket){ .host = m->r->history.processes.v[process].host,
				    .kind = VPROF_SOCKET_TCP,
				    .role = is_server ? VPROF_ROLE_SERVER : VPROF_ROLE_CLIENT,
				    .cookie = m->r->history.sockets.n,
				    .local = mine,
				    .remote = other,
				    .path = "" };
	return (uint32_t)(m->r->history.sockets.n - 1);
}

/* An idle connection of the thread, or of its process; a new one if there is none. */
static uint32_t take_link(struct making *m, uint32_t thread, uint32_t server, uint64_t t)
{
	uint32_t process = m->r->history.threads.v[thread].process, owner = thread;
	struct link *l;

	if (m->o->shares_connections && process < m->first_client)
		owner = VPROF_NONE;
	for (uint32_t i = 0; i < m->links.n; i++) {
		l = &m->links.v[i];
		if (l->client_process == process && l->client_thread == owner && l->server == server && l->free_at <= t)
			return i;
	}
	l = VPROF_PUSH(&m->links);
	*l = (struct link){ owner, process, server, { VPROF_NONE, VPROF_NONE }, 0, { 0, 0 }, 0 };
	if (process < m->first_client || m->o->records_clients)
		l->ends[0] = add_end(m, process, server, (uint16_t)(1024 + m->links.n % 60000), 0);
	l->ends[1] = add_end(m, server, process, (uint16_t)(1024 + m->links.n % 60000), 1);
	return (uint32_t)(m->links.n - 1);
}

static uint64_t step(struct making *m)
{
	return 10 + draw(m, 100000);
}

static void transfer(struct making *m, uint32_t link, int is_server, int is_send, uint32_t thread, uint64_t from,
		     uint64_t to, uint64_t position, uint32_t n_bytes)
{
	uint32_t socket = m->links.v[link].ends[is_server];
	struct vprof_transfer *t;
	uint32_t host;

	if (socket == VPROF_NONE)
		return;
	host = m->r->history.sockets.v[socket].host;
	t = VPROF_PUSH(&m->r->history.transfers);
	*t = (struct vprof_transfer){ random_tiers_clock(m->o, host, from),
				      random_tiers_clock(m->o, host, to),
				      UINT64_C(0xffffff00) + position,
				      n_bytes,
				      socket,
				      thread,
				      (uint8_t)is_send };
}

/* A message in one to three sends, and as many receives of other sizes; returns when the last receive ended. The first
 * receive is the given one's, the others too. */
static uint64_t message(struct making *m, uint32_t link, int up, uint32_t sender, uint32_t receiver, uint64_t t,
			uint64_t *first_received)
{
	uint32_t n_bytes = 3 + (uint32_t)draw(m, 5000), parts, done = 0;
	uint64_t at = m->links.v[link].sent[up], sent_at = t;

	m->links.v[link].sent[up] += n_bytes;
	parts = 1 + (uint32_t)draw(m, 3);
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t n = i == parts - 1 ? n_bytes - done : 1;

		transfer(m, link, !up, 1, sender, sent_at, sent_at + 5, at + done, n);
		done += n;
		sent_at += 10;
	}
	t = sent_at + 10 + draw(m, 20000);
	*first_received = t;
	parts = 1 + (uint32_t)draw(m, 3);
	for (uint32_t i = done = 0; i < parts; i++) {
		uint32_t n = i == parts - 1 ? n_bytes - done : 1;

		transfer(m, link, up, 0, receiver, t - 5, t, at + done, n);
		done += n;
		t += 10;
	}
	return t;
}

/* A worker that is free at t or, if none is, the next one to be: its number; VPROF_NONE if all are at work beneath. */
static uint32_t take_worker(struct making *m, uint32_t server, uint64_t *t, uint32_t but)
{
	uint32_t first = server * threads_of_server(m), best = VPROF_NONE, from = (uint32_t)draw(m, m->o->n_workers);

	for (uint32_t i = 0; i < m->o->n_workers; i++) {
		uint32_t worker = first + 1 + (from + i) % m->o->n_workers;

		if (worker != but && m->free_at[worker] != UINT64_MAX &&
		    (best == VPROF_NONE || (m->free_at[worker] < m->free_at[best] && m->free_at[best] > *t)))
			best = worker;
	}
	if (best != VPROF_NONE && m->free_at[best] > *t)
		*t = m->free_at[best];
	return best;
}

static void wake(struct making *m, uint32_t waker, uint32_t wakee, uint64_t t)
{
	uint32_t process = m->r->history.threads.v[waker].process;
	struct vprof_thread_wake *w;

	if (!m->o->records_wakes || waker == wakee)
		return;
	w = VPROF_PUSH(&m->r->history.wakes);
	*w = (struct vprof_thread_wake){ random_tiers_clock(m->o, m->r->history.processes.v[process].host, t), waker,
					 wakee, 0 };
}

static uint64_t call(struct making *m, uint32_t thread, uint32_t server, uint64_t t, uint32_t parent_server,
		     uint32_t parent_nth);

/* Later tiers; now and then any other server. */
static uint32_t choose_server(struct making *m, uint32_t server)
{
	uint32_t tier = server / m->o->n_servers, other;

	if (tier + 1 < m->o->n_tiers && draw(m, 10))
		return (tier + 1) * m->o->n_servers + (uint32_t)draw(m, m->o->n_servers);
	other = (uint32_t)draw(m, n_servers(m));
	return draw(m, 4) || other == server ? VPROF_NONE : other;
}

/* What a server does for a request: calls, one after the other. Returns when it is done. */
static uint64_t work(struct making *m, uint32_t worker, uint32_t server, uint64_t t, uint32_t socket, uint32_t nth)
{
	uint32_t n = (uint32_t)draw(m, m->o->n_calls_most + 1);

	t += step(m);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t other = choose_server(m, server);

		if (other != VPROF_NONE)
			t = call(m, worker, other, t, socket, nth) + step(m);
	}
	return t;
}

/* Serves the request whose message is sent from t on; returns when the client has the reply. */
static uint64_t serve(struct making *m, uint32_t link, uint32_t thread, uint32_t server, uint64_t t, uint32_t truth)
{
	uint32_t dispatcher = server * threads_of_server(m), nth = m->links.v[link].n_exchanges - 1, replier;
	uint64_t received, start = t + 100, returned;
	uint32_t worker = take_worker(m, server, &start, VPROF_NONE);
	int is_direct = m->o->model == TIER_WORKERS;

	t = is_direct && start > t ? start : t;
	t = message(m, link, 1, thread, is_direct ? worker : dispatcher, t, &received);
	if (!is_direct && start > t)
		t = start + 5; /* it lies in a queue; the worker finds it there */
	else if (!is_direct)
		wake(m, dispatcher, worker, t += 5);
	m->free_at[worker] = UINT64_MAX;
	t = work(m, worker, server, t, m->links.v[link].ends[1], nth);
	replier = worker;
	if (m->o->model == TIER_STAGES) {
		uint64_t free_at = t;
		uint32_t other = take_worker(m, server, &free_at, worker);

		if (other != VPROF_NONE && free_at <= t) {
			m->free_at[worker] = t;
			wake(m, worker, other, t += 5);
			replier = other;
			t += step(m);
		}
	}
	m->r->truth.v[truth].begin = received;
	m->r->truth.v[truth].end = t;
	t = message(m, link, 0, replier, thread, t + 20, &returned);
	m->free_at[replier] = t;
	if (m->free_at[worker] == UINT64_MAX)
		m->free_at[worker] = t;
	return t;
}

static uint64_t call(struct making *m, uint32_t thread, uint32_t server, uint64_t t, uint32_t parent_server,
		     uint32_t parent_nth)
{
	uint64_t start = t;
	uint32_t link, truth = (uint32_t)m->r->truth.n;
	struct true_call *c;

	if (take_worker(m, server, &start, VPROF_NONE) == VPROF_NONE)
		return t;
	link = take_link(m, thread, server, t);
	c = VPROF_PUSH(&m->r->truth);
	*c = (struct true_call){ m->links.v[link].ends[0],
				 m->links.v[link].ends[1],
				 m->links.v[link].n_exchanges++,
				 parent_server,
				 parent_nth,
				 0,
				 0 };
	m->links.v[link].free_at = UINT64_MAX;
	t = serve(m, link, thread, server, t, truth);
	m->links.v[link].free_at = t;
	return t;
}

static void run_sessions(struct making *m)
{
	uint32_t first = n_servers(m) * threads_of_server(m);

	for (uint32_t i = 0; i < m->o->n_requests; i++) {
		uint32_t next = first;

		for (uint32_t s = first; s < first + m->o->n_sessions; s++)
			if (m->free_at[s] < m->free_at[next])
				next = s;
		m->free_at[next] = call(m, next, (uint32_t)draw(m, m->o->n_servers), m->free_at[next] + step(m),
					VPROF_NONE, VPROF_NONE) +
				   step(m);
		m->r->n_requests++;
	}
}

void random_tiers_make(struct random_tiers *r, const struct tiers_options *o)
{
	struct making m = { .r = r, .o = o, .state = o->seed };

	memset(r, 0, sizeof *r);
	make_processes(&m);
	run_sessions(&m);
	VPROF_ARRAY_RELEASE(&m.links);
	free(m.free_at);
	for (size_t i = 0; i < r->history.processes.n; i++)
		r->history.processes.v[i].name = i < m.first_client ? "server" : "client";
	for (size_t i = 0; i < r->history.threads.n; i++)
		r->history.threads.v[i].name = "thread";
	free(m.names);
}

void random_tiers_release(struct random_tiers *r)
{
	vprof_socket_history_release(&r->history);
	VPROF_ARRAY_RELEASE(&r->truth);
}
