/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Context switches as the kernel reports them, gathered into chunks of VP_KIND_SWITCH records, each of one CPU.
 *
 * All functions accept NULL, which stands for a run whose context switches are not recorded.
 */
#ifndef VPROF_TRACE_PROCESSORS_H
#define VPROF_TRACE_PROCESSORS_H

#include "trace/format.h"
#include "trace/switches.h"

struct vprof_processors;

/* Stores one chunk: 0, or 1 when there was no room for it. */
typedef int vprof_store_chunk(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units);

/* Recording a context switch costs the target about 1 us, and starting a thread more (docs/design/runtime.md).
 * Recording stops for good when one CPU has more than `most` switches a second, or when thread starts take more than 3
 * % of the time, each after an allowance of half a second's worth; 0: it never stops. Errors: those of
 * vprof_switches_open. */
struct vprof_processors_options {
	pid_t pid;
	enum vp_clock clock;
	uint32_t most;
	vprof_store_chunk *store;
	void *arg;
};
int vprof_processors_open(struct vprof_processors **out, const struct vprof_processors_options *o,
			  struct vprof_error *err);
void vprof_processors_close(struct vprof_processors *p);

void vprof_processors_drain(struct vprof_processors *p); /* stores chunks as they become full */
void vprof_processors_flush(struct vprof_processors *p); /* drains, then stores all chunks that are not empty */

int vprof_processors_stopped(const struct vprof_processors *p);
uint64_t vprof_processors_count(const struct vprof_processors *p); /* switches reported, without those that were lost */
uint64_t vprof_processors_lost(const struct vprof_processors *p);

#endif
