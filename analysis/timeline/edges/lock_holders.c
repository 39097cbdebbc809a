/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of an object's releases only those are kept that tell something new: of several in a row by one thread, or by
 * readers, the last. */
#include "analysis/timeline/edges/lock_holders.h"

int vprof_lock_holders_begin(struct vprof_timeline *timeline)
{
	struct vprof_lock_history *h = VPROF_PUSH(&timeline->locks);

	if (!h)
		return VPROF_ERR_NOMEM;
	h->first = h->end = timeline->lock_holders.n;
	h->seq = 0;
	return 0;
}

/* Its clock was read after the unlock, and so late that a later release's had been read. */
static int is_overtaken(const struct vprof_lock_history *h, const struct vprof_lock_holder *last,
			const struct vprof_wake *wake)
{
	uint32_t behind = (h->seq - wake->seq) & VP_SEQ_MASK;
	int is_reader = wake->kind == VP_WAIT_RWLOCK_READ;

	if (!(wake->flags & VP_FLAG_LATE) || !h->seq || !wake->seq)
		return 0;
	if (!is_reader && wake->before == wake->after) /* the entry of a condition's wait: its clock was read before */
		return 0;
	if (!behind) /* readers share the number of the writer before them */
		return last->is_reader && !is_reader;
	return behind <= VP_SEQ_MASK / 2;
}

int vprof_lock_holders_add(struct vprof_timeline *timeline, uint32_t thread, const struct vprof_wake *wake)
{
	struct vprof_lock_history *h = &timeline->locks.v[timeline->locks.n - 1];
	struct vprof_lock_holder *last = h->end > h->first ? &timeline->lock_holders.v[h->end - 1] : NULL;
	uint8_t is_reader = wake->kind == VP_WAIT_RWLOCK_READ;

	if (last && is_overtaken(h, last, wake))
		return 0;
	if (!last || last->is_reader != is_reader || !(is_reader || last->thread == thread)) {
		last = VPROF_PUSH(&timeline->lock_holders);
		if (!last)
			return VPROF_ERR_NOMEM;
		h->end++;
	}
	*last = (struct vprof_lock_holder){ wake->t, thread, is_reader };
	h->seq = wake->seq;
	return 0;
}

uint32_t vprof_lock_holders_end(struct vprof_timeline *timeline)
{
	const struct vprof_lock_history *h = &timeline->locks.v[timeline->locks.n - 1];

	if (h->end - h->first >= 2 && timeline->locks.n < VPROF_NONE)
		return (uint32_t)timeline->locks.n - 1;
	timeline->lock_holders.n = h->first;
	timeline->locks.n--;
	return VPROF_NONE;
}

static struct vprof_lock_history history_of(const struct vprof_timeline *timeline, const struct vprof_wait *wait)
{
	const struct vprof_lock_history none = { 0 };

	return wait->lock < timeline->locks.n ? timeline->locks.v[wait->lock] : none;
}

/* Those of the object that ended at t or before; a place among all lock holders. */
static size_t holders_until(const struct vprof_timeline *timeline, const struct vprof_lock_history *h, uint64_t t,
			    size_t hint)
{
	const struct vprof_lock_holder *v = timeline->lock_holders.v + h->first;
	size_t n = h->end - h->first;

	hint = hint >= h->first && hint <= h->end ? hint - h->first : n / 2;
	return h->first + vprof_time_search(v, sizeof *v, n, t, hint);
}

/* One reader does not keep another one waiting. */
static int is_passed(const struct vprof_lock_holder *h, const struct vprof_wait *wait)
{
	return h->is_reader && wait->kind == VP_WAIT_RWLOCK_READ;
}

void vprof_lock_holders_walk_begin(struct vprof_lock_holders_walk *walk, const struct vprof_timeline *timeline,
				   uint32_t thread, const struct vprof_wait *wait, uint64_t from, uint64_t to,
				   size_t *hint)
{
	const struct vprof_lock_history h = history_of(timeline, wait);

	*walk = (struct vprof_lock_holders_walk){
		.wait = wait, .t = from, .to = wait->wake_t < to ? wait->wake_t : to, .thread = thread
	};
	if (h.first == h.end || from >= walk->to)
		return;
	*hint = holders_until(timeline, &h, from, *hint);
	walk->next = timeline->lock_holders.v + *hint;
	walk->end = timeline->lock_holders.v + h.end;
}

int vprof_lock_holders_walk_next(struct vprof_lock_holders_walk *walk, uint64_t *from, uint64_t *end, uint32_t *holder)
{
	const struct vprof_wait *w = walk->wait;
	const struct vprof_lock_holder *h;

	if (walk->t >= walk->to)
		return 0;
	while (walk->next < walk->end && (walk->next->until <= walk->t || is_passed(walk->next, w)))
		walk->next++;
	h = walk->next < walk->end && walk->next->until < w->wake_t ? walk->next : NULL;
	*holder = !h ? w->waker : h->thread == walk->thread ? VPROF_NONE : h->thread;
	*from = walk->t;
	*end = walk->t = h && h->until < walk->to ? h->until : walk->to;
	return 1;
}

uint64_t vprof_lock_holders_before(const struct vprof_timeline *timeline, const struct vprof_wait *wait)
{
	const struct vprof_lock_history h = history_of(timeline, wait);
	const struct vprof_lock_holder *v = timeline->lock_holders.v;
	size_t i;

	if (h.first == h.end || !wait->wake_t)
		return wait->t0;
	i = holders_until(timeline, &h, wait->wake_t - 1, 0);
	while (i > h.first && is_passed(&v[i - 1], wait))
		i--;
	return i > h.first && v[i - 1].until > wait->t0 ? v[i - 1].until : wait->t0;
}
