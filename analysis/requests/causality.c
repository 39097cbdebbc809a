/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Three passes over the transfers in order of time: forward, which gathers what the threads worked for; backward, which
 * request each thread replies to next; and, once the links are decided, one that marks the requests to which ambiguous
 * calls may belong.
 */
#include "analysis/requests/causality.h"

#include "analysis/requests/agreement.h"
#include "analysis/requests/batches.h"

struct thread_state {
	uint32_t visit;	       /* that it works for; VPROF_NONE: none is known */
	uint8_t how;	       /* enum vprof_forward */
	uint8_t has_passed_on; /* it woke another thread meanwhile */
};

struct process_state {
	uint32_t n_open, sum; /* of the visits' numbers, modulo 2^32: with one open, it is that */
	uint32_t first;	      /* of the open visits, the latest one; VPROF_NONE */
	uint32_t marked;      /* from this one on all are marked (mark_candidates) */
};

struct evidence { /* about a call */
	uint32_t forward, backward, only, n_open;
	uint8_t how; /* enum vprof_forward */
};

struct walk {
	const struct vprof_socket_history *h;
	const struct vprof_connections *connections;
	const struct vprof_exchanges *x;
	struct vprof_causality *c;
	struct thread_state *threads;
	struct process_state *processes;
	struct evidence *evidence; /* of each exchange */
	uint32_t *next, *previous; /* open visits of a process, as a list */
	struct vprof_agreement agreement;
	struct vprof_batches batches;
};

/* What a transfer is to an exchange. */
enum part { PART_NONE, PART_REQUEST_SENT, PART_REQUEST_RECEIVED, PART_REPLY_SENT, PART_REPLY_RECEIVED };

static enum part part_of(const struct walk *w, const struct vprof_transfer *t, const struct vprof_exchange *e)
{
	int is_client = w->connections->v.v[e->connection].client == t->socket;

	if (e->flags & VPROF_EXCHANGE_NO_REQUEST)
		return PART_NONE;
	if (t->is_send)
		return is_client ? PART_REQUEST_SENT : PART_REPLY_SENT;
	return is_client ? PART_REPLY_RECEIVED : PART_REQUEST_RECEIVED;
}

static int is_visit(const struct vprof_exchange *e)
{
	return !(e->flags & (VPROF_EXCHANGE_NO_REQUEST | VPROF_EXCHANGE_NO_REPLY)) &&
	       e->server.request_thread != VPROF_NONE && e->server.reply_thread != VPROF_NONE;
}

static int is_first(const struct vprof_transfer *t, const struct vprof_exchange_end *end)
{
	return t->thread == end->request_thread && vprof_transfer_time(t) == end->request_from;
}

static int is_last(const struct vprof_transfer *t, const struct vprof_exchange_end *end)
{
	return t->thread == end->reply_thread && t->to == end->reply_to;
}

static int is_open(const struct walk *w, uint32_t visit)
{
	return w->previous[visit] != visit;
}

static void open_visit(struct walk *w, uint32_t process, uint32_t visit)
{
	struct process_state *p = &w->processes[process];

	if (is_open(w, visit))
		return;
	p->n_open++;
	p->sum += visit;
	w->previous[visit] = VPROF_NONE;
	w->next[visit] = p->first;
	if (p->first != VPROF_NONE)
		w->previous[p->first] = visit;
	p->first = visit;
}

static void close_visit(struct walk *w, uint32_t process, uint32_t visit)
{
	struct process_state *p = &w->processes[process];

	if (!is_open(w, visit))
		return;
	p->n_open--;
	p->sum -= visit;
	if (p->marked == visit)
		p->marked = w->next[visit];
	if (w->previous[visit] == VPROF_NONE)
		p->first = w->next[visit];
	else
		w->next[w->previous[visit]] = w->next[visit];
	if (w->next[visit] != VPROF_NONE)
		w->previous[w->next[visit]] = w->previous[visit];
	w->previous[visit] = visit;
}

