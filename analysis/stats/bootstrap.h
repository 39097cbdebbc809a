/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block bootstrap over intervals: how much a statistic would vary if the run were repeated.
 *
 * Intervals are not independent draws (a queue that is long now is still long a moment later), so whole blocks of
 * neighbours are drawn. Everything that is resampled is a function of sums over blocks: the caller keeps these sums, a
 * replicate is a vector of weights, how often each block was drawn. So a replicate costs the number of blocks, not of
 * intervals.
 *
 * Bounds: percentiles of the replicates, at levels that Student's t widens for few blocks (Hesterberg, "What teachers
 * should know about the bootstrap", American Statistician 69, 2015). BCa does not cover the true value more often here
 * (docs/design/statistics.md).
 */
#ifndef VPROF_BOOTSTRAP_H
#define VPROF_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#define VPROF_BOOTSTRAP_REPLICATES 1000
#define VPROF_BOOTSTRAP_BLOCKS_MAX 200
#define VPROF_BOOTSTRAP_BLOCKS_MIN 20
#define VPROF_BOUNDS_MIN 60 /* intervals, below which there are no confidence intervals */

/* what is resampled */
struct vprof_bootstrap {
	size_t n_blocks, n_sums, n_statistics;
	uint64_t seed;	    /* the same seed, the same bounds */
	const double *rows; /* [n_blocks * n_sums] sums over the intervals of each block; NULL: n_sums is 0 */
	/* values[n_statistics] of data with these sums[n_sums], or, without rows, with these weights[n_blocks]; NaN:
	 * there is none. Must be thread-safe. */
	void (*evaluate)(void *arg, const double *sums, double *values);
	void *arg;
	int n_threads; /* 0: one per CPU; the number does not change the result */
};

struct vprof_bootstrap_values {
	size_t n_blocks, n_statistics, n_replicates;
	double *point;	    /* [n_statistics] of the data themselves */
	double *replicates; /* [n_statistics * n_replicates], those of one statistic together */
};

/* OK or NOMEM; to be released in both cases. n_blocks >= 2. */
int vprof_bootstrap_run(const struct vprof_bootstrap *b, struct vprof_bootstrap_values *values);
void vprof_bootstrap_release(struct vprof_bootstrap_values *values);

/* 95 % confidence interval of a statistic; NaN where a tenth of the replicates or more have no value. Reorders these
 * replicates: compare replicates of several statistics before. */
void vprof_bootstrap_bounds(struct vprof_bootstrap_values *values, size_t statistic, double *low, double *high);

/* Length of the blocks for a series of latencies: at least what its correlation requires (Politis and White 2004, for
 * non-overlapping blocks: Lahiri 1999), at least the cube root of n, and so long that there are at most
 * VPROF_BOOTSTRAP_BLOCKS_MAX; but at least VPROF_BOOTSTRAP_BLOCKS_MIN blocks where n allows. O(n). 0: not enough
 * memory. */
size_t vprof_bootstrap_block_length(const double *x, size_t n);

#endif
