/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose own time it likely was while a thread ran between two system calls.
 *
 * What is known of such a stretch is that it was spent in the innermost context that was there throughout, and in
 * whatever that called: so the more of a program's work lies between its system calls, the further out its time is
 * found. The timer takes samples of it: of each context the stretches are one pool of time, which the samples that lie
 * in them share evenly, each for its innermost context. Without any sample the pool is the context's own time. All else
 * (system calls, waits) is own time as it is.
 *
 * A thread that is preempted in code of its own is no sample: that happens where it has woken another one.
 */
#ifndef VPROF_LIKELY_TIME_H
#define VPROF_LIKELY_TIME_H

#include "analysis/latency/inference.h"

struct vprof_likely_sample {
	uint32_t pool, node, block;
};

struct vprof_likely_time { /* of some threads; zero-initialise */
	const struct vprof_latency_history *history;
	const struct vprof_context_tree *tree;
	const uint32_t *nodes; /* of the history's frames */
	uint64_t block_length; /* ns */
	uint32_t n_blocks;
	uint64_t *pools; /* [nodes * n_blocks] ns */
	VPROF_ARRAY(struct vprof_likely_sample) samples;
	VPROF_ARRAY(uint64_t) stretch; /* of the thread that is looked at: from, ns of its gaps */
	size_t first_sample;	       /* of the stretch */
	uint32_t pool;		       /* of the stretch; VPROF_NONE: none yet */
};

/* NOMEM; to be released in any case. */
int vprof_likely_time_begin(struct vprof_likely_time *l);

/* The gaps of each thread in order; `from` in observed time. 1: taken into a pool; 0: it is own time as it is; NOMEM.
 * ..._end() after the last one of a thread. */
int vprof_likely_time_gap(struct vprof_likely_time *l, const struct vprof_latency_gap *gap, uint64_t from, uint64_t ns);
void vprof_likely_time_end(struct vprof_likely_time *l);

/* Adds up what of several lies in pools: own_ns[nodes] and blocks[nodes * stride] of the contexts. NOMEM. */
int vprof_likely_time_share(const struct vprof_likely_time *const *parts, int n_parts, double *own_ns, double *blocks,
			    uint32_t stride);
void vprof_likely_time_release(struct vprof_likely_time *l);

#endif
