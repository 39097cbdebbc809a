/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A collector in a live session: several traces one after the other, each of which can be read while it grows, and the
 * windows and plans that the session turns (live/). The collector was opened with is_live. */
#ifndef VPROF_COLLECTOR_LIVE_H
#define VPROF_COLLECTOR_LIVE_H

#include "trace/collector.h"

/* Ends the trace, as it is sealed or else with all that was recorded by now, and begins another one in trace_dir; NULL:
 * what is recorded from now on is discarded. After a failure it is discarded, too. */
int vprof_collector_turn(struct vprof_collector *c, const char *trace_dir, struct vprof_error *err);

/* Finishes the trace as it is, with what threads have written into chunks that they still fill, so that it can be
 * analysed: it stays so until it goes on, with what was recorded meanwhile, or ends. */
void vprof_collector_seal(struct vprof_collector *c);
void vprof_collector_go_on(struct vprof_collector *c);

/* A PLAN record: see trace/format.h. */
struct vprof_plan_change {
	uint64_t begin, end; /* of the writes, ticks */
	uint32_t number;
	uint32_t process_seq; /* 0: all */
	uint64_t last_begin;
};
void vprof_collector_plan(struct vprof_collector *c, const struct vprof_plan_change *change);

/* A WINDOW record: intervals that begin from t on are recorded whole, or may not be. */
void vprof_collector_window(struct vprof_collector *c, uint64_t t, int is_open);

/* From now on every call of these functions is recorded, and those of others may be sampled. Codes in ascending order;
 * beyond VP_EVERY_CALL_MAX they are left out. */
void vprof_collector_every_call(struct vprof_collector *c, const uint32_t *codes, size_t n);

/* The longest of the intervals watched since the last call, finished or not. */
uint64_t vprof_collector_longest_ns(struct vprof_collector *c);

/* A process that has attached: its pid, a number of its own namespace, and its number in the session. After an exec it
 * has another one. */
struct vprof_collector_process {
	uint32_t pid, process_seq;
	uint32_t parent_seq; /* of the process that it is a copy of, 0: of none */
	uint64_t pid_namespace;
};
/* Fills in at most `max`; returns how many. Also those that have ended, until they are forgotten. */
size_t vprof_collector_processes(const struct vprof_collector *c, struct vprof_collector_process *out, size_t max);
void vprof_collector_forget(struct vprof_collector *c, const struct vprof_collector_process *process);

/* Changes whenever a process attached, was forked, or loaded a module with probes. */
uint32_t vprof_collector_changes(const struct vprof_collector *c);

#endif
