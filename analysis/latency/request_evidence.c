/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/request_evidence.h"

#include "common/hash/hash_index.h"
#include "common/search.h"

#define HIGH_MIN 0.9 /* of the requests agree */
#define HIGH_REQUESTS 30
#define MEDIUM_MIN 0.5
#define MEDIUM_REQUESTS 10
#define OFTEN 2.0	  /* calls for each request: no more than connections that come and go add */
#define WAIT_EVENTS 256	  /* before a receipt, among which a wait for work is looked for */
#define ITEMS_MIN 20	  /* calls of a function that repeats */
#define ITEMS_PER_CALL 10 /* ... for each call of the one around it */
#define ITEMS_SHARE 0.5	  /* of the thread's time */

struct placed { /* a transfer on a stack */
	uint64_t connection, t;
	uint32_t thread; /* of the history */
	size_t event;
	int is_send, is_known;
	int is_end;    /* it begins a request, or is the last of a reply */
	int slept;     /* the thread had no CPU in the system call */
	int is_behind; /* a send of which the stack is not known: the event is the thread's next one */
	uint32_t bytes;
	uint32_t survives; /* frames of its stack that are still of the same calls where the thread receives the next
			      request, or sends the next reply; VPROF_NONE: there is none */
	size_t next;	   /* event of that; SIZE_MAX: there is none */
	uint32_t waited;   /* frames that were there when the thread last waited for work: not of the request alone */
};

/* what a function may be of a request */
enum part { PART_CALL, PART_BEGIN, PART_END, PARTS };

struct tally {
	uint64_t n[PARTS], counted[PARTS]; /* counted: number of the request for which it was counted last */
	uint64_t depth;			   /* summed over all counts */
};

struct finding {
	struct vprof_request_evidence *out;
	const struct vprof_annotated_tree *tree;
	const struct vprof_latency_history *history;
	const unsigned char *is_project;
	VPROF_ARRAY(struct placed) placed; /* by connection, then time */
	struct tally *tallies;		   /* [functions] */
	uint64_t n_slept, n_left;
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
		p->thread = i;
		n = VPROF_BISECT(thread->n_events, k, h->events.v[thread->first_event + k].t <= t->t);
		at = thread->first_event + n - 1;
		if (!n || h->events.v[at].t < t->from ||
		    h->stacks.v[h->events.v[at].stack].n <= h->stacks.v[h->events.v[at].stack].n_user) {
			p->is_behind = t->is_send && n < thread->n_events;
			p->event = at + 1;
			continue;
		}
		p->event = at;
		p->is_known = 1;
		for (size_t e = at; e > thread->first_event && h->events.v[e].t > t->from; e--)
			p->slept |= (h->events.v[e].flags & VPROF_LATENCY_OFF_CPU) != 0;
		return;
	}
}

/* How many frames at the outer end are of the same calls from one event of a thread to a later one; where they are no
 * more than `least`, only that. */
static uint32_t surviving(const struct finding *f, size_t from, size_t to, uint32_t least)
{
	const struct vprof_latency_history *h = f->history;
	uint32_t depth = h->stacks.v[h->events.v[from].stack].n_user;

	for (size_t i = from + 1; i <= to && depth > least; i++) {
		struct vprof_latency_common c = vprof_latency_common_depth(h, h->events.v[i - 1].stack,
									   h->events.v[i].stack, h->events.v[i].flags);

		depth = c.depth < depth ? c.depth : depth;
	}
	return depth;
}

/* Is the event's thread in a system call that waits for work? */
static int is_idle(const struct vprof_latency_history *h, const struct vprof_latency_event *e)
{
	const struct vprof_latency_stack *s = &h->stacks.v[e->stack];

	for (uint32_t d = s->n_user; d < s->n; d++)
		if (h->functions.v[h->frames.v[s->first + d].function].is_idle)
			return 1;
	return 0;
}

static uint32_t find_waited(const struct finding *f, const struct placed *p)
{
	const struct vprof_latency_history *h = f->history;
	size_t first = h->threads.v[p->thread].first_event, n = 0;

	for (size_t e = p->event; e-- > first && n < WAIT_EVENTS; n++)
		if (is_idle(h, &h->events.v[e]))
			return surviving(f, e, p->event, 0);
	return 0;
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
		v[i].next = SIZE_MAX;
		v[i].waited = 0;
		if (!v[i].is_known || !v[i].is_end)
			continue; /* what is known behind a send only is not where it was sent */
		if (!v[i].is_send)
			v[i].waited = find_waited(f, &v[i]);
		if (before != SIZE_MAX && v[before].thread == v[i].thread) {
			v[before].survives = surviving(f, v[before].event, v[i].event, 0);
			v[before].next = v[i].event;
		}
		last[v[i].is_send] = i;
	}
	return vprof_array_sort(v, f->placed.n, sizeof *v, by_connection) ? VPROF_ERR_NOMEM : VPROF_OK;
}

