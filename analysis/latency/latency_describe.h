/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was inferred and ranked, as results. */
#ifndef VPROF_LATENCY_DESCRIBE_H
#define VPROF_LATENCY_DESCRIBE_H

#include "analysis/latency/path_ranking.h"
#include "analysis/results/latency_results.h"

/* Fills the contexts that matter (of 1 in 2,000 of the time, or on a ranked path), the paths, and the slowest instances
 * on the first ten paths. NOMEM. */
int vprof_latency_describe(struct vprof_latency_results *out, const struct vprof_paired_tree *t,
			   const struct vprof_latency_ranking *ranking, struct vprof_error *err);

#endif
