/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The join of tiers and functions: which tier's threads spent the intervals' time, and in which measured functions.
 *
 * Each moment of an interval belongs to the end of its chain of waits (critical_path.h): to the thread that works for
 * it, or to the one that this one waits for, and so on. A thread at that end may wait, too: for a disk, or for nothing
 * that is known. So the tiers' times add up to the interval's. Delays of queues in which nobody is waited for are the
 * tier's that takes the interval up.
 */
#ifndef VPROF_TIER_WORK_H
#define VPROF_TIER_WORK_H

#include "analysis/results/results.h"
#include "analysis/source/source.h"

struct vprof_tier_part { /* calls of one function by one tier, for intervals of their own thread or while they waited */
	uint32_t code, tier;
	int is_blame;
	uint64_t ticks;
};

typedef VPROF_ARRAY(struct vprof_tier_part) vprof_tier_parts;

struct vprof_tier_work {
	size_t n_intervals, n_tiers;
	double *own_ns;		/* [n_intervals * n_tiers] */
	uint32_t own;		/* the tier in which most intervals end; VPROF_NONE: none */
	vprof_tier_parts parts; /* by code, whether it is blame, tier */
};

/* Of the source's chosen intervals, whose edges are made. tier_of[n threads of the timeline]: below n_tiers.
 * OK or NOMEM; to be released in any case. The result does not depend on n_threads (0: one for each CPU). O(pieces +
 * calls in them). */
int vprof_tier_work_fill(struct vprof_tier_work *out, const struct vprof_source *source, const uint32_t *tier_of,
			 size_t n_tiers, int n_threads);
void vprof_tier_work_release(struct vprof_tier_work *work);

/* Fills `tiers` of r, whose factors and causes are there: those in which the intervals spent time. names[n_tiers] are
 * interned in r. A factor or cause is a tier's when of the time of its functions, in all places, nine tenths or more
 * was. OK or NOMEM. */
int vprof_tier_work_tell(struct vprof_results *r, const struct vprof_tier_work *work, const char *const *names);

#endif
