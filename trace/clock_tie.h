/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ties a clock of the kernel's to the run's: its times become ticks by interpolation between two readings of both
 * clocks, one before and one after them, so an error of a reading does not grow with the length of the run.
 *
 *   vprof_clock_tie_start; then again and again: find out which events there are -> vprof_clock_tie_step -> convert
 * them
 */
#ifndef VPROF_CLOCK_TIE_H
#define VPROF_CLOCK_TIE_H

#include "trace/clock.h"

/* of both clocks at one moment */
struct vprof_clock_reading {
	uint64_t ticks, ns;
	uint64_t error_ns; /* of this pair, at most */
};

struct vprof_clock_tie {
	enum vp_clock clock;
	clockid_t clockid;
	struct vprof_clock_reading before, after;
	double rate;	   /* ticks a ns between these */
	uint64_t error_ns; /* the largest of all readings used */
};

/* Times will be of `clockid`; MONOTONIC ticks are such times themselves. */
void vprof_clock_tie_start(struct vprof_clock_tie *tie, enum vp_clock clock, clockid_t clockid);

/* Reads both clocks, unless the last reading is less than 1 ms old. The first time it waits until that is over. */
void vprof_clock_tie_step(struct vprof_clock_tie *tie);

/* Meaningful after a step; for times shortly before that step. */
uint64_t vprof_clock_tie_ticks(const struct vprof_clock_tie *tie, uint64_t ns);

#endif
