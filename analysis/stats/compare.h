/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do the latencies of two runs differ, and how certain is that?
 *
 * Both runs are resampled by blocks of intervals, each on its own (analysis/stats/bootstrap.h), and the change is taken
 * between replicates. The confidence intervals cover what the intervals of these two runs tell, not what differs from
 * run to run for other reasons (the state of the machine, other load on it).
 */
#ifndef VPROF_COMPARE_H
#define VPROF_COMPARE_H

#include <stddef.h>

#include "common/error.h"

/* of one run's complete intervals of one name, in order of their start */
struct vprof_latencies {
	double *ns;
	size_t n;
};

/* Those that the analysis takes, too: complete, no records lost, begun while calls were recorded. Errors of the trace.
 */
int vprof_latencies_read(struct vprof_latencies *l, const char *trace_dir, const char *interval,
			 struct vprof_error *err);
void vprof_latencies_release(struct vprof_latencies *l);

enum vprof_figure {
	VPROF_FIGURE_MEAN,
	VPROF_FIGURE_VARIANCE, /* n - 1 */
	VPROF_FIGURE_SD,
	VPROF_FIGURE_P50, /* percentiles: linear between order statistics, as in the results */
	VPROF_FIGURE_P90,
	VPROF_FIGURE_P99,
	VPROF_FIGURE_COUNT
};

extern const char *const vprof_figure_names[VPROF_FIGURE_COUNT];

struct vprof_change {		  /* new / base - 1; NaN: undefined */
	double base, new;	  /* ns, variances ns^2 */
	double change, low, high; /* low, high: 95 % confidence interval; NaN where a run is too small */
};

/* Intervals that a run needs for a confidence interval of a figure: the largest of fewer is below the figure in more
 * than 2.5 % of runs. */
size_t vprof_compare_needed(enum vprof_figure figure);

/* At least two intervals in each run, or INCONCLUSIVE. NOMEM. O(1000 n). */
int vprof_compare(const struct vprof_latencies *base, const struct vprof_latencies *new,
		  struct vprof_change changes[VPROF_FIGURE_COUNT], struct vprof_error *err);

#endif
