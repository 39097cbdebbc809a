/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Creation edges: which enqueue a dequeue belongs to.
 *
 * Queue events are annotated enqueues and dequeues of items, which are named by their address, and the sends and
 * receives that channels.h added as messages. An item may be enqueued again once it was dequeued, and addresses repeat
 * in forked processes. Invariant: an enqueue ends when as many events of its item were dequeues as enqueues; it cannot
 * be meant after that. An item that is in several queues at once keeps all its enqueues until the last one ends, since
 * nothing tells them apart.
 */
#ifndef VPROF_QUEUES_H
#define VPROF_QUEUES_H

#include "analysis/timeline/edges/edge.h"
#include "analysis/timeline/intervals.h"

#define VPROF_QUEUE_LOOK_BACK_MAX 16 /* queue events of one item, or of one thread, that are considered */

struct vprof_queues;

/* Indexes all queue events of the timeline. NULL without memory. O(n log n). */
struct vprof_queues *vprof_queues_new(const struct vprof_timeline *timeline);
void vprof_queues_free(struct vprof_queues *queues);

/* The enqueue that a dequeue of `item` at t belongs to: of those that had not ended by then, one made by a thread at
 * work for `instance` is preferred (`intervals` NULL: nothing is known of that), then one of the same process, then the
 * latest. O(log n). */
struct vprof_edge vprof_queues_origin(const struct vprof_queues *queues, const struct vprof_intervals *intervals,
				      uint64_t item, uint64_t t, uint32_t process_seq, uint32_t instance);

#endif
