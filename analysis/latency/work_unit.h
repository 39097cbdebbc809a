/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What costs are told for: seconds of the recording, calls of a function, or requests received.
 *
 * A server that is loaded as fast as it answers uses all of its CPU whether it is slow or not: per second nothing costs
 * more but what is new, and everything else less. Per request it is seen what takes longer. A request is received by a
 * system call that receives, from one place: that which was made most often in both runs. It need not be made once for
 * each request, as long as it is made equally often.
 */
#ifndef VPROF_LATENCY_WORK_UNIT_H
#define VPROF_LATENCY_WORK_UNIT_H

#include "analysis/latency/paired_tree.h"

struct vprof_latency_units {
	double n[2];			      /* of each side, in the time observed */
	double part[2][VPROF_LATENCY_BLOCKS]; /* which part of them lies in each of the side's blocks */
	uint32_t node;			      /* of the receipts; VPROF_NONE: they are others */
	double few[2];			      /* receipts seen at one place, if they are too few; else 0 */
};

/* n units on each side, evenly. */
void vprof_latency_units_even(struct vprof_latency_units *out, const struct vprof_paired_tree *t, double base,
			      double new);

/* Seconds observed. */
void vprof_latency_units_seconds(struct vprof_latency_units *out, const struct vprof_paired_tree *t);

/* Calls of the functions of this name, as vprof_annotated_calls() counts them; n is 0 where there are none. */
void vprof_latency_units_calls(struct vprof_latency_units *out, const struct vprof_paired_tree *t, const char *name);

/* Receipts, of two runs. 1: found; 0: there is none, or too few, of which `few` tells the place with most; negative:
 * NOMEM. O(events). */
int vprof_latency_units_receipts(struct vprof_latency_units *out, const struct vprof_paired_tree *t);

#endif
