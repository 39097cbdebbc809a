/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In which knot the threads are that a wait factor, or a cause, waits for. */
#ifndef VPROF_KNOT_PARTS_H
#define VPROF_KNOT_PARTS_H

#include "analysis/join/knot_times.h"
#include "analysis/results/results.h"

/* Fills knot and knot_part of the factors and causes of `r` from the waits of `times`, whose intervals are those of r.
 * A node's part is that of the wait of the interval's own thread that it is, or lies beneath: of all waits in a
 * function of this name for this object. names[times->n_knots] are interned in r. */
void vprof_knot_parts_fill(struct vprof_results *r, const struct vprof_knot_times *times,
			   const struct vprof_timeline *timeline, const char *const *names);

/* Is it the node of this wait, or of others at the same place for the same object? */
int vprof_knot_wait_is_of_node(const struct vprof_knot_wait *w, const struct vprof_node *n,
			       const struct vprof_timeline *timeline);

/* All factors and causes: not known. */
void vprof_knot_parts_clear(struct vprof_results *r);

#endif
