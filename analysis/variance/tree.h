/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes of a variance tree and what it consists of, for the files that build and read it (variance_tree.h). */
#ifndef VPROF_TREE_H
#define VPROF_TREE_H

#include "analysis/paths/critical_path.h"
#include "analysis/results/reduce.h"
#include "analysis/variance/noise.h"
#include "analysis/results/results.h"
#include "common/plan.h"

/* a parent comes before its children; [0] is the interval */
struct vprof_tree_node {
	uint32_t parent, depth;
	uint32_t key;	/* code of a function or site, canonical name index of a wait */
	uint32_t level; /* number of wait and queued nodes that it lies beneath as blame */
	uint32_t n_children;
	uint8_t kind;	      /* enum vprof_node_kind, never BODY */
	uint8_t objects;      /* waits: 0, 1 or 2 for more */
	uint8_t is_explained; /* has blame beneath: its body is what nobody explains */
	uint64_t object;
	uint64_t n_calls, total_ticks; /* n_calls: counted; those of hot functions within others estimated */
	/* kernel: ran there in an I/O call; io: blocked there or running */
	uint64_t blocked_ticks, kernel_ticks, io_ticks;
	uint64_t n_timed; /* calls recorded one by one */
	/* what chosen calls lasted beyond the usual, times the calls for which it was not counted */
	uint64_t rare_ticks;
	int64_t body_ticks;		 /* total_ticks less those of its children */
	int64_t cost;			 /* of recording, within its time but not its children's (tree_cost.c) */
	const struct vprof_probe *probe; /* NULL: not a function, or not in the plan */
	uint32_t final_id, body_id;	 /* places in the results; body_id VPROF_NONE without children */
};

#define VPROF_COST_PARTS 256 /* of a tick: one part is the unit of costs */

/* What recording adds for one call, in parts of the tree's tick (tree_cost.c); zeros: not known. */
struct vprof_call_cost {
	int64_t inside;	 /* of a recorded call, to its own time */
	int64_t outside; /* ... to its caller's */
	int64_t counted; /* of a call that is only counted, to its caller's */
};

/* one of the traces that the intervals are of */
struct vprof_tree_source {
	const struct vprof_timeline *timeline;
	struct vprof_call_cost cost;
	uint32_t *canonical; /* [timeline->n_names] index of the name's text in the tree's names */
	double ratio;	     /* of its tick to the tree's */
};

static inline int vprof_tree_cost_is_known(const struct vprof_tree_source *source)
{
	return source->cost.counted > 0;
}

struct vprof_tree {
	const struct vprof_plan *plan;
	struct vprof_team team;			   /* that fills it and sums over it */
	VPROF_ARRAY(struct vprof_tree_node) nodes; /* once numbered */
	VPROF_ARRAY(const char *) names;	   /* of waits */
	double ns_per_tick;			   /* of the first source */
	int has_switches;			   /* of all sources */
	int has_cost;				   /* of some source it is known what recording a call takes */
	double cost_scale;			   /* of that, what is taken out of the times (tree_cost.c) */
	size_t n_intervals, n_final;
	int is_full;				/* some node was refused for the number of nodes */
	uint64_t preempted_ticks, by_own_ticks; /* of the intervals' own threads; by_own: see struct vprof_off_cpu */
	uint64_t wait_ticks;			/* the intervals waited for other threads */
	uint64_t unmatched_ticks;		/* ... or those that they waited for did, and nobody knows for whom */
	int has_noise;				/* once numbered: times of some interval are estimates */
	uint64_t n_folded;			/* frames folded into their caller for depth or number of nodes */
	uint64_t n_unknown_codes;		/* nodes whose code the plan does not know */
	double *factors;   /* [n_final] that times are multiplied with; NULL: not calibrated (tree_cost.c) */
	double *corrected; /* [n_final] sums over all intervals, then, in ticks */
	struct vprof_tree_taken *taken; /* parts, and which intervals each took (tree_fill.h) */
	struct vprof_tree_private *private;
};

/* From what the trace's header says (record_ns 0: not known), to parts of a tick. */
void vprof_call_cost_fill(struct vprof_call_cost *cost, double record_ns, double inside_ns, double ns_per_tick);

/* Nominal cost of recording in the mean over all intervals, ns. */
double vprof_tree_cost_ns(const struct vprof_tree *tree);

/* Of a numbered tree with costs: all that is read from it afterwards has scale x cost taken out and is calibrated. The
 * scale is limited so that a tenth at least remains of the time that no wait and no preemption explains;
 * tree->cost_scale tells it. OK or NOMEM. */
int vprof_tree_calibrate(struct vprof_tree *tree, double scale);

#endif
