/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Three passes over the transfers in order of time: forward, which gathers what the threads worked for; backward, which
 * request each thread replies to next; and, once the links are decided, one that marks the requests to which ambiguous
 * calls may belong.
 */
#include "analysis/requests/causality.h"

#include <math.h>

#include "analysis/requests/agreement.h"
#include "analysis/requests/batches.h"
#include "analysis/requests/marked_work.h"
#include "analysis/requests/wake_places.h"
#include "common/search.h"

#define TURNS_LEAST 0.8 /* how good what turns tell must be by its tests: else the rules for other threads count */
#define HOPS_MOST 3	/* wake-ups that a thread's request came through, that are remembered */
#define WALKS_MOST 4	/* until what wake-ups mean is settled */

struct thread_state {
	uint32_t visit;	       /* that it works for; VPROF_NONE: none is known */
	uint8_t how;	       /* enum vprof_forward */
	uint8_t has_passed_on; /* it woke another thread meanwhile */
	uint8_t has_acted;     /* it sent, received or woke another, since it has this request */
	uint8_t n_hops;
	uint32_t hops[HOPS_MOST]; /* places of wake-ups by which it has it */
};

struct later_state {	  /* of a thread, in the walk backward */
	uint32_t replies; /* visit to which it replies next; VPROF_NONE */
	uint32_t passed;  /* ... to which one replies that it passes a request on to */
	uint32_t place;	  /* where it wakes that one; VPROF_NONE: by an item of a queue */
};

enum event_kind { EVENT_WAKE, EVENT_PUT, EVENT_TAKEN };

enum freeing { FREES_NOBODY, FREES, FREES_PERHAPS }; /* the woken thread had nothing to do */

struct event { /* between threads */
	uint64_t t;
	uint32_t number; /* of the wake, or of the item */
	uint8_t kind;	 /* enum event_kind */
	uint8_t frees;	 /* of a wake: enum freeing */
};

struct process_state {
	uint32_t n_open, sum; /* of the visits' numbers, modulo 2^32: with one open, it is that */
	uint32_t first;	      /* of the open visits, the latest one; VPROF_NONE */
	uint32_t marked;      /* from this one on all are marked (mark_candidates) */
	double missed;	      /* logarithm (note_doubt) */
};

struct evidence {		    /* about a call */
	struct thread_state before; /* its thread's */
	uint32_t backward, only, n_open;
	uint32_t handed, handed_place; /* as struct later_state */
};

struct walk {
	const struct vprof_socket_history *h;
	const struct vprof_connections *connections;
	const struct vprof_exchanges *x;
	struct vprof_causality *c;
	struct thread_state *threads;
	struct later_state *later;
	VPROF_ARRAY(struct event) events;
	uint32_t *carried; /* of each item: the visit for which it was put */
	struct process_state *processes;
	struct evidence *evidence; /* of each exchange */
	uint32_t *next, *previous; /* open visits of a process, as a list */
	uint64_t *first_call;	   /* of each visit: of the calls that `backward` is of */
	double *missed; /* of each visit: what its process had missed when it came, and what is not its own */
	struct vprof_agreement agreement;
	struct vprof_batches batches;
	struct vprof_wake_places places;
	struct vprof_marked_work marked;
};

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

static int is_over(const struct walk *w, uint32_t visit, uint64_t t)
{
	const struct vprof_exchange *e = &w->x->v.v[visit];

	return e->server.reply_thread != VPROF_NONE && e->server.reply_to < t;
}

static void note_call(struct walk *w, const struct vprof_transfer *t, uint32_t exchange)
{
	struct thread_state *thread = &w->threads[t->thread];
	const struct process_state *process = &w->processes[w->h->threads.v[t->thread].process];
	struct evidence *e = &w->evidence[exchange];

	if (thread->visit != VPROF_NONE && is_over(w, thread->visit, t->from))
		thread->visit = VPROF_NONE; /* others have replied: it works for another, which is not known */
	e->before = *thread;
	e->before.how = how_known(thread);
	e->n_open = process->n_open;
	e->only = process->n_open == 1 ? process->sum : VPROF_NONE;
	vprof_agreement_call(&w->agreement, t->thread, process->n_open,
			     w->x->v.v[exchange].client.reply_thread != VPROF_NONE);
}

