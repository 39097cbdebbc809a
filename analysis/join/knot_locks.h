/* SPDX-License-Identifier: GPL-3.0-or-later */
/* At which places of the program intervals wait for the members of a knot: the locks of the variance tree's waits. */
#ifndef VPROF_KNOT_LOCKS_H
#define VPROF_KNOT_LOCKS_H

#include "analysis/join/knot_waits.h"
#include "analysis/results/results.h"

/* Fills locks of r's knots, from the waits of intervals' own threads in its tree. What a node shares with others of its
 * name and object is divided by their means. OK or NOMEM. */
int vprof_knot_locks_fill(struct vprof_results *r, const struct vprof_knot_wait_index *waits);

#endif
