/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Factor selection (VProfiler, section 3.2.2, Algorithm 1, equations 3 and 4): variances and covariances of tree
 * nodes are summed by name, weighed by specificity, ranked; the top k above a threshold are selected. */
#ifndef VPROF_FACTORS_H
#define VPROF_FACTORS_H

#include "analysis/variance/block_sums.h"
#include "analysis/results/results.h"
#include "common/plan.h"

/* Fills factors, n_selected, graph_height and the factor fields of nodes and covariances, from nodes, covariances,
 * k and threshold of `r`; bounds and sd_ns of variance factors are left to vprof_confidence_fill, which takes `terms`:
 * the variances and covariances that each factor sums. Covariance factors below a thousandth of the variance are left
 * out unless they are among the 1,000 largest. OK or NOMEM; terms are to be released in both cases
 * (VPROF_ARRAY_RELEASE). */
int vprof_factors_select(struct vprof_results *r, const struct vprof_plan *plan, struct vprof_term_list *terms,
			 struct vprof_error *err);

#endif
