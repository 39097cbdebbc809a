/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of an object's releases only those are kept that tell something new: of several in a row by one thread, or by readers, the last. */
#include "analysis/holds.h"

int vprof_holds_begin(struct vprof_timeline *timeline)
{
	struct vprof_held *h = VPROF_PUSH(&timeline->held);

	if (!h)
		return VPROF_ERR_NOMEM;
	h->first = h->end = timeline->holds.n;
	h->seq = 0;
	return 0;
}

/* Its clock was read after the unlock, and so late that a later release's had been read. */
static int is_overtaken(const struct vprof_held *h, const struct vprof_hold *last, const struct vprof_wake *wake)
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

int vprof_holds_add(struct vprof_timeline *timeline, uint32_t thread, const struct vprof_wake *wake)
{
	struct vprof_held *h = &timeline->held.v[timeline->held.n - 1];
	struct vprof_hold *last = h->end > h->first ? &timeline->holds.v[h->end - 1] : NULL;
	uint8_t is_reader = wake->kind == VP_WAIT_RWLOCK_READ;

	if (last && is_overtaken(h, last, wake))
		return 0;
	if (!last || last->is_reader != is_reader || !(is_reader || last->thread == thread)) {
		last = VPROF_PUSH(&timeline->holds);
		if (!last)
			return VPROF_ERR_NOMEM;
		h->end++;
	}
	*last = (struct vprof_hold){ wake->t, thread, is_reader };
	h->seq = wake->seq;
	return 0;
}

uint32_t vprof_holds_end(struct vprof_timeline *timeline)
{
	const struct vprof_held *h = &timeline->held.v[timeline->held.n - 1];

	if (h->end - h->first >= 2 && timeline->held.n < VPROF_NONE)
		return (uint32_t)timeline->held.n - 1;
	timeline->holds.n = h->first;
	timeline->held.n--;
	return VPROF_NONE;
}

/* v[0..n) of what the wait was for. Returns how many ended at t or before. */
static size_t holds_until(const struct vprof_timeline *timeline, const struct vprof_wait *wait, uint64_t t,
			  const struct vprof_hold **v, size_t *n)
{
	struct vprof_held h = { 0 };

	if (wait->held < timeline->held.n)
		h = timeline->held.v[wait->held];
	*v = timeline->holds.v + h.first;
	*n = h.end - h.first;
	return vprof_time_search(*v, sizeof **v, *n, t, *n / 2);
}

/* One reader does not keep another one waiting. */
static int is_passed(const struct vprof_hold *h, const struct vprof_wait *wait)
{
	return h->is_reader && wait->kind == VP_WAIT_RWLOCK_READ;
}

uint64_t vprof_holds_part(const struct vprof_timeline *timeline, uint32_t thread, const struct vprof_wait *wait, uint64_t from,
			  uint64_t to, uint32_t *holder)
{
	const struct vprof_hold *v;
	size_t n, i = holds_until(timeline, wait, from, &v, &n);

	while (i < n && is_passed(&v[i], wait))
		i++;
	*holder = wait->waker;
	if (i == n || v[i].until >= wait->wake_t)
		return to;
	*holder = v[i].thread == thread ? VPROF_NONE : v[i].thread;
	return v[i].until < to ? v[i].until : to;
}

uint64_t vprof_holds_before(const struct vprof_timeline *timeline, const struct vprof_wait *wait)
{
	const struct vprof_hold *v;
	size_t n, i = holds_until(timeline, wait, wait->wake_t ? wait->wake_t - 1 : 0, &v, &n);

	while (i && is_passed(&v[i - 1], wait))
		i--;
	return i && v[i - 1].until > wait->t0 ? v[i - 1].until : wait->t0;
}
