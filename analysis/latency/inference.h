/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instances of functions, inferred from the continuity of their context (IntroPerf, Algorithm 2). One pass over the
 * events of a thread.
 *
 * Of an instance four times are known: when its function was last seen not yet to be there, first and last seen, and
 * first seen not to be there any more. So its latency is at least last - first, the paper's conservative estimate, and
 * at most after - before. The paper's aggressive estimate, after - first, is no bound: the function may have begun
 * before it was first seen.
 *
 * All that holds if no call returned and was made anew at the same place without an event in between. Where that cannot
 * be excluded, the instance may be several in truth, of which the longest is at least as long as `sure_ns`.
 */
#ifndef VPROF_LATENCY_INFERENCE_H
#define VPROF_LATENCY_INFERENCE_H

#include "analysis/latency/context_tree.h"

#define VPROF_INSTANCE_BEGIN_CUT 1u /* it may have begun before the recording */
#define VPROF_INSTANCE_END_CUT 2u   /* ... ended after it */

struct vprof_latency_instance {
	uint64_t before, first, last, after; /* ns */
	uint64_t sure_ns;		     /* the longest stretch that surely is of one call */
	uint32_t node;
	uint32_t path; /* on which it was first seen */
	uint32_t thread;
	uint32_t n_unsure; /* times that it may have returned and been called again: up to this many instances more */
	uint32_t flags;	   /* VPROF_INSTANCE_* */
};

static inline uint64_t vprof_instance_conservative(const struct vprof_latency_instance *i)
{
	return i->last - i->first;
}

static inline uint64_t vprof_instance_aggressive(const struct vprof_latency_instance *i)
{
	return i->after - i->first;
}

static inline uint64_t vprof_instance_longest(const struct vprof_latency_instance *i)
{
	return i->after - i->before;
}

/* The time between two events of a thread, or before its first one or after its last one. */
struct vprof_latency_gap {
	uint32_t stack, next; /* VPROF_NONE: before the first event, after the last one */
	uint32_t flags;	      /* VPROF_LATENCY_*, of the later event */
	struct vprof_latency_common common;
	uint32_t n;  /* how often */
	uint64_t ns; /* in all, in windows */
};

/* Gaps between the same stacks are one entry with their times added up. Zero-initialise. */
struct vprof_latency_gaps {
	VPROF_ARRAY(struct vprof_latency_gap) v;
	struct vprof_hash_index by_stacks;
};

/* The paper's registers: what is on the stack after an event, outermost first. */
struct vprof_latency_register {
	uint64_t before, first, sure_from, sure_ns;
	uint32_t node, path, n_unsure, flags;
};

struct vprof_latency_inference {
	const struct vprof_latency_history *history;
	const struct vprof_context_tree *tree;
	const uint32_t *nodes, *paths; /* vprof_context_tree_build() */
	struct vprof_latency_gaps *gaps;
	/* called for each instance as it closes, inner ones first; not 0 ends it with this error */
	int (*instance)(void *arg, const struct vprof_latency_instance *instance);
	/* called for each gap: from `from` on, ns long, both in observed time (vprof_latency_observed()); may be NULL
	 */
	int (*gap)(void *arg, const struct vprof_latency_gap *gap, uint64_t from, uint64_t ns);
	void *arg;

	uint32_t thread, n_registers;
	uint32_t stack; /* of the last event; VPROF_NONE: none yet */
	uint64_t last;	/* its time: until then all registers are known to be on the stack */
	struct vprof_latency_register registers[VPROF_LATENCY_DEPTH_MAX];
};

/* All events of a thread: begin, step for each, end. 0, NOMEM, or what a callback returned. */
int vprof_latency_infer(struct vprof_latency_inference *inference, uint32_t thread);

/* The same in single steps. */
void vprof_latency_infer_begin(struct vprof_latency_inference *inference, uint32_t thread);
int vprof_latency_infer_step(struct vprof_latency_inference *inference, const struct vprof_latency_event *e);
int vprof_latency_infer_end(struct vprof_latency_inference *inference);

void vprof_latency_gaps_release(struct vprof_latency_gaps *gaps);

#endif
