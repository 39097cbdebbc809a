/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same schedule with CPUs whose clocks differ, by less than it takes one thread to learn of another's
 * release: that much vprof expects of the machine (trace/clock.h). Every wait then has the same waker, every interval
 * the same path, and every time lies within the tick. */
#ifndef SIMULATE_OFFSETS_H
#define SIMULATE_OFFSETS_H

#include "analysis/paths/critical_path.h"
#include "tests/simulate/figures.h"

/* timeline ... path: of the trace without offsets; DIR: with them. OK or an error. */
int offsets_compare(struct world *w, const char *dir, const struct vprof_timeline *timeline,
		    const struct vprof_intervals *intervals, struct vprof_path *path, figures_say *say, void *arg,
		    struct vprof_error *err);

#endif
