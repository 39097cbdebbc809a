/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What recording adds to the times, how that is known, and the bounds that follow (docs/design/statistics.md).
 *
 * The nominal cost: a recorded call takes record_ns, of which record_inside_ns lie within its own time and the rest
 * within its caller's. So a node's time holds, for each interval,
 *
 *     calls x record_inside_ns + (calls of all nodes beneath) x record_ns,
 *
 * and a quarter of record_ns for each call of a hot function that is counted and not timed, in its caller's time. The
 * hot function's own time is that of chosen calls, each standing for others with its records, and holds the above for
 * all of its calls.
 *
 * The effect: how much longer the intervals took than without records. It is expected to be 0 to 1.5 times the nominal
 * cost, and measured against the intervals outside the recording windows or the annotated-only run; where both agree
 * they are weighted by their precision, where they do not the measurement counts. Effect by nominal cost is the scale
 * that tree_cost.c takes out; what the shares would be with the scale's bounds widens their confidence intervals.
 */
#ifndef VPROF_PROBE_COST_H
#define VPROF_PROBE_COST_H

#include "analysis/stats/interval_attributes.h"
#include "analysis/variance/variance_tree.h"

#define VPROF_RECORD_NS 18.0 /* where the trace does not tell: docs/performance.md */
#define VPROF_RECORD_INSIDE_NS 9.0

/* what one function's records cost differs so from another's, at least: a part of the nominal cost */
#define VPROF_SCALE_ERROR 0.15

/* 95 % bounds; NaN: nothing is taken out */
struct vprof_cost_scale {
	double value, low, high;
};

/* Estimates the effect and takes it out of a numbered tree, before its results are read. Needs the latencies, and the
 * baseline where there is one; baseline_preempted_ns: of its mean, NaN: unknown. OK or NOMEM. */
int vprof_probe_cost_take_out(struct vprof_results *r, struct vprof_tree *tree,
			      const struct vprof_interval_attributes *attributes, double baseline_preempted_ns,
			      struct vprof_cost_scale *scale);

/* Fills record_ns, record_inside_ns and what recording adds to each node and factor. 0: the trace does not tell what a
 * record takes; then nothing was taken out. */
void vprof_probe_cost_fill(struct vprof_results *r, double record_ns, double record_inside_ns);

#endif
