/* Factor selection (VProfiler, section 3.2.2, Algorithm 1, equations 3 and 4): variances and covariances of tree
 * nodes are summed by name, weighed by specificity, ranked; the top k above a threshold are selected. */
#ifndef VPROF_FACTORS_H
#define VPROF_FACTORS_H

#include "analysis/results.h"
#include "analysis/variance_tree.h"
#include "common/plan.h"

/* Fills factors, n_selected, graph_height and the factor fields of nodes and covariances, from nodes, covariances,
 * k and threshold of `r`. `tree` is the one that r's nodes come from: it gives the spread of each factor's time and
 * the jackknife's blocks. Covariance factors below a thousandth of the variance are left out unless they are among
 * the 1,000 largest. OK or NOMEM. */
int vprof_factors_select(struct vprof_results *r, struct vprof_tree *tree, const struct vprof_plan *plan,
			 struct vprof_error *err);

#endif
