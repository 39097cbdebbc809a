/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wake edges: who ended a wait. Waits are matched to releases by object, ticket and time (docs/design/wake-edges.md).
 *
 * After vprof_wakes_match() the edge is in the wait: `waker` ended it at `wake_t`, which lies within [t0, t1];
 * VPROF_NONE: nobody did (I/O, sleeps, time-outs), or it is not known. From wake_t to t1 the thread was runnable.
 */
#ifndef VPROF_WAKES_H
#define VPROF_WAKES_H

#include "analysis/timeline/timeline.h"

struct vprof_wake_counts {
	uint64_t n_waits; /* for another thread; I/O, sleeps and timeouts have no waker and do not count */
	uint64_t n_matched, n_unmatched;
	uint64_t n_by_time; /* of n_matched: the release's number did not decide (objects share a slot, or a release
			       was not recorded), its time did */
	uint64_t n_channel; /* waits for pipes, sockets, queues and polls that a send ended; not in n_waits, since data
			       may come from outside */
	uint64_t n_channel_undecided; /* those of which the sender is not sure (analysis/timeline/edges/channels.h) */
};

/* Fills waker and wake_t of every wait, then makes each thread's waits disjoint and sorted by t0: a wait inside
 * another one (the semaphore inside an annotated lock) disappears and, when the outer one has no waker, lends it its
 * own. */
int vprof_wakes_match(struct vprof_timeline *timeline, struct vprof_wake_counts *counts, struct vprof_error *err);

#endif
