/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of stacks: hashes become ids; kernel stacks are named by the kernel's symbols, copies of user stacks are
 * unwound (process_images.h), both once.
 */
#ifndef VPROF_RECORDER_STACK_TABLE_H
#define VPROF_RECORDER_STACK_TABLE_H

#include "common/error.h"
#include "recorder/gather.h"
#include "recorder/ring_event.h"

struct vprof_stacks;

struct vprof_stacks_options {
	const struct vprof_kernel_symbols *symbols;
	struct vprof_gather *machine; /* the machine's table */
	vprof_store_chunk *store;     /* of those of processes */
	void *arg;
	/* Of the kernel's side (bpf/stacks.bpf.h), descriptors. */
	int libraries; /* process_images.h */
	int seen;      /* hashes that were sent; one that is taken out is sent again */
	int frames;
};

int vprof_stacks_open(struct vprof_stacks **out, const struct vprof_stacks_options *o, struct vprof_error *err);
void vprof_stacks_close(struct vprof_stacks *s); /* NULL is fine */

/* The id of a stack in the trace; 0 for hash 0, and without memory. */
uint32_t vprof_stacks_id(struct vprof_stacks *s, uint64_t hash);

/* A stack as it came through a ring, of n_bytes in all; what is damaged is ignored. */
void vprof_stacks_add(struct vprof_stacks *s, const struct vp_ring_stack *stack, size_t n_bytes);

/* A process was made, or is about to be recorded: what it has mapped is looked at when it is needed, or now. */
void vprof_stacks_fork(struct vprof_stacks *s, uint32_t parent_pid, uint32_t pid);
void vprof_stacks_expect(struct vprof_stacks *s, uint32_t pid);

/* This process executes another program now: its mappings are others. */
void vprof_stacks_forget(struct vprof_stacks *s, uint32_t pid);

/* Unwinds what waits for it, for about this long. What lies in code that is not known yet waits on, unless this is the
 * last time. */
void vprof_stacks_work(struct vprof_stacks *s, uint64_t most_ns, int is_last);
void vprof_stacks_flush(struct vprof_stacks *s);

#endif
