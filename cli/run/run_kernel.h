/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's events beside the probes' records in the trace of one run: one recorder into one collector. */
#ifndef VPROF_RUN_KERNEL_H
#define VPROF_RUN_KERNEL_H

#include "recorder/recorder.h"
#include "trace/collector.h"

struct vprof_run_kernel {
	struct vprof_recorder *recorder; /* NULL: not asked for */
	struct vprof_collector *collector;
	double flushed_s;
};

/* Records process `pid`, which has not executed the command yet, and its descendants. kinds: VP_KERNEL_*; with CALLS
 * also stacks by a timer; without a budget. MISSING or FAILED. */
int vprof_run_kernel_open(struct vprof_run_kernel *k, struct vprof_collector *collector, pid_t pid, uint32_t kinds,
			  struct vprof_error *err);
void vprof_run_kernel_drain(struct vprof_run_kernel *k);
/* Before the collector is closed. */
void vprof_run_kernel_close(struct vprof_run_kernel *k);

#endif
