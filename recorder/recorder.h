/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records what the kernel does for some processes or for all: scheduling, what wakes threads, disks, network
 * interfaces.
 *
 *   vprof_recorder_require -> vprof_recorder_open -> vprof_recorder_add each process -> vprof_recorder_drain every few
 *   ms -> vprof_recorder_stop -> vprof_recorder_close
 *
 * Nothing in the targets changes. All that is made in the kernel belongs to this process's descriptors, so nothing is
 * left there however it ends. Each event is in the trace or counted as lost. One thread at a time.
 */
#ifndef VPROF_RECORDER_H
#define VPROF_RECORDER_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "trace/clock.h"
#include "trace/processors.h" /* vprof_store_chunk */

struct vprof_recorder;

struct vprof_recorder_options {
	enum vp_clock clock; /* the run's */
	double ns_per_tick;  /* of it */
	int all;	     /* threads of the machine, else those of the processes that are added */
	/* VP_KERNEL_*: what to record, if the kernel can. SCHEDULING always is, but with SOCKETS alone, and where the
	 * kernel allows that: then of wake-ups only those by threads, of threads of their own process, are. */
	uint32_t kinds;
	const char *name;    /* processes that execute a program of this name are added, too; NULL: none */
	uint64_t spacing_ns; /* with CALLS: a thread's stacks at calls, faults and by timer are at least this far apart
			      */
	uint32_t timer_hz;   /* with STACKS: of CPU time; 0: none */
	double budget;	     /* with STACKS: share of the processes' CPU time that recording may take of it; 0: no limit
			      */
	int by_hand;	     /* the caller opens and closes windows; budget is not looked at */
	int may_leave_wakes; /* with a budget: where switches and wake-ups alone take more than half of it, wake-ups are
				recorded in windows only from then on (VP_WINDOW_WAKES_LEFT) */
	uint64_t ring_bytes; /* as vprof_rings_plan() has it */
	vprof_store_chunk *store;
	void *arg;
};

#define VPROF_RECORDER_SPACING_NS 50000u /* usually */
#define VPROF_RECORDER_TIMER_HZ 1999u	 /* usually; no multiple of what programs do at a steady pace */

#define VP_KERNEL_USUAL (VP_KERNEL_SCHEDULING | VP_KERNEL_CONTEXT | VP_KERNEL_BLOCK | VP_KERNEL_NET)

/* MISSING or FAILED with what to do; *out is NULL then. Recording begins: at once with `all`. */
int vprof_recorder_open(struct vprof_recorder **out, const struct vprof_recorder_options *o, struct vprof_error *err);

/* Adds a process and its descendants; each thread gets a TASK record. Returns how many processes there are, 0: it is
 * gone; or a negative error. */
int vprof_recorder_add(struct vprof_recorder *r, pid_t pid, struct vprof_error *err);

/* Moves events to chunks. Returns how many. */
size_t vprof_recorder_drain(struct vprof_recorder *r);

/* For how long to wait then, if that were n; 0: there are more by now. */
long vprof_recorder_pause_ns(const struct vprof_recorder *r, size_t n);

/* Stores all chunks that are not empty. */
void vprof_recorder_flush(struct vprof_recorder *r);

/* Are there processes left of those that were added and their descendants? 1 with `all`. Those of which the kernel kept
 * the end to itself are dropped. */
int vprof_recorder_has_targets(const struct vprof_recorder *r);
/* Did the kernel add any by itself: descendants, or processes of a name? They may have ended since. */
int vprof_recorder_has_followed(const struct vprof_recorder *r);

/* With by_hand: opens and closes a window, in which stacks are taken. None is open at the begin. */
void vprof_recorder_set_window(struct vprof_recorder *r, int open);

struct vprof_recorder_state {
	uint64_t n_events, n_lost;  /* events in chunks or on their way there, and lost ones */
	uint64_t n_unseen;	    /* switches, of all threads, that the kernel did not tell the recorder, at least */
	uint64_t n_not_followed;    /* processes and wakers for which there was no room in the tables */
	uint64_t n_other_transfers; /* of datagrams and the like, which are not recorded */
	uint32_t n_windows;	    /* in which stacks were taken; 0: always */
	double observed_s;	    /* ... for so long in all */
	double cost_ns, busy_ns;    /* with a budget: CPU time that recording took of the processes, and theirs */
	uint32_t kinds;		    /* VP_KERNEL_* that are recorded */
	double error_ns;	    /* of times, at most */
	int looks_up;	   /* 1: soft interrupts and packets are not followed now (soft_interrupts.h); -1: they are,
			      for good */
	int wakes_left;	   /* wake-ups are recorded in windows only by now */
	char missing[240]; /* which events are not recorded, and why; "" */
};
void vprof_recorder_look(const struct vprof_recorder *r, struct vprof_recorder_state *state);

/* Detaches from the kernel, drains, and stores everything. */
void vprof_recorder_stop(struct vprof_recorder *r);

void vprof_recorder_close(struct vprof_recorder *r); /* NULL is fine */

#endif
