/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The critical paths of single intervals to look at: the slowest, and those about some percentiles. Bounded: at most
 * VPROF_EXAMPLE_PIECES pieces and calls of each are kept, the longest. */
#ifndef VPROF_EXAMPLES_H
#define VPROF_EXAMPLES_H

#include "analysis/results/results.h"
#include "analysis/stats/interval_attributes.h"
#include "common/plan.h"

#define VPROF_EXAMPLE_PIECES 300
#define VPROF_EXAMPLE_CALLS_READ 4000000 /* over all examples; of those beyond no calls are shown */

/* Fills examples, pieces and threads of `r`. OK or NOMEM. */
int vprof_examples_fill(struct vprof_results *r, struct vprof_source *sources, size_t n_sources,
			const struct vprof_plan *plan, const struct vprof_interval_attributes *attributes);

#endif
