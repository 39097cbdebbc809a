/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block bootstrap over intervals: how much a statistic would vary if the run were repeated.
 *
 * Intervals are not independent draws (a queue that is long now is still long a moment later), so whole blocks of
 * neighbours are drawn. Everything that is resampled is a function of sums over blocks: the caller keeps these sums, a
 * replicate is a vector of weights, how often each block was drawn. So a replicate costs the number of blocks, not of
 * intervals.
 *
 * Bounds: percentiles of the replicates (Hesterberg, "What teachers should know about the bootstrap", American
 * Statistician 69, 2015), widened for what percentiles alone leave out: few blocks that matter, correlation between
 * blocks, skewness. Why, and how often the bounds hold known values: docs/design/statistics.md, docs/accuracy.md.
 */
#ifndef VPROF_BOOTSTRAP_H
#define VPROF_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#define VPROF_BOOTSTRAP_REPLICATES 1000
#define VPROF_BOOTSTRAP_BLOCKS_MAX 200
#define VPROF_BOOTSTRAP_BLOCKS_MIN 12
#define VPROF_BOUNDS_MIN 60 /* intervals, below which there are no confidence intervals */

/* what is resampled */
struct vprof_bootstrap {
	size_t n_blocks, n_sums, n_statistics;
	/* Several runs: runs are drawn, and then blocks within each; the bounds are at least as wide as those of runs,
	 * Student's t with n_runs - 1 degrees of freedom over the error of a jackknife that leaves runs out. 0, 1: one
	 * run. */
	size_t n_runs;
	const size_t *run_first; /* [n_runs + 1] blocks with which they begin; unused with one run */
	uint64_t seed;		 /* the same seed, the same bounds */
	const double *rows;	 /* [n_blocks * n_sums] sums over the intervals of each block; NULL: n_sums is 0 */
	/* values[n_statistics] of data with these sums[n_sums], or, without rows, with these weights[n_blocks]; NaN:
	 * there is none. Must be thread-safe. */
	void (*evaluate)(void *arg, const double *sums, double *values);
	void *arg;
	int n_threads; /* 0: one per CPU; the number does not change the result */
};

/* What the error of a statistic is made of: e are the errors that the blocks contribute to it (jackknife), whose
 * variances add up to its own. NaN where a statistic is undefined without one of the blocks. */
struct vprof_bootstrap_error {
	double squares;		    /* sum of e^2 */
	double cubes;		    /* sum of e^3 */
	double pairs;		    /* sum of (e of a block + e of the next)^2, each block once */
	double variance_of_squares; /* of `squares`, as the fourth powers tell it */
	double variance_if_normal;  /* ... as it would be if e were normal */
};

struct vprof_bootstrap_values {
	size_t n_blocks, n_statistics, n_replicates;
	double *point;			      /* [n_statistics] of the data themselves */
	double *replicates;		      /* [n_statistics * n_replicates], those of one statistic together */
	struct vprof_bootstrap_error *errors; /* [n_statistics] */
	double *of_runs;		      /* [n_statistics] half-widths of the bounds of runs; NULL: one run */
};

/* OK or NOMEM; to be released in both cases. n_blocks >= 2. */
int vprof_bootstrap_run(const struct vprof_bootstrap *b, struct vprof_bootstrap_values *values);
void vprof_bootstrap_release(struct vprof_bootstrap_values *values);

/* 95 % confidence interval of a statistic; NaN where a tenth of the replicates or more have no value. Reorders these
 * replicates: compare replicates of several statistics before. */
void vprof_bootstrap_bounds(struct vprof_bootstrap_values *values, size_t statistic, double *low, double *high);

/* Likewise, of a statistic that cannot be less than `least` or more than `most`; a limit that a replicate oversteps is
 * none. */
void vprof_bootstrap_bounds_within(struct vprof_bootstrap_values *values, size_t statistic, double least, double most,
				   double *low, double *high);

/* Error of a difference of two independent estimates, factor_a * a - factor_b * b. */
struct vprof_bootstrap_error vprof_bootstrap_error_of_difference(const struct vprof_bootstrap_error *a, double factor_a,
								 const struct vprof_bootstrap_error *b,
								 double factor_b);

/* Length of the blocks for a series of latencies: at least what its correlation requires (twice that of Politis and
 * White 2004, for non-overlapping blocks: Lahiri 1999), at least the cube root of n, and so long that there are at most
 * VPROF_BOOTSTRAP_BLOCKS_MAX; but at least VPROF_BOOTSTRAP_BLOCKS_MIN blocks where n allows. O(n). 0: not enough
 * memory. */
size_t vprof_bootstrap_block_length(const double *x, size_t n);

#endif
