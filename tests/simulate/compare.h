/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the analysis on a schedule's trace and holds every interval's path, nodes and sums against the truth. */
#ifndef SIMULATE_COMPARE_H
#define SIMULATE_COMPARE_H

#include "common/plan.h"
#include "sampling.h"

struct vprof_plan *compare_plan(void); /* of what programs.c calls */

/* Number of differences; each is told on stderr. dirs[i] holds the trace of worlds[i]; those of several are compared
 * one by one and analysed together. */
unsigned compare_worlds(struct world *const *worlds, const char *const *dirs, size_t n, const struct vprof_plan *plan,
			struct sampling_check *sampling);

#endif
