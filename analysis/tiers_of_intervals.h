/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two sections of the results are put together: the tiers of requests' paths, and the functions of the variance
 * tree. */
#ifndef VPROF_TIERS_OF_INTERVALS_H
#define VPROF_TIERS_OF_INTERVALS_H

#include "analysis/results/results.h"
#include "analysis/source/source.h"

/* Fills `tiers` of r, whose factors and causes are there, where several tiers work for the intervals. A trace without
 * transfers, or with some that contradict themselves, gives none. OK, NOMEM. */
int vprof_tiers_fill(struct vprof_results *r, struct vprof_source *source, int n_threads, struct vprof_error *err);

#endif
