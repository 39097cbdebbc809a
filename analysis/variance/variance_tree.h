/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variance tree (VProfiler, section 3.2.1, equations 1 and 2): where every interval spent its time, by path of
 * measured functions, waits and queue delays, and the moments of these times.
 *
 * Every interval is a sparse vector (node, inclusive ticks). Times are integers until they are read out, so the
 * children of a node, its body included, sum to it exactly in every interval. All vectors are kept: 12 bytes for each
 * node that an interval touches, about 350 bytes per interval for a tree of 30 touched nodes (beyond a budget in files,
 * array.h).
 *
 * Use: new, then add intervals one by one or fill with all of them, then number; samples and results after that.
 *
 * This is the entry to the room analysis/variance. What follows takes the numbered tree, its results and the intervals'
 * attributes, in this order: factors.h (sums by function, Algorithm 1), contributions.h (where the mean goes, and why
 * the slowest are slow), work.h (what the amount of work explains), confidence.h (bounds, from block_sums.h),
 * probe_cost.h (what recording cost). noise.h knows the errors of sampled calls; common_frames.h reads the sampled
 * stacks and needs no tree. All sums over intervals are one operation for threads and ranks (reduce.h).
 */
#ifndef VPROF_VARIANCE_TREE_H
#define VPROF_VARIANCE_TREE_H

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

int vprof_tree_new(struct vprof_tree **out, const struct vprof_timeline *timeline, const struct vprof_plan *plan,
		   struct vprof_error *err);
void vprof_tree_free(struct vprof_tree *tree);

/* Adds one interval: pieces of vprof_path_walk. OK or NOMEM. */
int vprof_tree_add(struct vprof_tree *tree, const struct vprof_piece *pieces, size_t n_pieces);

/* One more trace after that of vprof_tree_new, of the same plan: its clock may be another. OK or NOMEM. */
int vprof_tree_add_source(struct vprof_tree *tree, const struct vprof_timeline *timeline);

struct vprof_tree_intervals {		 /* of one source */
	const struct vprof_edges *edges; /* may be NULL when this rank takes none of them */
	const uint32_t *chosen;		 /* indices of complete instances */
	size_t n;
};

/* Adds this rank's of all intervals, those of one source after another, by up to n_threads threads (0: one for each
 * CPU); what comes out does not depend on their number. Instead of vprof_tree_add. OK or NOMEM. */
int vprof_tree_fill(struct vprof_tree *tree, const struct vprof_tree_intervals *of_source, int n_threads,
		    void (*progress)(void *arg, double done), void *arg);

/* Gives every node and body its place in the results: breadth first, children by falling time, the body last.
 * No interval may be added afterwards. All ranks get the nodes of all. OK, NOMEM, or what another rank failed with. */
int vprof_tree_number(struct vprof_tree *tree);

struct vprof_sample {
	uint32_t node; /* place in the results */
	double ns;
};

/* The times of interval i, one of this rank's, bodies included, sorted by node; nodes that are not there took no time.
 * The array belongs to the tree and is valid until the next call. */
const struct vprof_sample *vprof_tree_sample(struct vprof_tree *tree, size_t i, size_t *n);

/* The same for several threads: each has its own reader of a numbered tree. NULL without memory. */
struct vprof_tree_reader *vprof_tree_reader_new(const struct vprof_tree *tree);
void vprof_tree_reader_free(struct vprof_tree_reader *reader);
const struct vprof_sample *vprof_tree_read(struct vprof_tree_reader *reader, size_t i, size_t *n);

/* variance of two estimates' errors in one interval, their covariance; a <= b: places */
struct vprof_sample_noise {
	uint32_t a, b;
	double ns2;
};

/* Of interval i; valid until the reader's next call. NULL without memory. */
const struct vprof_sample_noise *vprof_tree_read_noise(struct vprof_tree_reader *reader, size_t i, size_t *n);

/* Fills nodes and covariances of `r` (needs r->interval) from a numbered tree: means, variances (n - 1), and the
 * covariances of siblings: of all of them, or of the 200 of largest variance where a node has more children.
 * Two passes about the exact mean; the zeros of nodes that an interval lacks are counted in closed form. */
int vprof_tree_results(struct vprof_tree *tree, struct vprof_results *r, struct vprof_error *err);

#endif