/* Where a visit is open: the process that received its request. */
static uint32_t process_of_visit(const struct walk *w, uint32_t visit)
{
	return w->h->threads.v[w->x->v.v[visit].server.request_thread].process;
}

static uint8_t how_known(const struct thread_state *thread)
{
	return thread->has_passed_on ? VPROF_FORWARD_KEPT : thread->how;
}

static void note_call(struct walk *w, const struct vprof_transfer *t, uint32_t exchange)
{
	const struct thread_state *thread = &w->threads[t->thread];
	const struct process_state *process = &w->processes[w->h->threads.v[t->thread].process];
	struct evidence *e = &w->evidence[exchange];

	e->forward = thread->visit;
	e->how = how_known(thread);
	e->n_open = process->n_open;
	e->only = process->n_open == 1 ? process->sum : VPROF_NONE;
	vprof_agreement_call(&w->agreement, t->thread, process->n_open,
			     w->x->v.v[exchange].client.reply_thread != VPROF_NONE);
}

static void note_reply(struct walk *w, const struct vprof_transfer *t, uint32_t exchange)
{
	struct thread_state *thread = &w->threads[t->thread];

	if (!is_visit(&w->x->v.v[exchange]))
		return;
	if (thread->visit != VPROF_NONE)
		vprof_agreement_reply(&w->agreement, t->thread, (enum vprof_forward)how_known(thread),
				      thread->visit == exchange);
	vprof_agreement_busy(&w->agreement, t->thread);
	/* Whatever was thought, it works for this request now, or has finished it. */
	*thread = (struct thread_state){ exchange, VPROF_FORWARD_RECEIVED, 0 };
	if (is_last(t, &w->x->v.v[exchange].server)) {
		close_visit(w, process_of_visit(w, exchange), exchange);
		thread->visit = VPROF_NONE;
	}
}

static void go_forward(struct walk *w, const struct vprof_transfer *t, uint32_t exchange)
{
	const struct vprof_exchange *e = &w->x->v.v[exchange];
	struct thread_state *thread = &w->threads[t->thread];

	switch (part_of(w, t, e)) {
	case PART_REQUEST_RECEIVED:
		if (is_first(t, &e->server)) {
			if (is_visit(e))
				open_visit(w, process_of_visit(w, exchange), exchange);
			vprof_agreement_busy(&w->agreement, t->thread);
		} else if (!is_open(w, exchange)) {
			break; /* the rest of a request that it replied to before it had read it */
		}
		*thread = (struct thread_state){ exchange, VPROF_FORWARD_RECEIVED, 0 };
		break;
	case PART_REQUEST_SENT:
		if (is_first(t, &e->client))
			note_call(w, t, exchange);
		break;
	case PART_REPLY_RECEIVED:
		if (e->client.request_thread == VPROF_NONE)
			break;
		vprof_agreement_returned(&w->agreement, e->client.request_thread,
					 vprof_transfer_time(t) == e->client.reply_from);
		if (w->evidence[exchange].forward != VPROF_NONE)
			*thread = (struct thread_state){ w->evidence[exchange].forward, w->evidence[exchange].how, 0 };
		break;
	case PART_REPLY_SENT:
		note_reply(w, t, exchange);
		break;
	case PART_NONE:
		break;
	}
}

static int is_over(const struct walk *w, uint32_t visit, uint64_t t)
{
	const struct vprof_exchange *e = &w->x->v.v[visit];

	return e->server.reply_thread != VPROF_NONE && e->server.reply_to < t;
}

/* A thread that has nothing to do, or has passed its request on, works for its waker's request from now on. */
static void take_wake(struct walk *w, const struct vprof_thread_wake *wake)
{
	struct thread_state *from = &w->threads[wake->waker], *to = &w->threads[wake->wakee];

	if (w->h->threads.v[wake->waker].process != w->h->threads.v[wake->wakee].process && !wake->is_creation)
		return;
	if (from->visit == VPROF_NONE || is_over(w, from->visit, wake->t))
		return;
	if (to->visit != VPROF_NONE && !to->has_passed_on && !is_over(w, to->visit, wake->t))
		return;
	*to = (struct thread_state){ from->visit, wake->is_creation ? VPROF_FORWARD_CREATED : VPROF_FORWARD_WOKEN, 0 };
	from->has_passed_on = 1;
}

