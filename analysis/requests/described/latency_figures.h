/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of many latencies that come in groups: of tiers, of patterns. */
#ifndef VPROF_REQUESTS_LATENCY_FIGURES_H
#define VPROF_REQUESTS_LATENCY_FIGURES_H

#include "analysis/results/requests_results.h"
#include "common/array.h"

struct vprof_grouped_latency {
	uint64_t ns;
	uint32_t group;
};

typedef VPROF_ARRAY(struct vprof_grouped_latency) vprof_grouped_latencies;

/* 0, or -1 without memory. */
int vprof_grouped_latency_add(vprof_grouped_latencies *all, uint32_t group, uint64_t ns);

/* Fills figures[n_groups]; sorts `all`. Mean and sd (n - 1) in two passes, quantiles by the nearest rank. 0, or -1
 * without memory. O(n log n). */
int vprof_grouped_latencies_tell(vprof_grouped_latencies *all, struct vprof_requests_latency *figures, size_t n_groups);

#endif
