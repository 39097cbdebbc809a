/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the latencies look like: a histogram, and their course over the run. Bounded, whatever the number of intervals.
 */
#ifndef VPROF_LATENCY_SHAPE_H
#define VPROF_LATENCY_SHAPE_H

#include "analysis/results/results.h"
#include "analysis/stats/interval_attributes.h"

/* Fills histogram and periods of `r`, whose types are known already (vprof_latency_fill). OK or NOMEM. */
int vprof_latency_shape_fill(struct vprof_results *r, const struct vprof_interval_attributes *attributes);

#endif
