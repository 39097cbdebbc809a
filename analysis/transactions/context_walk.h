/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Critical paths of intervals to a blame tree, by transaction context (Whodunit, sections 2.1 and 4).
 *
 * Each hop of a path (critical_path.h) is a *stage*: the call path at which the thread handed the interval on: that of
 * the enqueue from which the next hop came, else of the mark that ended the segment, else of the one that began it. The
 * *context* at a hop is the list of the stages so far, pruned by the paper's rule; the *route* of an interval lists
 * every stage once, in the order in which it was first passed, so that it tells A -> B -> A from A alone. A route is
 * the interval's type here; beneath it time lies in the contexts.
 */
#ifndef VPROF_CONTEXT_WALK_H
#define VPROF_CONTEXT_WALK_H

#include "analysis/transactions/blame_walker.h"

/* The route of a path with these hops: stages[VPROF_STAGES_MAX] gets the numbers of call paths; their number.
 * of_hops[n_hops]: the stage of each hop, in the hops' order (backward). *is_cut: it passed more stages than that. */
uint32_t vprof_context_route(const struct vprof_call_paths *call_paths, size_t source, const struct vprof_hop *hops,
			     size_t n_hops, uint32_t *of_hops, uint32_t *stages, int *is_cut);

/* Adds the path that the walker's `path` has just walked, of an interval in this block. OK or NOMEM. */
int vprof_context_walk(struct vprof_blame_walker *w, const struct vprof_piece *pieces, size_t n, uint32_t block);

#endif
