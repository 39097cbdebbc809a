/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outcome as results: names for all vertices, the heaviest stacks of each edge, knots by weight. */
#ifndef VPROF_WAITS_DESCRIBE_H
#define VPROF_WAITS_DESCRIBE_H

#include "analysis/results/waits_results.h"
#include "analysis/waits/waits.h"

#define VPROF_WAITS_STACKS_SHOWN 5 /* of each edge */

/* Fills parties, arcs, groups and figures; what concerns the trace is the caller's. OK or NOMEM. */
int vprof_waits_describe(struct vprof_waits_results *r, const struct vprof_waits *waits,
			 const struct vprof_waits_options *options, struct vprof_error *err);

#endif
