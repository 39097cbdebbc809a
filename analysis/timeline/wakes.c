/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matching of waits to releases.
 *
 * Every release is put into one array sorted by (class, process or "shared", address, time); a wait looks only at the
 * releases of its object around its own time. Four rules, by class:
 *  - last: a lock. The waiter found the number of the release before it, so that one it was; without a number (or when
 *    objects share a slot) the candidate with the largest (arrivals before, time), since earlier ones let others go
 * first.
 *  - first: a condition, a futex. The first release that counted the waiter and has not been used up by
 *    another wait: a signal lets one go, a broadcast all.
 *  - round: a barrier. The first round that counted the waiter.
 *  - join: the thread's exit.
 * Waits for channels are decided by what went through them (channels.h).
 * A release is a candidate when it happened inside the wait and counted arrivals up to the wait's ticket or beyond, or
 * when the ticket was drawn while it ran. Arrivals wrap at 32 bits, so they are compared by difference.
 */
#include "analysis/timeline/wakes.h"

#include "analysis/timeline/channels.h"
#include "analysis/timeline/lock_holders.h"
#include "analysis/timeline/losses.h"
#include "analysis/timeline/wake_class.h"

#define EXITS_MAX 64	 /* of threads of one number while one of them is joined, that are looked at */
#define PROCESSES_MAX 64 /* that share one lock and are looked at */
#define SEARCH_MAX 256	 /* candidates looked at before the wait's end */
#define FORWARD_MAX 4096 /* releases looked at after the wait's begin, for the first */
#define EARLY_MAX 16	 /* releases looked at before the wait's begin: their clock was read before the unlock */
#define LATE_MAX 4096	 /* releases looked at after the wait's end: a late one's clock was read after the unlock */
#define UNSEEN_TICKS (UINT64_C(1) << 28) /* from the entry of a condition's wait to its unlock, at most */

struct release {
	uint64_t t, key, object;
	uint64_t one;	   /* address by which the object goes in all processes, when it is_only */
	uint64_t answered; /* when the one that it let in had the lock, alone; 0: not known */
	uint32_t scope;	   /* class << 28 | process, or the class with process 0 when shared */
	uint32_t thread, before, after, seq;
	uint32_t n_left; /* waits that it may still end, UINT32_MAX: any number */
	uint32_t lock;	 /* see struct vprof_wait */
	uint8_t flags, kind;
	uint8_t is_only; /* its process released no other object under this scope and key, nor did the others */
};

/* A wait whose release may end only so many: these are matched in order, over all threads. */
struct turn {
	uint64_t key, order; /* when its turn is: the end of the wait, or its ticket */
	uint32_t scope, thread;
	size_t wait;
};

struct token_line {
	uint64_t token;
	uint32_t thread;
};

struct matcher {
	struct vprof_timeline *timeline;
	VPROF_ARRAY(struct release) releases;
	VPROF_ARRAY(struct release *) of_key; /* while collected */
	VPROF_ARRAY(struct token_line) tokens;
	uint64_t *created; /* [n_threads] when the thread's maker set about it, 0: not known */
	VPROF_ARRAY(struct turn) turns;
	VPROF_ARRAY(struct turn) by_time; /* waits for locks whose number no release has */
	struct vprof_channels *channels;
	struct vprof_wake_counts *counts;
};

static uint32_t scope_of(uint8_t kind, uint8_t flags, uint32_t process_seq)
{
	return vprof_wake_class(kind, flags) << 28 | (flags & VP_FLAG_SHARED ? 0 : process_seq & 0xfffffff);
}

static uint64_t key_of(uint8_t kind, uint8_t flags, uint64_t object)
{
	return flags & VP_FLAG_SHARED && !(flags & VP_FLAG_CHANNEL) && kind != VP_WAIT_CHILD ? object & 4095 : object;
}

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int release_order(const void *a, const void *b)
{
	const struct release *x = a, *y = b;
	int order = compare(x->scope, y->scope);

	order = order ? order : compare(x->key, y->key);
	order = order ? order : compare(x->t, y->t);
	return order ? order : compare(x->thread, y->thread);
}

static int turn_order(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int order = compare(x->scope, y->scope);

	order = order ? order : compare(x->key, y->key);
	order = order ? order : compare(x->order, y->order);
	return order ? order : compare(x->thread, y->thread);
}

static int token_order(const void *a, const void *b)
{
	const struct token_line *x = a, *y = b;

	return compare(x->token, y->token);
}

