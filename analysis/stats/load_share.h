/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of what the program did lies within the intervals? Where it is a sliver, the annotations may have taken
 * something else for a request: accepted connections, say, rather than what is read from them. */
#ifndef VPROF_LOAD_SHARE_H
#define VPROF_LOAD_SHARE_H

#include "analysis/results/results.h"
#include "analysis/source/source.h"

/* Fills covered_share and busy_share of the results, whose means and counts are known. */
void vprof_load_share_fill(struct vprof_results *r, const struct vprof_source *sources, size_t n_sources);

/* The intervals cover less than a hundredth of the run, and the program was not merely idle in the rest. */
#define VPROF_SLIVER 0.01
int vprof_load_share_is_sliver(const struct vprof_results *r);

#endif
