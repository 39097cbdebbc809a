/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sampling adds to variances: calls of hot functions are timed two in a block (VP_KIND_SAMPLE), so a node's time
 * in an interval is an estimate with an error of its own, which would count as variance of the function.
 *
 * For a block of N calls of which the times x and y were taken, N/2 (x + y) estimates the block's time without bias,
 * and N (N - 2) / 4 (x - y)^2 the variance of that estimate (simple random sampling of 2 of N, Cochran 1977,
 * theorem 2.4). What a node gains by error its parent's body loses, so the errors of siblings are correlated: for the
 * times of several nodes x - y is a vector, and the products of its components replace the square.
 *
 * The estimates are kept for every interval; their sum over a set of intervals is what must be subtracted from the
 * sums of squares of that set.
 */
#ifndef VPROF_NOISE_H
#define VPROF_NOISE_H

#include "analysis/timeline/timeline.h"

#define VPROF_NOISE_BODY UINT32_C(0x80000000) /* of a node: its body */

/* of two siblings, or of one node: a == b */
struct vprof_noise_item {
	uint32_t a, b; /* indices of tree nodes, perhaps with VPROF_NOISE_BODY */
	/* of the times as measured; of these with what recording cost nominally within them, twice; of that */
	double ticks2, ticks_cost, cost2;
};

struct vprof_noise;

struct vprof_noise *vprof_noise_new(void);
void vprof_noise_free(struct vprof_noise *noise);

/* Product of the errors of two times that have scale x cost taken out (tree_cost.c). */
static inline double vprof_noise_product(const struct vprof_noise_item *item, double scale)
{
	return item->ticks2 - scale * item->ticks_cost + scale * scale * item->cost2;
}

/* A sampled call spent ticks in a node of its own or below, of which recording cost so many. OK or NOMEM. */
int vprof_noise_spend(struct vprof_noise *noise, const struct vprof_sampled *call, uint32_t thread, uint32_t node,
		      uint64_t ticks, double cost);

/* The interval is complete; parent(arg, node) tells the tree. OK or NOMEM. */
int vprof_noise_store(struct vprof_noise *noise, uint32_t (*parent)(const void *arg, uint32_t node), const void *arg);

/* Items of interval i, each pair once. */
const struct vprof_noise_item *vprof_noise_items(const struct vprof_noise *noise, size_t i, size_t *n);
int vprof_noise_has_items(const struct vprof_noise *noise); /* of any interval */

#endif
