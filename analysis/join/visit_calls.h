/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The join of visits and functions: what the threads that served a visit ran meanwhile, as a history for
 * analysis/latency/call_sums.h, in which each visit is a thread of its own and begins with a function that stands for
 * the visit.
 *
 * Measured: of threads with probes, whose calls and waits are known from begin to end, so that the bounds of their
 * times meet. Inferred: of threads of which the kernel took stacks. Where a thread is when a visit begins, it is mostly
 * known: in the system call that receives the request, and in the one that replies to it when it ends; else nothing is
 * taken to be on the stack there, which widens the bounds.
 */
#ifndef VPROF_VISIT_CALLS_H
#define VPROF_VISIT_CALLS_H

#include "analysis/latency/history/latency_history.h"
#include "analysis/timeline/timeline.h"
#include "common/plan.h"

struct vprof_visit_stretch { /* a thread works for a visit */
	uint64_t from, to;   /* ns of the trace */
	uint32_t pid, tid;
};

struct vprof_visit_work {
	uint32_t group; /* visits that are summed together */
	uint32_t visit; /* the caller's number */
	size_t first;	/* in the stretches: in order of time, none overlaps another one; */
	uint32_t n;	/* 1 or more */
};

struct vprof_visit_group {
	const char *name;		      /* of the function that stands for the visit */
	struct vprof_latency_history history; /* its texts are borrowed */
	VPROF_ARRAY(uint32_t) visits;	      /* of each of its threads */
	uint64_t n_outside; /* visits that lie, in part, where nothing is known of their threads: left out */
	uint64_t n_sampled; /* ... some of whose calls were not recorded: left out */
};

/* Groups hold their names, else zeroes; to be released in any case. `is_done` of each work is set where its visit is in
 * its group's history, or was left out of it and counted; the others' threads have no probes. NOMEM.
 * O(calls in them), O(events in them * depth). */
int vprof_visit_calls_measured(struct vprof_visit_group *groups, const struct vprof_visit_work *work, size_t n_work,
			       const struct vprof_visit_stretch *stretches, unsigned char *is_done,
			       const struct vprof_timeline *timeline, const struct vprof_plan *plan);
int vprof_visit_calls_inferred(struct vprof_visit_group *groups, size_t n_groups, const struct vprof_visit_work *work,
			       size_t n_work, const struct vprof_visit_stretch *stretches, unsigned char *is_done,
			       const struct vprof_latency_history *events);
void vprof_visit_group_release(struct vprof_visit_group *group);

#endif
