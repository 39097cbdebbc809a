/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events are worked on in the order of their times. What a thread does at once is recorded with the times at which it
 * does it, which may lie a little ahead; the history is sorted before it is used.
 */
#include "simulated_servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAGES_MOST 3
#define TURN_MOST 32 /* messages that a loop receives before it works on them */
#define QUEUE_PLACE 10
#define LOCK_PLACE 5

enum calls { NO_CALLS, HALF_OF_CALLS, ALL_CALLS };

struct stage {
	uint32_t n_threads; /* 0: as many as there are workers */
	uint32_t queue;
	enum calls calls;
};

static const struct pools {
	uint32_t n_stages, n_queues;
	struct stage stages[STAGES_MOST];
} pools_of[SERVED_BYS] = {
	[SERVED_BY_WORKERS] = { 1, 0, { { 0, 0, ALL_CALLS } } },
	[SERVED_BY_DISPATCHER] = { 1, 1, { { 0, 0, ALL_CALLS } } },
	[SERVED_BY_HANDOFF] = { 2, 2, { { 0, 0, HALF_OF_CALLS }, { 0, 1, ALL_CALLS } } },
	[SERVED_BY_STAGES] = { 3, 3, { { 2, 0, NO_CALLS }, { 0, 1, ALL_CALLS }, { 2, 2, NO_CALLS } } },
	[SERVED_BY_SHARED] = { 2, 1, { { 0, 0, HALF_OF_CALLS }, { 0, 0, ALL_CALLS } } },
};

enum event_kind { STARTS, ARRIVES, RUNS, WAKES, RETURNS, TURNS };

struct event {
	uint64_t t, number; /* equal times: in the order in which they were made */
	uint32_t of;	    /* session or worker: thread; connection; server */
	enum event_kind kind;
};

struct job {
	uint32_t server, connection, nth, n_calls, n_made, stage;
};

enum state { ASLEEP, WAKING, BUSY };

struct thread {
	uint32_t server, queue; /* queue VPROF_NONE: of a session, a dispatcher or a loop */
	uint32_t job;
	enum state state;
	uint64_t free_at; /* a dispatcher */
};

struct connection {
	uint32_t client_thread, server, server_thread;
	uint32_t ends[2], n_exchanges, job; /* job: for which its client waits; VPROF_NONE: a session's */
	uint64_t sent[2];
	uint32_t n_bytes[2]; /* of the messages under way */
	int is_busy;
};

struct message { /* waits for a loop */
	uint32_t connection;
	int is_reply;
};

struct queue {
	VPROF_ARRAY(uint32_t) jobs;
	size_t first;
};

struct server {
	uint32_t process, dispatcher; /* thread; or the loop's */
	struct queue queues[STAGES_MOST];
	VPROF_ARRAY(struct message) inbox;
	size_t first;
	int is_turning;
};

struct simulation {
	struct random_tiers *r;
	const struct served_options *o;
	const struct pools *pools;
	uint64_t state, n_events;
	uint32_t n_left; /* requests */
	VPROF_ARRAY(struct event) heap;
	VPROF_ARRAY(struct thread) threads;
	VPROF_ARRAY(struct connection) connections;
	VPROF_ARRAY(struct job) jobs;
	struct server *servers;
};

static uint64_t draw(struct simulation *s, uint64_t below)
{
	s->state += UINT64_C(0x9e3779b97f4a7c15);
	return vprof_mix(s->state) % below;
}

static int is_loop(const struct simulation *s)
{
	return s->o->model == SERVED_BY_LOOP || s->o->model == SERVED_BY_BATCHES;
}

static int is_before(const struct event *a, const struct event *b)
{
	return a->t != b->t ? a->t < b->t : a->number < b->number;
}

