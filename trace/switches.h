/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Context switches of the threads of a process and of all its descendants, as the kernel reports them (perf_event_open,
 * PERF_RECORD_SWITCH): the threads' own code does not take part, and no privileges are needed.
 *
 *   fork -> vprof_switches_open(child) -> let the child exec -> vprof_switches_drain every few ms ->
 * vprof_switches_close
 *
 * Invariant: the times of one CPU's events never decrease; they are ticks of the run's clock, off by less than 1 us.
 */
#ifndef VPROF_TRACE_SWITCHES_H
#define VPROF_TRACE_SWITCHES_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "trace/clock.h"

struct vprof_switches;

struct vprof_switch_event {
	uint64_t t;
	uint32_t tid;	 /* as this process sees it */
	uint32_t flags;	 /* VP_SWITCH_* of trace/format.h */
	uint64_t n_lost; /* not 0: no switch, but the number lost since this CPU's last event */
	int is_start;	 /* no switch and no time: a thread or process was started */
};

/* Watches process `pid` from its next exec on. FAILED when this kernel or its settings do not allow it, with a message
 * that says what to do; nothing is left open then. */
int vprof_switches_open(struct vprof_switches **out, pid_t pid, enum vp_clock clock, struct vprof_error *err);

/* Reports every event since the last call, each CPU's in order of time. */
void vprof_switches_drain(struct vprof_switches *s,
			  void (*event)(void *arg, uint32_t cpu, const struct vprof_switch_event *e), void *arg);

/* watched: each thread carries one event for each */
uint32_t vprof_switches_processors(const struct vprof_switches *s);

void vprof_switches_close(struct vprof_switches *s);

#endif
