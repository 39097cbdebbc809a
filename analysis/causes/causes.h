/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Causes: what a developer can act on, one entry for each chain of the variance tree (docs/design/statistics.md,
 * "Causes"). Algorithm 1 ranks every wait, thread, function, callee and system call of one chain by itself; here they
 * are one.
 *
 * This is the entry to the room analysis/causes. It takes a numbered tree with its results and factors. cause_units.h
 * divides the latency among the program's functions, cause_clusters.h joins what varies together, cause_text.h
 * describes the result.
 */
#ifndef VPROF_CAUSES_H
#define VPROF_CAUSES_H

#include "analysis/results/results.h"
#include "analysis/variance/variance_tree.h"
#include "common/plan.h"

#define VPROF_CAUSES_MAX 48

/* Fills causes of `r`, from its nodes, factors, k and threshold, by falling if_constant; bounds and how often they keep
 * their rank are left to vprof_confidence_fill, which comes next, and vprof_causes_judge. A few passes over the
 * intervals; the result depends neither on threads nor on ranks. OK, NOMEM, or the failure of another rank. */
int vprof_causes_find(struct vprof_results *r, struct vprof_tree *tree, const struct vprof_plan *plan);

/* Fills the status of all causes: once bounds are known. */
void vprof_causes_judge(struct vprof_results *r);

#endif
