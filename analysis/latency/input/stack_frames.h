/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stacks of a trace as frames of functions and places, outermost first.
 *
 * A function of a program or library is what the linker calls one; what the compiler inlined into it is part of it.
 * Without a symbol it is known by where it begins, as the unwind tables say ("server+0x1c3d0"). Of the kernel's frames
 * those of entering it, of interrupts and of the scheduler are left out; a system call is called sys_NAME, whatever
 * function implements it.
 */
#ifndef VPROF_STACK_FRAMES_H
#define VPROF_STACK_FRAMES_H

#include "analysis/latency/history/latency_history.h"
#include "common/hash/string_set.h"
#include "trace/kernel_tables.h"

struct vprof_stack_frames;

struct vprof_stack_counts {
	uint64_t n_without;	      /* events without a stack of the program; of these */
	uint64_t n_kernel_only;	      /* ... the kernel's alone was recorded; of the others it found no room */
	uint64_t n_cut;		      /* events with one of which the outer frames are missing: of these */
	uint64_t n_deep;	      /* ... it reaches beyond the memory that was copied */
	uint64_t n_long;	      /* ... it has too many frames */
	uint64_t n_untabled;	      /* ... a function is in no file, or has no unwind tables */
	uint64_t n_gone;	      /* ... the process ended too soon for its files to be known */
	uint64_t n_frames, n_unnamed; /* of all stacks; those of functions without a symbol */
};

/* What stacks are added to: functions, frames, stacks; their texts; counts. All of it and the tables must outlive the
 * frames. NULL without memory. */
struct vprof_stack_frames *vprof_stack_frames_new(struct vprof_latency_history *history, struct vprof_strings *strings,
						  struct vprof_stack_counts *counts,
						  const struct vprof_kernel_tables *tables);
void vprof_stack_frames_free(struct vprof_stack_frames *frames); /* NULL is fine */

struct vprof_elf;

/* Program or library number i of those that stacks lie in: its path, NULL behind the last one. *elf: its symbols, NULL
 * when it cannot be read. */
const char *vprof_stack_frames_file(const struct vprof_stack_frames *frames, size_t i, struct vprof_elf **elf);

/* Where functions that the history has as this one begin in their file: at most `most` different ones; their number.
 * O(places). */
size_t vprof_stack_frames_begins(const struct vprof_stack_frames *frames, uint32_t function, uint64_t *lows,
				 size_t most);

/* Where a stack was taken: the thread was in */
enum vprof_entry {
	VPROF_ENTRY_NONE, /* the program, or where its kernel stack says */
	VPROF_ENTRY_CALL, /* this system call */
	VPROF_ENTRY_FAULT /* a page fault of the program */
};

/* The number in the history of the stack that is made of these two ids, entered as told; made once. VPROF_NONE: it has
 * no frames of a program, which is counted, or (with *failed set) there is no memory. */
uint32_t vprof_stack_frames_stack(struct vprof_stack_frames *frames, uint32_t user, uint32_t kernel,
				  enum vprof_entry entry, uint32_t call, int *failed);

/* Is a stack of the history in the kernel: in a system call, in a page fault? */
enum vprof_entry vprof_stack_frames_entry(const struct vprof_stack_frames *frames, uint32_t stack);

/* The history's may_follow and may_become, by the machine code (common/elf/code_flow.h); arg: the frames, which must
 * live on, their tables need not. */
int vprof_stack_frames_may_follow(void *frames, uint32_t function, uint32_t place, uint32_t next);
int vprof_stack_frames_may_become(void *frames, uint32_t function, uint32_t place, uint32_t next);

#endif
