/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One of the traces of an analysis, and what is found in it on its own: timeline, edges, intervals.
 *
 * Traces of several runs or hosts have nothing to do with one another: each has its own clock, processes and intervals,
 * and no critical path leaves its trace. Intervals are numbered through, those of one source after another; so are
 * times in the results.
 */
#ifndef VPROF_SOURCE_H
#define VPROF_SOURCE_H

#include "analysis/timeline/edges/edges.h"
#include "analysis/timeline/intervals.h"
#include "analysis/timeline/edges/wakes.h"
#include "analysis/timeline/plan_list.h"
#include "analysis/timeline/window_list.h"
#include "common/plan.h"

/* a latency of a live session's trace, and the turn of plans in which it was */
struct vprof_turn_latency {
	size_t turn;
	double ns;
	int is_baseline;
};

struct vprof_source {
	/* may add to the timeline when its wakes are matched; set before the source is opened, NULL: nothing is added
	 */
	int (*enrich)(struct vprof_source *source, struct vprof_error *err);
	struct vprof_trace *trace;
	struct vprof_timeline *timeline;
	struct vprof_wake_counts wakes;
	struct vprof_intervals *intervals;
	struct vprof_edges *edges; /* made when wanted */
	struct vprof_window_list windows;
	struct vprof_plan_list plans;
	const struct vprof_plan *plan;			  /* under analysis; NULL: whichever was in force */
	VPROF_ARRAY(struct vprof_turn_latency) latencies; /* of a live session: chosen ones and those of the baseline */
	const struct vprof_interval_name *counts;	  /* of the interval under analysis, NULL: not in this trace */
	VPROF_ARRAY(uint32_t) chosen;			  /* complete instances outside the warm-up */
	size_t first;					  /* number of chosen.v[0] among those of all sources */
	uint64_t n_warmup, n_lossy, n_outside;
	uint64_t n_straddling; /* complete, but probes were opened or closed meanwhile */
	double outside_mean_ns;
	uint64_t start;		     /* of the trace */
	double duration_ns, from_ns; /* from_ns: where it begins in the results' times */
};

/* Reads the trace. On failure the source is to be released, too. */
int vprof_source_open(struct vprof_source *s, const char *trace_dir, int n_threads,
		      void (*progress)(void *arg, double done), void *arg, struct vprof_error *err);

/* Fills counts and chosen for the interval `name` (hash; is_there 0: it is in no trace). `first` and `from_ns`: where
 * those of the source begin. */
int vprof_source_choose(struct vprof_source *s, uint64_t name, int is_there, double warmup_share, size_t first,
			double from_ns);

/* Makes the edges, unless they are there. OK or NOMEM. */
int vprof_source_connect(struct vprof_source *s, struct vprof_error *err);

void vprof_source_release(struct vprof_source *s);

#endif
