/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process may serve several visits at once, by one thread or by many: the threads that stand for it are as many as it
 * serves at a time, whatever its own ones are. */
#include "analysis/join/views/views.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/requests/input/socket_input.h"
#include "analysis/requests/requests.h"
#include "analysis/requests/tiers.h"
#include "analysis/results/results.h"

#define LANES_MOST 1024 /* threads that stand for tiers; visits beyond are left out */

struct known_thread { /* with probes */
	uint32_t pid, tid, thread;
};

struct served {		   /* a visit to a tier without probes */
	uint64_t from, to; /* ticks */
	uint32_t exchange, process, lane;
};

struct lane { /* a thread that stands for a process */
	uint32_t process;
	uint64_t busy_until;
};

struct adding {
	struct vprof_source *source;
	struct vprof_timeline *timeline;
	struct vprof_socket_input input;
	struct vprof_requests found;
	struct vprof_tiers tiers;
	uint64_t start_ns;
	size_t n_real;
	VPROF_ARRAY(struct known_thread) known;
	uint32_t *real; /* [threads of the history] that of the timeline; VPROF_NONE: without probes */
	VPROF_ARRAY(struct served) served;
	uint32_t *lane_of; /* [exchanges] VPROF_NONE: no visit to a tier without probes */
	VPROF_ARRAY(struct lane) lanes;
	uint32_t *names; /* [tiers] of its waits; VPROF_NONE: not made yet */
};

static uint64_t to_ticks(const struct adding *a, uint64_t ns)
{
	double since = ns > a->start_ns ? (double)(ns - a->start_ns) : 0;
	double ticks = (double)a->source->trace->header.start_ticks + since / a->timeline->ns_per_tick;

	/* exact as long as doubles are: a trace's ticks begin somewhere, its lengths are small */
	return ticks >= (double)VPROF_CALL_TIME_MAX ?
		       VPROF_CALL_TIME_MAX :
		       a->source->trace->header.start_ticks + (uint64_t)(since / a->timeline->ns_per_tick);
}

static int by_tid(const void *a, const void *b)
{
	const struct known_thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1) : (x->thread > y->thread) - (x->thread < y->thread);
}

static uint32_t find_known(const struct adding *a, uint32_t pid, uint32_t tid)
{
	size_t low = 0, high = a->known.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct known_thread *k = &a->known.v[middle];

		if (k->tid < tid || (k->tid == tid && k->pid < pid))
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->known.n && a->known.v[low].tid == tid && a->known.v[low].pid == pid ? a->known.v[low].thread :
											      VPROF_NONE;
}

/* A program that a process with probes executes goes on under its numbers: such a thread recorded nothing since. */
static void leave_out_replaced(struct adding *a)
{
	const struct vprof_exchanges *x = &a->found.exchanges;

	for (size_t i = 0; i < x->v.n; i++) {
		uint32_t thread = x->v.v[i].server.request_thread;

		if (thread != VPROF_NONE && a->real[thread] != VPROF_NONE &&
		    a->timeline->threads[a->real[thread]].t_last < to_ticks(a, x->v.v[i].server.request_from))
			a->real[thread] = VPROF_NONE;
	}
}

static int find_requests(struct adding *a, struct vprof_error *err)
{
	const struct vprof_socket_history *h = &a->input.history;
	int ret = vprof_socket_input_add(&a->input, a->source->trace, err);

	ret = ret ? ret : vprof_requests_find(&a->found, &a->input.history, err);
	ret = ret ? ret : vprof_tiers_find(&a->tiers, h, &a->found.connections, &a->found.exchanges);
	if (ret)
		return ret;
	a->start_ns = a->input.sources.v[0].start_ns;
	a->n_real = a->timeline->n_threads;
	a->real = malloc((h->threads.n + 1) * sizeof *a->real);
	a->names = malloc((a->tiers.names.kept.n + 1) * sizeof *a->names);
	a->lane_of = malloc((a->found.exchanges.v.n + 1) * sizeof *a->lane_of);
	if (!a->real || !a->names || !a->lane_of || VPROF_RESERVE(&a->known, a->n_real + 1))
		return VPROF_ERR_NOMEM;
	memset(a->names, 0xff, a->tiers.names.kept.n * sizeof *a->names); /* VPROF_NONE */
	memset(a->lane_of, 0xff, a->found.exchanges.v.n * sizeof *a->lane_of);
	for (uint32_t i = 0; i < a->n_real; i++)
		a->known.v[a->known.n++] =
			(struct known_thread){ a->timeline->threads[i].pid, a->timeline->threads[i].tid, i };
	if (vprof_array_sort(a->known.v, a->known.n, sizeof *a->known.v, by_tid))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < h->threads.n; i++)
		a->real[i] = find_known(a, h->processes.v[h->threads.v[i].process].pid, h->threads.v[i].tid);
	leave_out_replaced(a);
	return VPROF_OK;
}

