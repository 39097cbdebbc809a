/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variance tree as stacks with weights, as flame graphs want them: what a node's children leave of it is its own.
 *
 * Time adds up: a stack's weight is the time in it over all intervals. Variance does not: the children's variances and
 * what they share by moving together make the parent's. So a node is as wide as its own share of variance; what its
 * children leave is a frame "(move together)"; where they move against one another, and are wider than it, they are
 * scaled to fit. (The HTML report's tree is laid out by the same rule.)
 */
#ifndef VPROF_STACKS_H
#define VPROF_STACKS_H

#include "common/array.h"
#include "analysis/results/results.h"

#define VPROF_TOGETHER "(move together)"

struct vprof_weighed {
	uint32_t node;	 /* innermost frame; its parents are the others */
	int is_together; /* one more frame, VPROF_TOGETHER, within */
	uint64_t weight; /* above 0 */
};

struct vprof_stacks {
	VPROF_ARRAY(struct vprof_weighed) v; /* in preorder of nodes */
	uint64_t total;
};

/* `r` is consistent (vprof_export_check). Weights: ns, and millionths of the interval's variance. OK or NOMEM. */
int vprof_stacks_of_time(struct vprof_stacks *s, const struct vprof_results *r);
int vprof_stacks_of_variance(struct vprof_stacks *s, const struct vprof_results *r);
void vprof_stacks_release(struct vprof_stacks *s);

/* The words for a node's frame, with what it is when that is no function; heap, NULL without memory. */
char *vprof_stacks_label(const struct vprof_results *r, uint32_t node);

#endif