/* By a reply it is known for whom its thread worked, and so whether it had its request where it seemed to have it from.
 */
static void test_hops(struct walk *w, const struct thread_state *thread, uint32_t exchange)
{
	for (uint8_t i = 0; i < thread->n_hops; i++)
		vprof_wake_places_test(&w->places, thread->hops[i], thread->visit == exchange);
}

static struct thread_state received(uint32_t exchange)
{
	return (struct thread_state){ .visit = exchange, .how = VPROF_FORWARD_RECEIVED, .has_acted = 1 };
}

/* Of several requests that it received together it works for the next. */
static void take_next_request(struct walk *w, const struct vprof_transfer *t, uint32_t exchange)
{
	const struct vprof_exchange *e = &w->x->v.v[exchange], *next = e + 1;

	if (exchange + 1 < w->x->v.n && next->connection == e->connection && vprof_exchange_is_visit(next) &&
	    next->server.request_thread == t->thread && next->server.request_from <= t->from &&
	    is_open(w, exchange + 1))
		w->threads[t->thread] = received(exchange + 1);
}

static void note_reply(struct walk *w, const struct vprof_transfer *t, uint32_t exchange)
{
	struct thread_state *thread = &w->threads[t->thread];

	if (!vprof_exchange_is_visit(&w->x->v.v[exchange]))
		return;
	if (thread->visit != VPROF_NONE && is_over(w, thread->visit, t->from))
		thread->visit = VPROF_NONE;
	if (thread->visit != VPROF_NONE)
		vprof_agreement_reply(&w->agreement, t->thread, (enum vprof_forward)how_known(thread),
				      thread->visit == exchange);
	if (thread->visit != VPROF_NONE)
		test_hops(w, thread, exchange);
	vprof_agreement_busy(&w->agreement, t->thread, 1);
	/* Whatever was thought, it works for this request now, or has finished it. */
	*thread = received(exchange);
	if (vprof_transfer_is_last(t, &w->x->v.v[exchange].server)) {
		close_visit(w, process_of_visit(w, exchange), exchange);
		*thread = (struct thread_state){ .visit = VPROF_NONE };
		take_next_request(w, t, exchange);
	}
}

static void go_forward(struct walk *w, const struct vprof_transfer *t, uint32_t exchange, int is_first_taken)
{
	const struct vprof_exchange *e = &w->x->v.v[exchange];
	struct thread_state *thread = &w->threads[t->thread];

	switch (vprof_transfer_part(w->connections, t, e)) {
	case VPROF_PART_REQUEST_RECEIVED:
		if (vprof_transfer_is_first(t, &e->server)) {
			if (vprof_exchange_is_visit(e))
				open_visit(w, process_of_visit(w, exchange), exchange);
			vprof_agreement_busy(&w->agreement, t->thread, 0);
		} else if (!is_open(w, exchange)) {
			break; /* the rest of a request that it replied to before it had read it */
		}
		if (is_first_taken)
			*thread = received(exchange);
		break;
	case VPROF_PART_REQUEST_SENT:
		if (vprof_transfer_is_first(t, &e->client))
			note_call(w, t, exchange);
		thread->has_acted = 1;
		break;
	case VPROF_PART_REPLY_RECEIVED:
		if (e->client.request_thread == VPROF_NONE)
			break;
		vprof_agreement_returned(&w->agreement, e->client.request_thread,
					 vprof_transfer_time(t) == e->client.reply_from);
		if (w->evidence[exchange].before.visit == VPROF_NONE)
			break;
		*thread = w->evidence[exchange].before;
		thread->has_passed_on = 0;
		thread->has_acted = 1;
		break;
	case VPROF_PART_REPLY_SENT:
		note_reply(w, t, exchange);
		break;
	case VPROF_PART_NONE:
		break;
	}
}

/* Does a thread that is woken at this place have nothing to do? At a queue all sleep that have not. Elsewhere those
 * have not that have no request, or have passed it on; or that were woken before for one and did nothing: there was
 * none. */
static int is_free(const struct walk *w, const struct thread_state *t, const struct vprof_wake_place *place,
		   uint64_t now)
{
	return place->kind == VPROF_PLACE_QUEUE || t->visit == VPROF_NONE || t->has_passed_on ||
	       (t->how == VPROF_FORWARD_WOKEN && !t->has_acted && place->place) || is_over(w, t->visit, now);
}