static void walk_forward(struct walk *w)
{
	size_t wake = 0;

	for (size_t i = 0; i < w->h->transfers.n; i++) {
		const struct vprof_transfer *t = &w->h->transfers.v[i];
		struct vprof_exchange_span span = w->x->of_transfer.v[i];

		for (; wake < w->h->wakes.n && w->h->wakes.v[wake].t <= vprof_transfer_time(t); wake++)
			take_wake(w, &w->h->wakes.v[wake]);
		for (uint32_t e = span.first; e <= span.last; e++)
			go_forward(w, t, e);
	}
}

static void note_next_reply(struct walk *w, uint32_t call, uint32_t visit)
{
	const struct vprof_exchange *e = &w->x->v.v[call];
	int fits = w->x->v.v[visit].server.request_from <= e->client.request_from;

	if (fits)
		w->evidence[call].backward = visit;
	if (w->evidence[call].n_open)
		vprof_agreement_next(&w->agreement, e->client.request_thread, w->evidence[call].n_open, fits);
}

/* A request that the thread received by itself separates what it did before from what it does for it. */
static void walk_backward(struct walk *w)
{
	for (size_t i = 0; i < w->h->threads.n; i++)
		w->threads[i].visit = VPROF_NONE;
	for (size_t i = w->h->transfers.n; i-- > 0;) {
		const struct vprof_transfer *t = &w->h->transfers.v[i];
		struct vprof_exchange_span span = w->x->of_transfer.v[i];

		for (uint32_t k = span.first; k <= span.last; k++) {
			const struct vprof_exchange *e = &w->x->v.v[k];
			uint32_t *visit = &w->threads[t->thread].visit;

			switch (part_of(w, t, e)) {
			case PART_REPLY_SENT:
				*visit = is_visit(e) ? k : *visit;
				break;
			case PART_REQUEST_RECEIVED:
				*visit = is_first(t, &e->server) ? VPROF_NONE : *visit;
				break;
			case PART_REQUEST_SENT:
				if (is_first(t, &e->client) && *visit != VPROF_NONE)
					note_next_reply(w, k, *visit);
				break;
			default:
				break;
			}
		}
	}
}

static void decide(struct vprof_link *link, uint32_t parent, enum vprof_link_how how, double confidence)
{
	*link = (struct vprof_link){ parent, link->n_open, (uint8_t)how, 0, (float)confidence };
	if (parent != VPROF_NONE && confidence >= VPROF_LINK_MIN_CONFIDENCE)
		return;
	link->parent = VPROF_NONE;
	if (parent != VPROF_NONE)
		link->how = VPROF_LINK_AMBIGUOUS;
}

/* Forward and backward disagree. Where only one of them is to be trusted in this program, it decides. Else: a thread
 * that waits for each reply works for one request after another, so that its next reply tells; another works for what
 * it received last. */
static void decide_conflict(struct vprof_link *link, const struct evidence *e, const struct vprof_agreement *a,
			    uint32_t thread)
{
	double forward = vprof_agreement_forward(a, thread, (enum vprof_forward)e->how);
	double backward = vprof_agreement_backward(a, thread);
	int received = e->how == VPROF_FORWARD_RECEIVED || e->how == VPROF_FORWARD_KEPT,
	    waits = vprof_agreement_is_synchronous(a, thread);
	int by_forward = forward >= (double)VPROF_LINK_MIN_CONFIDENCE;
	int by_backward = backward >= (double)VPROF_LINK_MIN_CONFIDENCE;

	if (by_forward && by_backward) {
		by_forward = received && !waits;
		by_backward = !received && waits;
	}
	if (by_forward)
		decide(link, e->forward, (enum vprof_link_how)(VPROF_LINK_RECEIVED + e->how), forward);
	else if (by_backward)
		decide(link, e->backward, VPROF_LINK_REPLY, backward);
	else
		decide(link, e->backward, VPROF_LINK_AMBIGUOUS, 0);
}

