/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges: what one thread did that let another one go on (VProfiler, section 3.3, Figure 5).
 *
 * Every edge leads from an origin (thread, time) to a later moment of a thread. There are these, one header each:
 *
 *   wakes.h         wake edges: who ended a wait. Matching stores them in the wait itself (waker, wake_t).
 *   lock_holders.h  of a wait for a lock: who held it, one after the other, until the waker released it
 *   channels.h      data through pipes, sockets, message queues: whose send a receive read
 *   queues.h        creation edges: which enqueue put an item into a queue from which it was dequeued
 *   thread_starts.h thread creation: which thread a token of pthread_create stands for
 *
 * This header joins them from the point of view of an interval: by which edge an instance came to a thread. Order of
 * use: vprof_wakes_match() once per timeline (channels and lock holders are part of it), vprof_intervals_build(), then
 * vprof_edges_new(). From then on all edges are read-only and any number of threads may follow them.
 *
 * Invariant: an origin never lies after the moment that it leads to, and clocks of the trace are one clock.
 */
#ifndef VPROF_EDGES_H
#define VPROF_EDGES_H

#include "analysis/timeline/edges/edge.h"
#include "analysis/timeline/intervals.h"

struct vprof_edges;

/* Indexes the queue events of a timeline whose waits are matched; both must outlive the edges. O(n log n) for n queue
 * events. OK or NOMEM. */
int vprof_edges_new(struct vprof_edges **out, const struct vprof_timeline *timeline,
		    const struct vprof_intervals *intervals, struct vprof_error *err);
void vprof_edges_free(struct vprof_edges *edges);

const struct vprof_timeline *vprof_edges_timeline(const struct vprof_edges *edges);
const struct vprof_intervals *vprof_edges_intervals(const struct vprof_edges *edges);

/* By which edge `instance` came to `thread`, which worked for it from t on: `segment` begins there (VPROF_NONE: t is
 * not the begin of one). A creation edge or, without one, a hand-over is preferred; the instance's previous segment
 * counts when it ended later than these, or when there are none (docs/design/critical-path.md, "The walk").
 * `wait_hint`: [n_threads] a place in each thread's waits from which to search, for speed only; may be all 0.
 * Looks at a bounded number of events and segments. Safe for several threads at once. */
struct vprof_edge vprof_edges_into(const struct vprof_edges *edges, uint32_t instance, uint32_t thread,
				   uint32_t segment, uint64_t t, const size_t *wait_hint);

#endif