/* A thread that has nothing to do works for its waker's request from now on. */
static void take_wake(struct walk *w, struct event *event)
{
	const struct vprof_thread_wake *wake = &w->h->wakes.v[event->number];
	struct thread_state *from = &w->threads[wake->waker], *to = &w->threads[wake->wakee];
	uint32_t place = w->places.of_wake[event->number];
	enum vprof_place_kind kind = (enum vprof_place_kind)w->places.v.v[place].kind;

	event->frees = 0;
	if (w->h->threads.v[wake->waker].process != w->h->threads.v[wake->wakee].process && !wake->is_creation)
		return;
	if ((kind == VPROF_PLACE_OTHER && !wake->is_creation) || !is_free(w, to, &w->places.v.v[place], wake->t))
		return;
	/* One that did something for a request that is over or not known may still work for another. */
	event->frees = to->has_acted && kind != VPROF_PLACE_QUEUE ? FREES_PERHAPS : FREES;
	if (from->visit == VPROF_NONE || is_over(w, from->visit, wake->t)) {
		if (kind == VPROF_PLACE_QUEUE)
			*to = (struct thread_state){ .visit = VPROF_NONE }; /* for a request that is not known */
		return;
	}
	*to = *from;
	to->how = wake->is_creation ? VPROF_FORWARD_CREATED : VPROF_FORWARD_WOKEN;
	to->has_passed_on = to->has_acted = 0;
	if (!wake->is_creation && to->n_hops < HOPS_MOST)
		to->hops[to->n_hops++] = place;
	from->has_passed_on = from->has_acted = 1;
}

static void take_item(struct walk *w, const struct event *event)
{
	const struct vprof_item_handed_on *item = &w->h->items.v[event->number];
	uint32_t visit = w->carried[event->number];

	if (w->h->threads.v[item->from].process != w->h->threads.v[item->to].process)
		return;
	if (event->kind == EVENT_PUT) {
		w->carried[event->number] = w->threads[item->from].visit;
		w->threads[item->from].has_passed_on = 1;
		return;
	}
	w->threads[item->to] = (struct thread_state){ .visit = visit, .how = VPROF_FORWARD_QUEUED, .has_acted = 1 };
}

static void walk_forward(struct walk *w)
{
	size_t event = 0;

	for (size_t i = 0; i < w->h->transfers.n; i++) {
		const struct vprof_transfer *t = &w->h->transfers.v[i];
		struct vprof_exchange_span span = w->x->of_transfer.v[i];

		for (; event < w->events.n && w->events.v[event].t <= vprof_transfer_time(t); event++)
			if (w->events.v[event].kind == EVENT_WAKE)
				take_wake(w, &w->events.v[event]);
			else
				take_item(w, &w->events.v[event]);
		for (uint32_t e = span.first; e <= span.last; e++)
			go_forward(w, t, e, e == span.first || !is_open(w, e - 1));
	}
}

static void note_next_reply(struct walk *w, uint32_t call, uint32_t visit)
{
	const struct vprof_exchange *e = &w->x->v.v[call];
	int fits = w->x->v.v[visit].server.request_from <= e->client.request_from;

	if (fits)
		w->evidence[call].backward = visit;
	if (fits && e->client.request_from < w->first_call[visit])
		w->first_call[visit] = e->client.request_from;
	if (w->evidence[call].n_open)
		vprof_agreement_next(&w->agreement, e->client.request_thread, w->evidence[call].n_open, fits);
}

/* Is a request that a thread passes on there, or puts into a queue, mostly that which is replied to then? */
static int tells(const struct walk *w, uint32_t place)
{
	return place == VPROF_NONE || vprof_wake_places_rate(&w->places, place) >= (double)VPROF_LINK_MIN_CONFIDENCE;
}

