/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine's processes and threads as /proc shows them: whom to record, and who was there before. */
#ifndef VPROF_RECORDER_PROC_TASKS_H
#define VPROF_RECORDER_PROC_TASKS_H

#include <stdint.h>
#include <sys/types.h>

struct vprof_proc_task {
	uint32_t tid, pid, parent_pid;
	int is_kernel;
	char comm[17];
};

/* Calls `found` for each process of the machine until it returns non-0, which is then returned; else 0. */
int vprof_proc_processes(int (*found)(void *arg, const struct vprof_proc_task *task), void *arg);

/* The same for each thread of a process. */
int vprof_proc_threads(uint32_t pid, int (*found)(void *arg, const struct vprof_proc_task *task), void *arg);

/* 1, or 0 when it is gone. */
int vprof_proc_read(uint32_t pid, uint32_t tid, struct vprof_proc_task *task);

#endif
