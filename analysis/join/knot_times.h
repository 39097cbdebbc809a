/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of each interval's time passes through the knots of the wait-for graph.
 *
 * At any moment of an interval there is a chain: the thread that works for it; when that waits, the thread that it
 * waits for; what that one waits for, and so on (critical_path.h). The moment passes through a knot while a member of
 * the knot is waited for anywhere along the chain: by the interval's own thread, or by one that it waits for. What the
 * interval's own thread does without waiting passes through none, even if the thread is a member; of that the time is
 * kept separately. Knots do not exclude one another: a moment may pass through two.
 *
 * Threads at the ends of the chain that wait for no thread (I/O, sleeps) are looked up in the wait history: it knows by
 * which device each wait was ended.
 */
#ifndef VPROF_KNOT_TIMES_H
#define VPROF_KNOT_TIMES_H

#include "analysis/results/waits_results.h"
#include "analysis/source/source.h"
#include "analysis/waits/waits.h"

#define VPROF_KNOT_TIMES_MAX 4 /* knots, the heaviest */

/* Waits of intervals' own threads, by function and object: for the nodes of the variance tree that they are. */
struct vprof_knot_wait {
	uint32_t name;	 /* of the timeline; VPROF_NONE: queued, nobody worked for the interval */
	uint64_t object; /* 0 of waits that no thread ends */
	uint64_t ticks;
	int64_t through_ticks[VPROF_KNOT_TIMES_MAX];
};

typedef VPROF_ARRAY(struct vprof_knot_wait) vprof_knot_waits;

struct vprof_knot_times {
	size_t n_intervals, n_knots;
	double *through_ns;	/* [n_intervals * n_knots] */
	double *own_ns;		/* the same: own work of members */
	vprof_knot_waits waits; /* by name and object */
};

/* Of the source's chosen intervals, whose edges are made; group g of the results is a knot here while it is less than
 * VPROF_KNOT_TIMES_MAX and limits throughput. `waits` is what the results describe; of the kernel's events when
 * is_kernel, else the entities are the timeline's threads. OK or NOMEM; to be released in any case. The result does not
 * depend on n_threads (0: one for each CPU). O(pieces log segments). */
int vprof_knot_times_fill(struct vprof_knot_times *out, const struct vprof_waits_results *r,
			  const struct vprof_waits *waits, const struct vprof_source *source, int is_kernel,
			  int n_threads);
void vprof_knot_times_release(struct vprof_knot_times *times);

#endif
