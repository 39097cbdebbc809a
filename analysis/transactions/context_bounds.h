/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the times of a context would vary if the run were repeated: the bootstrap over blocks of intervals. */
#ifndef VPROF_CONTEXT_BOUNDS_H
#define VPROF_CONTEXT_BOUNDS_H

#include "analysis/results/results.h"
#include "analysis/stats/run_blocks.h"
#include "analysis/transactions/blame_tree.h"

#define VPROF_CONTEXTS_BOUNDED 64 /* contexts that get bounds, the first */

/* Is a node of the tree time that the interval waited, though it is a call? */
int vprof_blame_is_wait(const struct vprof_blame_node *node);

/* Fills the bounds of r->contexts: of the first VPROF_CONTEXTS_BOUNDED that have VPROF_BOUNDS_MIN intervals; of all
 * others NaN. routes[r->n_contexts]: their ROUTE nodes; ns_per_tick of the tree. From the tree's sums: what is drawn
 * are blocks, of runs first, and each figure is taken of the sums of those that were drawn, so that how many intervals
 * are of a context varies, too. OK or NOMEM. */
int vprof_context_bounds(struct vprof_results *r, const struct vprof_blame_tree *tree, const uint32_t *routes,
			 const struct vprof_run_blocks *blocks, double ns_per_tick, int n_threads);

#endif
