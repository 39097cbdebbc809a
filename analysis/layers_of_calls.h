/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two sections of the results are put together: factors that nothing measured explains, and what the stacks that
 * were taken meanwhile show beneath them. */
#ifndef VPROF_LAYERS_OF_CALLS_H
#define VPROF_LAYERS_OF_CALLS_H

#include "analysis/latency/history/latency_history.h"
#include "analysis/results/results.h"
#include "analysis/source/source.h"
#include "common/plan.h"

/* Fills `layers` of r, whose factors are there. events: of the same trace. OK, NOMEM. */
int vprof_layers_fill(struct vprof_results *r, const struct vprof_source *source, const struct vprof_plan *plan,
		      const struct vprof_latency_history *events, struct vprof_error *err);

#endif