/* 0: its thread is not one that is understood by batches, or it served nobody. */
static int decide_matched(struct walk *w, uint32_t exchange)
{
	const struct vprof_candidates *c = &w->batches.of[exchange];
	uint32_t thread = w->x->v.v[exchange].client.request_thread;
	double confidence = vprof_batches_confidence(&w->batches, &w->agreement, thread);

	if (vprof_agreement_is_synchronous(&w->agreement, thread) || confidence < (double)VPROF_LINK_MIN_CONFIDENCE ||
	    (!c->n && !w->evidence[exchange].n_open))
		return 0;
	if (c->n == 1)
		decide(&w->c->links.v[exchange], w->batches.visits.v[c->first], VPROF_LINK_MATCHED, confidence);
	else if (w->batches.by_order[exchange] != VPROF_NONE)
		decide(&w->c->links.v[exchange], w->batches.by_order[exchange], VPROF_LINK_ORDER,
		       vprof_batches_order_confidence(&w->batches, &w->agreement, thread));
	else
		decide(&w->c->links.v[exchange], 0, VPROF_LINK_AMBIGUOUS, 0);
	return 1;
}

static void decide_call(struct walk *w, uint32_t exchange)
{
	const struct vprof_exchange *x = &w->x->v.v[exchange];
	const struct evidence *e = &w->evidence[exchange];
	struct vprof_link *link = &w->c->links.v[exchange];
	const struct vprof_agreement *a = &w->agreement;
	uint32_t thread = x->client.request_thread;

	*link = (struct vprof_link){ VPROF_NONE, e->n_open, VPROF_LINK_NONE, 0, 1 };
	if (thread == VPROF_NONE || x->flags & VPROF_EXCHANGE_NO_REQUEST)
		return;
	if (decide_matched(w, exchange))
		return;
	if (e->forward != VPROF_NONE && e->forward == e->backward)
		decide(link, e->forward, VPROF_LINK_THREAD,
		       vprof_agreement_joint(a, thread, (enum vprof_forward)e->how));
	else if (e->forward != VPROF_NONE && e->backward != VPROF_NONE)
		decide_conflict(link, e, a, thread);
	else if (e->forward != VPROF_NONE)
		decide(link, e->forward, (enum vprof_link_how)(VPROF_LINK_RECEIVED + e->how),
		       vprof_agreement_forward(a, thread, (enum vprof_forward)e->how));
	else if (e->backward != VPROF_NONE && (vprof_agreement_is_synchronous(a, thread) || e->n_open == 1))
		decide(link, e->backward, VPROF_LINK_REPLY, vprof_agreement_backward(a, thread));
	else if (e->only != VPROF_NONE)
		decide(link, e->only, VPROF_LINK_ONLY, vprof_agreement_only(a, thread));
	else if (e->n_open)
		decide(link, 0, VPROF_LINK_AMBIGUOUS, 0);
	else
		link->how = vprof_agreement_serves(a, thread) ? VPROF_LINK_OUTSIDE : VPROF_LINK_ORIGIN;
}

static void decide_all(struct walk *w)
{
	for (uint32_t i = 0; i < w->x->v.n; i++) {
		const struct evidence *e = &w->evidence[i];

		if (e->forward != VPROF_NONE && e->backward != VPROF_NONE && e->how == VPROF_FORWARD_RECEIVED)
			vprof_agreement_both(&w->agreement, w->x->v.v[i].client.request_thread,
					     e->forward == e->backward);
	}
	for (uint32_t i = 0; i < w->x->v.n; i++)
		decide_call(w, i);
	for (uint32_t i = 0; i < w->x->v.n; i++)
		w->c->n_by_how[w->c->links.v[i].how]++;
}

/* Of an ambiguous call: the requests that it may be for are those that are left, or else those that its process served
 * then. */
