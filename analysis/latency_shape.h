/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the latencies look like: a histogram, and their course over the run. Bounded, whatever the number of intervals. */
#ifndef VPROF_LATENCY_SHAPE_H
#define VPROF_LATENCY_SHAPE_H

#include "analysis/intervals.h"
#include "analysis/results.h"

/* Fills histogram and periods of `r`, whose types are known already, from the instances at `chosen` (by begin); `start` is the
 * trace's begin. OK or NOMEM. O(n log n). */
int vprof_latency_shape_fill(struct vprof_results *r, const struct vprof_timeline *timeline,
			     const struct vprof_intervals *intervals, const uint32_t *chosen, size_t n, uint64_t start);

#endif
