/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the collector share. */
#ifndef VPROF_COLLECTOR_INSIDE_H
#define VPROF_COLLECTOR_INSIDE_H

#include "trace/collector.h"
#include "trace/collector/definitions.h"
#include "trace/processors.h"
#include "trace/record_cost.h"
#include "trace/shm_file.h"
#include "trace/windows.h"

struct vprof_collector {
	struct vprof_shm_file shm;
	struct vprof_records_file file;
	uint64_t n_lost;		     /* records that the disk did not take */
	uint64_t *checked_ns;		     /* [shm.n_chunks] when its process was last looked for */
	struct vprof_processors *processors; /* NULL: nobody is watched */
	struct vprof_windows windows;
	uint64_t n_unit_bytes; /* recorded by the target */
	uint32_t n_window_chunks;
	uint64_t own_start_ns; /* of the collector's own CPU time */
	struct vprof_record_cost cost;
	char no_switches[240];
	uint64_t pid_namespace; /* the collector's own */

	/* of a live session (collector_live.c) */
	uint32_t *stored_bytes; /* [shm.n_chunks] of a chunk's units that are in a file; NULL: not live */
	struct vprof_definitions *definitions;
	uint32_t n_plan_chunks;
	int is_discarding; /* no file is open */
};

/* Brings the file header's counts up to date. */
void vprof_collector_fill_header(struct vprof_collector *c);
/* The longest of the intervals watched since the last look, finished or not. */
uint64_t vprof_collector_longest_ns(struct vprof_collector *c);
/* A live session's own memory. OK or NOMEM. */
int vprof_collector_live_start(struct vprof_collector *c);
void vprof_collector_live_release(struct vprof_collector *c);
/* After each drain. */
void vprof_collector_live_drained(struct vprof_collector *c);
/* 1 when the process is known to be gone. The number of a process in another pid namespace means nothing here. */
int vprof_collector_is_dead(const struct vprof_collector *c, uint32_t pid, uint64_t pid_namespace);

#endif