static void note_passed(struct walk *w, uint32_t call, const struct later_state *later)
{
	const struct vprof_exchange *e = &w->x->v.v[call];
	struct evidence *evidence = &w->evidence[call];

	if (later->passed == VPROF_NONE || w->x->v.v[later->passed].server.request_from > e->client.request_from)
		return;
	if (later->replies != VPROF_NONE && later->replies != later->passed && tells(w, later->place))
		vprof_agreement_passed(&w->agreement, e->client.request_thread);
	evidence->handed = later->passed;
	evidence->handed_place = later->place;
	if (evidence->before.visit == VPROF_NONE)
		return;
	if (evidence->before.how == VPROF_FORWARD_KEPT)
		vprof_agreement_reply(&w->agreement, e->client.request_thread, VPROF_FORWARD_KEPT,
				      later->passed == evidence->before.visit);
	else
		vprof_agreement_handed(&w->agreement, e->client.request_thread, later->place == VPROF_NONE,
				       later->passed == evidence->before.visit);
}

/* Whoever hands a request over worked for it before; what the one that takes it did before was for another. */
static void go_back(struct walk *w, const struct event *event)
{
	const struct vprof_thread_wake *wake = &w->h->wakes.v[event->number];
	const struct vprof_item_handed_on *item = &w->h->items.v[event->number];
	struct later_state *to = &w->later[event->kind == EVENT_WAKE ? wake->wakee : item->to];
	uint32_t visit = to->replies != VPROF_NONE ? to->replies : to->passed;

	if (event->kind == EVENT_WAKE ? !event->frees || wake->is_creation :
					w->h->threads.v[item->from].process != w->h->threads.v[item->to].process)
		return;
	if (event->kind == EVENT_PUT) {
		w->later[item->from].passed = w->carried[event->number];
		w->later[item->from].place = VPROF_NONE;
		return;
	}
	to->replies = event->kind == EVENT_WAKE && event->frees == FREES_PERHAPS ? to->replies : VPROF_NONE;
	to->passed = VPROF_NONE;
	if (event->kind == EVENT_TAKEN) {
		w->carried[event->number] = visit;
	} else if (visit != VPROF_NONE) {
		w->later[wake->waker].passed = visit;
		w->later[wake->waker].place = w->places.of_wake[event->number];
	}
}

/* A request that the thread received by itself separates what it did before from what it does for it. */
static void walk_backward(struct walk *w)
{
	size_t event = w->events.n;

	for (size_t i = 0; i < w->h->threads.n; i++)
		w->later[i] = (struct later_state){ VPROF_NONE, VPROF_NONE, VPROF_NONE };
	for (size_t i = w->h->transfers.n; i-- > 0;) {
		const struct vprof_transfer *t = &w->h->transfers.v[i];
		struct vprof_exchange_span span = w->x->of_transfer.v[i];
		struct later_state *later = &w->later[t->thread];

		for (; event && w->events.v[event - 1].t > vprof_transfer_time(t); event--)
			go_back(w, &w->events.v[event - 1]);
		for (uint32_t k = span.first; k <= span.last; k++) {
			const struct vprof_exchange *e = &w->x->v.v[k];

			switch (vprof_transfer_part(w->connections, t, e)) {
			case VPROF_PART_REPLY_SENT:
				if (vprof_exchange_is_visit(e))
					*later = (struct later_state){ k, VPROF_NONE, VPROF_NONE };
				break;
			case VPROF_PART_REQUEST_RECEIVED:
				if (vprof_transfer_is_first(t, &e->server))
					*later = (struct later_state){ VPROF_NONE, VPROF_NONE, VPROF_NONE };
				break;
			case VPROF_PART_REQUEST_SENT:
				if (vprof_transfer_is_first(t, &e->client) && later->replies != VPROF_NONE)
					note_next_reply(w, k, later->replies);
				if (vprof_transfer_is_first(t, &e->client))
					note_passed(w, k, later);
				break;
			default:
				break;
			}
		}
	}
}

/* That a request came by wake-ups is as sure as the least of the places where they happened. */
static double forward_rate(const struct walk *w, const struct thread_state *t, uint32_t thread)
{
	double rate = vprof_agreement_forward(&w->agreement, thread, (enum vprof_forward)t->how);

	if (t->how != VPROF_FORWARD_WOKEN)
		return rate;
	for (uint8_t i = 0; i < t->n_hops; i++)
		rate = fmin(i ? rate : 1, vprof_wake_places_rate(&w->places, t->hops[i]));
	return rate;
}

static double handed_rate(const struct walk *w, const struct evidence *e, uint32_t thread)
{
	int by_item = e->handed_place == VPROF_NONE;
	double rate = vprof_agreement_handed_rate(&w->agreement, thread, by_item);

	return by_item ? rate : fmin(rate, vprof_wake_places_rate(&w->places, e->handed_place));
}

