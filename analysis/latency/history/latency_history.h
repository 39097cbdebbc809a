/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events with system stack traces, thread by thread: the input of analysis/latency. The core knows nothing of traces;
 * input/ makes histories from them, tests write them by hand.
 *
 * A stack is a list of frames from the outermost function to the innermost, first those of the program and its
 * libraries, then those of the kernel. A frame is a function and a place in it: that of the call of the next frame, or
 * of the innermost frame's instruction. While a call goes on, its caller stays at one place.
 *
 * This is the entry to the room analysis/latency/history; transfer.h: what threads received and sent meanwhile.
 */
#ifndef VPROF_LATENCY_HISTORY_H
#define VPROF_LATENCY_HISTORY_H

#include "common/array.h"
#include "common/error.h"

#define VPROF_LATENCY_TIME_MAX (UINT64_C(1) << 62)
#define VPROF_LATENCY_DEPTH_MAX 512 /* frames of a stack */

/* A time of a trace as a history's: what a damaged one says is kept within bounds. */
static inline uint64_t vprof_latency_time(double ns)
{
	return ns <= 0 ? 0 : ns < (double)VPROF_LATENCY_TIME_MAX / 2 ? (uint64_t)ns : VPROF_LATENCY_TIME_MAX / 2;
}

enum vprof_latency_layer { VPROF_LATENCY_PROGRAM, VPROF_LATENCY_LIBRARY, VPROF_LATENCY_KERNEL };

struct vprof_latency_function {
	const char *name;
	const char *file;    /* base name of the program or library; "": the kernel, or not known */
	uint8_t layer;	     /* enum vprof_latency_layer */
	uint8_t is_start;    /* it starts the program or a thread: it is called once */
	uint8_t is_idle;     /* what sleeps in it waits for work or time (epoll_wait, accept, nanosleep); see below */
	const char *display; /* "name@source.c" of several of one name in the file; NULL: the name */
};

static inline const char *vprof_latency_function_display(const struct vprof_latency_function *f)
{
	return f->display ? f->display : f->name;
}

/* is_idle of poll and select: unless the library that has their wrappers calls these for a function of its own, as the
 * resolver does. A server waits for work itself. */
#define VPROF_LATENCY_IDLE_POLL 2
/* is_idle of what waits for a condition variable: where a thread does nothing else in what it calls again and again,
 * as those of a pool do that take work off a queue (annotated_tree.h) */
#define VPROF_LATENCY_IDLE_CONDITION 3

struct vprof_latency_frame {
	uint32_t function, place; /* place: any number; equal ones of a function are the same */
};

struct vprof_latency_stack {
	size_t first;	    /* in `frames`; outermost */
	uint32_t n, n_user; /* n >= 1; n_user of them are the program's and its libraries' */
};

/* the thread ran no code of the program since the event before: it was in the same system call, or had no CPU */
#define VPROF_LATENCY_HELD 1u
/* the kernel's frames are not of the call of the kernel that those of the event before were of */
#define VPROF_LATENCY_NEW_CALL 2u
/* the thread had no CPU since the event before */
#define VPROF_LATENCY_OFF_CPU 4u
/* ... and slept uninterruptibly, or was not asleep */
#define VPROF_LATENCY_DISK 8u
/* there were system calls since the event before that were not recorded, from wherever */
#define VPROF_LATENCY_SKIPPED 16u
/* a switch out or in is missing since the event before: for some of the time the thread may have slept */
#define VPROF_LATENCY_UNPAIRED 32u
/* a timer took it, at equal distances of the thread's time on a CPU */
#define VPROF_LATENCY_TIMER 64u
#define VPROF_LATENCY_FLAGS 128u

struct vprof_latency_event {
	uint64_t t; /* ns */
	uint32_t stack;
	uint32_t flags; /* VPROF_LATENCY_* */
};

/* One thread while it runs one program, as far as it was seen without a break: an exec makes another one of it, and so
 * does the time between two windows. */
struct vprof_latency_thread {
	const char *name;
	uint32_t pid, tid;
	uint64_t begin, end;	      /* no event lies outside */
	int begin_is_cut, end_is_cut; /* it was there before the recording, and after it */
	int is_continued;	      /* it is the same thread as the one before this */
	uint32_t end_flags;	      /* of the time after its last event, as an event there would have them */
	size_t first_event, n_events; /* in `events`, in order of t; of equal times in order */
};

/* A stretch of time in which events have stacks. */
struct vprof_latency_window {
	uint64_t begin, end; /* ns */
	uint64_t observed;   /* ns in the windows before it */
};

/* May a call of this function, having been at one place, come to the other one? At the same place: is there a loop
 * around it? Where that is not known: yes. */
typedef int vprof_latency_may_follow(void *arg, uint32_t function, uint32_t place, uint32_t next);

struct vprof_latency_history {
	uint64_t begin, end;				  /* of the recording; ns */
	VPROF_ARRAY(struct vprof_latency_window) windows; /* in order of time; none: all of the recording is one */
	vprof_latency_may_follow *may_follow; /* NULL: a call is taken to go on where it may, as in the paper */
	/* Likewise: may a call, having been at one place, have ended with a jump to the function of the next one, which
	 * then runs in its stead? NULL: none does. */
	vprof_latency_may_follow *may_become;
	void *arg; /* the first argument of both; they are called by several threads at a time */
	/* calls that may go on are taken to do so, and are unsure only where system calls were left out: as without
	 * may_follow, which then only tells which surely do not */
	int is_continuous;
	VPROF_ARRAY(struct vprof_latency_function) functions;
	VPROF_ARRAY(struct vprof_latency_frame) frames;
	VPROF_ARRAY(struct vprof_latency_stack) stacks;
	VPROF_ARRAY(struct vprof_latency_event) events;
	VPROF_ARRAY(struct vprof_latency_thread) threads;
};

/* For how much of the time from the begin of the recording to t events had stacks; ns. O(log windows). */
uint64_t vprof_latency_observed(const struct vprof_latency_history *h, uint64_t t);

/* The thread's first event at `at` ns or later; behind its last one if there is none. O(log events). */
size_t vprof_latency_event_at(const struct vprof_latency_history *h, const struct vprof_latency_thread *t, uint64_t at);

/* Appends an event; flags: VPROF_LATENCY_HELD and the others. NOMEM also for a stack of VPROF_NONE: there was no memory
 * to make it. */
int vprof_latency_event_add(struct vprof_latency_history *h, uint64_t t, uint32_t stack, uint32_t flags);

/* OK, or INPUT: an index out of range, or times out of order. */
int vprof_latency_history_check(const struct vprof_latency_history *h, struct vprof_error *err);
void vprof_latency_history_release(struct vprof_latency_history *h);

/* How many frames at the outer end of two stacks, one after the other in a thread, are of the same calls. */
struct vprof_latency_common {
	uint32_t depth;	     /* at most: all callers are at the same places, the innermost is the same function */
	uint32_t sure_depth; /* at least: of none further in it is known that it did not return and was called again */
};

/* flags: of the second one's event. O(frames), and as many calls of may_follow. */
struct vprof_latency_common vprof_latency_common_depth(const struct vprof_latency_history *h, uint32_t stack,
						       uint32_t next, uint32_t flags);

#endif
