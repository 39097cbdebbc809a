/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/request_evidence.h"

#include "common/hash/hash_index.h"
#include "common/search.h"

#define HIGH_MIN 0.9 /* of the requests agree */
#define HIGH_REQUESTS 30
#define MEDIUM_MIN 0.5
#define MEDIUM_REQUESTS 10
#define ITEMS_MIN 20	  /* calls of a function that repeats */
#define ITEMS_PER_CALL 10 /* ... for each call of the one around it */
#define ITEMS_SHARE 0.5	  /* of the thread's time */

struct placed { /* a transfer on a stack */
	uint64_t connection, t;
	uint32_t thread; /* of the history */
	size_t event;
	int is_send, is_known;
	int is_end; /* it begins a request, or is the last of a reply */
	uint32_t bytes;
	uint32_t survives; /* frames of its stack that are still of the same calls where the thread receives the next
			      request, or sends the next reply; VPROF_NONE: there is none */
};

struct vote {
	uint32_t begin, end;
	enum vprof_evidence_kind kind;
	uint64_t n;
};

struct finding {
	struct vprof_request_evidence *out;
	const struct vprof_annotated_tree *tree;
	const struct vprof_latency_history *history;
	const unsigned char *is_project;
	VPROF_ARRAY(struct placed) placed; /* by connection, then time */
	VPROF_ARRAY(struct vote) votes;
};

static int by_connection(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->connection != y->connection ? vprof_u64_order(x->connection, y->connection) :
						vprof_u64_order(x->t, y->t);
}

static int by_thread(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->thread != y->thread)
		return vprof_u64_order(x->thread, y->thread);
	return vprof_u64_order(x->event, y->event);
}

/* The last event of the thread that began no earlier than the system call and lies in it. */
static void place(struct finding *f, const struct vprof_transfer *t, struct placed *p)
{
	const struct vprof_latency_history *h = f->history;

	for (uint32_t i = 0; i < h->threads.n; i++) {
		const struct vprof_latency_thread *thread = &h->threads.v[i];
		size_t n, at;

		if (thread->tid != t->tid || t->t < thread->begin || t->t > thread->end)
			continue;
		n = VPROF_BISECT(thread->n_events, k, h->events.v[thread->first_event + k].t <= t->t);
		at = thread->first_event + n - 1;
		if (!n || h->events.v[at].t < t->from ||
		    h->stacks.v[h->events.v[at].stack].n <= h->stacks.v[h->events.v[at].stack].n_user)
			continue;
		p->thread = i;
		p->event = at;
		p->is_known = 1;
		return;
	}
}

/* How many frames at the outer end are of the same calls from one event of a thread to a later one. */
static uint32_t surviving(const struct finding *f, size_t from, size_t to)
{
	const struct vprof_latency_history *h = f->history;
	uint32_t depth = h->stacks.v[h->events.v[from].stack].n_user;

	for (size_t i = from + 1; i <= to && depth; i++) {
		struct vprof_latency_common c = vprof_latency_common_depth(h, h->events.v[i - 1].stack,
									   h->events.v[i].stack, h->events.v[i].flags);

		depth = c.depth < depth ? c.depth : depth;
	}
	return depth;
}

/* Sorted by thread meanwhile. */
static int find_survivors(struct finding *f)
{
	struct placed *v = f->placed.v;
	size_t last[2] = { SIZE_MAX, SIZE_MAX };

	if (vprof_array_sort(v, f->placed.n, sizeof *v, by_thread))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < f->placed.n; i++) {
		size_t before = last[v[i].is_send];

		v[i].survives = VPROF_NONE;
		if (!v[i].is_known || !v[i].is_end)
			continue;
		if (before != SIZE_MAX && v[before].thread == v[i].thread)
			v[before].survives = surviving(f, v[before].event, v[i].event);
		last[v[i].is_send] = i;
	}
	return vprof_array_sort(v, f->placed.n, sizeof *v, by_connection) ? VPROF_ERR_NOMEM : VPROF_OK;
}

/* The outermost function of the project within frames [from, to) of an event's stack; VPROF_NONE: there is none. */
static uint32_t outermost(const struct finding *f, size_t event, uint32_t from, uint32_t to)
{
	const struct vprof_latency_history *h = f->history;
	const struct vprof_latency_stack *s = &h->stacks.v[h->events.v[event].stack];

	for (uint32_t d = from; d < to && d < s->n_user; d++)
		if (f->is_project[h->frames.v[s->first + d].function])
			return h->frames.v[s->first + d].function;
	return VPROF_NONE;
}

static int add_vote(struct finding *f, struct vote v)
{
	struct vote *to;

	for (size_t i = 0; i < f->votes.n; i++) {
		to = &f->votes.v[i];
		if (to->begin == v.begin && to->end == v.end && to->kind == v.kind) {
			to->n++;
			return VPROF_OK;
		}
	}
	to = VPROF_PUSH(&f->votes);
	if (!to)
		return VPROF_ERR_NOMEM;
	*to = v;
	to->n = 1;
	return VPROF_OK;
}

