/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one thread did, and what all of them did: the arrays that timeline.h fills from a trace.
 *
 * Invariants: all times are ticks. Waits are disjoint and sorted once
 * vprof_wakes_match() has run; before that they are in the order of their ends. All other arrays are in record order.
 * The first member of every timed struct is its time (VPROF_TIME_SEARCH).
 */
#ifndef VPROF_THREAD_TIMELINE_H
#define VPROF_THREAD_TIMELINE_H

#include "analysis/timeline/call_index.h"
#include "common/array.h"
#include "common/search.h"
#include "trace/reader.h"

/* A timed call of a hot function (VP_KIND_SAMPLE), one of two in its block. */
struct vprof_sampled {
	uint64_t t0, duration;
	uint64_t limit; /* what lies beyond this part of the duration stands for itself alone: so long a call is rare */
	uint32_t code, block;
	uint32_t represented; /* calls that were counted since the last timed one, it included */
	uint8_t weight;	      /* calls for which it stands; 0: itself, from its first wait on */
	uint8_t is_second;
};

/* Between t0 and t1 the thread made n calls of a hot function that were counted only. Gaps of one function are disjoint
 * and end with the thread's stretch of work (timeline_gaps.h). */
struct vprof_gap {
	uint64_t t0, t1;
	uint64_t reach; /* the latest t1 of this gap and those before it */
	uint32_t code, n;
	uint8_t is_first; /* of its stretch: begins at the function's last recorded call in it, wherever t0 lies */
};

/* A function some of whose calls were only counted: what is usual for it, over all threads (timeline_gaps.h). */
struct vprof_hot_function {
	uint32_t code;
	double limit_ticks; /* a call longer than this is rare */
	double usual_ticks; /* time in a gap for each of its calls: the weighted median */
	double sd_ticks;    /* of a timed call's duration, cut at the limit */
};

/* In a wait's flags beside VP_FLAG_*, once matched: */
#define VPROF_WAIT_READY 64u	  /* the data was there before: a slow call, no wait for another thread */
#define VPROF_WAIT_UNDECIDED 128u /* one of several threads ended it, and nothing tells which */

struct vprof_wait {
	uint64_t t0, t1;
	uint64_t object;
	uint64_t wake_t; /* within [t0, t1]; meaningful when waker != VPROF_NONE */
	uint32_t ticket;
	uint32_t waker; /* index into threads, or VPROF_NONE */
	uint32_t name;	/* index into names */
	uint8_t kind;	/* enum vp_wait */
	uint8_t flags;
	/* the wait before, in record order, was a false wake-up: vprof_wakes_match() makes one of the two */
	uint8_t goes_on;
	uint32_t seq; /* number of the object's last release that the waiter found, 0: unknown */
	/* once matched: index into the timeline's `locks`, VPROF_NONE: only its waker is known (lock_holders.h) */
	uint32_t lock;
};

/* Up to this release the thread held the object; since when is not known. */
struct vprof_lock_holder {
	uint64_t until;
	uint32_t thread;
	uint8_t is_reader;
};

/* an object that one thread holds at a time: its place in lock_holders */
struct vprof_lock_history {
	size_t first, end;
	uint32_t seq; /* number of its last release */
};

struct vprof_wake {
	uint64_t t, object;
	uint32_t before, after; /* arrivals */
	uint32_t seq;		/* see VP_KIND_WAKE */
	uint8_t kind, flags;
};

struct vprof_queue_event {
	uint64_t t, item;
	uint32_t path; /* number of the call path that led to it (vprof_thread_path), 0: not known */
	uint8_t is_dequeue;
	uint8_t is_message; /* data through a channel, not an annotation (analysis/timeline/edges/channels.h) */
};

/* SEND, RECEIVE: see trace/format.h */
struct vprof_message {
	uint64_t t, took, channel, amount;
	uint8_t is_receive;
};

/* a further channel that was ready when a poll ended */
struct vprof_ready {
	uint64_t channel;
	size_t wait; /* index in record order: before vprof_wakes_match() */
};

/* BEGIN, RESUME, SUSPEND, END: id and hash of the name. TYPE: value, and 1 when it is a hash */
struct vprof_mark {
	uint64_t t, id, name;
	uint32_t path; /* as of a queue event */
	uint8_t kind;
};

/* A RESUME for whatever the thread received (VP_ID_RECEIVED): what it may have been, and who sent it when. */
struct vprof_received {
	size_t mark;
	uint64_t t;
	uint32_t thread;
};

struct vprof_amount {
	uint64_t t, name;
	int64_t amount;
};

struct vprof_creation {
	uint64_t t, token;
	uint8_t is_process;
};

