/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trees of contexts as stacks with weights: one for each node that has time of its own. */
#ifndef VPROF_CONTEXT_STACKS_H
#define VPROF_CONTEXT_STACKS_H

#include <stdint.h>

#include "analysis/results/results.h"

#define VPROF_CONTEXT_DEPTH_MAX 256 /* deeper frames count with the one at that depth */

struct vprof_context_stack {
	const struct vprof_context *context;
	const struct vprof_profile_node *frames[VPROF_CONTEXT_DEPTH_MAX]; /* outermost first */
	uint32_t n;
	uint64_t own_ns;
	int is_running; /* for the interval itself; else it waited, was queued or preempted */
	const char *stage;
};

/* Calls each(arg, stack) for every stack of every context; what it returns other than 0 ends it and is returned. */
int vprof_context_stacks(const struct vprof_results *r, int (*each)(void *arg, const struct vprof_context_stack *stack),
			 void *arg);

#endif