static double keeps_rate(const struct walk *w, uint32_t visit, uint32_t thread)
{
	return vprof_agreement_taking(&w->agreement, thread, w->x->v.v[visit].server.request_thread);
}

static double backward_rate(const struct walk *w, const struct evidence *e, uint32_t thread)
{
	return fmin(vprof_agreement_backward(&w->agreement, thread), keeps_rate(w, e->backward, thread));
}

/* That both are wrong at once, and in the same way, takes that each of them is wrong. */
static double joint_rate(const struct walk *w, const struct evidence *e, uint32_t thread)
{
	if (vprof_agreement_is_synchronous(&w->agreement, thread) && vprof_agreement_keeps(&w->agreement, thread))
		return keeps_rate(w, e->backward, thread);
	return 1 - (1 - forward_rate(w, &e->before, thread)) * (1 - backward_rate(w, e, thread));
}

static enum vprof_link_how how_forward(const struct evidence *e)
{
	return (enum vprof_link_how)(VPROF_LINK_RECEIVED + e->before.how);
}

/* Forward and backward disagree. A thread that does not wait for replies works for what it received last. One that
 * does, and was woken, was woken in vain, since another took what it was woken for; unless threads of its program pass
 * requests on. Of all others nothing tells which is right. */
static void decide_conflict(const struct walk *w, struct vprof_link *link, const struct evidence *e, uint32_t thread)
{
	int received = e->before.how == VPROF_FORWARD_RECEIVED, kept = e->before.how == VPROF_FORWARD_KEPT;
	int waits = vprof_agreement_is_synchronous(&w->agreement, thread);

	if ((received || kept) && !waits)
		vprof_link_decide(link, e->before.visit, how_forward(e), forward_rate(w, &e->before, thread));
	else if (!received && waits && vprof_agreement_keeps(&w->agreement, thread))
		vprof_link_decide(link, e->backward, VPROF_LINK_REPLY, backward_rate(w, e, thread));
	else
		vprof_link_decide(link, e->backward, VPROF_LINK_AMBIGUOUS, 0);
}

/* What became of the request is known, and what else is known does not tell the same as the thread's next reply. Where
 * no thread passes requests on, those that it woke were woken for something else. */
static void decide_handed(const struct walk *w, struct vprof_link *link, const struct evidence *e, uint32_t thread)
{
	double handed = handed_rate(w, e, thread), forward = forward_rate(w, &e->before, thread);
	int is_known = e->before.visit != VPROF_NONE, agrees = e->before.visit == e->handed;

	if (is_known && !agrees && e->backward != VPROF_NONE)
		decide_conflict(w, link, e, thread);
	else if (is_known && !agrees)
		vprof_link_decide(link, e->handed, VPROF_LINK_AMBIGUOUS, 0);
	else if (!is_known && e->backward != VPROF_NONE && vprof_agreement_keeps(&w->agreement, thread))
		vprof_link_decide(link, e->backward, VPROF_LINK_REPLY, backward_rate(w, e, thread));
	else if (!is_known)
		vprof_link_decide(link, e->handed, VPROF_LINK_HANDED, vprof_rate_untested(handed));
	else
		vprof_link_decide(link, e->handed, VPROF_LINK_HANDED, forward > handed ? forward : handed);
}

/* 0: its thread is not one that is understood by batches, or it served nobody. */
static int decide_matched(struct walk *w, uint32_t exchange)
{
	const struct vprof_candidates *c = &w->batches.of[exchange];
	uint32_t thread = w->x->v.v[exchange].client.request_thread;
	double confidence = vprof_batches_confidence(&w->batches, &w->agreement, thread), ordered;
	uint32_t by_order = vprof_batches_by_order(&w->batches, &w->agreement, thread, exchange, &ordered);

	if (vprof_agreement_is_synchronous(&w->agreement, thread) || confidence < TURNS_LEAST ||
	    (!c->n && !w->evidence[exchange].n_open))
		return 0;
	if (w->batches.is_doubtful[exchange])
		vprof_link_decide(&w->c->links.v[exchange], 0, VPROF_LINK_AMBIGUOUS, 0);
	else if (c->n == 1 && w->batches.by_length[exchange])
		vprof_link_decide(&w->c->links.v[exchange], w->batches.visits.v[c->first], VPROF_LINK_LENGTH,
				  vprof_batches_length_confidence(&w->batches, &w->agreement, thread));
	else if (c->n == 1)
		vprof_link_decide(&w->c->links.v[exchange], w->batches.visits.v[c->first], VPROF_LINK_MATCHED,
				  confidence);
	else if (by_order != VPROF_NONE)
		vprof_link_decide(&w->c->links.v[exchange], by_order, VPROF_LINK_ORDER, ordered);
	else
		vprof_link_decide(&w->c->links.v[exchange], 0, VPROF_LINK_AMBIGUOUS, 0);
	return 1;
}

