/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Critical paths of intervals to a blame tree, by who waited for whom: the same pieces that the variance tree is made
 * of.
 *
 * A wait piece of the path without a parent, and a queue delay, is cut into what other threads did meanwhile (the
 * pieces beneath it) and a rest. What one piece beneath tells is cut again where its thread's label changes. A wait
 * beneath of a thread that works for the same instance is cut likewise, for itself.
 */
#ifndef VPROF_CROSSTALK_WALK_H
#define VPROF_CROSSTALK_WALK_H

#include "analysis/transactions/blame_walker.h"

/* Adds the path of an instance of the walker's source, which lies in this block of intervals. OK or NOMEM. */
int vprof_crosstalk_walk(struct vprof_blame_walker *w, const struct vprof_piece *pieces, size_t n, uint32_t instance,
			 uint32_t block);

#endif