struct vprof_stack {
	uint64_t t;			 /* of the record that it belongs to */
	const struct vp_unit *addresses; /* two in each unit, innermost first; live as long as trace and timeline */
	uint32_t n;
	uint8_t kind;	   /* enum vp_stack */
	uint8_t next_kind; /* enum vp_kind of the record that it belongs to; VP_KIND_NONE: a call or none */
};

/* a call path of a thread; addresses as in struct vprof_stack */
struct vprof_call_path {
	uint32_t id, n;
	const struct vp_unit *addresses;
};

struct vprof_module {
	uint32_t process_seq;
	uint64_t low, high, bias;
	const char *path;
	unsigned n_id; /* bytes of its build id, 0: not known */
	unsigned char id[VP_BUILD_ID_MAX];
};

/* the thread was off-CPU */
struct vprof_off_cpu {
	uint64_t t0, t1;
	uint32_t by; /* index of the session's thread that ran on its CPU next, at once; VPROF_NONE: none of them */
	uint8_t is_preempted; /* it could have run; else it was blocked */
};

/* whether the thread had a CPU is not known */
struct vprof_cpu_unknown {
	uint64_t t0, t1;
};

/* records of a thread are missing between these times */
struct vprof_loss {
	uint64_t t0, t1;
};

/* one thread's timeline */
struct vprof_thread_timeline {
	uint32_t thread_seq, process_seq, pid, tid;
	uint64_t start_token; /* token of its CREATE, 0: unknown */
	uint64_t t_first, t_last;
	uint64_t t_exit; /* 0: none seen */
	struct vprof_call_index calls;
	VPROF_ARRAY(struct vprof_wait) waits;
	VPROF_ARRAY(struct vprof_wake) wakes;
	VPROF_ARRAY(struct vprof_queue_event) queue_events;
	VPROF_ARRAY(struct vprof_mark) marks;
	size_t n_begins, n_resumes;		     /* of the marks */
	VPROF_ARRAY(struct vprof_received) received; /* by mark, then what is more likely */
	VPROF_ARRAY(struct vprof_amount) amounts;
	VPROF_ARRAY(struct vprof_creation) creations;
	VPROF_ARRAY(struct vprof_stack) stacks;
	VPROF_ARRAY(struct vprof_call_path) paths; /* by id */
	VPROF_ARRAY(struct vprof_message) messages;
	VPROF_ARRAY(struct vprof_ready) ready;
	VPROF_ARRAY(struct vprof_sampled) samples; /* by t0, then code */
	VPROF_ARRAY(struct vprof_gap) gaps;	   /* by t0, then code */
	VPROF_ARRAY(struct vprof_module) modules;  /* until the timeline has all of them */
	VPROF_ARRAY(struct vprof_loss) losses;
	VPROF_ARRAY(struct vprof_off_cpu) off_cpu;	   /* disjoint, by t0; empty when !timeline->has_switches */
	VPROF_ARRAY(struct vprof_cpu_unknown) cpu_unknown; /* the same; disjoint from off_cpu */
};

struct vprof_timeline {
	const struct vprof_trace *trace;
	double ns_per_tick;
	struct vprof_thread_timeline *threads;
	size_t n_threads;
	const char **names; /* of waits: VP_CALL names first, then kinds, then annotated functions */
	size_t n_names;
	VPROF_ARRAY(struct vprof_module) modules;
	/* of a live session: codes, rising, of functions whose calls last about as long as its turns or longer, and
	   what is about as long (analysis/source/outlasting.h) */
	VPROF_ARRAY(uint32_t) outlasting;
	uint64_t outlasting_ticks;
	VPROF_ARRAY(struct vprof_lock_holder)
	lock_holders; /* by object, then time (analysis/timeline/edges/lock_holders.h) */
	VPROF_ARRAY(struct vprof_lock_history) locks;
	VPROF_ARRAY(struct vprof_hot_function) hot; /* by code */
	VPROF_ARRAY(struct vprof_loss) losses;	    /* of all threads; disjoint, by t0 (analysis/timeline/losses.h) */
	uint64_t t_first, t_last;		    /* over all threads */
	/* unclosed: calls without a record; bad: impossible times */
	uint64_t n_records, n_calls, n_sampled, n_unclosed, n_bad;
	uint64_t n_dropped_marks;
	uint64_t n_bytes_ignored; /* of records: unknown, or cut by their chunk's end */
	int has_switches;	  /* context switches were recorded: when threads were off-CPU is known */
	uint64_t n_switches, n_switches_lost;
	struct vprof_timeline_private *private;
};

#endif
