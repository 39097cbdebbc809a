/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A wait history: what every thread of a recording did, and what ended each of its waits (wPerf, OSDI 2018, section 4).
 *
 * It is the input of the room analysis/waits and knows nothing of traces: adapters fill it, tests write it by hand.
 * Entities are the threads, and beside them what else can end a wait: devices, timers, interrupts, threads outside the
 * recording. Only threads have segments.
 *
 * Invariants, which vprof_waits_history_check() enforces: all times are ns within [begin, end]; a thread's segments
 * are disjoint and sorted, none is empty; between them (and before the first and after the last) nothing is known of
 * the thread. A wait's segment ends with the wake-up; the segment after it is runnable or running.
 */
#ifndef VPROF_WAITS_HISTORY_H
#define VPROF_WAITS_HISTORY_H

#include "common/array.h"
#include "common/error.h"

#define VPROF_WAITS_TIME_MAX ((UINT64_C(1) << 62) - 1)

/* ns of a clock as a time of a history; what no clock tells becomes the nearest that is one. */
static inline uint64_t vprof_waits_time(double ns)
{
	return !(ns > 0) ? 0 : ns < (double)(VPROF_WAITS_TIME_MAX / 2) ? (uint64_t)ns : VPROF_WAITS_TIME_MAX / 2;
}

enum vprof_waits_entity_kind {
	VPROF_WAITS_THREAD,
	VPROF_WAITS_DISK,      /* ended a wait by completing a request */
	VPROF_WAITS_NETWORK,   /* ... by delivering data that came from outside */
	VPROF_WAITS_TIMER,     /* a sleep or a time-out */
	VPROF_WAITS_INTERRUPT, /* an interrupt of another or unknown kind */
	VPROF_WAITS_OUTSIDE,   /* a thread of which only its wake-ups are recorded */
	VPROF_WAITS_ENTITY_KINDS
};

enum vprof_waits_state { VPROF_WAITS_RUNNING, VPROF_WAITS_RUNNABLE, VPROF_WAITS_BLOCKED };

/* A recording may have a hundred million of them: they fill 32 bytes. */
struct vprof_waits_segment {
	uint64_t from;
	uint64_t to : 62;
	uint64_t state : 2;   /* enum vprof_waits_state */
	uint32_t waker;	      /* of a blocked one: the entity that ended it; VPROF_NONE: not known, or none did */
	uint32_t wait_stack;  /* where the thread waited; 0: not known. Numbers are the adapter's (stacks) */
	uint32_t waker_stack; /* where the waker was when it ended the wait */
	uint32_t reason;      /* for the analysis (cascade.c) */
};

struct vprof_waits_entity {
	uint8_t kind;	  /* enum vprof_waits_entity_kind */
	const char *name; /* for people: "compactor (journal.c)", "disk vda" */
	const char *role; /* the function that a thread begins in: "serve_client"; NULL: not known */
	uint32_t pid, tid;
	/* not of what was to be recorded: a device, or a thread that woke one of that, or another that did */
	uint8_t is_foreign;
	uint32_t creator; /* entity that made the thread; VPROF_NONE: not known */
	/* the thread began and ended within the recording; else begin and end of the recording */
	uint64_t born, ended;
	double bytes_per_s; /* of a network interface: its speed; 0: not known */
	VPROF_ARRAY(struct vprof_waits_segment) segments;
	/* once short-lived threads are merged (short_lived.h): */
	uint32_t n_merged;    /* of a virtual thread: the threads that it stands for; else 0 */
	uint32_t merged_into; /* + 1: the virtual thread that has its segments now; 0: none */
	uint64_t merged_running_ns, merged_runnable_ns; /* of a virtual thread: sums over its threads */
};

/* I/O that a thread gave to a device. A disk's takes until `complete`; a network interface sends n_bytes. */
struct vprof_waits_request {
	uint64_t issue, complete;
	uint64_t n_bytes;
	uint32_t device, thread; /* entities; thread VPROF_NONE: not known */
};

/* What annotations add (vprof.h): a spin wait of a thread that the scheduler saw running, or a false wake-up. */
struct vprof_waits_mark {
	uint64_t from, to; /* of a spin wait; of a false wake-up both are when the thread found it to be false */
	uint32_t thread, waker;
	uint32_t stack; /* of a spin wait: where; 0: not known */
	uint8_t is_false_wake;
};

struct vprof_waits_history {
	uint64_t begin, end; /* of the recording */
	uint32_t n_cpus;     /* that the threads could run on; 0: not known */
	VPROF_ARRAY(struct vprof_waits_entity) entities;
	VPROF_ARRAY(struct vprof_waits_request) requests;
	VPROF_ARRAY(const char *) stacks; /* texts of stacks by number, innermost function first; [0] is "" */
};

void vprof_waits_history_release(struct vprof_waits_history *history); /* not the texts */

/* OK, or INPUT when an invariant is broken; the message says which. O(segments). */
int vprof_waits_history_check(const struct vprof_waits_history *history, struct vprof_error *err);

/* Applies annotations, by rising `from`. The thread's run in which a wake-up turned out to be false becomes part of the
 * waits around it, which are one wait then, ended by what ended the second; what the thread was seen doing during a
 * spin wait becomes a wait for `waker`. Marks must be grouped by thread, each thread's by rising `from` and disjoint.
 * OK or NOMEM. */
int vprof_waits_history_mark(struct vprof_waits_history *history, const struct vprof_waits_mark *marks, size_t n_marks,
			     struct vprof_error *err);

#endif
