/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a timer saw of threads while they worked for intervals: the functions on the stacks, by transaction context
 * (Whodunit, section 2.1: the profile of a context is that of the samples taken in it). */
#ifndef VPROF_CONTEXT_SAMPLES_H
#define VPROF_CONTEXT_SAMPLES_H

#include "analysis/latency/history/latency_history.h"
#include "analysis/results/results.h"

/* A thread worked for an interval of a context, on its critical path; ns on the history's clock. */
struct vprof_worked {
	uint32_t tid, context; /* context: index into the results' contexts */
	uint64_t from, to;
};

/* Fills `sampled` of the results' contexts. events: a checked history. A sample counts for
 * each interval that its thread worked for at that time, which is one, but where intervals share their work. libvprof's
 * functions and those of libc that start threads and programs are left out. OK or NOMEM. O(worked + samples x depth).
 */
int vprof_context_samples_fill(struct vprof_results *r, const struct vprof_worked *worked, size_t n,
			       const struct vprof_latency_history *events);

#endif
