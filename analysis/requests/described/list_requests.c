/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/described/list_requests.h"

#include <math.h>

#include "analysis/requests/path_patterns.h"
#include "analysis/requests/tier_times.h"

#define ADDRESS_BYTES 80

static const char *const how_names[VPROF_LINK_HOWS] = {
	[VPROF_LINK_THREAD] = "received and replied to by its thread",
	[VPROF_LINK_REPLY] = "its thread's next reply",
	[VPROF_LINK_RECEIVED] = "received last by its thread",
	[VPROF_LINK_WOKEN] = "its thread's waker's",
	[VPROF_LINK_CREATED] = "its thread's maker's",
	[VPROF_LINK_QUEUED] = "taken from a queue by its thread",
	[VPROF_LINK_HANDED] = "passed on by its thread to one that replied",
	[VPROF_LINK_MARKED] = "said by the program itself",
	[VPROF_LINK_KEPT] = "kept by its thread after waking another",
	[VPROF_LINK_MATCHED] = "matched with what its thread received and sent in turn",
	[VPROF_LINK_LENGTH] = "matched by the lengths of what its thread received and sent",
	[VPROF_LINK_ORDER] = "matched by the order of what its thread received and sent",
	[VPROF_LINK_ONLY] = "the only one at that time",
	[VPROF_LINK_AMBIGUOUS] = "ambiguous",
	[VPROF_LINK_OUTSIDE] = "none: the program served no request",
};

struct listing {
	struct vprof_requests_results *to;
	const struct vprof_requests *found;
	const struct vprof_tiers *tiers;
	uint32_t *nth;	 /* of each exchange: how many requests its connection had before */
	uint32_t *place; /* of each exchange: its number among the visits of its request */
};

const char *vprof_link_tell(enum vprof_link_how how)
{
	return how_names[how];
}

static void number_requests(struct listing *l)
{
	const struct vprof_exchanges *x = &l->found->exchanges;

	for (uint32_t i = 0, n = 0; i < x->v.n; i++) {
		n = i && x->v.v[i - 1].connection == x->v.v[i].connection ? n : 0;
		l->nth[i] = n;
		n += !(x->v.v[i].flags & VPROF_EXCHANGE_NO_REQUEST);
	}
}

/* Since the recording began, by the clock of the first host. */
static double since_begin(const struct listing *l, uint32_t host, uint64_t t)
{
	const struct vprof_socket_history *h = l->found->history;
	const struct vprof_host_clocks *clocks = &l->found->clocks;

	if (clocks->v.n > 1 && host < clocks->v.n && clocks->v.v[host].is_known)
		return vprof_host_clock_common(clocks, host, t) - (double)h->begin;
	return (double)t - (double)h->begin;
}

/* Of a thread that was not recorded: the first one. */
static uint32_t host_of_thread(const struct vprof_socket_history *h, uint32_t thread)
{
	return thread == VPROF_NONE ? 0 : h->processes.v[h->threads.v[thread].process].host;
}

static const char *keep_client(struct listing *l, const struct vprof_connection *c)
{
	const struct vprof_socket *end = &l->found->history->sockets.v[c->server != VPROF_NONE ? c->server : c->client];
	char address[ADDRESS_BYTES];

	if (end->kind != VPROF_SOCKET_TCP)
		return vprof_strings_keep(&l->to->strings, end->path);
	vprof_tiers_tell_address(c->server != VPROF_NONE ? &end->remote : &end->local, address, sizeof address);
	return vprof_strings_keep(&l->to->strings, address);
}