/* Functions of the project within frames [from, to) of an event's stack, each once for a request. */
static void count(struct finding *f, size_t event, uint32_t from, uint32_t to, enum part part)
{
	const struct vprof_latency_history *h = f->history;
	const struct vprof_latency_stack *s = &h->stacks.v[h->events.v[event].stack];

	for (uint32_t d = from; d < to && d < s->n_user; d++) {
		uint32_t function = h->frames.v[s->first + d].function;
		struct tally *t = &f->tallies[function];

		if (!f->is_project[function] || t->counted[part] == f->out->n_requests)
			continue;
		t->counted[part] = f->out->n_requests;
		t->n[part]++;
		t->depth += d;
	}
}

static int add_request(struct finding *f, struct placed *received, struct placed *sent)
{
	uint32_t both = 0, from, least;

	if (!received->is_known || !(sent->is_known || (sent->is_behind && sent->thread == received->thread))) {
		f->out->n_unplaced++;
		return VPROF_OK;
	}
	if (received->survives == VPROF_NONE || (sent->is_known && sent->survives == VPROF_NONE))
		return VPROF_OK; /* the thread's last one: what encloses the next is not known */
	f->out->n_requests++;
	f->n_slept += received->slept != 0;
	f->n_left += received->next != SIZE_MAX && received->thread == sent->thread && received->next < sent->event;
	from = received->survives > received->waited ? received->survives : received->waited;
	/* replies of an event loop come long after: what other requests have in between ends the search */
	least = sent->is_known && sent->survives < from ? sent->survives : from;
	if (received->thread == sent->thread)
		both = surviving(f, received->event, sent->event, least);
	count(f, received->event, from, both, PART_CALL);
	count(f, received->event, both > from ? both : from, UINT32_MAX, PART_BEGIN);
	if (sent->is_known)
		count(f, sent->event, both > sent->survives ? both : sent->survives, UINT32_MAX, PART_END);
	return VPROF_OK;
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

static double mean_depth(const struct tally *t)
{
	uint64_t n = t->n[PART_CALL] + t->n[PART_BEGIN] + t->n[PART_END];

	return n ? (double)t->depth / (double)n : 0;
}

/* Calls of a function that were seen, wherever. */
static uint64_t count_calls(const struct finding *f, uint32_t function)
{
	uint64_t n = 0;

	for (uint32_t x = 1; x < f->tree->tree.nodes.n; x++)
		n += f->tree->tree.nodes.v[x].function == function ? f->tree->contexts[x].n : 0;
	return n;
}

/* A turn of a loop may enclose one request, but there are many turns without any: of functions that may be it, those
 * are left that are called much more often than requests come, if there are others. *calls: of the one that is called
 * least. */
static uint32_t leave_out_turns(const struct finding *f, uint32_t *chosen, uint32_t n, uint64_t *calls)
{
	uint64_t counts[VPROF_EVIDENCE_MOST];
	uint32_t left = 0;

	*calls = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		counts[i] = count_calls(f, chosen[i]);
		*calls = counts[i] < *calls ? counts[i] : *calls;
	}
	for (uint32_t i = 0; i < n; i++)
		if ((double)counts[i] <= OFTEN * (double)*calls || counts[i] <= OFTEN * (double)f->out->n_requests)
			chosen[left++] = chosen[i];
	return left;
}

/* The functions that are this part of at least so many requests, the outermost first. *least: of the one with fewest.
 */
static uint32_t choose(const struct finding *f, enum part part, double at_least, uint32_t *chosen, uint64_t *least)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->history->functions.n; i++) {
		const struct tally *t = &f->tallies[i];
		uint32_t at = n;

		if (!t->n[part] || (double)t->n[part] < at_least)
			continue;
		while (at && mean_depth(&f->tallies[chosen[at - 1]]) > mean_depth(t))
			at--;
		if (at == VPROF_EVIDENCE_MOST)
			continue;
		n += n < VPROF_EVIDENCE_MOST;
		memmove(chosen + at + 1, chosen + at, (n - at - 1) * sizeof *chosen);
		chosen[at] = i;
		*least = t->n[part] < *least ? t->n[part] : *least;
	}
	return n;
}

static uint64_t most(const struct finding *f, enum part part)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->history->functions.n; i++)
		n = f->tallies[i].n[part] > n ? f->tallies[i].n[part] : n;
	return n;
}

/* A call that sleeps until its request comes: the request begins where the function within it returns that received it,
 * and ends with the call. If there is no such function, the call has the client's time in it: that is never sure. */
static void begin_behind_receipt(struct finding *f)
{
	struct vprof_request_evidence *out = f->out;
	uint32_t begins[VPROF_EVIDENCE_MOST], n;
	uint64_t most_begin = most(f, PART_BEGIN);
	double enough = HIGH_MIN * (double)out->n_requests;

	n = choose(f, PART_BEGIN, enough < (double)most_begin ? enough : (double)most_begin, begins, &out->n_agreeing);
	if (!n) {
		out->waits = 0;
		out->n_agreeing = out->n_agreeing < MEDIUM_REQUESTS ? out->n_agreeing : MEDIUM_REQUESTS - 1;
		return;
	}
	out->kind = VPROF_EVIDENCE_SPLIT;
	memcpy(out->ends, out->begins, sizeof out->ends);
	out->n_ends = out->n_begins;
	memcpy(out->begins, begins, sizeof begins);
	out->n_begins = n;
}