/* Objects at the same place of different shared pages have one key and are told apart by address; but processes that
 * map one object at different addresses may differ too. As long as no process names two addresses it is one object. */
static void mark_only(struct matcher *m)
{
	struct {
		uint32_t process;
		uint64_t object;
	} seen[PROCESSES_MAX];
	struct release *v = m->releases.v;
	size_t end;

	for (size_t begin = 0; begin < m->releases.n; begin = end) {
		size_t n = 0;
		int several = 0;

		for (end = begin; end < m->releases.n && v[end].scope == v[begin].scope && v[end].key == v[begin].key;
		     end++) {
			uint32_t process = m->timeline->threads[v[end].thread].process_seq;
			size_t i = 0;

			while (i < n && seen[i].process != process)
				i++;
			if (i < n) {
				several |= seen[i].object != v[end].object;
			} else if (n < PROCESSES_MAX) {
				seen[n].process = process;
				seen[n++].object = v[end].object;
			} else {
				several = 1; /* too many to tell */
			}
		}
		for (size_t i = begin; i < end; i++)
			v[i].is_only = !several, v[i].one = v[begin].object;
	}
}

/* By one thread at a time, but for readers. Not semaphores: their tokens are alike, and who posts need not have held
 * one. */
static int is_held(uint32_t scope)
{
	uint32_t class = scope >> 28;

	return class == VPROF_WAKE_CLASS_MUTEX || class == VPROF_WAKE_CLASS_RWLOCK || class == VPROF_WAKE_CLASS_SPIN ||
	       class == VPROF_WAKE_CLASS_ANNOTATED;
}

static int object_order(const void *a, const void *b)
{
	const struct release *x = *(struct release *const *)a, *y = *(struct release *const *)b;

	return x->object < y->object ? -1 : x->object > y->object;
}

/* Releases of one object, by time. */
static int add_holds(struct matcher *m, struct release *const *v, size_t n)
{
	uint32_t lock;

	if (vprof_lock_holders_begin(m->timeline))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_wake wake = { .t = v[i]->t,
						 .before = v[i]->before,
						 .after = v[i]->after,
						 .seq = v[i]->seq,
						 .kind = v[i]->kind,
						 .flags = v[i]->flags };

		if (vprof_lock_holders_add(m->timeline, v[i]->thread, &wake))
			return VPROF_ERR_NOMEM;
	}
	lock = vprof_lock_holders_end(m->timeline);
	for (size_t i = 0; i < n; i++)
		v[i]->lock = lock;
	return 0;
}

