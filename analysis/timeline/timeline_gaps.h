/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaps: stretches of a thread's time in which calls of a hot function were counted and not timed, and what is usual for
 * such a function.
 *
 * A gap lies between two timed calls of the function, or between the last one and the end of the thread's stretch of
 * work (the time between two marks of intervals). The time that its caller spent in a gap is that of the calls that
 * were not timed and of the caller's own code together. Where a gap is much longer than usual, nobody knows which of
 * the two took so long (undivided.h).
 *
 * One call in 500, or one in 100 when fewer than 50 such were timed, is too rare for two timed calls in a block to tell
 * how much time its like take. A call is rare that is longer than twice what all others stay below, and a microsecond.
 */
#ifndef VPROF_TIMELINE_GAPS_H
#define VPROF_TIMELINE_GAPS_H

#include "analysis/timeline/thread_timeline.h"

/* Records of hot functions, in record order: a SAMPLE (before it is added to the samples), a COUNT. OK or NOMEM. */
int vprof_gaps_sampled(struct vprof_thread_timeline *thr, uint64_t t0, uint32_t code, uint64_t payload);
int vprof_gaps_counted(struct vprof_thread_timeline *thr, uint64_t t, uint32_t code, uint32_t n);

/* Once a thread is complete. OK or NOMEM. */
int vprof_gaps_sort(struct vprof_thread_timeline *thr);

/* Once all threads are: timeline->hot, and the limits of all samples. OK or NOMEM. */
int vprof_hot_functions_fill(struct vprof_timeline *timeline);

const struct vprof_hot_function *vprof_hot_function(const struct vprof_timeline *timeline, uint32_t code); /* or NULL */

#endif
