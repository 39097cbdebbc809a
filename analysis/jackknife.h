/* How sure are the shares? A block jackknife over the selected factors, and the spread of every factor's time. */
#ifndef VPROF_JACKKNIFE_H
#define VPROF_JACKKNIFE_H

#include "analysis/results.h"
#include "analysis/variance_tree.h"

struct vprof_factor_term { /* a == b: variance of a node; else covariance of two siblings, counted twice */
	uint32_t factor;   /* index into the results' factors */
	uint32_t a, b;	   /* nodes */
};

/* Fills sd_ns of all variance factors (of their nodes' sum per interval) and share_low and share_high of the selected
 * factors: 20 contiguous blocks of intervals are left out in turn, so that slow drifts count as uncertainty; 95 % by
 * Student's t with 19 degrees of freedom. Fewer than 60 intervals: NaN. OK or NOMEM. */
int vprof_jackknife(struct vprof_results *r, struct vprof_tree *tree, const struct vprof_factor_term *terms, size_t n_terms);

#endif