static int list_visit(struct listing *l, uint32_t exchange)
{
	const struct vprof_socket_history *h = l->found->history;
	const struct vprof_exchange *e = &l->found->exchanges.v.v[exchange];
	const struct vprof_link *link = &l->found->causality.links.v[exchange];
	const char *how = link->parent != VPROF_NONE ? how_names[link->how] : "";
	struct vprof_requests_visit *v = VPROF_PUSH(&l->to->visits);
	int is_seen_there = e->server.request_thread != VPROF_NONE;
	struct vprof_queued queued = vprof_queued_of(e);
	const struct vprof_exchange_end *end = vprof_exchange_ns(&e->client) || !is_seen_there ? &e->client :
												 &e->server;

	if (!v)
		return VPROF_ERR_NOMEM;
	*v = (struct vprof_requests_visit){
		.parent = link->parent != VPROF_NONE ? l->place[link->parent] : VPROF_NONE,
		.tier = vprof_strings_keep(&l->to->strings,
					   l->tiers->names.kept.v[l->tiers->of_connection.v[e->connection]]),
		.client = keep_client(l, &l->found->connections.v.v[e->connection]),
		.nth = l->nth[exchange],
		.how = vprof_strings_keep(&l->to->strings, how ? how : ""),
		.process = "",
		.confidence = link->parent != VPROF_NONE ? (double)link->confidence : 1,
		.request_bytes = e->request_bytes,
		.reply_bytes = e->reply_bytes,
		.from_ns = since_begin(l, host_of_thread(h, end->request_thread), end->request_from),
		.latency_ns = (double)vprof_exchange_ns(end),
		.served_from_ns = NAN,
		.served_ns = NAN,
		.request_queued_ns = (double)queued.request,
		.reply_queued_ns = (double)queued.reply,
	};
	if (is_seen_there) {
		const struct vprof_socket_thread *thread = &h->threads.v[e->server.request_thread];

		v->process = vprof_strings_keep(&l->to->strings, h->processes.v[thread->process].name);
		v->pid = h->processes.v[thread->process].pid;
		v->tid = thread->tid;
		v->served_from_ns = since_begin(l, host_of_thread(h, e->server.request_thread), e->server.request_from);
		v->served_ns = (double)vprof_exchange_ns(&e->server);
	}
	return v->tier && v->client && v->how && v->process ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int list_request(struct listing *l, uint32_t number)
{
	const struct vprof_request_trees *t = &l->found->trees;
	const struct vprof_request *q = &t->requests.v[number];
	struct vprof_requests_one *one = &l->to->requests[l->to->n_listed++];
	struct vprof_text text = VPROF_TEXT_INIT;
	int ret = VPROF_OK;

	vprof_path_tell(&text, number, SIZE_MAX, &l->found->exchanges, t, l->tiers);
	*one = (struct vprof_requests_one){
		.client = keep_client(l, &l->found->connections.v.v[l->found->exchanges.v.v[q->root].connection]),
		.nth = l->nth[q->root],
		.state = (enum vprof_request_state)q->state,
		.is_whole = q->is_whole,
		.latency_ns = (double)(q->to - q->from),
		.confidence = (double)q->confidence,
		.path = text.failed ? NULL : vprof_strings_keep(&l->to->strings, text.s),
		.first_visit = l->to->visits.n,
		.n_visits = q->n_nodes,
	};
	vprof_text_release(&text);
	for (uint32_t i = 0; i < q->n_nodes && !ret; i++) {
		l->place[t->nodes.v[q->first_node + i]] = i;
		ret = list_visit(l, t->nodes.v[q->first_node + i]);
	}
	if (ret || !one->client || !one->path)
		return VPROF_ERR_NOMEM;
	one->from_ns = l->to->visits.v[one->first_visit].from_ns;
	return VPROF_OK;
}

int vprof_requests_list(struct vprof_requests_results *to, const struct vprof_requests *found,
			const struct vprof_tiers *tiers)
{
	size_t n = found->exchanges.v.n;
	struct listing l = { to, found, tiers, malloc((n + 1) * sizeof *l.nth), malloc((n + 1) * sizeof *l.place) };
	int ret = VPROF_ERR_NOMEM;

	to->requests = calloc(found->trees.requests.n + 1, sizeof *to->requests);
	if (l.nth && l.place && to->requests) {
		number_requests(&l);
		ret = VPROF_OK;
	}
	for (uint32_t i = 0; i < found->trees.requests.n && !ret; i++)
		ret = list_request(&l, i);
	free(l.nth);
	free(l.place);
	return ret;
}
