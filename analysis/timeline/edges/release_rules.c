/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clocks are read before or after an unlock (LATE), so releases a little outside of the wait are looked at, too. */
#include "analysis/timeline/edges/release_rules.h"

#include "analysis/timeline/edges/wake_class.h"

#define SEARCH_MAX 256	 /* candidates looked at before the wait's end */
#define FORWARD_MAX 4096 /* releases looked at after the wait's begin, for the first */
#define EARLY_MAX 16	 /* releases looked at before the wait's begin: their clock was read before the unlock */
#define LATE_MAX 4096	 /* releases looked at after the wait's end: a late one's clock was read after the unlock */
#define UNSEEN_TICKS (UINT64_C(1) << 28) /* from the entry of a condition's wait to its unlock, at most */

/* A reader that leaves a lock does not end a reader's wait. */
static int are_readers(const struct vprof_release_entry *r, const struct vprof_wait *w)
{
	return w->kind == VP_WAIT_RWLOCK_READ && r->kind == VP_WAIT_RWLOCK_READ;
}

int vprof_release_is_exact(const struct vprof_release_entry *r, const struct vprof_wait *w)
{
	if (!w->seq || r->seq != w->seq || are_readers(r, w))
		return 0;
	if ((int32_t)(r->after - w->ticket) < 0 &&
	    !(r->flags & VP_FLAG_LATE && r->before == r->after && r->t <= w->t1 && r->t + UNSEEN_TICKS >= w->t0))
		return 0;
	return 1;
}

