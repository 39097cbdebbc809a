/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the waiting time of a pair would vary if the run were repeated: the bootstrap over blocks of intervals. */
#ifndef VPROF_CROSSTALK_BOUNDS_H
#define VPROF_CROSSTALK_BOUNDS_H

#include "analysis/stats/run_blocks.h"
#include "analysis/transactions/crosstalk_input.h"

#define VPROF_CROSSTALK_BOUNDED 64 /* pairs that get bounds, the first */

/* The block that an interval lies in. */
uint32_t vprof_crosstalk_block_of(const struct vprof_run_blocks *blocks, size_t n_intervals, size_t interval);

/* Fills mean_low and mean_high of the first VPROF_CROSSTALK_BOUNDED of r->crosstalk where the waiter's intervals are
 * enough. n_of[r->n_parties * blocks->n]: intervals of a party in a block; ns_of[r->n_crosstalk * blocks->n]: waited by
 * a pair in one, both row-major. OK or NOMEM. */
int vprof_crosstalk_bounds(struct vprof_results *r, const struct vprof_run_blocks *blocks, const double *n_of,
			   const double *ns_of, int n_threads);

#endif