static int by_begin(const void *a, const void *b)
{
	const struct served *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) :
				    (x->exchange > y->exchange) - (x->exchange < y->exchange);
}

/* Does any thread with probes, or another such visit, wait for it? Else it explains nothing. */
static int is_visit_without_probes(const struct adding *a, const struct vprof_exchange *e)
{
	return vprof_exchange_is_visit(e) && !(e->flags & VPROF_EXCHANGE_SEVERAL) &&
	       a->real[e->server.request_thread] == VPROF_NONE && a->real[e->server.reply_thread] == VPROF_NONE &&
	       a->tiers.of_connection.v[e->connection] != VPROF_NONE;
}

static int gather(struct adding *a)
{
	const struct vprof_exchanges *x = &a->found.exchanges;
	const struct vprof_socket_history *h = &a->input.history;

	for (uint32_t i = 0; i < x->v.n; i++) {
		const struct vprof_exchange *e = &x->v.v[i];
		struct served *s;

		if (!is_visit_without_probes(a, e))
			continue;
		s = VPROF_PUSH(&a->served);
		if (!s)
			return VPROF_ERR_NOMEM;
		*s = (struct served){ to_ticks(a, e->server.request_from), to_ticks(a, e->server.reply_to), i,
				      h->threads.v[e->server.request_thread].process, VPROF_NONE };
	}
	return vprof_array_sort(a->served.v, a->served.n, sizeof *a->served.v, by_begin) ? VPROF_ERR_NOMEM : VPROF_OK;
}

/* Each visit gets a lane of its process that is free then. */
static int place(struct adding *a)
{
	size_t first = 0; /* lane of the process at hand */

	for (size_t i = 0; i < a->served.n; i++) {
		struct served *s = &a->served.v[i];
		size_t k;

		if (i && a->served.v[i - 1].process != s->process)
			first = a->lanes.n;
		for (k = first; k < a->lanes.n && a->lanes.v[k].busy_until > s->from; k++)
			;
		if (k == a->lanes.n) {
			struct lane *lane = k < LANES_MOST ? VPROF_PUSH(&a->lanes) : NULL;

			if (!lane && k < LANES_MOST)
				return VPROF_ERR_NOMEM;
			if (!lane)
				continue;
			lane->process = s->process;
		}
		a->lanes.v[k].busy_until = s->to;
		s->lane = (uint32_t)(a->n_real + k);
		a->lane_of[s->exchange] = s->lane;
	}
	return VPROF_OK;
}

/* The thread that replies: a lane, or one with probes; VPROF_NONE: not known. */
static uint32_t replier(const struct adding *a, uint32_t exchange)
{
	const struct vprof_exchange *e = &a->found.exchanges.v.v[exchange];

	if (a->lane_of[exchange] != VPROF_NONE)
		return a->lane_of[exchange];
	return vprof_exchange_is_visit(e) ? a->real[e->server.reply_thread] : VPROF_NONE;
}

static uint32_t name_of(struct adding *a, uint32_t tier)
{
	char name[200];

	if (a->names[tier] == VPROF_NONE) {
		snprintf(name, sizeof name, VPROF_TIER_PREFIX "%s", a->tiers.names.kept.v[tier]);
		a->names[tier] = vprof_timeline_add_name(a->timeline, name);
	}
	return a->names[tier];
}

static int add_wait(struct adding *a, const struct served *s, uint64_t from, uint64_t to, uint32_t waker,
		    uint64_t wake_t)
{
	uint32_t tier = a->tiers.of_connection.v[a->found.exchanges.v.v[s->exchange].connection];
	uint32_t name = name_of(a, tier);
	struct vprof_wait *w;

	if (from >= to)
		return VPROF_OK;
	w = name == VPROF_NONE ? NULL : VPROF_PUSH(&a->timeline->threads[s->lane].waits);
	if (!w)
		return VPROF_ERR_NOMEM;
	*w = (struct vprof_wait){ .t0 = from,
				  .t1 = to,
				  .wake_t = wake_t,
				  .waker = waker,
				  .name = name,
				  .kind = VP_WAIT_SLEEP,
				  .lock = VPROF_NONE };
	return VPROF_OK;
}