static int is_candidate(const struct vprof_release_entry *r, const struct vprof_wait *w)
{
	int inside = r->t >= w->t0 && r->t <= w->t1;

	if (vprof_release_is_exact(r, w))
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
static int is_better(const struct vprof_release_entry *a, const struct vprof_release_entry *b,
		     const struct vprof_wait *w)
{
	int same_a = a->object == w->object, same_b = b->object == w->object;
	int exact_a = vprof_release_is_exact(a, w), exact_b = vprof_release_is_exact(b, w);

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
static struct vprof_release_entry *late_release(const struct vprof_release_index *index, uint32_t thread,
						const struct vprof_wait *w, uint32_t scope, uint64_t key, size_t from)
{
	size_t end = index->entries.n - from > LATE_MAX ? from + LATE_MAX : index->entries.n;
	struct vprof_release_entry *found = NULL;

	for (size_t i = from; w->ticket && i < end; i++) {
		struct vprof_release_entry *r = &index->entries.v[i];

		if (r->scope != scope || r->key != key)
			break;
		if (!(r->flags & VP_FLAG_LATE) || r->thread == thread || !r->n_left)
			continue;
		if (vprof_release_is_exact(r, w))
			found = !found || !vprof_release_is_exact(found, w) || is_better(r, found, w) ? r : found;
		else if (!found && !are_readers(r, w) && (int32_t)(r->before - w->ticket) < 0 &&
			 (int32_t)(r->after - w->ticket) >= 0)
			found = r;
	}
	return found;
}

/* No other release of a lock has the number, but for the readers that came after a writer. */
static int is_only_exact(const struct vprof_release_entry *r, const struct vprof_wait *w)
{
	return vprof_release_is_exact(r, w) && (r->is_only || r->object == w->object) &&
	       vprof_release_class(r->scope) != VPROF_WAKE_CLASS_RWLOCK;
}

static struct vprof_release_entry *last_release(const struct vprof_release_index *index, uint32_t thread,
						const struct vprof_wait *w, uint32_t scope, uint64_t key)
{
	size_t after = vprof_release_index_until(index, scope, key, w->t1), i = after;
	struct vprof_release_entry *best = NULL, *late;
	int n_inside = 0, n_early = 0;

	while (i-- > 0 && n_inside < SEARCH_MAX && n_early < EARLY_MAX) {
		struct vprof_release_entry *r = &index->entries.v[i];

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
	late = late_release(index, thread, w, scope, key, after);
	return late && (!best || is_better(late, best, w)) ? late : best;
}

/* Was the release under way when the wait began? It counted arrivals after it. */
static int is_early(const struct vprof_release_entry *r, const struct vprof_wait *w)
{
	return (int32_t)(r->before - w->ticket) < 0 && (int32_t)(r->after - w->ticket) >= 0;
}

/* Of the releases that began before place `begin`: the last, or the first of all. */
static struct vprof_release_entry *early_release(const struct vprof_release_index *index, uint32_t thread,
						 const struct vprof_wait *w, size_t begin, uint32_t scope, uint64_t key,
						 int is_oldest)
{
	struct vprof_release_entry *found = NULL;

	for (size_t i = begin; i-- > 0 && begin - i <= EARLY_MAX;) {
		struct vprof_release_entry *r = &index->entries.v[i];

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
static int must_have_woken(const struct vprof_release_entry *r, const struct vprof_wait *w)
{
	return w->ticket && r->seq && r->after - w->ticket < r->seq;
}

static struct vprof_release_entry *first_release(const struct vprof_release_index *index, uint32_t thread,
						 const struct vprof_wait *w, uint32_t scope, uint64_t key)
{
	size_t begin = vprof_release_index_until(index, scope, key, w->t0 ? w->t0 - 1 : 0), i;
	int is_futex = w->kind == VP_WAIT_FUTEX; /* each release says how many it woke: none is left over */
	struct vprof_release_entry *possible = NULL, *early;

	early = is_futex ? early_release(index, thread, w, begin, scope, key, 1) : NULL;
	for (i = begin; i < index->entries.n && i - begin < FORWARD_MAX; i++) {
		struct vprof_release_entry *r = &index->entries.v[i];

		if (r->scope != scope || r->key != key || r->t > w->t1)
			break;
		if (r->thread == thread || !r->n_left || (w->ticket && (int32_t)(r->after - w->ticket) < 0))
			continue;
		if (!w->ticket || (int32_t)(r->before - w->ticket) >= 0)
			return early && !must_have_woken(r, w) ? early : r;
		else
			possible = possible ? possible : r;
	}
	if (early || possible)
		return early ? early : possible;
	early = is_futex ? NULL : early_release(index, thread, w, begin, scope, key, 0);
	if (early)
		return early;
	return late_release(index, thread, w, scope, key, vprof_release_index_until(index, scope, key, w->t1));
}

/* A barrier's rounds follow one another as their serial threads arrived: the arrivals before tell. Where these are the
 * same a serial thread was preempted between its look at them and its arrival: those after tell. */
static int is_round_before(const struct vprof_release_entry *a, const struct vprof_release_entry *b)
{
	if (a->before != b->before)
		return (int32_t)(a->before - b->before) < 0;
	return (int32_t)(a->after - b->after) < 0;
}

static struct vprof_release_entry *round_release(const struct vprof_release_index *index, uint32_t thread,
						 const struct vprof_wait *w, uint32_t scope, uint64_t key)
{
	size_t begin = vprof_release_index_until(index, scope, key, w->t0 ? w->t0 - 1 : 0);
	struct vprof_release_entry *found = NULL;

	for (size_t i = begin; i < index->entries.n && i - begin < FORWARD_MAX; i++) {
		struct vprof_release_entry *r = &index->entries.v[i];

		if (r->scope != scope || r->key != key || r->t > w->t1)
			break;
		if (r->thread != thread && (int32_t)(r->after - w->ticket) >= 0 &&
		    (!found || is_round_before(r, found)))
			found = r;
	}
	return found ? found : early_release(index, thread, w, begin, scope, key, 0);
}

/* Readers share a number. */
int vprof_release_is_sure(const struct vprof_release_entry *r, const struct vprof_wait *w)
{
	return w->kind == VP_WAIT_ONCE || (vprof_release_is_exact(r, w) && w->kind != VP_WAIT_RWLOCK_WRITE);
}

struct vprof_release_entry *vprof_release_find(const struct vprof_release_index *index, uint32_t thread,
					       const struct vprof_wait *w)
{
	uint32_t scope = vprof_release_scope(w->kind, w->flags, index->timeline->threads[thread].process_seq);
	uint32_t class = vprof_wake_class(w->kind, w->flags);
	uint64_t key = vprof_release_key(w->kind, w->flags, w->object);

	if (class == VPROF_WAKE_CLASS_BARRIER)
		return round_release(index, thread, w, scope, key);
	if (class == VPROF_WAKE_CLASS_COND || class == VPROF_WAKE_CLASS_FUTEX)
		return first_release(index, thread, w, scope, key);
	return last_release(index, thread, w, scope, key);
}
