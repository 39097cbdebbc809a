/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much the bounds of factors and causes widen because what recording cost is not known exactly (probe_cost.h):
 *
 * - the scale may be anywhere within its bounds: shares, and what would go if something were constant, are computed
 *   anew with both;
 * - what one function's records cost differs from another's by VPROF_SCALE_ERROR. Let e be the sd of the error that
 *   this leaves in a time. Var(f) lies between (sd(f) - e)^2 and (sd(f) + e)^2, by the inequality of Cauchy and
 *   Schwarz; likewise Var(T) and Var(T - f) with the error of the whole interval.
 */
#ifndef VPROF_COST_BOUNDS_H
#define VPROF_COST_BOUNDS_H

#include "analysis/variance/probe_cost.h"

/* Once factors and causes have their bounds, and after vprof_probe_cost_fill(). The tree is as before. OK or NOMEM. */
int vprof_cost_bounds_widen(struct vprof_results *r, struct vprof_tree *tree, const struct vprof_cost_scale *scale);

#endif
