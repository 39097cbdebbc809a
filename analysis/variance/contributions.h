/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the mean latency is spent, and why the slowest intervals take longer than the others.
 *
 * The leaves of the variance tree, bodies included, share an interval's time among them without rest. Summed by factor
 * they are contributions: their means add up to the mean latency, and the differences of their means among the slowest
 * intervals and among the others add up to the gap between these two latencies.
 */
#ifndef VPROF_CONTRIBUTIONS_H
#define VPROF_CONTRIBUTIONS_H

#include "analysis/results/results.h"
#include "analysis/stats/interval_attributes.h"
#include "analysis/variance/variance_tree.h"

/* Which intervals are the slowest: those that took longer than slower_than_ns, or, when that is 0, the slowest
 * hundredth (of equal latencies all or none). Fills tail_from_ns, n_tail, tail_ns and rest_ns of `r`. `is_slow`:
 * [attributes->n], 0 or 1; all 0 when there are no slowest or no others. */
void vprof_tail_choose(struct vprof_results *r, const struct vprof_interval_attributes *attributes,
		       double slower_than_ns, uint8_t *is_slow);

/* Fills tail_ns and rest_ns of the nodes, and the contributions without their bounds. `r` has nodes and factors. OK or
 * NOMEM. */
int vprof_contributions_fill(struct vprof_results *r, struct vprof_tree *tree, const uint8_t *is_slow);

/* Once they have their bounds: one more, "recording", for what the tree leaves of the latencies because it was taken
 * out (tree_cost.c); none when that is nothing. */
void vprof_contributions_add_recording(struct vprof_results *r);

#endif
