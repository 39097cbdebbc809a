/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's events of a trace as events with stacks (analysis/latency/history): those of the session's threads that
 * have a stack of the program, whole and known. The others are left out and counted: fewer events widen the bounds of
 * what is inferred, and never make it wrong.
 *
 * This is the entry to the room analysis/latency/input. stack_frames.h names the frames, transfers.h reads what was
 * received and sent, function_named.h finds the function that a person means.
 */
#ifndef VPROF_LATENCY_INPUT_H
#define VPROF_LATENCY_INPUT_H

#include "analysis/latency/input/stack_frames.h"
#include "trace/reader.h"

struct vprof_latency_input {
	struct vprof_latency_history history; /* its texts belong to `strings` */
	struct vprof_strings strings;
	struct vprof_stack_frames *frames; /* of the history's may_follow */
	uint32_t kinds;			   /* VP_KERNEL_*, that were recorded */
	uint64_t n_lost;		   /* events that the recorder lost */
	struct vprof_stack_counts counts;  /* events left out for their stacks, and frames */
	uint64_t n_unpaired; /* switches without their other half: a thread that got a CPU, of which it is not known
				where it had left it; or that ran, but is not known to have got one */
	const char *missing; /* what was not recorded, and what to do; "" */
};

/* INPUT when the trace has no stacks, with what to do; NOMEM; to be released in any case. O(n log n) for n events. */
int vprof_latency_input_read(struct vprof_latency_input *input, const struct vprof_trace *trace,
			     struct vprof_error *err);
void vprof_latency_input_release(struct vprof_latency_input *input);

#endif
