/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the analysis on a schedule's trace and holds every interval's path, nodes and sums against the truth. */
#ifndef SIMULATE_COMPARE_H
#define SIMULATE_COMPARE_H

#include "common/plan.h"
#include "truth.h"

struct vprof_plan *compare_plan(void); /* of what programs.c calls */

/* Number of differences; each is told on stderr. `dir` holds the trace. */
unsigned compare_world(struct world *w, const char *dir, const struct vprof_plan *plan);

#endif
