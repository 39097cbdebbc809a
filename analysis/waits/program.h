/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A history as programs that can be run again (wait_replay.h): of each thread, what it did in order, without times.
 *
 * A wake-up is a step of the waker's program, at the place of its work where it happened; a request to a device is a
 * step of the thread that issued it. So a thread that gets further ahead wakes others earlier, and they go on earlier.
 */
#ifndef VPROF_WAITS_PROGRAM_H
#define VPROF_WAITS_PROGRAM_H

#include "analysis/waits/graph.h"

enum vprof_waits_step_kind {
	VPROF_WAITS_WORK,   /* n ns on a CPU */
	VPROF_WAITS_YIELD,  /* preempted: goes to the end of the run queue */
	VPROF_WAITS_PASS,   /* n ns of which nothing is known */
	VPROF_WAITS_WAKE,   /* ends the wait and thread that n is made of (vprof_waits_wake), which is BY_THREAD */
	VPROF_WAITS_SUBMIT, /* gives request n to its device */
	VPROF_WAITS_WAIT    /* wait n */
};

/* What replays read again and again is packed: they take as long as the memory does. */
struct vprof_waits_step {
	uint64_t kind : 3; /* enum vprof_waits_step_kind */
	uint64_t n : 61;   /* at most VPROF_WAITS_STEP_MAX */
};

#define VPROF_WAITS_STEP_MAX ((UINT64_C(1) << 61) - 1)
#define VPROF_WAITS_ENTITIES_MAX (1u << 29)

static inline uint64_t vprof_waits_wake(uint32_t wait, uint32_t thread)
{
	return (uint64_t)thread << 32 | wait;
}

enum vprof_waits_ended_by {
	VPROF_WAITS_BY_THREAD,	/* a WAKE in its waker's program */
	VPROF_WAITS_BY_REQUEST, /* a request's completion (or what was sent), and `extra_ns` more */
	VPROF_WAITS_BY_TIME	/* nothing in the history: it takes as long as it took */
};

struct vprof_waits_wait {
	uint64_t ended; /* in the recording */
	uint64_t length_ns;
	uint64_t latency_ns; /* from the wake-up to the CPU, if one is free */
	uint32_t thread;     /* entity */
	uint32_t waker;	     /* entity; VPROF_NONE: not known */
	uint32_t edge;	     /* of the graph; VPROF_NONE: none */
	uint32_t ended_by;   /* enum vprof_waits_ended_by */
};

struct vprof_waits_answer { /* a wait that is BY_REQUEST */
	uint64_t extra_ns;
	uint32_t wait;
	uint32_t next; /* of the same request, VPROF_NONE: the last */
};

struct vprof_waits_service { /* a request */
	uint32_t device;
	uint32_t first_answer; /* VPROF_NONE: nobody waited for it */
	uint32_t edge;	       /* of the graph: from who gave it to the device; VPROF_NONE: none */
	uint64_t busy_ns;      /* for how long it kept the device from the next one */
	uint64_t least_ns;     /* how long it takes at least */
};

struct vprof_waits_program {
	const struct vprof_waits_history *history;
	uint64_t end;	 /* of the part of the recording that the programs hold */
	uint32_t n_cpus; /* on which they are to run; 0: as many as they want */
	VPROF_ARRAY(struct vprof_waits_step) steps;
	size_t *first;				    /* [n entities + 1] an entity's steps */
	VPROF_ARRAY(struct vprof_waits_wait) waits; /* by thread, in its order */
	VPROF_ARRAY(struct vprof_waits_answer) answers;
	VPROF_ARRAY(struct vprof_waits_service) requests; /* in the history's order */
	uint64_t *paced_ns;				  /* [n entities] of a thread's waits: BY_TIME */
	uint64_t *answered_ns;				  /* [n entities] ... ended by a network interface */
};

/* How a thread that is runnable gets a CPU. */
enum vprof_waits_cpu_model {
	VPROF_WAITS_CPUS_SIMULATED,   /* it waits in a queue until one of n_cpus is free */
	VPROF_WAITS_CPUS_AS_RECORDED, /* after as long as it took in the recording */
	VPROF_WAITS_CPUS_NOT
};

/* Of at most max_segments segments: the begin of the recording, when it has more. The history and the graph must
 * outlive the program. OK or NOMEM; to be released in any case. O(n log n). */
int vprof_waits_program_build(struct vprof_waits_program *p, const struct vprof_waits_history *history,
			      const struct vprof_waits_graph *graph, size_t max_segments,
			      enum vprof_waits_cpu_model cpus);
void vprof_waits_program_release(struct vprof_waits_program *p);

#endif
