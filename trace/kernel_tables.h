/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables beside the kernel's events of a trace: devices, threads that were there before, stacks, the kernel's
 * functions, and what processes had mapped.
 *
 * All of it is input from outside: checked, and sorted for the searches. Texts belong to the tables.
 */
#ifndef VPROF_KERNEL_TABLES_H
#define VPROF_KERNEL_TABLES_H

#include "common/arena.h"
#include "common/array.h"
#include "trace/kernel_events.h"

struct vprof_kernel_device {
	enum vp_source source;	/* BLOCK or NET */
	uint32_t number, flags; /* VP_DEVICE_* */
	uint64_t bits_per_s;	/* 0: unknown */
	const char *name;
};

struct vprof_kernel_symbol {
	uint64_t address, start;
	const char *name; /* "ext4_sync_file", "virtblk_done [virtio_blk]" */
};

struct vprof_kernel_module { /* a file in a process's memory */
	uint64_t start, end, bias;
	const char *path;
	unsigned char build_id[VP_BUILD_ID_MAX];
	uint32_t n_build_id; /* 0: none */
};

struct vprof_kernel_process { /* as it was at one time */
	uint32_t pid, process_seq;
	VPROF_ARRAY(struct vprof_kernel_module) modules; /* by start */
};

struct vprof_kernel_stack {
	uint32_t id;
	uint32_t process; /* index; VPROF_NONE: a stack of the kernel */
	uint32_t n;	  /* addresses; all but the first are return addresses */
	uint32_t cut;	  /* VP_STACK_*; 0: it is whole */
	size_t first;	  /* in `addresses`; innermost */
};

struct vprof_kernel_window { /* in which stacks were taken; ticks */
	uint64_t begin, end;
};

struct vprof_kernel_tables {
	VPROF_ARRAY(struct vprof_kernel_device) devices;    /* by source, number */
	VPROF_ARRAY(struct vprof_kernel_symbol) symbols;    /* by address */
	VPROF_ARRAY(struct vprof_kernel_stack) stacks;	    /* by id */
	VPROF_ARRAY(struct vprof_kernel_process) processes; /* by process_seq */
	VPROF_ARRAY(struct vprof_kernel_event) tasks;	    /* TASK, in the order of the file */
	VPROF_ARRAY(struct vprof_kernel_window) windows;    /* by begin; they neither overlap nor join */
	uint64_t wakes_until; /* wake-ups were recorded throughout until then, ticks, and later in windows only;
				 UINT64_MAX: throughout */
	VPROF_ARRAY(uint64_t) addresses;
	struct vprof_arena texts;
};

/* Reads them; a trace without any has empty ones. NOMEM. Release after success and after failure. */
int vprof_kernel_tables_read(struct vprof_kernel_tables *t, const struct vprof_trace *trace, struct vprof_error *err);
void vprof_kernel_tables_release(struct vprof_kernel_tables *t);

/* NULL: not known. O(log n). */
const struct vprof_kernel_symbol *vprof_kernel_symbol_find(const struct vprof_kernel_tables *t, uint64_t address);
const struct vprof_kernel_stack *vprof_kernel_stack_find(const struct vprof_kernel_tables *t, uint32_t id);
const struct vprof_kernel_module *vprof_kernel_module_find(const struct vprof_kernel_process *p, uint64_t address);

#endif