static void decide(struct finding *f)
{
	struct vprof_request_evidence *out = f->out;
	uint64_t call = most(f, PART_CALL), begin = most(f, PART_BEGIN), end = most(f, PART_END);
	uint64_t split = begin < end ? begin : end, calls;
	double enough = HIGH_MIN * (double)out->n_requests, share;
	int is_call = (double)call >= enough || call >= split;
	enum part call_part = PART_CALL;

	/* received by the loop itself: what it calls to reply is the request, as far as a function has it */
	if (!call && !begin && end) {
		call_part = PART_END;
		call = end;
		is_call = 1;
	}
	/* where replies are sent is not known: of the functions around the receipt it is likely, not sure */
	if (!call && begin && !end) {
		call_part = PART_BEGIN;
		call = begin;
		is_call = 1;
	}
	if (!call && !split)
		return;
	out->kind = is_call ? VPROF_EVIDENCE_CALL : VPROF_EVIDENCE_SPLIT;
	out->n_agreeing = UINT64_MAX;
	/* where fewer agree: the one on which most do */
	out->n_begins = is_call ? choose(f, call_part, enough < (double)call ? enough : (double)call, out->begins,
					 &out->n_agreeing) :
				  choose(f, PART_BEGIN, enough < (double)begin ? enough : (double)begin, out->begins,
					 &out->n_agreeing);
	out->waits = 2 * f->n_slept > out->n_requests;
	out->is_left = !is_call && 100 * f->n_left > out->n_requests;
	if (is_call && out->waits && call_part == PART_CALL)
		begin_behind_receipt(f);
	if (!is_call)
		out->n_ends =
			choose(f, PART_END, enough < (double)end ? enough : (double)end, out->ends, &out->n_agreeing);
	share = (double)out->n_agreeing / (double)out->n_requests;
	out->n_begins = leave_out_turns(f, out->begins, out->n_begins, &calls);
	out->confidence = share >= HIGH_MIN && out->n_agreeing >= HIGH_REQUESTS	    ? VPROF_EVIDENCE_HIGH :
			  share >= MEDIUM_MIN && out->n_agreeing >= MEDIUM_REQUESTS ? VPROF_EVIDENCE_MEDIUM :
										      VPROF_EVIDENCE_LOW;
	if ((call_part == PART_BEGIN || (double)calls > OFTEN * (double)out->n_requests) &&
	    out->confidence == VPROF_EVIDENCE_HIGH)
		out->confidence = VPROF_EVIDENCE_MEDIUM;
}

/* The outermost function that is called again and again and has most of the time. It is never called high: what an item
 * of input is, no event says. */
static void find_items(struct finding *f)
{
	const struct vprof_annotated_tree *t = f->tree;
	double best_share = 0;
	uint32_t best = 0;

	for (uint32_t x = 1; x < t->tree.nodes.n; x++) {
		const struct vprof_context_node *n = &t->tree.nodes.v[x];
		const struct vprof_latency_context *c = &t->contexts[x];
		uint64_t around = n->parent ? t->contexts[n->parent].n : 1;
		uint32_t top = x;
		double share;

		while (t->tree.nodes.v[top].parent)
			top = t->tree.nodes.v[top].parent;
		share = t->contexts[top].low_ns ? (double)c->low_ns / (double)t->contexts[top].low_ns : 0;
		if (!f->is_project[n->function] || c->n < ITEMS_MIN || c->n < ITEMS_PER_CALL * around ||
		    share < ITEMS_SHARE)
			continue;
		if (!best || n->depth < t->tree.nodes.v[best].depth ||
		    (n->depth == t->tree.nodes.v[best].depth && share > best_share)) {
			best = x;
			best_share = share;
		}
	}
	if (!best)
		return;
	f->out->kind = VPROF_EVIDENCE_ITEMS;
	f->out->begins[0] = t->tree.nodes.v[best].function;
	f->out->n_begins = 1;
	f->out->n_requests = f->out->n_agreeing = t->contexts[best].n;
	f->out->share = best_share;
	f->out->confidence = VPROF_EVIDENCE_MEDIUM;
}

int vprof_request_evidence_find(struct vprof_request_evidence *out, const struct vprof_annotated_tree *t,
				const struct vprof_transfer *transfers, size_t n_transfers,
				const unsigned char *is_project)
{
	struct finding f = { .out = out, .tree = t, .history = t->history, .is_project = is_project };
	int ret = VPROF_OK;

	*out = (struct vprof_request_evidence){ .kind = VPROF_EVIDENCE_NONE };
	f.tallies = calloc(t->history->functions.n + 1, sizeof *f.tallies);
	ret = f.tallies ? VPROF_OK : VPROF_ERR_NOMEM;
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
	free(f.tallies);
	return ret;
}
