/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generation by generation: the waits in the newest stretches name the threads that ended them, and the wait's time
 * until then is a stretch of that thread. A wait is followed once; a generation costs at most one look at each wait. */
#include "analysis/source/relevance.h"

#include "analysis/timeline/edges/lock_holders.h"
#include "common/search.h"

#define GENERATIONS 16

struct awaited {	   /* an object that several held one after the other while a thread waited for it */
	uint64_t from, to; /* to: a release of it */
	uint32_t lock;
};

struct search {
	const struct vprof_timeline *timeline;
	struct vprof_relevance *found;
	struct vprof_relevance *newest, *next; /* their stretches only */
	unsigned char **followed;	       /* [thread][wait] */
	VPROF_ARRAY(struct awaited) awaited;   /* in the newest stretches */
	VPROF_ARRAY(struct awaited) ended;     /* those for one object, by their ends */
};

static int by_from(const void *a, const void *b)
{
	const struct vprof_relevant_span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts and joins what overlaps. OK or NOMEM. */
static int join(struct vprof_relevance *c)
{
	size_t kept = 0;

	if (vprof_array_sort(c->stretches.v, c->stretches.n, sizeof *c->stretches.v, by_from))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < c->stretches.n; i++) {
		struct vprof_relevant_span s = c->stretches.v[i], *last = kept ? &c->stretches.v[kept - 1] : NULL;

		if (last && s.from <= last->to)
			last->to = s.to > last->to ? s.to : last->to;
		else
			c->stretches.v[kept++] = s;
	}
	c->stretches.n = kept;
	return 0;
}

static int add_stretch(struct vprof_relevance *c, uint64_t from, uint64_t to)
{
	struct vprof_relevant_span *s = VPROF_PUSH(&c->stretches);

	if (!s)
		return VPROF_ERR_NOMEM;
	*s = (struct vprof_relevant_span){ from, to };
	return 0;
}

static void widen(struct vprof_relevant_span *s, uint64_t t)
{
	s->from = t < s->from ? t : s->from;
	s->to = t > s->to ? t : s->to;
}

/* From a thread's first mark or queue event to its last. */
static int add_marked(struct vprof_relevance *c, const struct vprof_thread_timeline *thr)
{
	struct vprof_relevant_span s = { UINT64_MAX, 0 };

	for (size_t i = 0; i < thr->marks.n; i++)
		widen(&s, thr->marks.v[i].t);
	for (size_t i = 0; i < thr->queue_events.n; i++)
		if (!thr->queue_events.v[i].is_message)
			widen(&s, thr->queue_events.v[i].t);
	return s.from <= s.to ? add_stretch(c, s.from, s.to) : 0;
}

static int add_release(struct search *s, uint32_t thread, uint64_t from, uint64_t t, uint64_t waited)
{
	struct vprof_release *release = VPROF_PUSH(&s->found[thread].releases);

	if (!release)
		return VPROF_ERR_NOMEM;
	*release = (struct vprof_release){ t, waited };
	return add_stretch(&s->next[thread], from, t);
}

/* The waker held what was waited for since the last release before; who held it until then is found for all waits
 * together. */
static int follow(struct search *s, const struct vprof_wait *w, size_t thread)
{
	uint64_t from;
	struct awaited *a;

	if (w->waker == VPROF_NONE || w->waker == thread || w->waker >= s->timeline->n_threads)
		return 0;
	from = vprof_lock_holders_before(s->timeline, w);
	if (from > w->t0) {
		a = VPROF_PUSH(&s->awaited);
		if (!a)
			return VPROF_ERR_NOMEM;
		*a = (struct awaited){ w->t0, from, w->lock };
	}
	return add_release(s, w->waker, from, w->wake_t, w->t1 - from);
}