/* Nothing is known of what becomes of the request. A thread that was woken for it and never replies may have passed it
 * on since without waking anybody: what is known of others that passed theirs on shows how often. One that replies to
 * requests would have replied to this one. */
static double forward_alone(const struct walk *w, const struct evidence *e, uint32_t thread)
{
	double forward = forward_rate(w, &e->before, thread);

	if (e->before.how != VPROF_FORWARD_WOKEN && e->before.how != VPROF_FORWARD_KEPT)
		return forward;
	if (vprof_agreement_replies(&w->agreement, thread))
		return 0;
	return fmin(forward, vprof_agreement_handed_rate(&w->agreement, thread, 0));
}

static void decide_call(struct walk *w, uint32_t exchange)
{
	const struct vprof_exchange *x = &w->x->v.v[exchange];
	const struct evidence *e = &w->evidence[exchange];
	struct vprof_link *link = &w->c->links.v[exchange];
	const struct vprof_agreement *a = &w->agreement;
	uint32_t thread = x->client.request_thread, forward = e->before.visit, marked;

	*link = (struct vprof_link){
		.parent = VPROF_NONE, .n_open = e->n_open, .confidence = 1, .completeness = 1, .score = 1
	};
	if (thread == VPROF_NONE || x->flags & VPROF_EXCHANGE_NO_REQUEST)
		return;
	link->waits = (uint8_t)vprof_agreement_is_synchronous(a, thread);
	marked = vprof_marked_work_at(&w->marked, thread, x->client.request_from);
	if (marked != VPROF_NONE && marked != exchange)
		vprof_link_decide(link, marked, VPROF_LINK_MARKED, 1);
	else if (decide_matched(w, exchange))
		return;
	else if (forward != VPROF_NONE && forward == e->backward)
		vprof_link_decide(link, forward, VPROF_LINK_THREAD, joint_rate(w, e, thread));
	else if (e->handed != VPROF_NONE)
		decide_handed(w, link, e, thread);
	else if (forward != VPROF_NONE && e->backward != VPROF_NONE)
		decide_conflict(w, link, e, thread);
	else if (forward != VPROF_NONE)
		vprof_link_decide(link, forward, how_forward(e), forward_alone(w, e, thread));
	else if (e->backward != VPROF_NONE && (vprof_agreement_is_synchronous(a, thread) || e->n_open == 1))
		vprof_link_decide(link, e->backward, VPROF_LINK_REPLY, backward_rate(w, e, thread));
	else if (e->only != VPROF_NONE)
		vprof_link_decide(link, e->only, VPROF_LINK_ONLY, vprof_agreement_only(a, thread));
	else if (e->n_open)
		vprof_link_decide(link, 0, VPROF_LINK_AMBIGUOUS, 0);
	else
		link->how = vprof_agreement_serves(a, thread) ? VPROF_LINK_OUTSIDE : VPROF_LINK_ORIGIN;
}

/* What is compared with the next reply: what a thread received, or was woken for where requests are handed over. */
static int is_compared(const struct walk *w, const struct thread_state *t)
{
	if (t->how == VPROF_FORWARD_WOKEN)
		for (uint8_t i = 0; i < t->n_hops; i++)
			if (w->places.v.v[t->hops[i]].kind == VPROF_PLACE_OTHER)
				return 0;
	return t->how == VPROF_FORWARD_RECEIVED || t->how == VPROF_FORWARD_WOKEN;
}

