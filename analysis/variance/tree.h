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
	const struct vprof_probe *probe; /* NULL: not a function, or not in the plan */
	uint32_t final_id, body_id;	 /* places in the results; body_id VPROF_NONE without children */
};

/* one of the traces that the intervals are of */
struct vprof_tree_source {
	const struct vprof_timeline *timeline;
	uint32_t *canonical; /* [timeline->n_names] index of the name's text in the tree's names */
	double ratio;	     /* of its tick to the tree's */
};

struct vprof_tree {
	const struct vprof_plan *plan;
	struct vprof_team team;			   /* that fills it and sums over it */
	VPROF_ARRAY(struct vprof_tree_node) nodes; /* once numbered */
	VPROF_ARRAY(const char *) names;	   /* of waits */
	double ns_per_tick;			   /* of the first source */
	int has_switches;			   /* of all sources */
	size_t n_intervals, n_final;
	int is_full;				/* some node was refused for the number of nodes */
	uint64_t preempted_ticks, by_own_ticks; /* of the intervals' own threads; by_own: see struct vprof_off_cpu */
	uint64_t wait_ticks;			/* the intervals waited for other threads */
	uint64_t unmatched_ticks;		/* ... or those that they waited for did, and nobody knows for whom */
	int has_noise;				/* once numbered: times of some interval are estimates */
	uint64_t n_folded;			/* frames folded into their caller for depth or number of nodes */
	uint64_t n_unknown_codes;		/* nodes whose code the plan does not know */
	struct vprof_tree_taken *taken;		/* parts, and which intervals each took (tree_fill.h) */
	struct vprof_tree_private *private;
};

#endif