/* A visit, cut where it waits for the replies to its calls; of calls that overlap the one that ends last counts, as far
 * as the others have not been told. */
static int add_visit(struct adding *a, const struct served *s)
{
	const struct vprof_request_trees *t = &a->found.trees;
	uint64_t since = s->from;
	int ret = VPROF_OK;

	for (uint32_t i = t->first_call.v[s->exchange]; i < t->first_call.v[s->exchange + 1] && !ret; i++) {
		uint32_t call = t->calls.v[i], thread = replier(a, call);
		const struct vprof_exchange *c = &a->found.exchanges.v.v[call];
		uint64_t from, to, woken;

		if (thread == VPROF_NONE || c->client.request_thread == VPROF_NONE ||
		    c->client.reply_thread == VPROF_NONE)
			continue;
		from = to_ticks(a, c->client.request_from);
		to = to_ticks(a, c->client.reply_to);
		woken = to_ticks(a, c->server.reply_from);
		from = from < since ? since : from;
		to = to < s->to ? to : s->to;
		if (from >= to || woken <= from)
			continue;
		ret = add_wait(a, s, since, from, VPROF_NONE, 0);
		ret = ret ? ret : add_wait(a, s, from, to, thread, woken < to ? woken : to);
		since = to;
	}
	return ret ? ret : add_wait(a, s, since, s->to, VPROF_NONE, 0);
}

/* The wait of a thread with probes that a reply ended: the last one that began before it was received. */
static void explain_wait(struct adding *a, uint32_t exchange)
{
	const struct vprof_exchange *e = &a->found.exchanges.v.v[exchange];
	uint32_t thread = e->client.reply_thread == VPROF_NONE ? VPROF_NONE : a->real[e->client.reply_thread];
	uint64_t sent = to_ticks(a, e->server.reply_from), received = to_ticks(a, e->client.reply_from);
	struct vprof_thread_timeline *t;
	struct vprof_wait *w;
	size_t i;

	if (thread == VPROF_NONE || a->lane_of[exchange] == VPROF_NONE)
		return;
	t = &a->timeline->threads[thread];
	i = VPROF_BISECT(t->waits.n, k, t->waits.v[k].t0 <= received);
	w = i ? &t->waits.v[i - 1] : NULL;
	if (!w || w->waker != VPROF_NONE || (w->kind != VP_WAIT_SOCKET && w->kind != VP_WAIT_POLL) || sent <= w->t0 ||
	    sent > w->t1)
		return;
	w->waker = a->lane_of[exchange];
	w->wake_t = sent;
}

static int add_threads(struct adding *a)
{
	const struct vprof_socket_history *h = &a->input.history;
	int ret = vprof_timeline_add_threads(a->timeline, a->lanes.n);

	for (size_t i = 0; i < a->lanes.n && !ret; i++) {
		struct vprof_thread_timeline *t = &a->timeline->threads[a->n_real + i];

		t->pid = t->tid = h->processes.v[a->lanes.v[i].process].pid;
	}
	for (size_t i = 0; i < a->served.n && !ret; i++)
		if (a->served.v[i].lane != VPROF_NONE) {
			struct vprof_thread_timeline *t = &a->timeline->threads[a->served.v[i].lane];

			t->t_first = t->waits.n ? t->t_first : a->served.v[i].from;
			t->t_last = a->served.v[i].to;
			ret = add_visit(a, &a->served.v[i]);
		}
	for (uint32_t i = 0; i < a->found.exchanges.v.n && !ret; i++)
		explain_wait(a, i);
	return ret;
}

int vprof_tiers_without_probes_add(struct vprof_source *source, struct vprof_error *err)
{
	struct adding a = { .source = source, .timeline = source->timeline };
	struct vprof_error ignored = { "" };
	int ret;

	if (!(source->trace->header.kernel_kinds & VP_KERNEL_SOCKETS))
		return VPROF_OK;
	ret = find_requests(&a, &ignored);
	ret = ret ? ret : gather(&a);
	ret = ret ? ret : place(&a);
	if (!ret && a.lanes.n)
		ret = add_threads(&a);
	vprof_tiers_release(&a.tiers);
	vprof_requests_release(&a.found);
	vprof_socket_input_release(&a.input);
	VPROF_ARRAY_RELEASE(&a.known);
	VPROF_ARRAY_RELEASE(&a.served);
	VPROF_ARRAY_RELEASE(&a.lanes);
	free(a.real);
	free(a.names);
	free(a.lane_of);
	return ret == VPROF_ERR_NOMEM ? vprof_error_no_memory(err) : VPROF_OK;
}
