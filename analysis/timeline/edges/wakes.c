/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who takes which release: waits whose release may end any number of them, or whose number tells which it was, are
 * matched thread by thread; the others in the order in which their turns come, since a release that one wait used up
 * ends no other (release_rules.h). Joins end with the thread's exit; waits for channels are decided by what went
 * through them (channels.h). */
#include "analysis/timeline/edges/wakes.h"

#include "analysis/timeline/edges/channels.h"
#include "analysis/timeline/edges/release_rules.h"
#include "analysis/timeline/edges/thread_starts.h"
#include "analysis/timeline/edges/wake_class.h"
#include "analysis/timeline/losses.h"

#define EXITS_MAX 64  /* of threads of one number while one of them is joined, that are looked at */
#define ANSWER_MAX 16 /* releases of one number that a wait answers */

/* A wait whose release may end only so many: these are matched in order, over all threads. */
struct turn {
	uint64_t key, order; /* when its turn is: the end of the wait, or its ticket */
	uint32_t scope, thread;
	size_t wait;
};

struct matcher {
	struct vprof_timeline *timeline;
	struct vprof_release_index releases;
	struct vprof_thread_starts starts;
	VPROF_ARRAY(struct turn) turns;
	VPROF_ARRAY(struct turn) by_time; /* waits for locks whose number no release has */
	struct vprof_channels *channels;
	struct vprof_wake_counts *counts;
};

static int turn_order(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int order = vprof_u64_order(x->scope, y->scope);

	order = order ? order : vprof_u64_order(x->key, y->key);
	order = order ? order : vprof_u64_order(x->order, y->order);
	return order ? order : vprof_u64_order(x->thread, y->thread);
}

/* is_lossy: releases of the object may have been lost. */
static int match_release(const struct matcher *m, struct vprof_wait *w, struct vprof_release_entry *best, int is_lossy)
{
	uint32_t class = vprof_wake_class(w->kind, w->flags);
	int is_turn = class == VPROF_WAKE_CLASS_COND || class == VPROF_WAKE_CLASS_FUTEX;

	if (!best)
		return 0;
	if ((is_turn || class == VPROF_WAKE_CLASS_SEMAPHORE) && best->n_left && best->n_left != UINT32_MAX)
		best->n_left--; /* even when it is not certain: most likely this was it, and it wakes no other */
	if (!vprof_release_is_sure(best, w) && (is_lossy || vprof_losses_touch(m->timeline, w->t0, w->t1)))
		return 0; /* its own release may be among what was lost */
	m->counts->n_by_time += w->seq && !vprof_release_is_exact(best, w);
	if (best->is_only)
		w->object = best->one;
	w->lock = best->lock;
	w->waker = best->thread;
	w->wake_t = best->t < w->t0 ? w->t0 : best->t > w->t1 ? w->t1 : best->t;
	return 1;
}

static void count_wait(const struct matcher *m, const struct vprof_thread_timeline *thr, size_t wait, int matched)
{
	if (wait + 1 < thr->waits.n && thr->waits.v[wait + 1].goes_on)
		return; /* the first part of one wait */
	m->counts->n_waits++;
	m->counts->n_matched += (uint64_t)matched;
	m->counts->n_unmatched += (uint64_t)!matched;
}

/* The waiter has the lock alone since: neither this release nor others of the number can have ended a later wait. */
static void answer(const struct matcher *m, struct vprof_release_entry *r, const struct vprof_wait *w)
{
	const struct vprof_release_entry *last = r;

	if (!vprof_release_is_exact(r, w) ||
	    (w->kind != VP_WAIT_MUTEX && w->kind != VP_WAIT_RWLOCK_WRITE && w->kind != VP_WAIT_SPIN))
		return;
	for (int n = 0; n < ANSWER_MAX && r->scope == last->scope && r->key == last->key && r->seq == last->seq;
	     n++, r--) {
		if (!r->answered || w->t1 < r->answered)
			r->answered = w->t1;
		if (r == m->releases.entries.v)
			break;
	}
}

/* The release with the wait's number is not in the trace, or objects that share a slot have lost it: time tells, but
 * not of one that had let somebody else in before. */
static void match_by_time(const struct matcher *m)
{
	for (size_t i = 0; i < m->by_time.n; i++) {
		struct vprof_thread_timeline *thr = &m->timeline->threads[m->by_time.v[i].thread];
		struct vprof_wait *w = &thr->waits.v[m->by_time.v[i].wait];
		struct vprof_release_entry *best = vprof_release_find(&m->releases, m->by_time.v[i].thread, w);

		if (best && best->answered && best->answered < w->t1)
			best = NULL;
		count_wait(m, thr, m->by_time.v[i].wait, match_release(m, w, best, 0));
	}
}

/* A thread's number is free for a new one as soon as it is joined, before the join's end is recorded. So the first exit
 * since the join's begin of a thread that was made before it, or the last one before. */