static void at(struct simulation *s, uint64_t t, enum event_kind kind, uint32_t of)
{
	struct event e = { t, s->n_events++, of, kind };
	size_t i = s->heap.n;

	*VPROF_PUSH(&s->heap) = e;
	for (; i && is_before(&e, &s->heap.v[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap.v[i] = s->heap.v[(i - 1) / 2];
	s->heap.v[i] = e;
}

static struct event next_event(struct simulation *s)
{
	struct event first = s->heap.v[0], last = s->heap.v[--s->heap.n];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < s->heap.n; i = child) {
		if (child + 1 < s->heap.n && is_before(&s->heap.v[child + 1], &s->heap.v[child]))
			child++;
		if (!is_before(&s->heap.v[child], &last))
			break;
		s->heap.v[i] = s->heap.v[child];
	}
	s->heap.v[i] = last;
	return first;
}

static uint32_t add_thread(struct simulation *s, uint32_t process, uint32_t server, uint32_t queue)
{
	*VPROF_PUSH(&s->r->history.threads) =
		(struct vprof_socket_thread){ process, 1000 + (uint32_t)s->threads.n, "thread" };
	*VPROF_PUSH(&s->threads) = (struct thread){ server, queue, VPROF_NONE, ASLEEP, 0 };
	return (uint32_t)(s->threads.n - 1);
}

static uint32_t add_process(struct simulation *s, const char *name)
{
	uint32_t process = (uint32_t)s->r->history.processes.n;

	*VPROF_PUSH(&s->r->history.processes) = (struct vprof_socket_process){ 0, 100 + process, name };
	return process;
}

static void make_servers(struct simulation *s)
{
	*VPROF_PUSH(&s->r->history.hosts) = "host";
	s->servers = calloc(s->o->n_servers, sizeof *s->servers);
	for (uint32_t i = 0; i < s->o->n_servers; i++) {
		struct server *server = &s->servers[i];

		server->process = add_process(s, "server");
		server->dispatcher = add_thread(s, server->process, i, VPROF_NONE);
		for (uint32_t k = 0; k < s->pools->n_queues; k++) {
			uint32_t n = s->pools->stages[k].n_threads ? s->pools->stages[k].n_threads : s->o->n_workers;

			for (uint32_t t = 0; t < n; t++)
				add_thread(s, server->process, i, k);
		}
	}
}

static uint32_t add_end(struct simulation *s, uint32_t number, uint32_t server, int is_server)
{
	struct vprof_socket_address far = { .bytes = { [10] = 0xff, [11] = 0xff, [12] = 10 } }, near = far;

	near.port = (uint16_t)(1024 + number % 60000);
	near.bytes[14] = (uint8_t)(1 + number / 60000);
	far.port = 80;
	far.bytes[15] = (uint8_t)(1 + server);
	*VPROF_PUSH(&s->r->history.sockets) =
		(struct vprof_socket){ .kind = VPROF_SOCKET_TCP,
				       .role = is_server ? VPROF_ROLE_SERVER : VPROF_ROLE_CLIENT,
				       .cookie = 1 + s->r->history.sockets.n,
				       .local = is_server ? far : near,
				       .remote = is_server ? near : far,
				       .path = "" };
	return (uint32_t)(s->r->history.sockets.n - 1);
}

/* An idle connection of the thread to the server, or a new one. */
static uint32_t take_connection(struct simulation *s, uint32_t thread, uint32_t server)
{
	uint32_t number = (uint32_t)s->connections.n;
	struct connection *c;

	for (uint32_t i = 0; i < number; i++)
		if (s->connections.v[i].client_thread == thread && s->connections.v[i].server == server &&
		    !s->connections.v[i].is_busy)
			return i;
	c = VPROF_PUSH(&s->connections);
	*c = (struct connection){ .client_thread = thread, .server = server };
	c->ends[0] = add_end(s, number, server, 0);
	c->ends[1] = add_end(s, number, server, 1);
	c->server_thread = s->o->model == SERVED_BY_WORKERS ?
				   add_thread(s, s->servers[server].process, server, VPROF_NONE) :
				   s->servers[server].dispatcher;
	return number;
}

static void transfer(struct simulation *s, struct connection *c, int is_reply, int is_send, uint32_t thread, uint64_t t)
{
	uint32_t n = c->n_bytes[is_reply];

	*VPROF_PUSH(&s->r->history.transfers) = (struct vprof_transfer){ t - (is_send ? 0 : 3),
									 t + (is_send ? 3 : 0),
									 c->sent[is_reply] - n,
									 n,
									 c->ends[is_send == is_reply],
									 thread,
									 (uint8_t)is_send };
}

static void send_message(struct simulation *s, uint32_t connection, int is_reply, uint32_t thread, uint64_t t)
{
	struct connection *c = &s->connections.v[connection];

	c->n_bytes[is_reply] = 20 + (uint32_t)draw(s, is_reply ? 100 : 4);
	c->sent[is_reply] += c->n_bytes[is_reply];
	transfer(s, c, is_reply, 1, thread, t);
	at(s, t + 3000 + draw(s, 20000), is_reply ? RETURNS : ARRIVES, connection);
}

/* parent: a job, VPROF_NONE: a session's request. */
static void make_call(struct simulation *s, uint32_t thread, uint32_t server, uint32_t parent, uint64_t t)
{
	uint32_t connection = take_connection(s, thread, server);
	struct connection *c = &s->connections.v[connection];
	const struct job *job = parent == VPROF_NONE ? NULL : &s->jobs.v[parent];

	*VPROF_PUSH(&s->r->truth) = (struct true_call){ c->ends[0],
							c->ends[1],
							c->n_exchanges++,
							job ? s->connections.v[job->connection].ends[1] : VPROF_NONE,
							job ? job->nth : VPROF_NONE,
							0,
							0 };
	c->job = parent;
	c->is_busy = 1;
	send_message(s, connection, 0, thread, t);
}

static uint32_t add_job(struct simulation *s, uint32_t connection)
{
	struct connection *c = &s->connections.v[connection];

	*VPROF_PUSH(&s->jobs) =
		(struct job){ c->server,
			      connection,
			      c->n_exchanges - 1,
			      c->server + 1 < s->o->n_servers ? (uint32_t)draw(s, s->o->n_calls_most + 1) : 0,
			      0,
			      0 };
	return (uint32_t)(s->jobs.n - 1);
}

static uint64_t compute(struct simulation *s)
{
	return 2000 + draw(s, draw(s, 10) ? 30000 : 300000);
}

static void call_next(struct simulation *s, uint32_t thread, uint32_t number, uint64_t t)
{
	struct job *job = &s->jobs.v[number];

	job->n_made++;
	make_call(s, thread, job->server + 1 + (uint32_t)draw(s, s->o->n_servers - job->server - 1), number, t);
}

static void add_wake(struct simulation *s, uint32_t waker, uint32_t wakee, uint32_t place, uint64_t t)
{
	if (waker == wakee || (s->o->loses_wakes && !draw(s, 50)))
		return;
	*VPROF_PUSH(&s->r->history.wakes) =
		(struct vprof_thread_wake){ t, waker, wakee, 0, s->o->knows_places ? place : 0 };
}

/* A thread that is at work waited for a lock meanwhile, which this one leaves. */
static void leave_lock(struct simulation *s, uint32_t thread, uint64_t t)
{
	uint32_t other = (uint32_t)draw(s, s->threads.n);

	if (s->o->has_locks && !draw(s, 4) && s->threads.v[other].server == s->threads.v[thread].server &&
	    s->threads.v[other].state == BUSY)
		add_wake(s, thread, other, LOCK_PLACE, t);
}

static void push_job(struct simulation *s, uint32_t thread, uint32_t number, uint64_t t)
{
	uint32_t server = s->threads.v[thread].server, queue = s->pools->stages[s->jobs.v[number].stage].queue;
	uint32_t first = (uint32_t)draw(s, s->threads.n);

	*VPROF_PUSH(&s->servers[server].queues[queue].jobs) = number;
	leave_lock(s, thread, t);
	for (uint32_t i = 0; i < s->threads.n; i++) {
		uint32_t k = (uint32_t)((first + i) % s->threads.n);
		struct thread *other = &s->threads.v[k];

		if (other->server != server || other->queue != queue || other->state != ASLEEP || k == thread)
			continue;
		other->state = WAKING;
		add_wake(s, thread, k, QUEUE_PLACE + queue, t);
		at(s, t + 1000 + draw(s, draw(s, 10) ? 10000 : 200000), WAKES, k);
		return;
	}
}

static void take_job(struct simulation *s, uint32_t thread, uint64_t t)
{
	struct thread *w = &s->threads.v[thread];
	struct queue *queue = &s->servers[w->server].queues[w->queue];

	w->state = queue->first < queue->jobs.n ? BUSY : ASLEEP;
	if (w->state == ASLEEP)
		return;
	w->job = queue->jobs.v[queue->first++];
	leave_lock(s, thread, t);
	at(s, t + compute(s), RUNS, thread);
}

static void run(struct simulation *s, uint32_t thread, uint64_t t)
{
	uint32_t number = s->threads.v[thread].job;
	struct job *job = &s->jobs.v[number];
	const struct stage *stage = &s->pools->stages[job->stage];
	uint32_t until = stage->calls == ALL_CALLS     ? job->n_calls :
			 stage->calls == HALF_OF_CALLS ? (job->n_calls + 1) / 2 :
							 0;

	if (job->n_made < until) {
		call_next(s, thread, number, t);
		return;
	}
	if (++job->stage < s->pools->n_stages)
		push_job(s, thread, number, t);
	else
		send_message(s, job->connection, 1, thread, t);
	if (s->threads.v[thread].queue != VPROF_NONE)
		take_job(s, thread, t + 500);
}

/* A loop works on a message: a call or the reply follows from it. */
static void react(struct simulation *s, uint32_t thread, uint32_t number, uint64_t t)
{
	if (s->jobs.v[number].n_made < s->jobs.v[number].n_calls)
		call_next(s, thread, number, t);
	else
		send_message(s, s->jobs.v[number].connection, 1, thread, t);
}

static uint32_t take_message(struct simulation *s, const struct message *m, uint32_t thread, uint64_t t)
{
	struct connection *c = &s->connections.v[m->connection];

	transfer(s, c, m->is_reply, 0, thread, t);
	if (!m->is_reply)
		return add_job(s, m->connection);
	c->is_busy = 0;
	return c->job;
}

static void turn(struct simulation *s, uint32_t number, uint64_t t)
{
	struct server *server = &s->servers[number];
	uint32_t jobs[TURN_MOST], n = 0, most = s->o->model == SERVED_BY_BATCHES ? TURN_MOST : 1;

	server->is_turning = server->first < server->inbox.n;
	for (; server->first < server->inbox.n && n < most; t += 100)
		jobs[n++] = take_message(s, &server->inbox.v[server->first++], server->dispatcher, t);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = s->o->is_in_disorder ? i + (uint32_t)draw(s, n - i) : i, job = jobs[k];

		jobs[k] = jobs[i];
		react(s, server->dispatcher, job, t += compute(s) / 8);
	}
	if (n)
		at(s, t + 100, TURNS, number);
}

static void put_in_box(struct simulation *s, uint32_t server, uint32_t connection, int is_reply, uint64_t t)
{
	*VPROF_PUSH(&s->servers[server].inbox) = (struct message){ connection, is_reply };
	if (s->servers[server].is_turning)
		return;
	s->servers[server].is_turning = 1;
	at(s, t, TURNS, server);
}

static void arrive(struct simulation *s, uint32_t connection, uint64_t t)
{
	struct connection *c = &s->connections.v[connection];
	struct thread *receiver = &s->threads.v[c->server_thread];
	uint32_t job;

	if (is_loop(s)) {
		put_in_box(s, c->server, connection, 0, t);
		return;
	}
	if (receiver->free_at > t) {
		at(s, receiver->free_at, ARRIVES, connection);
		return;
	}
	transfer(s, c, 0, 0, c->server_thread, t);
	job = add_job(s, connection);
	if (s->pools->n_queues) {
		receiver->free_at = t + 3000;
		push_job(s, c->server_thread, job, t + 1000);
	} else {
		receiver->job = job;
		at(s, t + compute(s), RUNS, c->server_thread);
	}
}

static void return_reply(struct simulation *s, uint32_t connection, uint64_t t)
{
	struct connection *c = &s->connections.v[connection];

	if (c->job != VPROF_NONE && is_loop(s)) {
		put_in_box(s, s->threads.v[c->client_thread].server, connection, 1, t);
		return;
	}
	transfer(s, c, 1, 0, c->client_thread, t);
	c->is_busy = 0;
	at(s, t + compute(s), c->job == VPROF_NONE ? STARTS : RUNS, c->client_thread);
}

static void work_on(struct simulation *s, const struct event *e)
{
	switch (e->kind) {
	case STARTS:
		if (!s->n_left)
			break;
		s->n_left--;
		s->r->n_requests++;
		make_call(s, e->of, 0, VPROF_NONE, e->t);
		break;
	case ARRIVES:
		arrive(s, e->of, e->t);
		break;
	case RUNS:
		run(s, e->of, e->t);
		break;
	case WAKES:
		take_job(s, e->of, e->t);
		break;
	case RETURNS:
		return_reply(s, e->of, e->t);
		break;
	case TURNS:
		turn(s, e->of, e->t);
		break;
	}
}

static void release(struct simulation *s)
{
	for (uint32_t i = 0; i < s->o->n_servers; i++) {
		for (uint32_t k = 0; k < STAGES_MOST; k++)
			VPROF_ARRAY_RELEASE(&s->servers[i].queues[k].jobs);
		VPROF_ARRAY_RELEASE(&s->servers[i].inbox);
	}
	free(s->servers);
	VPROF_ARRAY_RELEASE(&s->heap);
	VPROF_ARRAY_RELEASE(&s->threads);
	VPROF_ARRAY_RELEASE(&s->connections);
	VPROF_ARRAY_RELEASE(&s->jobs);
}

void simulated_servers_make(struct random_tiers *r, const struct served_options *o)
{
	struct simulation s = {
		.r = r, .o = o, .pools = &pools_of[o->model], .state = o->seed, .n_left = o->n_requests
	};

	memset(r, 0, sizeof *r);
	make_servers(&s);
	for (uint32_t i = 0; i < o->n_sessions; i++)
		at(&s, 1000 + draw(&s, 100000), STARTS,
		   add_thread(&s, add_process(&s, "client"), VPROF_NONE, VPROF_NONE));
	while (s.heap.n) {
		struct event e = next_event(&s);

		work_on(&s, &e);
	}
	release(&s);
}
