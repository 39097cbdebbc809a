/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All releases of a trace (unlocks, signals, posts, futex wakes, exits), in an order in which those of one object lie
 * side by side: what waits are matched with (release_rules.h).
 *
 * Invariant: sorted by (scope, key, time, thread). Releases of one scope and key are of one object, or of several that
 * happen to share the key and are told apart by address (is_only).
 */
#ifndef VPROF_RELEASE_INDEX_H
#define VPROF_RELEASE_INDEX_H

#include "analysis/timeline/timeline.h"

struct vprof_release_entry {
	uint64_t t, key, object;
	uint64_t one;	   /* address by which the object goes in all processes, when it is_only */
	uint64_t answered; /* when the waiter that it let in had the lock, alone; 0: not known */
	uint32_t scope;	   /* class << 28 | process, or the class with process 0 when shared */
	uint32_t thread, before, after, seq;
	uint32_t n_left; /* waits that it may still end, UINT32_MAX: any number */
	uint32_t lock;	 /* see struct vprof_wait */
	uint8_t flags, kind;
	uint8_t is_only; /* its process released no other object under this scope and key, nor did the others */
};

struct vprof_release_index {
	const struct vprof_timeline *timeline;
	VPROF_ARRAY(struct vprof_release_entry) entries;
};

/* Of a wait or a release of `kind` (enum vp_wait) with VP_FLAG_*: which ones may belong together at all (the class, and
 * the process unless the object is shared), and the object's address as far as all processes agree on it. */
uint32_t vprof_release_scope(uint8_t kind, uint8_t flags, uint32_t process_seq);
uint64_t vprof_release_key(uint8_t kind, uint8_t flags, uint64_t object);
static inline uint32_t vprof_release_class(uint32_t scope) /* enum vprof_wake_class */
{
	return scope >> 28;
}

/* Gathers the releases of all threads, and fills the timeline's lock holders from them. OK or NOMEM; to be released in
 * any case. */
int vprof_release_index_build(struct vprof_release_index *index, struct vprof_timeline *timeline);
void vprof_release_index_release(struct vprof_release_index *index);

/* Number of releases that sort before or at (scope, key, t, any thread): the first one after t. O(log n). */
size_t vprof_release_index_until(const struct vprof_release_index *index, uint32_t scope, uint64_t key, uint64_t t);

#endif
