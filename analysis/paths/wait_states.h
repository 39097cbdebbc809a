/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a thread did during a wait: it was blocked, or worked in the kernel.
 *
 * Waits for other threads, sleeps and waits for child processes are blocked time throughout. An I/O call may block or
 * work (copy, checksum, send on the CPU), and only switch records tell which. Invariants: the stretches of a
 * piece tile it; what is not known is VPROF_IN_IO.
 */
#ifndef VPROF_WAIT_STATES_H
#define VPROF_WAIT_STATES_H

#include "analysis/timeline/timeline.h"
#include "common/plan.h"

enum vprof_wait_state {
	VPROF_IN_BLOCK,	    /* off-CPU, or waiting for another thread */
	VPROF_IN_KERNEL,    /* ran in the kernel */
	VPROF_IN_IO,	    /* one of the two */
	VPROF_IN_PREEMPTED, /* runnable, but others had the CPU; nobody else is to blame */
};

struct vprof_wait_stretch {
	uint64_t from, to;
	const struct vprof_off_cpu *off_cpu; /* PREEMPTED: all of it, which may begin before and end after */
	enum vprof_wait_state state;
};

struct vprof_wait_walk {
	const struct vprof_thread_timeline *thr;
	uint64_t t, to, awaited; /* awaited: another thread is waited for until then */
	size_t off_cpu, cpu_unknown;
	int is_io, has_switches;
};

/* Is it a call that may work instead of waiting (enum vp_wait)? */
int vprof_wait_is_io(uint32_t kind);

/* Is the measured call that waits the wait itself: a site of the library's call `name`, or the function that an
 * annotation names as the one that acquires the lock? A function of the program that only shares the name of the
 * library's is not. `probe` may be NULL. */
int vprof_wait_is_of_probe(const struct vprof_probe *probe, const char *name, uint32_t kind);

/* The part from..to of a wait of the thread. `hint` may be NULL; else it is kept for the thread's next walk. */
void vprof_wait_walk_begin(struct vprof_wait_walk *walk, const struct vprof_timeline *timeline, uint32_t thread,
			   const struct vprof_wait *wait, uint64_t from, uint64_t to, size_t *hint);
/* The next stretch, by time; 0 at the end. */
int vprof_wait_walk_next(struct vprof_wait_walk *walk, struct vprof_wait_stretch *out);

#endif
