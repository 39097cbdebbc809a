/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of a history of stacks by their number and time. One thread may stand in it several times, one time after
 * the other: an exec makes another one of it, and so does the time between two windows. Internal to analysis/join. */
#ifndef VPROF_SEEN_THREADS_H
#define VPROF_SEEN_THREADS_H

#include "analysis/latency/history/latency_history.h"

struct vprof_seen_thread {    /* by tid, then time */
	uint32_t tid, thread; /* thread: index into the history's */
	uint64_t begin, end;
};

struct vprof_seen_threads {
	VPROF_ARRAY(struct vprof_seen_thread) v;
};

/* OK or NOMEM; to be released in any case. */
int vprof_seen_threads_find(struct vprof_seen_threads *s, const struct vprof_latency_history *h);
void vprof_seen_threads_release(struct vprof_seen_threads *s);

/* The place of the thread's first entry that ends after `from`; behind its last one if there is none. O(log threads).
 */
size_t vprof_seen_threads_from(const struct vprof_seen_threads *s, uint32_t tid, uint64_t from);

#endif
