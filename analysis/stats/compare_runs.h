/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do the latencies of several runs of two versions differ?
 *
 * Runs of one build differ by more than the intervals of one run tell: by the state of caches, of the disk, by what
 * else the machine does. So a run counts as one observation: each figure is taken of each run, and the bounds of its
 * change are those of Student's t over the logarithms. Runs that were made in turn are compared pair by pair, which
 * takes out what both of a pair met; others with a variance for each side and as many degrees of freedom as the side
 * with fewer runs has (Welch's approximation errs twice as often as it says for 3 runs against 12).
 *
 * A comparison looks at five figures that differ (the standard deviation's change is known with the variance's), and,
 * where runs are added until it is settled, at more than one moment. The bounds are as wide as it takes for *all* of
 * them, at every look together, to hold with probability 1 - VPROF_COMPARE_ERROR (Bonferroni): a build compared with
 * itself is called changed in at most that part of all comparisons, whichever figure one looks at.
 */
#ifndef VPROF_COMPARE_RUNS_H
#define VPROF_COMPARE_RUNS_H

#include "analysis/stats/compare.h"

#define VPROF_COMPARE_ERROR 0.02
#define VPROF_COMPARE_RUNS_MIN 2 /* of each side, below which nothing is known of how runs differ */

/* Pairs of runs after which a comparison that adds runs until it is settled looks at them. */
#define VPROF_COMPARE_LOOKS 5
extern const size_t vprof_compare_looks[VPROF_COMPARE_LOOKS];
/* The error that a look may make: a part of VPROF_COMPARE_ERROR, or, where it is the last one whatever it shows, all
 * that those before left of it. */
double vprof_compare_look_error(size_t look, int is_last);

struct vprof_run_figures {
	double of[VPROF_FIGURE_COUNT]; /* ns, variances ns^2; as in compare.h */
	size_t n;		       /* intervals */
};

/* Of one run's latencies, at least two. OK or NOMEM. */
int vprof_run_figures_take(struct vprof_run_figures *figures, const struct vprof_latencies *run);

/* Changes from base[n_base] to new[n_new]. is_paired: base[i] and new[i] were made in turn, n_base == n_new. `error`:
 * VPROF_COMPARE_ERROR, or that of a look. The values are geometric means of the runs; bounds are NaN with fewer than
 * VPROF_COMPARE_RUNS_MIN runs on a side, with fewer intervals in all of a side's runs than vprof_compare_needed(), and
 * where a run has a figure of 0. OK or NOMEM. */
int vprof_compare_runs(const struct vprof_run_figures *base, size_t n_base, const struct vprof_run_figures *new,
		       size_t n_new, int is_paired, double error, struct vprof_change changes[VPROF_FIGURE_COUNT]);

/* About how many runs of each side would tell whether there is a change, or that it is less than `within` (0.1: 10 %),
 * if it is what it seems to be and further runs differ as those did that gave these bounds with this error. More than
 * either side has; 0: no number up to VPROF_COMPARE_RUNS_MAX, or there are no bounds. */
#define VPROF_COMPARE_RUNS_MAX 1000
size_t vprof_compare_runs_needed(const struct vprof_change *change, size_t n_base, size_t n_new, double error,
				 double within);

/* Half-width of the interval of mean(new) - mean(base), two-sided, for values that runs gave: as above.
 * Values may have any scale. 0 when all values of each side are equal; NaN below VPROF_COMPARE_RUNS_MIN on a side. */
double vprof_runs_half_width(const double *base, size_t n_base, const double *new, size_t n_new, int is_paired,
			     double error);

#endif
