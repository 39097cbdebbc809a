/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who held what a wait was for, one after the other.
 *
 * While a thread waits for a lock, every release of the lock is recorded, but not who took it when it was free. So
 * releases are all that tells: up to each, the thread that released had held the lock, or had been about to take it.
 * Only what one thread holds at a time is cut like this: mutexes, spin locks, the writers of read-write locks,
 * annotated locks. Of readers, who hold a lock together, the last one before a writer counts, and none for another
 * reader.
 */
#ifndef VPROF_LOCK_HOLDERS_H
#define VPROF_LOCK_HOLDERS_H

#include "analysis/timeline/timeline.h"

/* Releases of one object, to be added in the order of their times, between begin and end. */
int vprof_lock_holders_begin(struct vprof_timeline *timeline); /* OK or NOMEM */
int vprof_lock_holders_add(struct vprof_timeline *timeline, uint32_t thread,
			   const struct vprof_wake *wake); /* OK or NOMEM */
/* The object's index in `locks`; VPROF_NONE when there is nothing to choose from. */
uint32_t vprof_lock_holders_end(struct vprof_timeline *timeline);

struct vprof_lock_holders_walk {
	const struct vprof_wait *wait;
	const struct vprof_lock_holder *next, *end; /* that are left */
	uint64_t t, to;
	uint32_t thread;
};

/* Who is to blame for from..to of a wait that somebody ended; what is beyond the wait's wake_t is left out. `thread`
 * waited. *hint: for neighbouring walks, 0 at first. */
void vprof_lock_holders_walk_begin(struct vprof_lock_holders_walk *walk, const struct vprof_timeline *timeline,
				   uint32_t thread, const struct vprof_wait *wait, uint64_t from, uint64_t to,
				   size_t *hint);
/* The next part, which ends at *end. *holder is VPROF_NONE where the waiter held the object itself, between two waits
 * that are one. False: there is none left. */
int vprof_lock_holders_walk_next(struct vprof_lock_holders_walk *walk, uint64_t *from, uint64_t *end, uint32_t *holder);

/* The last release of the object before the one that ended the wait: from then on its waker had it. At least t0. */
uint64_t vprof_lock_holders_before(const struct vprof_timeline *timeline, const struct vprof_wait *wait);

#endif
