/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run's trace and plan in, results out: timeline -> critical path -> variance tree -> factors.
 * (VProfiler, EuroSys 2017, sections 3.2 and 3.3, Algorithms 1 and 2.)
 *
 * This is the entry to the room analysis: the order in which its rooms run. What is here besides belongs to no room, as
 * it takes from several: examples.h (single intervals), common_frames.h (where to begin), warnings.h. */
#ifndef VPROF_ANALYZE_H
#define VPROF_ANALYZE_H

#include <stdint.h>

#include "analysis/results/exchange.h"
#include "analysis/results/results.h"
#include "common/error.h"
#include "common/plan.h"

struct vprof_analyze_options {
	const char *trace_dir;
	/* [n_trace_dirs] several traces of the same plan, instead of trace_dir; 0: that one */
	const char *const *trace_dirs;
	size_t n_trace_dirs;
	const struct vprof_plan *plan;
	const char *interval; /* name, NULL: the only or most frequent one */
	const char *type;     /* only intervals of this type; NULL: all */
	int by_context;	      /* types are transaction contexts (docs/design/transactions.md) */
	int k;		      /* top k, default 3 */
	double threshold;     /* d, share of variance, default 0.02 */
	/* mean latency of a run without probes under the same load, with its 95 % bounds; 0: there is none */
	double baseline_mean_ns, baseline_low, baseline_high;
	double baseline_preempted_ns; /* part of that mean; NaN: unknown */
	uint64_t min_intervals;	      /* below: inconclusive; default 30 */
	size_t most_intervals;	      /* if there are more, this many are drawn at random (draw.h); 0: no limit */
	double slower_than_ns;	      /* the slowest intervals are those that took longer; 0: the slowest hundredth */
	double warmup_share;	      /* first part of the trace to ignore, default 0 */
	int n_threads;		      /* 0: one for each CPU; results do not depend on it */
	void (*progress)(void *arg, const char *step, double done); /* may be NULL */
	void *progress_arg;
	/* the run's results.json as it is: its sampled functions, when modules were built again since; may be NULL */
	const char *earlier;
	struct vprof_exchange *exchange; /* with the other ranks, which analyse the same; NULL: this process alone */
};

/* Every rank reads all traces and takes its part of the intervals; the results of rank 0 are complete, those of the
 * others lack examples and sampled stacks. The number of ranks changes no digit (reduce.h), but for trees that are too
 * large for VPROF_SHARES_MAX shares, where it changes the last ones.
 *
 * Fails only when a trace cannot be used at all, on any rank; too little data is a result with `inconclusive` set. */
int vprof_analyze(struct vprof_results **out, const struct vprof_analyze_options *options, struct vprof_error *err);

#endif
