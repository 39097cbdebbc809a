/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two sections of the results are put together: knots of the wait-for graph, and the variance of intervals. */
#ifndef VPROF_KNOTS_OF_INTERVALS_H
#define VPROF_KNOTS_OF_INTERVALS_H

#include "analysis/results/results.h"
#include "analysis/stats/interval_attributes.h"

/* Fills `knots` of r, and knot and knot_part of its factors and causes, from the waits of the trace; its types and
 * nodes are there. Without anything that limits throughput nothing is filled. OK, NOMEM. */
int vprof_knots_fill(struct vprof_results *r, struct vprof_source *source,
		     const struct vprof_interval_attributes *attributes, int n_threads, struct vprof_error *err);

#endif
