/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure is each figure of the results? 95 % bounds of everything that is reported, and how stable the ranking is. */
#ifndef VPROF_CONFIDENCE_H
#define VPROF_CONFIDENCE_H

#include "analysis/variance/block_sums.h"

/* Fills share and if_constant of the causes, if_constant of the factors and with their counterparts; the bounds of
 * these, of the mean, of the shares of the selected factors and of VPROF_REPORTED_MAX more, of the largest
 * contributions, of the share between types and of the work; sd_ns, between_share and work_share of the factors; how
 * often each keeps its place, and how many intervals would settle the order. Reproducible: the same run gives the same
 * bounds. Time: one pass over the intervals, then replicates x blocks x reported figures. OK or NOMEM. */
int vprof_confidence_fill(struct vprof_results *r, struct vprof_tree *tree,
			  const struct vprof_interval_attributes *attributes, const uint8_t *is_slow,
			  const struct vprof_work_model *model, const struct vprof_term_list *terms);

#endif
