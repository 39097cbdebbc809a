/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every thread did, rebuilt from the trace: waits, releases, marks of intervals, queue events; calls are only
 * indexed (calls.h), since they are many and looked at once.
 *
 * This is the entry to the room analysis/timeline, on which all analyses stand. analysis/source/source.h takes the
 * steps in order:
 *
 *   vprof_timeline_build()   one pass over all records, thread by thread (timeline_records.c); then off-CPU times from
 *                            the context switches of all CPUs, losses (losses.h), and how long sampled calls may be
 *   vprof_wakes_match()      wake edges: who ended each wait (edges/)
 *   vprof_intervals_build()  instances of intervals, and the segments of threads that worked for them (intervals.h)
 *   vprof_edges_new()        by which edge an instance came to a thread (edges/edges.h)
 *
 * From then on nothing changes, and any number of threads may read. symbols.h names sampled addresses,
 * analysis/source/relevance.h tells which stretches of threads matter to intervals, window_list.h when recording was
 * on.
 */
#ifndef VPROF_TIMELINE_H
#define VPROF_TIMELINE_H

#include "analysis/timeline/thread_timeline.h"
#include "common/error.h"

/* `trace` must outlive the timeline. One pass over all records, by up to n_threads threads (0: one for each CPU),
 * each of which takes whole threads of the trace. `progress` may be NULL; it gets 0..1. */
int vprof_timeline_build(struct vprof_timeline **out, const struct vprof_trace *trace, int n_threads,
			 void (*progress)(void *arg, double done), void *arg, struct vprof_error *err);
void vprof_timeline_free(struct vprof_timeline *timeline);

/* Text of a STRING record, or NULL when the trace has none with this hash. */
const char *vprof_timeline_string(const struct vprof_timeline *timeline, uint64_t hash);

/* A text that the trace does not have; *hash names it from now on. By one thread alone. OK or NOMEM. */
int vprof_timeline_add_string(struct vprof_timeline *timeline, const char *text, uint64_t *hash);

/* A name of waits that the trace does not have; VPROF_NONE without memory. By one thread alone. */
uint32_t vprof_timeline_add_name(struct vprof_timeline *timeline, const char *text);

/* n more threads, of processes of their own, which recorded nothing: what is known of them otherwise. They come after
 * the others, which may move. Before anything is built on the timeline. OK or NOMEM. */
int vprof_timeline_add_threads(struct vprof_timeline *timeline, size_t n);

#endif
