/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the analysis on a schedule's trace and compares every interval's path, nodes and sums with the truth. */
#ifndef SIMULATE_COMPARE_H
#define SIMULATE_COMPARE_H

#include "common/plan.h"
#include "tests/simulate/sampling.h"

#define SIM_TRACES 3 /* analysed together, at most */

struct vprof_plan *compare_plan(void); /* of what programs.c calls */

/* Number of differences; each is printed to stderr. dirs[i] has the trace of worlds[i]; several traces are compared
 * one by one and analysed together. DIR/known: the same, written as RECORDS_KNOWN. */
unsigned compare_worlds(struct world *const *worlds, const char *const *dirs, size_t n, const struct vprof_plan *plan,
			struct sampling_check *sampling);

#endif
