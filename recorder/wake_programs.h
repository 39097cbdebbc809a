/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs in the kernel that tell who wakes whom: at each wake-up, and at the interrupts that it may come from.
 * They are attached from the begin on. Where they take too much they are attached for windows of time only
 * (stack_windows.h); switches are recorded throughout.
 */
#ifndef VPROF_RECORDER_WAKE_PROGRAMS_H
#define VPROF_RECORDER_WAKE_PROGRAMS_H

#include <stddef.h>

#include "recorder/soft_interrupts.h"

struct bpf_link;
struct record_bpf;

#define VPROF_VECTORS 4

struct vprof_wake_programs {
	struct record_bpf *bpf;
	int has_vector[VPROF_VECTORS]; /* does the kernel tell of these hard interrupts, and are they followed? */
	struct bpf_link *vectors[2 * VPROF_VECTORS];
	size_t n_vectors;
	int is_attached;
	struct vprof_soft_interrupts soft_interrupts;
};

/* Once the skeleton's own programs are attached. has_vectors: to follow hard interrupts, too. symbols: as
 * vprof_soft_interrupts_start() has them. */
void vprof_wake_programs_start(struct vprof_wake_programs *w, struct record_bpf *bpf, int has_vectors,
			       const struct vprof_kernel_symbols *symbols);

/* Detaches all of them, and attaches those again that were; nothing, if they are. 0: the kernel refused some, and none
 * is attached. */
void vprof_wake_programs_detach(struct vprof_wake_programs *w);
int vprof_wake_programs_attach(struct vprof_wake_programs *w);

/* Before the skeleton's own programs are detached. */
void vprof_wake_programs_stop(struct vprof_wake_programs *w);

#endif
