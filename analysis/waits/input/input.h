/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace as a wait history (analysis/waits/history/history.h): from the kernel's events when it has them, else from
 * what the probes and wrappers recorded (timeline_history.h). */
#ifndef VPROF_WAITS_INPUT_H
#define VPROF_WAITS_INPUT_H

#include "analysis/waits/history/history.h"
#include "common/hash/string_set.h"
#include "trace/kernel_tables.h"
#include "trace/reader.h"

struct vprof_waits_input {
	struct vprof_waits_history history; /* its texts belong to `strings` */
	struct vprof_strings strings;
	/* of each of the history's stacks: kernel | user << 32 in the tables; 0: a name stands for it */
	VPROF_ARRAY(uint64_t) stack_ids;
	struct vprof_kernel_tables tables; /* of the kernel's events */
	int is_kernel;			   /* from the kernel's events */
	uint64_t n_events;		   /* of the kernel, or waits of the runtime */
	uint64_t n_lost;		   /* events that are missing */
	uint64_t n_assumed;		   /* switches to a thread whose wake-up is missing: its waker is not known */
	const char *missing;		   /* what was not recorded, and what to do; "" */
};

void vprof_waits_input_release(struct vprof_waits_input *input);

/* Number of a new stack of the history, whose text the caller keeps; VPROF_NONE without memory. */
uint32_t vprof_waits_input_add_stack(struct vprof_waits_input *input, uint64_t ids, const char *text);

/* Where no stacks are recorded: *number is that of the stack that the name stands for, made when it is 0. OK or NOMEM.
 */
int vprof_waits_input_stack_of_name(struct vprof_waits_input *input, const char *name, uint32_t *number);

/* Fills the history from the kernel's events. bytes_per_s: speed of network interfaces whose own is not known, 0: none.
 * INPUT when the trace has none, NOMEM; to be released in any case. One pass, O(events log CPUs). */
int vprof_waits_input_kernel(struct vprof_waits_input *input, const struct vprof_trace *trace, double bytes_per_s,
			     struct vprof_error *err);

#endif