static void decide_all(struct walk *w)
{
	for (uint32_t i = 0; i < w->x->v.n; i++) {
		const struct evidence *e = &w->evidence[i];

		if (e->before.visit != VPROF_NONE && e->backward != VPROF_NONE && is_compared(w, &e->before))
			vprof_agreement_both(&w->agreement, w->x->v.v[i].client.request_thread,
					     (enum vprof_forward)e->before.how, e->before.visit == e->backward);
	}
	for (uint32_t i = 0; i < w->x->v.n; i++)
		decide_call(w, i);
	for (uint32_t i = 0; i < w->x->v.n; i++)
		w->c->links.v[i].is_tainted |= (w->x->v.v[i].flags & VPROF_EXCHANGE_SEVERAL) != 0;
	for (uint32_t i = 0; i < w->x->v.n; i++)
		w->c->n_by_how[w->c->links.v[i].how]++;
}

/* Of an ambiguous call: the requests that it may be for are those that are left, or, where what is known of its batches
 * contradicts itself, those that there were at first; or else those that its process served then. */
static void mark_candidates(struct walk *w, const struct vprof_transfer *t, uint32_t call)
{
	const struct vprof_candidates *c = &w->batches.of[call];
	struct process_state *p = &w->processes[w->h->threads.v[t->thread].process];

	uint8_t n = c->n == VPROF_CANDIDATES_UNKNOWN	  ? 0 :
		    !c->n || w->batches.is_doubtful[call] ? c->n_first :
		    c->n == 1				  ? 0 :
							    c->n;

	for (uint8_t i = 0; i < n; i++)
		w->c->links.v[w->batches.visits.v[c->first + i]].is_tainted = 1;
	if (n)
		return;
	for (uint32_t visit = p->first; visit != p->marked; visit = w->next[visit])
		w->c->links.v[visit].is_tainted = 1;
	p->marked = p->first;
}

/* A link that may be wrong: then the call was made for another of the requests that its process served. By its score,
 * so that a request is called certain only where nothing speaks against it. */
static void note_doubt(struct walk *w, const struct vprof_transfer *t, uint32_t call)
{
	const struct vprof_link *link = &w->c->links.v[call];
	struct process_state *p = &w->processes[w->h->threads.v[t->thread].process];
	int is_there = link->parent != VPROF_NONE && is_open(w, link->parent);
	uint32_t n_others = p->n_open - (is_there ? 1 : 0);
	double missed;

	if (link->parent == VPROF_NONE || !(link->score < 1) || !p->n_open || !n_others)
		return;
	missed = log1p(-(1 - (double)link->score) / n_others);
	p->missed += missed;
	if (is_there)
		w->missed[link->parent] += missed;
}

static void end_visit(struct walk *w, uint32_t visit)
{
	uint32_t process = process_of_visit(w, visit);

	if (is_open(w, visit))
		w->c->links.v[visit].completeness = (float)exp(w->processes[process].missed - w->missed[visit]);
	close_visit(w, process, visit);
}

