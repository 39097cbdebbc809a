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
 * the slowest are slow), confidence.h (bounds, from block_sums.h), probe_cost.h (what recording cost), cost_bounds.h
 * (bounds again, since that is not known exactly). noise.h knows the errors of sampled calls. All sums over intervals
 * are one operation for threads and ranks (reduce.h).
 */
#ifndef VPROF_VARIANCE_TREE_H
#define VPROF_VARIANCE_TREE_H

#include "analysis/variance/tree.h"

int vprof_tree_new(struct vprof_tree **out, const struct vprof_timeline *timeline, const struct vprof_plan *plan,
		   struct vprof_error *err);
void vprof_tree_free(struct vprof_tree *tree);

/* One more trace after that of vprof_tree_new, of the same plan: its clock may be another. OK or NOMEM. */
int vprof_tree_add_source(struct vprof_tree *tree, const struct vprof_timeline *timeline);

/* Gives every node and body its place in the results: breadth first, children by falling time, the body last.
 * No interval may be added afterwards. All ranks get the nodes of all. OK, NOMEM, or what another rank failed with. */
int vprof_tree_number(struct vprof_tree *tree);

struct vprof_sample {
	uint32_t node; /* place in the results */
	double ns;
};

/* Of a numbered tree; each thread has its own. NULL without memory. */
struct vprof_tree_reader *vprof_tree_reader_new(const struct vprof_tree *tree);
void vprof_tree_reader_free(struct vprof_tree_reader *reader);
/* The times of interval i, one of this rank's, bodies included, sorted by node; nodes that are not there took no time.
 * The array belongs to the reader and is valid until the next call. NULL without memory. */
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
/* The same without covariances, which is one pass less. */
int vprof_tree_variances(struct vprof_tree *tree, struct vprof_results *r, struct vprof_error *err);

#endif