/* Releases of one key, by time: of one object, or of several that their addresses tell apart. */
static int collect_holds(struct matcher *m, struct release *v, size_t n)
{
	size_t end;

	m->of_key.n = 0;
	if (VPROF_ROOM(&m->of_key, n))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		m->of_key.v[m->of_key.n++] = &v[i];
	if (v->is_only)
		return add_holds(m, m->of_key.v, n);
	if (vprof_array_sort(m->of_key.v, n, sizeof *m->of_key.v, object_order))
		return VPROF_ERR_NOMEM;
	for (size_t begin = 0; begin < n; begin = end) {
		for (end = begin + 1; end < n && m->of_key.v[end]->object == m->of_key.v[begin]->object; end++)
			;
		if (add_holds(m, m->of_key.v + begin, end - begin))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int collect_held(struct matcher *m)
{
	struct release *v = m->releases.v;
	size_t end;

	for (size_t begin = 0; begin < m->releases.n; begin = end) {
		for (end = begin + 1;
		     end < m->releases.n && v[end].scope == v[begin].scope && v[end].key == v[begin].key; end++)
			;
		if (is_held(v[begin].scope) && end - begin > 1 && collect_holds(m, v + begin, end - begin))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int collect_tokens(struct matcher *m)
{
	m->created = calloc(m->timeline->n_threads + 1, sizeof *m->created);
	if (!m->created)
		return VPROF_ERR_NOMEM;
	if (!m->tokens.n)
		return 0;
	qsort(m->tokens.v, m->tokens.n, sizeof *m->tokens.v, token_order);
	for (size_t i = 0; i < m->timeline->n_threads; i++) {
		const struct vprof_thread_timeline *line = &m->timeline->threads[i];

		for (size_t k = 0; k < line->creations.n; k++) {
			const struct token_line probe = { .token = line->creations.v[k].token };
			const struct token_line *found =
				bsearch(&probe, m->tokens.v, m->tokens.n, sizeof probe, token_order);

			if (found)
				m->created[found->thread] = line->creations.v[k].t;
		}
	}
	return 0;
}

static int collect(struct matcher *m)
{
	for (size_t i = 0; i < m->timeline->n_threads; i++) {
		const struct vprof_thread_timeline *line = &m->timeline->threads[i];

		for (size_t k = 0; k < line->wakes.n; k++) {
			const struct vprof_wake *w = &line->wakes.v[k];
			struct release *r = VPROF_PUSH(&m->releases);

			if (!r)
				return VPROF_ERR_NOMEM;
			r->t = w->t;
			r->key = key_of(w->kind, w->flags, w->object);
			r->object = w->object;
			r->scope = scope_of(w->kind, w->flags, line->process_seq);
			r->thread = (uint32_t)i;
			r->before = w->before;
			r->after = w->after;
			r->seq = w->seq;
			r->flags = w->flags;
			r->kind = w->kind;
			r->lock = VPROF_NONE;
			r->n_left = w->flags & VP_FLAG_ALL ? UINT32_MAX : 1;
			if (w->kind == VP_WAIT_FUTEX && w->seq)
				r->n_left = w->seq;
		}
		if (line->start_token) {
			struct token_line *t = VPROF_PUSH(&m->tokens);

			if (!t)
				return VPROF_ERR_NOMEM;
			t->token = line->start_token;
			t->thread = (uint32_t)i;
		}
	}
	if (vprof_array_sort(m->releases.v, m->releases.n, sizeof *m->releases.v, release_order))
		return VPROF_ERR_NOMEM;
	mark_only(m);
	return collect_tokens(m) ? VPROF_ERR_NOMEM : collect_held(m);
}

/* Number of releases that sort before or at (scope, key, t, any thread). */
static size_t releases_until(const struct matcher *m, uint32_t scope, uint64_t key, uint64_t t)
{
	const struct release probe = { .t = t, .key = key, .scope = scope, .thread = VPROF_NONE };
	size_t low = 0, high = m->releases.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (release_order(&m->releases.v[middle], &probe) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A reader that leaves a lock does not end a reader's wait. */
static int are_readers(const struct release *r, const struct vprof_wait *w)
{
	return w->kind == VP_WAIT_RWLOCK_READ && r->kind == VP_WAIT_RWLOCK_READ;
}

/* Is it the release whose number the waiter found? */
static int is_exact(const struct release *r, const struct vprof_wait *w)
{
	if (!w->seq || r->seq != w->seq || are_readers(r, w))
		return 0;
	if ((int32_t)(r->after - w->ticket) < 0 &&
	    !(r->flags & VP_FLAG_LATE && r->before == r->after && r->t <= w->t1 && r->t + UNSEEN_TICKS >= w->t0))
		return 0;
	return 1;
}

static int is_candidate(const struct release *r, const struct vprof_wait *w)
{
	int inside = r->t >= w->t0 && r->t <= w->t1;

	if (is_exact(r, w))
		return 1;
	if (are_readers(r, w))
		return 0;
	if (!w->ticket)
		return inside;
	if ((int32_t)(r->after - w->ticket) < 0)
		return 0;
	return inside || (int32_t)(r->before - w->ticket) < 0;
}

/* Is a the better explanation than b? */
static int is_better(const struct release *a, const struct release *b, const struct vprof_wait *w)
{
	int same_a = a->object == w->object, same_b = b->object == w->object;
	int exact_a = is_exact(a, w), exact_b = is_exact(b, w);

	if (same_a != same_b && !a->is_only)
		return same_a; /* shared objects at the same place of different pages */
	if (exact_a != exact_b)
		return exact_a;
	/* readers came after the writer whose number they share, whenever it was recorded */
	if (exact_a && a->kind != b->kind)
		return a->kind == VP_WAIT_RWLOCK_READ;
	if (!exact_a && w->ticket && a->before != b->before)
		return (int32_t)(a->before - b->before) > 0;
	return a->t > b->t;
}

/* A late release drew its time after it let the waiter go, perhaps much later: number and ticket alone tell. */
static struct release *late_release(const struct matcher *m, uint32_t thread, const struct vprof_wait *w,
				    uint32_t scope, uint64_t key, size_t from)
{
	size_t end = m->releases.n - from > LATE_MAX ? from + LATE_MAX : m->releases.n;
	struct release *found = NULL;

	for (size_t i = from; w->ticket && i < end; i++) {
		struct release *r = &m->releases.v[i];

		if (r->scope != scope || r->key != key)
			break;
		if (!(r->flags & VP_FLAG_LATE) || r->thread == thread || !r->n_left)
			continue;
		if (is_exact(r, w))
			found = !found || !is_exact(found, w) || is_better(r, found, w) ? r : found;
		else if (!found && !are_readers(r, w) && (int32_t)(r->before - w->ticket) < 0 &&
			 (int32_t)(r->after - w->ticket) >= 0)
			found = r;
	}
	return found;
}

/* No other release of a lock has the number, but for the readers that came after a writer. */
static int is_only_exact(const struct release *r, const struct vprof_wait *w)
{
	return is_exact(r, w) && (r->is_only || r->object == w->object) && r->scope >> 28 != VPROF_WAKE_CLASS_RWLOCK;
}

static struct release *last_release(const struct matcher *m, uint32_t thread, const struct vprof_wait *w,
				    uint32_t scope, uint64_t key)
{
	size_t after = releases_until(m, scope, key, w->t1), i = after;
	struct release *best = NULL, *late;
	int n_inside = 0, n_early = 0;

	while (i-- > 0 && n_inside < SEARCH_MAX && n_early < EARLY_MAX) {
		struct release *r = &m->releases.v[i];

		if (r->scope != scope || r->key != key)
			break;
		if (r->t >= w->t0)
			n_inside++;
		else
			n_early++;
		if (r->thread == thread || !r->n_left || !is_candidate(r, w))
			continue;
		if (!best || is_better(r, best, w))
			best = r;
		if (is_only_exact(r, w))
			return r;
	}
	late = late_release(m, thread, w, scope, key, after);
	return late && (!best || is_better(late, best, w)) ? late : best;
}

/* Was the release under way when the wait began? It counted arrivals after it. */
static int is_early(const struct release *r, const struct vprof_wait *w)
{
	return (int32_t)(r->before - w->ticket) < 0 && (int32_t)(r->after - w->ticket) >= 0;
}

/* Of the releases that began before place `begin`: the last, or the first of all. */
static struct release *early_release(const struct matcher *m, uint32_t thread, const struct vprof_wait *w, size_t begin,
				     uint32_t scope, uint64_t key, int is_oldest)
{
	struct release *found = NULL;

	for (size_t i = begin; i-- > 0 && begin - i <= EARLY_MAX;) {
		struct release *r = &m->releases.v[i];

		if (r->scope != scope || r->key != key)
			break;
		if (r->thread == thread || !r->n_left || !is_early(r, w))
			continue;
		found = r;
		if (!is_oldest)
			break;
	}
	return found;
}

/* The kernel wakes in the order of arrival. So if the futex's wait had been over before, the release would have woken
 * only threads that arrived after it, and there are fewer of these. An earlier release that seems to be left for the
 * wait then ended one that the trace does not have. */
static int must_have_woken(const struct release *r, const struct vprof_wait *w)
{
	return w->ticket && r->seq && r->after - w->ticket < r->seq;
}

static struct release *first_release(const struct matcher *m, uint32_t thread, const struct vprof_wait *w,
				     uint32_t scope, uint64_t key)
{
	size_t begin = releases_until(m, scope, key, w->t0 ? w->t0 - 1 : 0), i;
	int is_futex = w->kind == VP_WAIT_FUTEX; /* each release says how many it woke: none is left over */
	struct release *unsure = NULL, *early;

	early = is_futex ? early_release(m, thread, w, begin, scope, key, 1) : NULL;
	for (i = begin; i < m->releases.n && i - begin < FORWARD_MAX; i++) {
		struct release *r = &m->releases.v[i];

		if (r->scope != scope || r->key != key || r->t > w->t1)
			break;
		if (r->thread == thread || !r->n_left || (w->ticket && (int32_t)(r->after - w->ticket) < 0))
			continue;
		if (!w->ticket || (int32_t)(r->before - w->ticket) >= 0)
			return early && !must_have_woken(r, w) ? early : r;
		else
			unsure = unsure ? unsure : r;
	}
	if (early || unsure)
		return early ? early : unsure;
	early = is_futex ? NULL : early_release(m, thread, w, begin, scope, key, 0);
	if (early)
		return early;
	return late_release(m, thread, w, scope, key, releases_until(m, scope, key, w->t1));
}

/* A barrier's rounds follow one another as their serial threads arrived: the arrivals before tell. Where these are the
 * same a serial thread lost its processor between its look at them and its arrival: those after tell. */
static int is_round_before(const struct release *a, const struct release *b)
{
	if (a->before != b->before)
		return (int32_t)(a->before - b->before) < 0;
	return (int32_t)(a->after - b->after) < 0;
}

static struct release *round_release(const struct matcher *m, uint32_t thread, const struct vprof_wait *w,
				     uint32_t scope, uint64_t key)
{
	size_t begin = releases_until(m, scope, key, w->t0 ? w->t0 - 1 : 0);
	struct release *found = NULL;

	for (size_t i = begin; i < m->releases.n && i - begin < FORWARD_MAX; i++) {
		struct release *r = &m->releases.v[i];

		if (r->scope != scope || r->key != key || r->t > w->t1)
			break;
		if (r->thread != thread && (int32_t)(r->after - w->ticket) >= 0 &&
		    (!found || is_round_before(r, found)))
			found = r;
	}
	return found ? found : early_release(m, thread, w, begin, scope, key, 0);
}

/* No other release could have ended the wait, recorded or not. Readers share a number. */
static int is_sure(const struct release *r, const struct vprof_wait *w)
{
	return w->kind == VP_WAIT_ONCE || (is_exact(r, w) && w->kind != VP_WAIT_RWLOCK_WRITE);
}

static struct release *find_release(const struct matcher *m, uint32_t thread, const struct vprof_wait *w)
{
	uint32_t scope = scope_of(w->kind, w->flags, m->timeline->threads[thread].process_seq);
	uint32_t class = vprof_wake_class(w->kind, w->flags);
	uint64_t key = key_of(w->kind, w->flags, w->object);

	if (class == VPROF_WAKE_CLASS_BARRIER)
		return round_release(m, thread, w, scope, key);
	if (class == VPROF_WAKE_CLASS_COND || class == VPROF_WAKE_CLASS_FUTEX)
		return first_release(m, thread, w, scope, key);
	return last_release(m, thread, w, scope, key);
}

/* unsure: releases of the object may have been lost. */
static int match_release(const struct matcher *m, struct vprof_wait *w, struct release *best, int unsure)
{
	uint32_t class = vprof_wake_class(w->kind, w->flags);
	int is_turn = class == VPROF_WAKE_CLASS_COND || class == VPROF_WAKE_CLASS_FUTEX;

	if (!best)
		return 0;
	if ((is_turn || class == VPROF_WAKE_CLASS_SEMAPHORE) && best->n_left && best->n_left != UINT32_MAX)
		best->n_left--; /* also when it is not sure: most likely this was it, and it reaches no other */
	if (!is_sure(best, w) && (unsure || vprof_losses_touch(m->timeline, w->t0, w->t1)))
		return 0; /* its own release may be among what was lost */
	m->counts->n_by_time += w->seq && !is_exact(best, w);
	if (best->is_only)
		w->object = best->one;
	w->lock = best->lock;
	w->waker = best->thread;
	w->wake_t = best->t < w->t0 ? w->t0 : best->t > w->t1 ? w->t1 : best->t;
	return 1;
}

static void count_wait(const struct matcher *m, const struct vprof_thread_timeline *line, size_t wait, int matched)
{
	if (wait + 1 < line->waits.n && line->waits.v[wait + 1].goes_on)
		return; /* the first part of one wait */
	m->counts->n_waits++;
	m->counts->n_matched += (uint64_t)matched;
	m->counts->n_unmatched += (uint64_t)!matched;
}

/* The waiter has the lock alone since: neither this release nor others of the number can have ended a later wait. */
static void answer(const struct matcher *m, struct release *r, const struct vprof_wait *w)
{
	const struct release *last = r;

	if (!is_exact(r, w) || (w->kind != VP_WAIT_MUTEX && w->kind != VP_WAIT_RWLOCK_WRITE && w->kind != VP_WAIT_SPIN))
		return;
	for (int n = 0; n < EARLY_MAX && r->scope == last->scope && r->key == last->key && r->seq == last->seq;
	     n++, r--) {
		if (!r->answered || w->t1 < r->answered)
			r->answered = w->t1;
		if (r == m->releases.v)
			break;
	}
}

/* The release with the wait's number is not in the trace, or objects that share a slot have lost it: time tells, but
 * not of one that had let somebody else in before. */
static void match_by_time(const struct matcher *m)
{
	for (size_t i = 0; i < m->by_time.n; i++) {
		struct vprof_thread_timeline *line = &m->timeline->threads[m->by_time.v[i].thread];
		struct vprof_wait *w = &line->waits.v[m->by_time.v[i].wait];
		struct release *best = find_release(m, m->by_time.v[i].thread, w);

		if (best && best->answered && best->answered < w->t1)
			best = NULL;
		count_wait(m, line, m->by_time.v[i].wait, match_release(m, w, best, 0));
	}
}

/* A thread's number is free for a new one as soon as it is joined, before the join's end is recorded. So the first exit
 * since the join's begin of a thread that was made before it, or the last one before. */
static int match_exit(const struct matcher *m, uint32_t thread, struct vprof_wait *w)
{
	uint32_t scope = scope_of(w->kind, w->flags, m->timeline->threads[thread].process_seq);
	size_t i = releases_until(m, scope, w->object, w->t1);
	const struct release *found = NULL;

	for (int n = 0; i-- > 0 && n < EXITS_MAX; n++) {
		const struct release *r = &m->releases.v[i];

		if (r->scope != scope || r->key != w->object)
			break;
		if (r->t < w->t0) {
			found = found ? found : r;
			break;
		}
		if (m->created[r->thread] <= w->t0)
			found = r;
	}
	if (!found || found->thread == thread)
		return 0;
	w->waker = found->thread;
	w->wake_t = found->t < w->t0 ? w->t0 : found->t;
	return 1;
}

/* The thread that was joined ended the wait when it left. */
static int match_join(const struct matcher *m, uint32_t thread, struct vprof_wait *w)
{
	const struct token_line probe = { .token = w->object };
	const struct token_line *found = NULL;
	const struct vprof_thread_timeline *line;
	uint64_t t;

	if (w->object && m->tokens.n)
		found = bsearch(&probe, m->tokens.v, m->tokens.n, sizeof probe, token_order);
	if (!found || found->thread == thread)
		return 0;
	line = &m->timeline->threads[found->thread];
	if (!line->t_exit && vprof_losses_touch(m->timeline, w->t0, w->t1))
		return 0;
	t = line->t_exit ? line->t_exit : line->t_last;
	w->waker = found->thread;
	w->wake_t = t < w->t0 ? w->t0 : t > w->t1 ? w->t1 : t;
	return 1;
}

static void match_channel(const struct matcher *m, uint32_t thread, size_t wait)
{
	struct vprof_wait *w = &m->timeline->threads[thread].waits.v[wait];

	switch (vprof_channels_waker(m->channels, thread, wait, &w->waker, &w->wake_t)) {
	case VPROF_CHANNEL_WOKEN:
		m->counts->n_channel++;
		break;
	case VPROF_CHANNEL_UNDECIDED:
		m->counts->n_channel_undecided++;
		w->flags |= VPROF_WAIT_UNDECIDED;
		break;
	default:
		w->flags |= VPROF_WAIT_READY;
		break;
	}
}

/* Waits whose releases are used up are only noted here. */
static int match_line(struct matcher *m, uint32_t thread)
{
	struct vprof_thread_timeline *line = &m->timeline->threads[thread];

	for (size_t i = 0; i < line->waits.n; i++) {
		struct vprof_wait *w = &line->waits.v[i];
		uint32_t class = vprof_wake_class(w->kind, w->flags);
		struct turn *turn;

		w->waker = w->lock = VPROF_NONE;
		if (class == VPROF_WAKE_CLASS_NONE || w->flags & (VP_FLAG_TIMEOUT | VP_FLAG_FAILED))
			continue;
		if (class == VPROF_WAKE_CLASS_CHANNEL) {
			match_channel(m, thread, i);
			continue;
		}
		if (class == VPROF_WAKE_CLASS_JOIN) {
			count_wait(m, line, i, match_exit(m, thread, w) || match_join(m, thread, w));
			continue;
		}
		if (class != VPROF_WAKE_CLASS_COND && class != VPROF_WAKE_CLASS_SEMAPHORE &&
		    class != VPROF_WAKE_CLASS_FUTEX) {
			struct release *best = find_release(m, thread, w);

			if (best && w->seq && !is_exact(best, w)) {
				turn = VPROF_PUSH(&m->by_time);
				if (!turn)
					return VPROF_ERR_NOMEM;
				turn->thread = thread;
				turn->wait = i;
				continue;
			}
			if (best)
				answer(m, best, w);
			count_wait(m, line, i, match_release(m, w, best, 0));
			continue;
		}
		turn = VPROF_PUSH(&m->turns);
		if (!turn)
			return VPROF_ERR_NOMEM;
		turn->scope = scope_of(w->kind, w->flags, line->process_seq);
		turn->key = key_of(w->kind, w->flags, w->object);
		turn->order = class == VPROF_WAKE_CLASS_FUTEX ?
				      w->t0 :
				      w->t1; /* the kernel's queue is in the order of arrival */
		turn->thread = thread;
		turn->wait = i;
	}
	return 0;
}

static int match_turns(struct matcher *m)
{
	uint64_t unsure_until = 0; /* a lost release shifts those after it for as long as somebody waits */

	if (vprof_array_sort(m->turns.v, m->turns.n, sizeof *m->turns.v, turn_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < m->turns.n; i++) {
		const struct turn *turn = &m->turns.v[i];
		struct vprof_thread_timeline *line = &m->timeline->threads[turn->thread];
		struct vprof_wait *w = &line->waits.v[turn->wait];
		int unsure;

		if (i && (turn->scope != turn[-1].scope || turn->key != turn[-1].key))
			unsure_until = 0;
		unsure = w->t0 <= unsure_until || vprof_losses_touch(m->timeline, w->t0, w->t1);
		if (unsure && w->t1 > unsure_until)
			unsure_until = w->t1;
		count_wait(m, line, turn->wait, match_release(m, w, find_release(m, turn->thread, w), unsure));
	}
	return 0;
}

/* Waits come in the order of their ends: an outer one after those inside it. One that goes on after a false wake-up
 * follows its first part. */
static void make_disjoint(struct vprof_thread_timeline *line)
{
	struct vprof_wait *waits = line->waits.v;
	size_t n = 0;

	for (size_t i = 0; i < line->waits.n; i++) {
		struct vprof_wait w = waits[i];

		if (w.goes_on && n) /* what woke it before is used up, but ended nothing */
			w.t0 = waits[--n].t0;
		while (n && waits[n - 1].t0 >= w.t0) {
			const struct vprof_wait *inner = &waits[--n];

			if (w.waker == VPROF_NONE && inner->waker != VPROF_NONE &&
			    !(w.flags & (VP_FLAG_TIMEOUT | VP_FLAG_FAILED))) {
				w.waker = inner->waker;
				w.wake_t = inner->wake_t;
				w.lock = inner->lock;
			}
			if (inner->t1 > w.t1)
				w.t1 = inner->t1;
		}
		if (n && waits[n - 1].t1 > w.t0)
			w.t0 = waits[n - 1].t1 < w.t1 ? waits[n - 1].t1 : w.t1;
		if (w.waker != VPROF_NONE && w.wake_t < w.t0)
			w.wake_t = w.t0;
		waits[n++] = w;
	}
	line->waits.n = n;
}

int vprof_wakes_match(struct vprof_timeline *timeline, struct vprof_wake_counts *counts, struct vprof_error *err)
{
	struct matcher m = { .timeline = timeline, .counts = counts };
	int ret;

	memset(counts, 0, sizeof *counts);
	m.channels = vprof_channels_new(timeline);
	ret = m.channels ? collect(&m) : VPROF_ERR_NOMEM;
	for (size_t i = 0; i < timeline->n_threads && !ret; i++)
		ret = match_line(&m, (uint32_t)i);
	if (!ret) {
		match_by_time(&m);
		ret = match_turns(&m);
	}
	for (size_t i = 0; i < timeline->n_threads && !ret; i++)
		make_disjoint(&timeline->threads[i]);
	vprof_channels_free(m.channels);
	VPROF_ARRAY_RELEASE(&m.releases);
	VPROF_ARRAY_RELEASE(&m.of_key);
	VPROF_ARRAY_RELEASE(&m.tokens);
	free(m.created);
	VPROF_ARRAY_RELEASE(&m.turns);
	VPROF_ARRAY_RELEASE(&m.by_time);
	if (ret)
		vprof_error_set(err, ret, "not enough memory to match waits with releases: record a shorter run");
	return ret;
}
