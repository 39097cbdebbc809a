/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In which knot the threads are that a wait factor, or a cause, waits for. */
#ifndef VPROF_KNOT_PARTS_H
#define VPROF_KNOT_PARTS_H

#include "analysis/join/knot_waits.h"
#include "analysis/results/results.h"

/* Fills knot and knot_part of the factors and causes of `r` from the waits of its intervals.
 * A node's part is that of the wait of the interval's own thread that it is, or lies beneath: of all waits in a
 * function of this name for this object. names[n_knots] are interned in r. */
void vprof_knot_parts_fill(struct vprof_results *r, size_t n_knots, const struct vprof_knot_wait_index *waits,
			   const char *const *names);

/* All factors and causes: not known. */
void vprof_knot_parts_clear(struct vprof_results *r);

#endif