static int by_lock(const void *a, const void *b)
{
	const struct awaited *x = a, *y = b;

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int by_to(const void *a, const void *b)
{
	const struct awaited *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/* Waits for one object, by their begins: whoever held it meanwhile was awaited. What is known of a holder's turn is its
 * end, so it began with the end of the one before; a wait's own time within it is what counts. The work grows with
 * waits and turns, not with their product. */
static int take_holds(struct search *s, const struct awaited *begun, size_t n)
{
	const struct vprof_lock_history *h = &s->timeline->locks.v[begun->lock];
	const struct vprof_lock_holder *v = s->timeline->lock_holders.v;
	size_t i = 0, k = 0, turn;
	uint64_t t = begun->from,
		 awaited = 0; /* `t`: so far; `awaited`: ticks since the last turn ended, of all waits */

	s->ended.n = 0;
	if (VPROF_ROOM(&s->ended, n))
		return VPROF_ERR_NOMEM;
	memcpy(s->ended.v, begun, n * sizeof *begun);
	if (vprof_array_sort(s->ended.v, n, sizeof *begun, by_to))
		return VPROF_ERR_NOMEM;
	turn = h->first + vprof_time_search(v + h->first, sizeof *v, h->end - h->first, t, 0);
	for (uint64_t from = t; turn < h->end && k < n;) {
		uint64_t next = v[turn].until;

		if (i == k) { /* nobody waits: on to the next wait */
			from = t = begun[i].from;
			turn = h->first +
			       vprof_time_search(v + h->first, sizeof *v, h->end - h->first, t, turn - h->first);
			i++;
			continue;
		}
		next = i < n && begun[i].from < next ? begun[i].from : next;
		next = s->ended.v[k].to < next ? s->ended.v[k].to : next;
		awaited += (i - k) * (next - t);
		t = next;
		while (i < n && begun[i].from <= t)
			i++;
		if (t == v[turn].until) {
			if (add_release(s, v[turn].thread, from, t, awaited))
				return VPROF_ERR_NOMEM;
			awaited = 0;
			from = t;
			turn++;
		}
		while (k < n && s->ended.v[k].to <= t)
			k++;
	}
	return 0;
}

static int take_stretch(struct search *s, size_t thread, const struct vprof_relevant_span *stretch)
{
	const struct vprof_thread_timeline *thr = &s->timeline->threads[thread];
	size_t i = VPROF_TIME_SEARCH(&thr->waits, stretch->from, 0);
	int rc = add_stretch(&s->found[thread], stretch->from, stretch->to);

	if (i && thr->waits.v[i - 1].t1 > stretch->from)
		i--; /* began before, lasts into it */
	for (; !rc && i < thr->waits.n && thr->waits.v[i].t0 < stretch->to; i++) {
		if (s->followed[thread][i])
			continue;
		s->followed[thread][i] = 1;
		rc = follow(s, &thr->waits.v[i], thread);
	}
	return rc;
}

static int take_awaited(struct search *s)
{
	int rc = vprof_array_sort(s->awaited.v, s->awaited.n, sizeof *s->awaited.v, by_lock) ? VPROF_ERR_NOMEM : 0;

	for (size_t begin = 0, end; begin < s->awaited.n && !rc; begin = end) {
		for (end = begin + 1; end < s->awaited.n && s->awaited.v[end].lock == s->awaited.v[begin].lock; end++)
			;
		rc = take_holds(s, s->awaited.v + begin, end - begin);
	}
	s->awaited.n = 0;
	return rc;
}

/* *grew tells whether there is a further generation. */
static int take_generation(struct search *s, int *grew)
{
	struct vprof_relevance *swap = s->newest;
	int rc = 0;

	*grew = 0;
	for (size_t t = 0; !rc && t < s->timeline->n_threads; t++) {
		rc = join(&s->newest[t]);
		for (size_t i = 0; !rc && i < s->newest[t].stretches.n; i++)
			rc = take_stretch(s, t, &s->newest[t].stretches.v[i]);
		s->newest[t].stretches.n = 0;
	}
	if (!rc)
		rc = take_awaited(s);
	for (size_t t = 0; t < s->timeline->n_threads; t++)
		*grew |= s->next[t].stretches.n > 0;
	s->newest = s->next;
	s->next = swap;
	return rc;
}

static int search(struct search *s)
{
	const struct vprof_timeline *timeline = s->timeline;
	int rc = 0, grew = 1;

	for (size_t t = 0; t < timeline->n_threads; t++) {
		s->followed[t] = calloc(timeline->threads[t].waits.n + 1, 1);
		if (!s->followed[t] || add_marked(&s->newest[t], &timeline->threads[t]))
			return VPROF_ERR_NOMEM;
	}
	for (int g = 0; g < GENERATIONS && grew && !rc; g++)
		rc = take_generation(s, &grew);
	for (size_t t = 0; t < timeline->n_threads && !rc; t++) {
		rc = join(&s->found[t]);
		if (!rc && vprof_array_sort(s->found[t].releases.v, s->found[t].releases.n,
					    sizeof *s->found[t].releases.v, vprof_compare_u64))
			rc = VPROF_ERR_NOMEM;
	}
	return rc;
}

int vprof_relevance_find(struct vprof_relevance **out, const struct vprof_timeline *timeline)
{
	size_t n = timeline->n_threads;
	struct search s = {
		.timeline = timeline,
		.found = calloc(n + 1, sizeof *s.found),
		.newest = calloc(n + 1, sizeof *s.newest),
		.next = calloc(n + 1, sizeof *s.next),
		.followed = calloc(n + 1, sizeof *s.followed),
	};
	int rc = s.found && s.newest && s.next && s.followed ? search(&s) : VPROF_ERR_NOMEM;

	for (size_t t = 0; s.followed && t < n; t++)
		free(s.followed[t]);
	free(s.followed);
	VPROF_ARRAY_RELEASE(&s.awaited);
	VPROF_ARRAY_RELEASE(&s.ended);
	vprof_relevance_free(s.newest, n);
	vprof_relevance_free(s.next, n);
	if (rc) {
		vprof_relevance_free(s.found, n);
		s.found = NULL;
	}
	*out = s.found;
	return rc;
}

void vprof_relevance_free(struct vprof_relevance *relevance, size_t n_threads)
{
	for (size_t t = 0; relevance && t < n_threads; t++) {
		VPROF_ARRAY_RELEASE(&relevance[t].stretches);
		VPROF_ARRAY_RELEASE(&relevance[t].releases);
	}
	free(relevance);
}

int vprof_relevance_covers(const struct vprof_relevance *c, uint64_t t)
{
	size_t i = VPROF_TIME_SEARCH(&c->stretches, t, 0);

	return i && t <= c->stretches.v[i - 1].to;
}

uint64_t vprof_relevance_waited(const struct vprof_relevance *c, uint64_t t)
{
	size_t i = VPROF_TIME_SEARCH(&c->releases, t, 0);
	uint64_t sum = 0;

	while (i && c->releases.v[i - 1].t == t)
		sum += c->releases.v[--i].waited;
	return sum;
}
