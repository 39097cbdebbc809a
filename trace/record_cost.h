/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What recording one call takes on this machine, measured before each run: two readings of the clock, the reservation
 * of a unit and a 16-byte store, out of line, as in runtime/probe.h (which takes 2 to 4 % more; docs/performance.md).
 */
#ifndef VPROF_TRACE_RECORD_COST_H
#define VPROF_TRACE_RECORD_COST_H

#include "trace/clock.h"

struct vprof_record_cost {
	double ns;	  /* of a recorded call in all */
	double inside_ns; /* between its two timestamps: what an empty call seems to take */
};

/* The least of several rounds, so that a busy machine does little harm; about 2 ms. Zeros without memory. */
void vprof_record_cost_measure(struct vprof_record_cost *cost, const struct vprof_clock *clock);

#endif
