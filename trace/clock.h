/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of a run: which one its threads read, and what a tick is worth.
 *
 * The CPU's counter is used only where it is invariant (the same rate in every power state, and the kernel
 * itself keeps time by it); everywhere else ticks are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef VPROF_TRACE_CLOCK_H
#define VPROF_TRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "trace/format.h"

struct vprof_clock {
	enum vp_clock kind;
	double ns_per_tick;
	uint64_t start_ticks, start_ns; /* taken together; ns of CLOCK_MONOTONIC */
	uint64_t start_realtime_ns;
	uint64_t now_ticks, now_ns; /* of the last calibration */
};

/* TSC when invariant, cntvct on aarch64, else MONOTONIC; MONOTONIC where the environment has VPROF_CLOCK=monotonic. */
enum vp_clock vprof_clock_choose(void);

/* Ticks of `kind` now, ordered after all earlier loads. A kind that this machine lacks reads 0. */
uint64_t vprof_clock_ticks(enum vp_clock kind);
uint64_t vprof_clock_monotonic_ns(void);
uint64_t vprof_clock_ns(clockid_t clock);

/* Takes the start of the run and a first ns_per_tick; sleeps about 10 ms for it when the clock is a counter. */
void vprof_clock_start(struct vprof_clock *c, enum vp_clock kind);

/* Sets now_ticks and now_ns, and, when more than 100 ms passed since the start, ns_per_tick over all that time. */
void vprof_clock_calibrate(struct vprof_clock *c);

#endif
