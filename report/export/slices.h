/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one thread did in a part of the trace, as slices that nest: calls, waits, and off-CPU times.
 *
 * Invariant: slices are in preorder (by begin, outer ones first), and each lies within the one around it: what damage
 * or the clock's grain makes overlap is cut.
 */
#ifndef VPROF_SLICES_H
#define VPROF_SLICES_H

#include "report/export/trace_part.h"

enum vprof_slice_kind { VPROF_SLICE_CALL, VPROF_SLICE_WAIT, VPROF_SLICE_PREEMPTED };

struct vprof_slice {
	uint64_t low, high; /* within the part */
	uint32_t index;	    /* a call's code; of a wait in the thread's waits */
	uint32_t depth;
	uint8_t kind, is_sampled;
	uint8_t is_cut; /* it began before the part, or ended after it */
};

struct vprof_slices {
	const struct vprof_trace_part *part;
	struct vprof_calls *calls;
	VPROF_ARRAY(struct vprof_slice) v;
	VPROF_ARRAY(uint32_t) open;
	uint64_t left;	     /* so many more may be gathered: the part's size was an estimate */
	uint64_t n_left_out; /* at least */
};

int vprof_slices_init(struct vprof_slices *s, const struct vprof_trace_part *part); /* OK or NOMEM */
void vprof_slices_release(struct vprof_slices *s);

/* Replaces v. OK or NOMEM. */
int vprof_slices_gather(struct vprof_slices *s, uint32_t thread);

/* A wait of the part that a known thread of the run ended. */
int vprof_slices_is_woken(const struct vprof_trace_part *part, const struct vprof_wait *wait);

#endif
