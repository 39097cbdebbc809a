/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the threads of a process, and of all processes that come from it, gain and lose a processor, and why: the kernel
 * tells it (perf_event_open, PERF_RECORD_SWITCH), so the threads' own code pays nothing and nobody needs to be root.
 *
 *   fork -> vprof_switches_open(child) -> let the child exec -> vprof_switches_drain every few ms ->
 * vprof_switches_close
 *
 * Invariant: of what one processor tells, times do not fall and are ticks of the run's clock, off by less than 1 us.
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
	uint64_t n_lost; /* not 0: no switch, but so many were lost since this processor's last event */
	int is_start;	 /* no switch and no time, but a thread or process was started */
};

/* From the next exec of process `pid` on. FAILED when this kernel or its settings do not allow it; the message says
 * what to do. Nothing is left open then. */
int vprof_switches_open(struct vprof_switches **out, pid_t pid, enum vp_clock clock, struct vprof_error *err);

/* Tells every event since the last time, in the order of each processor's times. */
void vprof_switches_drain(struct vprof_switches *s,
			  void (*event)(void *arg, uint32_t cpu, const struct vprof_switch_event *e), void *arg);

/* watched: each thread carries one event for each */
uint32_t vprof_switches_processors(const struct vprof_switches *s);

void vprof_switches_close(struct vprof_switches *s);

#endif