static int match_exit(const struct matcher *m, uint32_t thread, struct vprof_wait *w)
{
	uint32_t scope = vprof_release_scope(w->kind, w->flags, m->timeline->threads[thread].process_seq);
	size_t i = vprof_release_index_until(&m->releases, scope, w->object, w->t1);
	const struct vprof_release_entry *found = NULL;

	for (int n = 0; i-- > 0 && n < EXITS_MAX; n++) {
		const struct vprof_release_entry *r = &m->releases.entries.v[i];

		if (r->scope != scope || r->key != w->object)
			break;
		if (r->t < w->t0) {
			found = found ? found : r;
			break;
		}
		if (m->starts.created[r->thread] <= w->t0)
			found = r;
	}
	if (!found || found->thread == thread)
		return 0;
	w->waker = found->thread;
	w->wake_t = found->t < w->t0 ? w->t0 : found->t;
	return 1;
}

/* The thread that was joined ended the wait when it exited. */
static int match_join(const struct matcher *m, uint32_t thread, struct vprof_wait *w)
{
	uint32_t joined = vprof_thread_starts_of(&m->starts, w->object);
	const struct vprof_thread_timeline *thr;
	uint64_t t;

	if (joined == VPROF_NONE || joined == thread)
		return 0;
	thr = &m->timeline->threads[joined];
	if (!thr->t_exit && vprof_losses_touch(m->timeline, w->t0, w->t1))
		return 0;
	t = thr->t_exit ? thr->t_exit : thr->t_last;
	w->waker = joined;
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
	case VPROF_CHANNEL_NO_WAIT:
		w->flags |= VPROF_WAIT_READY;
		break;
	case VPROF_CHANNEL_OUTSIDE:
		break;
	}
}

/* Waits whose releases are used up are only noted here. */
static int match_thread(struct matcher *m, uint32_t thread)
{
	struct vprof_thread_timeline *thr = &m->timeline->threads[thread];

	for (size_t i = 0; i < thr->waits.n; i++) {
		struct vprof_wait *w = &thr->waits.v[i];
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
			count_wait(m, thr, i, match_exit(m, thread, w) || match_join(m, thread, w));
			continue;
		}
		if (class != VPROF_WAKE_CLASS_COND && class != VPROF_WAKE_CLASS_SEMAPHORE &&
		    class != VPROF_WAKE_CLASS_FUTEX) {
			struct vprof_release_entry *best = vprof_release_find(&m->releases, thread, w);

			if (best && w->seq && !vprof_release_is_exact(best, w)) {
				turn = VPROF_PUSH(&m->by_time);
				if (!turn)
					return VPROF_ERR_NOMEM;
				turn->thread = thread;
				turn->wait = i;
				continue;
			}
			if (best)
				answer(m, best, w);
			count_wait(m, thr, i, match_release(m, w, best, 0));
			continue;
		}
		turn = VPROF_PUSH(&m->turns);
		if (!turn)
			return VPROF_ERR_NOMEM;
		turn->scope = vprof_release_scope(w->kind, w->flags, thr->process_seq);
		turn->key = vprof_release_key(w->kind, w->flags, w->object);
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
	uint64_t lossy_until = 0; /* a lost release shifts those after it for as long as somebody waits */

	if (vprof_array_sort(m->turns.v, m->turns.n, sizeof *m->turns.v, turn_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < m->turns.n; i++) {
		const struct turn *turn = &m->turns.v[i];
		struct vprof_thread_timeline *thr = &m->timeline->threads[turn->thread];
		struct vprof_wait *w = &thr->waits.v[turn->wait];
		int is_lossy;

		if (i && (turn->scope != turn[-1].scope || turn->key != turn[-1].key))
			lossy_until = 0;
		is_lossy = w->t0 <= lossy_until || vprof_losses_touch(m->timeline, w->t0, w->t1);
		if (is_lossy && w->t1 > lossy_until)
			lossy_until = w->t1;
		count_wait(m, thr, turn->wait,
			   match_release(m, w, vprof_release_find(&m->releases, turn->thread, w), is_lossy));
	}
	return 0;
}

/* Waits come in the order of their ends: an outer one after those inside it. One that goes on after a false wake-up
 * follows its first part. */
static void make_disjoint(struct vprof_thread_timeline *thr)
{
	struct vprof_wait *waits = thr->waits.v;
	size_t n = 0;

	for (size_t i = 0; i < thr->waits.n; i++) {
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
	thr->waits.n = n;
}

int vprof_wakes_match(struct vprof_timeline *timeline, struct vprof_wake_counts *counts, struct vprof_error *err)
{
	struct matcher m = { .timeline = timeline, .counts = counts };
	int ret;

	memset(counts, 0, sizeof *counts);
	m.channels = vprof_channels_new(timeline);
	ret = m.channels ? 0 : VPROF_ERR_NOMEM;
	if (!ret)
		ret = vprof_release_index_build(&m.releases, timeline);
	if (!ret)
		ret = vprof_thread_starts_find(&m.starts, timeline);
	for (size_t i = 0; i < timeline->n_threads && !ret; i++)
		ret = match_thread(&m, (uint32_t)i);
	if (!ret) {
		match_by_time(&m);
		ret = match_turns(&m);
	}
	for (size_t i = 0; i < timeline->n_threads && !ret; i++)
		make_disjoint(&timeline->threads[i]);
	vprof_channels_free(m.channels);
	vprof_release_index_release(&m.releases);
	vprof_thread_starts_release(&m.starts);
	VPROF_ARRAY_RELEASE(&m.turns);
	VPROF_ARRAY_RELEASE(&m.by_time);
	if (ret)
		vprof_error_set(err, ret, "not enough memory to match waits with releases: record a shorter run");
	return ret;
}
