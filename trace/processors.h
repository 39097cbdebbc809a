/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel tells of threads' switches, gathered into chunks of VP_KIND_SWITCH records, one processor each.
 *
 * All functions take NULL for "nobody is watched".
 */
#ifndef VPROF_TRACE_PROCESSORS_H
#define VPROF_TRACE_PROCESSORS_H

#include "trace/format.h"
#include "trace/switches.h"

struct vprof_processors;

/* Stores one chunk: 0, or 1 when there was no room for it. */
typedef int vprof_store_chunk(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units);

/* Recording a switch costs the target about 1 us, starting a thread more (docs/design/runtime.md). It stops for good
 * when one processor tells more than `most` switches a second, or starts take more than 3 % of the time, both after
 * half a second's worth of grace; 0: it never stops. Errors: those of vprof_switches_open. */
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
void vprof_processors_flush(struct vprof_processors *p); /* drains, then stores all chunks that hold anything */

int vprof_processors_stopped(const struct vprof_processors *p);
uint64_t vprof_processors_count(const struct vprof_processors *p); /* switches told, the lost ones not */
uint64_t vprof_processors_lost(const struct vprof_processors *p);

#endif