static void mark_candidates(struct walk *w, const struct vprof_transfer *t, uint32_t call)
{
	const struct vprof_candidates *c = &w->batches.of[call];
	struct process_state *p = &w->processes[w->h->threads.v[t->thread].process];

	for (uint8_t i = 0; c->n > 1 && c->n != VPROF_CANDIDATES_UNKNOWN && i < c->n; i++)
		w->c->links.v[w->batches.visits.v[c->first + i]].is_tainted = 1;
	if (c->n > 1 && c->n != VPROF_CANDIDATES_UNKNOWN)
		return;
	for (uint32_t visit = p->first; visit != p->marked; visit = w->next[visit])
		w->c->links.v[visit].is_tainted = 1;
	p->marked = p->first;
}

static void walk_ambiguous(struct walk *w)
{
	for (size_t i = 0; i < w->h->transfers.n && w->c->n_by_how[VPROF_LINK_AMBIGUOUS]; i++) {
		const struct vprof_transfer *t = &w->h->transfers.v[i];
		struct vprof_exchange_span span = w->x->of_transfer.v[i];

		for (uint32_t k = span.first; k <= span.last; k++) {
			const struct vprof_exchange *e = &w->x->v.v[k];
			enum part part = part_of(w, t, e);

			if (part == PART_REQUEST_RECEIVED && is_first(t, &e->server) && is_visit(e))
				open_visit(w, process_of_visit(w, k), k);
			else if (part == PART_REPLY_SENT && is_visit(e) && is_last(t, &e->server))
				close_visit(w, process_of_visit(w, k), k);
			else if (part == PART_REQUEST_SENT && is_first(t, &e->client) &&
				 w->c->links.v[k].how == VPROF_LINK_AMBIGUOUS)
				mark_candidates(w, t, k);
		}
	}
}

static void start_over(struct walk *w)
{
	for (size_t i = 0; i < w->h->threads.n; i++)
		w->threads[i] = (struct thread_state){ .visit = VPROF_NONE };
	for (size_t i = 0; i < w->h->processes.n; i++)
		w->processes[i] = (struct process_state){ .first = VPROF_NONE, .marked = VPROF_NONE };
	for (uint32_t i = 0; i < w->x->v.n; i++)
		w->previous[i] = i;
}

int vprof_causality_find(struct vprof_causality *c, const struct vprof_socket_history *h,
			 const struct vprof_connections *connections, const struct vprof_exchanges *x)
{
	struct walk w = { .h = h, .connections = connections, .x = x, .c = c };
	int ret = VPROF_ERR_NOMEM;

	memset(c, 0, sizeof *c);
	w.threads = malloc((h->threads.n + 1) * sizeof *w.threads);
	w.processes = malloc((h->processes.n + 1) * sizeof *w.processes);
	w.evidence = malloc((x->v.n + 1) * sizeof *w.evidence);
	w.next = malloc((x->v.n + 1) * sizeof *w.next);
	w.previous = malloc((x->v.n + 1) * sizeof *w.previous);
	if (!w.threads || !w.processes || !w.evidence || !w.next || !w.previous ||
	    VPROF_RESERVE(&c->links, x->v.n + 1) || vprof_agreement_init(&w.agreement, h, x))
		goto out;
	memset(c->links.v, 0, x->v.n * sizeof *c->links.v);
	c->links.n = x->v.n;
	for (size_t i = 0; i < x->v.n; i++)
		w.evidence[i] = (struct evidence){ VPROF_NONE, VPROF_NONE, VPROF_NONE, 0, 0 };
	start_over(&w);
	walk_forward(&w);
	walk_backward(&w);
	if (vprof_batches_match(&w.batches, h, connections, x, &w.agreement))
		goto out;
	decide_all(&w);
	start_over(&w);
	walk_ambiguous(&w);
	ret = VPROF_OK;
out:
	free(w.threads);
	free(w.processes);
	free(w.evidence);
	free(w.next);
	free(w.previous);
	vprof_batches_release(&w.batches);
	vprof_agreement_release(&w.agreement);
	return ret;
}

void vprof_causality_release(struct vprof_causality *c)
{
	VPROF_ARRAY_RELEASE(&c->links);
}
