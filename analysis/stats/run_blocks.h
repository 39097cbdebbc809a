/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocks that the bootstrap draws (bootstrap.h): of neighbouring intervals, and, when there are several traces,
 * each within one of them. Traces are runs of one build, or hosts of one run: what differs from one to the next is part
 * of how the figures would differ if all were repeated. */
#ifndef VPROF_RUN_BLOCKS_H
#define VPROF_RUN_BLOCKS_H

#include "analysis/stats/interval_attributes.h"

struct vprof_run_blocks {
	size_t n;	   /* 1: there is too little to draw from */
	size_t *first;	   /* [n] intervals with which they begin; NULL: they are equal */
	size_t n_runs;	   /* with intervals */
	size_t *run_first; /* [n_runs + 1] blocks with which the runs begin; NULL: one run */
};

/* OK or NOMEM; to be released in both cases. */
int vprof_run_blocks_choose(struct vprof_run_blocks *blocks, const struct vprof_interval_attributes *attributes);
void vprof_run_blocks_release(struct vprof_run_blocks *blocks);

#endif