/* What the links say of other requests than those that they are of. */
static void walk_links(struct walk *w)
{
	for (size_t i = 0; i < w->h->transfers.n; i++) {
		const struct vprof_transfer *t = &w->h->transfers.v[i];
		struct vprof_exchange_span span = w->x->of_transfer.v[i];

		for (uint32_t k = span.first; k <= span.last; k++) {
			const struct vprof_exchange *e = &w->x->v.v[k];
			enum vprof_part part = vprof_transfer_part(w->connections, t, e);

			if (part == VPROF_PART_REQUEST_RECEIVED && vprof_transfer_is_first(t, &e->server) &&
			    vprof_exchange_is_visit(e)) {
				w->missed[k] = w->processes[process_of_visit(w, k)].missed;
				open_visit(w, process_of_visit(w, k), k);
			} else if (part == VPROF_PART_REPLY_SENT && vprof_exchange_is_visit(e) &&
				   vprof_transfer_is_last(t, &e->server)) {
				end_visit(w, k);
			} else if (part == VPROF_PART_REQUEST_SENT && vprof_transfer_is_first(t, &e->client)) {
				if (w->c->links.v[k].how == VPROF_LINK_AMBIGUOUS)
					mark_candidates(w, t, k);
				else
					note_doubt(w, t, k);
			}
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

static int order_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->t != y->t ? vprof_u64_order(x->t, y->t) : (x->kind > y->kind) - (x->kind < y->kind);
}

static int list_events(struct walk *w)
{
	if (VPROF_RESERVE(&w->events, w->h->wakes.n + 2 * w->h->items.n + 1))
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < w->h->wakes.n; i++)
		w->events.v[w->events.n++] = (struct event){ w->h->wakes.v[i].t, i, EVENT_WAKE, 0 };
	for (uint32_t i = 0; i < w->h->items.n; i++) {
		w->events.v[w->events.n++] = (struct event){ w->h->items.v[i].put, i, EVENT_PUT, 0 };
		w->events.v[w->events.n++] = (struct event){ w->h->items.v[i].taken, i, EVENT_TAKEN, 0 };
	}
	return vprof_array_sort(w->events.v, w->events.n, sizeof *w->events.v, order_events) ? VPROF_ERR_NOMEM :
											       VPROF_OK;
}

static int allocate(struct walk *w)
{
	size_t n = w->x->v.n;

	w->threads = malloc((w->h->threads.n + 1) * sizeof *w->threads);
	w->later = malloc((w->h->threads.n + 1) * sizeof *w->later);
	w->processes = malloc((w->h->processes.n + 1) * sizeof *w->processes);
	w->carried = malloc((w->h->items.n + 1) * sizeof *w->carried);
	w->evidence = malloc((n + 1) * sizeof *w->evidence);
	w->next = malloc((n + 1) * sizeof *w->next);
	w->previous = malloc((n + 1) * sizeof *w->previous);
	w->missed = calloc(n + 1, sizeof *w->missed);
	w->first_call = malloc((n + 1) * sizeof *w->first_call);
	if (!w->threads || !w->later || !w->processes || !w->carried || !w->evidence || !w->next || !w->previous ||
	    !w->missed || !w->first_call || VPROF_RESERVE(&w->c->links, n + 1) || list_events(w) ||
	    vprof_agreement_init(&w->agreement, w->h, w->x) || vprof_wake_places_init(&w->places, w->h) ||
	    vprof_marked_work_find(&w->marked, w->h, w->connections, w->x))
		return VPROF_ERR_NOMEM;
	memset(w->c->links.v, 0, n * sizeof *w->c->links.v);
	memset(w->first_call, 0xff, n * sizeof *w->first_call);
	w->c->links.n = n;
	return VPROF_OK;
}

static void release(struct walk *w)
{
	free(w->threads);
	free(w->later);
	free(w->processes);
	free(w->carried);
	free(w->evidence);
	free(w->next);
	free(w->previous);
	free(w->missed);
	free(w->first_call);
	VPROF_ARRAY_RELEASE(&w->events);
	vprof_batches_release(&w->batches);
	vprof_marked_work_release(&w->marked);
	vprof_wake_places_release(&w->places);
	vprof_agreement_release(&w->agreement);
}

/* What wake-ups mean is found by walking: what they told is tested, and those that tell nothing are left out. */
static void gather_evidence(struct walk *w)
{
	for (int i = 0;; i++) {
		vprof_agreement_forget(&w->agreement, w->h->processes.n, w->h->threads.n);
		for (size_t k = 0; k < w->x->v.n; k++)
			w->evidence[k] = (struct evidence){
				{ .visit = VPROF_NONE }, VPROF_NONE, VPROF_NONE, 0, VPROF_NONE, VPROF_NONE
			};
		start_over(w);
		walk_forward(w);
		if (i + 1 == WALKS_MOST || !vprof_wake_places_settle(&w->places))
			break;
	}
	walk_backward(w);
}

int vprof_causality_find(struct vprof_causality *c, const struct vprof_socket_history *h,
			 const struct vprof_connections *connections, const struct vprof_exchanges *x)
{
	struct walk w = { .h = h, .connections = connections, .x = x, .c = c };
	int ret;

	memset(c, 0, sizeof *c);
	ret = allocate(&w);
	if (!ret) {
		gather_evidence(&w);
		ret = vprof_batches_match(&w.batches, h, connections, x, &w.agreement);
	}
	if (!ret)
		ret = vprof_agreement_taken(&w.agreement, h, x, w.first_call);
	if (!ret) {
		decide_all(&w);
		start_over(&w);
		walk_links(&w);
	}
	release(&w);
	return ret;
}

void vprof_causality_release(struct vprof_causality *c)
{
	VPROF_ARRAY_RELEASE(&c->links);
}
