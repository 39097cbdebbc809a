/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Critical paths of intervals to a blame tree: the same pieces that the variance tree is made of.
 *
 * A wait piece of the path without a parent, and a queue delay, is cut into what other threads did meanwhile (the
 * pieces beneath it) and a rest. What one piece beneath tells is cut again where its thread's label changes.
 */
#ifndef VPROF_CROSSTALK_WALK_H
#define VPROF_CROSSTALK_WALK_H

#include "analysis/paths/critical_path.h"
#include "analysis/timeline/calls.h"
#include "analysis/transactions/blame_tree.h"
#include "analysis/transactions/working_for.h"
#include "common/plan.h"

/* what walkers of one source share */
struct vprof_crosstalk_of {
	const struct vprof_working_for *working;
	const struct vprof_plan *plan; /* may be NULL */
	size_t source;
	double ratio;		   /* of the source's tick to the first source's, in which the tree counts */
	const uint32_t *canonical; /* [timeline->n_names] number of a wait's name among those of all sources */
};

struct vprof_crosstalk_walker { /* of one thread of the analysis */
	const struct vprof_crosstalk_of *of;
	struct vprof_blame_tree tree;
	struct vprof_path *path;
	struct vprof_calls *calls;
	uint64_t n_walked; /* waits */
	VPROF_ARRAY(struct vprof_piece_blame {
		uint32_t node;	    /* of the piece: beneath its HOLDER, else VPROF_NONE */
		uint64_t explained; /* ticks of the pieces beneath */
	})
	pieces;
	VPROF_ARRAY(uint32_t) call_node;
};

/* Ready for intervals of this source; the tree stays. OK or NOMEM. */
int vprof_crosstalk_walker_turn(struct vprof_crosstalk_walker *w, const struct vprof_crosstalk_of *of);
void vprof_crosstalk_walker_release(struct vprof_crosstalk_walker *w);

/* Adds an instance of the source, which lies in this block of intervals. OK or NOMEM. */
int vprof_crosstalk_walk(struct vprof_crosstalk_walker *w, uint32_t instance, uint32_t block);

/* Is what ended a wait of this kind another thread, or did one end this wait? Such waits are in the tree. */
int vprof_crosstalk_has(const struct vprof_wait *wait);

#endif
