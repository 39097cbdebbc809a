/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of another process, read and written through /proc/PID/mem, without its help. */
#ifndef VPROF_PROCESS_MEMORY_H
#define VPROF_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

/* What a process identified by `pid` is: a number that is used again names another one. */
struct vprof_process_memory {
	pid_t pid;
	uint64_t start_time; /* in the kernel's clock ticks since boot */
	int fd;		     /* -1: not open */
};

/* MISSING: there is no such process (any more). FAILED: it may not be written to; the message says who may. */
int vprof_process_memory_open(struct vprof_process_memory *m, pid_t pid, struct vprof_error *err);
void vprof_process_memory_close(struct vprof_process_memory *m);
/* Whether it is still there, perhaps with another program; also when its memory is not open. */
int vprof_process_memory_alive(const struct vprof_process_memory *m);

/* All bytes, or MISSING when the process has ended (or executed another program), FAILED otherwise. */
int vprof_process_memory_read(const struct vprof_process_memory *m, uint64_t address, void *to, size_t n,
			      struct vprof_error *err);
int vprof_process_memory_write(const struct vprof_process_memory *m, uint64_t address, const void *from, size_t n,
			       struct vprof_error *err);

#endif
