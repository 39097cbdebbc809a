/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the waiting time of a pair would vary if the run were repeated: the bootstrap over blocks of intervals. */
#ifndef VPROF_CROSSTALK_BOUNDS_H
#define VPROF_CROSSTALK_BOUNDS_H

#include "analysis/stats/run_blocks.h"
#include "analysis/transactions/crosstalk_input.h"

#define VPROF_CROSSTALK_BOUNDED 64 /* pairs that get bounds, the first */

/* The block that an interval lies in. */
uint32_t vprof_crosstalk_block_of(const struct vprof_run_blocks *blocks, size_t n_intervals, size_t interval);

struct vprof_crosstalk_sums {	/* in each block; row-major */
	double *n, *latency_ns; /* [r->n_parties * blocks->n] of a party's intervals */
	double *waited_ns;	/* [r->n_crosstalk * blocks->n] by a pair */
};

/* Fills the bounds of mean and share of the first VPROF_CROSSTALK_BOUNDED of r->crosstalk where the waiter's intervals
 * are enough. OK or NOMEM. */
int vprof_crosstalk_bounds(struct vprof_results *r, const struct vprof_run_blocks *blocks,
			   const struct vprof_crosstalk_sums *sums, int n_threads);

#endif
