/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times in which a thread's records were lost (the ring or the disk was full), and what cannot be trusted for it.
 *
 * What was lost could have been anything: a release, a mark, what went into a channel. So an interval during which any
 * thread lost records is left out of the analysis and counted. A wait meanwhile has a waker only when the release's
 * number or its kind leaves no choice. Counting what goes through channels has lost its place for good: nothing is said
 * of them any more, and intervals that may have come through one are left out.
 */
#ifndef VPROF_LOSSES_H
#define VPROF_LOSSES_H

#include "analysis/timeline/thread_timeline.h"

/* All threads' losses into timeline->losses, disjoint and sorted. OK or NOMEM. */
int vprof_losses_gather(struct vprof_timeline *timeline);

/* Was anything lost in [t0, t1]? */
int vprof_losses_touch(const struct vprof_timeline *timeline, uint64_t t0, uint64_t t1);

/* When the first loss began, UINT64_MAX without any. */
uint64_t vprof_losses_first(const struct vprof_timeline *timeline);

#endif