static int add_request(struct finding *f, struct placed *received, struct placed *sent)
{
	struct vote v = { .kind = VPROF_EVIDENCE_SPLIT };
	uint32_t both = 0;

	if (!received->is_known || !sent->is_known) {
		f->out->n_unplaced++;
		return VPROF_OK;
	}
	if (received->survives == VPROF_NONE || sent->survives == VPROF_NONE)
		return VPROF_OK; /* the thread's last one: what encloses the next is not known */
	f->out->n_requests++;
	if (received->thread == sent->thread)
		both = surviving(f, received->event, sent->event);
	v.begin = v.end = outermost(f, received->event, received->survives, both);
	if (v.begin != VPROF_NONE) {
		v.kind = VPROF_EVIDENCE_CALL;
		return add_vote(f, v);
	}
	v.begin = outermost(f, received->event, both > received->survives ? both : received->survives, UINT32_MAX);
	v.end = outermost(f, sent->event, both > sent->survives ? both : sent->survives, UINT32_MAX);
	return v.begin == VPROF_NONE || v.end == VPROF_NONE ? VPROF_OK : add_vote(f, v);
}

static int mark_request(struct finding *f, struct placed *received, struct placed *sent)
{
	(void)f;
	received->is_end = sent->is_end = 1;
	return VPROF_OK;
}

/* Requests with replies, one connection after the other. */
static int each_request(struct finding *f, int (*request)(struct finding *, struct placed *, struct placed *))
{
	struct placed *received = NULL, *sent = NULL;
	int ret = VPROF_OK;

	for (size_t i = 0; i < f->placed.n && !ret; i++) {
		struct placed *p = &f->placed.v[i];
		int is_other = i && p->connection != p[-1].connection;

		if (received && sent && (is_other || !p->is_send))
			ret = request(f, received, sent);
		if (is_other || (sent && !p->is_send))
			received = sent = NULL;
		if (p->is_send)
			sent = received ? p : NULL;
		else if (!received && p->bytes)
			received = p;
	}
	return ret || !received || !sent ? ret : request(f, received, sent);
}

static void decide(struct finding *f)
{
	struct vprof_request_evidence *out = f->out;
	const struct vote *best = NULL;
	double share;

	for (size_t i = 0; i < f->votes.n; i++)
		if (!best || f->votes.v[i].n > best->n)
			best = &f->votes.v[i];
	if (!best)
		return;
	share = (double)best->n / (double)out->n_requests;
	out->kind = best->kind;
	out->begin = best->begin;
	out->end = best->end;
	out->n_agreeing = best->n;
	out->confidence = share >= HIGH_MIN && best->n >= HIGH_REQUESTS	    ? VPROF_EVIDENCE_HIGH :
			  share >= MEDIUM_MIN && best->n >= MEDIUM_REQUESTS ? VPROF_EVIDENCE_MEDIUM :
									      VPROF_EVIDENCE_LOW;
}

/* The outermost function that is called again and again and has most of the time. It is never called high: what an item
 * of input is, no event says. */
static void find_items(struct finding *f)
{
	const struct vprof_annotated_tree *t = f->tree;
	double busy = (double)(t->total_ns - t->idle_ns);
	uint32_t best = 0;

	for (uint32_t x = 1; x < t->tree.nodes.n; x++) {
		const struct vprof_context_node *n = &t->tree.nodes.v[x];
		const struct vprof_latency_context *c = &t->contexts[x];
		uint64_t around = n->parent ? t->contexts[n->parent].n : 1;

		if (!f->is_project[n->function] || c->n < ITEMS_MIN || c->n < ITEMS_PER_CALL * around ||
		    (double)c->low_ns < ITEMS_SHARE * busy)
			continue;
		if (!best || n->depth < t->tree.nodes.v[best].depth ||
		    (n->depth == t->tree.nodes.v[best].depth && c->low_ns > t->contexts[best].low_ns))
			best = x;
	}
	if (!best)
		return;
	f->out->kind = VPROF_EVIDENCE_ITEMS;
	f->out->begin = f->out->end = t->tree.nodes.v[best].function;
	f->out->n_requests = f->out->n_agreeing = t->contexts[best].n;
	f->out->share = busy > 0 ? (double)t->contexts[best].low_ns / busy : 0;
	f->out->confidence = VPROF_EVIDENCE_MEDIUM;
}

int vprof_request_evidence_find(struct vprof_request_evidence *out, const struct vprof_annotated_tree *t,
				const struct vprof_transfer *transfers, size_t n_transfers,
				const unsigned char *is_project)
{
	struct finding f = { .out = out, .tree = t, .history = t->history, .is_project = is_project };
	int ret = VPROF_OK;

	*out = (struct vprof_request_evidence){ .begin = VPROF_NONE, .end = VPROF_NONE };
	for (size_t i = 0; i < n_transfers && !ret; i++) {
		struct placed *p = VPROF_PUSH(&f.placed);

		if (!p) {
			ret = VPROF_ERR_NOMEM;
			break;
		}
		*p = (struct placed){ .connection = transfers[i].connection,
				      .t = transfers[i].t,
				      .is_send = transfers[i].is_send,
				      .bytes = transfers[i].bytes };
		place(&f, &transfers[i], p);
	}
	if (!ret)
		ret = vprof_array_sort(f.placed.v, f.placed.n, sizeof *f.placed.v, by_connection) ? VPROF_ERR_NOMEM :
												    VPROF_OK;
	if (!ret)
		ret = each_request(&f, mark_request);
	if (!ret)
		ret = find_survivors(&f);
	if (!ret)
		ret = each_request(&f, add_request);
	if (!ret) {
		decide(&f);
		if (out->kind == VPROF_EVIDENCE_NONE && !n_transfers)
			find_items(&f);
	}
	VPROF_ARRAY_RELEASE(&f.placed);
	VPROF_ARRAY_RELEASE(&f.votes);
	return ret;
}
