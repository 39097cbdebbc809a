/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts what threads did into a blame tree: the calls that they ran, the waits, and where others had their CPU.
 *
 * Ticks are spent where they belong; a piece that explains another takes its ticks away from that one's node. So every
 * sum is the length of the pieces that were put in, whatever the calls look like. crosstalk_walk.h and context_walk.h
 * say which pieces go where.
 */
#ifndef VPROF_BLAME_WALKER_H
#define VPROF_BLAME_WALKER_H

#include "analysis/paths/critical_path.h"
#include "analysis/timeline/calls.h"
#include "analysis/transactions/blame_tree.h"
#include "analysis/transactions/call_paths.h"
#include "analysis/transactions/working_for.h"
#include "common/plan.h"

/* what walkers of one source share */
struct vprof_blame_of {
	const struct vprof_working_for *working;
	const struct vprof_call_paths *call_paths;
	const struct vprof_plan *plan; /* may be NULL */
	size_t source;
	double ratio;		   /* of the source's tick to the first source's, in which the tree counts */
	const uint32_t *canonical; /* [timeline->n_names] number of a wait's name among those of all sources */
	const uint8_t *may_wait;   /* [plan->n_probes] the probe has the name of a wait: its calls may be waits */
};

struct vprof_blame_walker { /* of one thread of the analysis */
	const struct vprof_blame_of *of;
	struct vprof_blame_tree tree;
	struct vprof_path *path;
	struct vprof_calls *calls;
	uint64_t n_walked; /* pieces of intervals, so that each wait has a number */
	uint32_t block;	   /* into whose sums ticks go, too, of nodes with is_summed; VPROF_NONE: into none */
	VPROF_ARRAY(struct vprof_piece_blame {
		uint32_t node;	     /* of the piece: beneath its HOLDER, else VPROF_NONE */
		uint8_t is_own_wait; /* of the request, on whichever thread works for it (crosstalk_walk.c) */
		uint64_t explained;  /* ticks of the pieces beneath */
	})
	pieces;
	VPROF_ARRAY(uint32_t) stages; /* nodes of the hops (context_walk.h) */
	VPROF_ARRAY(uint32_t) call_node;
};

/* Ready for intervals of this source; the tree stays. OK or NOMEM. */
int vprof_blame_walker_turn(struct vprof_blame_walker *w, const struct vprof_blame_of *of);
void vprof_blame_walker_release(struct vprof_blame_walker *w);

const struct vprof_timeline *vprof_blame_timeline(const struct vprof_blame_walker *w);

/* Ticks of the walker's source in those of the tree. */
int64_t vprof_blame_ticks(const struct vprof_blame_walker *w, uint64_t ticks);

/* Adds ticks of the walker's source to a node, or with sign -1 takes them away. OK or NOMEM. */
int vprof_blame_spend(struct vprof_blame_walker *w, uint32_t node, uint64_t ticks, int sign);

/* A child, as vprof_blame_child; one that is made while ticks go into a block's sums gets sums where it is, or may turn
 * out to be, time in a wait or delay. */
uint32_t vprof_blame_step(struct vprof_blame_walker *w, uint32_t parent, uint8_t class, uint32_t key);

/* What the thread ran from..to, beneath `base`. OK or NOMEM. */
int vprof_blame_spend_run(struct vprof_blame_walker *w, uint32_t thread, uint64_t from, uint64_t to, uint32_t base);

/* A wait, beneath `base`; *node: beneath which what explains it goes. OK or NOMEM. */
int vprof_blame_spend_wait(struct vprof_blame_walker *w, const struct vprof_piece *p, uint32_t base, uint32_t *node);

#endif
