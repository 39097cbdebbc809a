/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulated machine: processes, threads, a scheduler, and what it knows to be true of every moment.
 *
 * Time is a count of ticks. Every time a thread goes on, at least one tick has passed since any thread did anything, so
 * what two threads do never has the same time, and the order of things is known. A thread's program is plain C on a
 * stack of its own (coroutine.h) that runs until it gives up the CPU: world_work, world_park, world_spin.
 *
 * Two accounts are kept of a thread: its records, as the runtime would write them (records.h), and its moments, waits
 * and segments, from which the truth is read (truth.h). The second does not depend on the first, except for what was
 * recorded at all.
 */
#ifndef SIMULATE_WORLD_H
#define SIMULATE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/simulate/schedule/coroutine.h"
#include "tests/simulate/schedule/coverage.h"
#include "trace/format.h"

#define SIM_THREADS 24
#define SIM_PROCESSES 3
#define SIM_FORKS 8 /* further processes: forked ones, and programs that these execute */
#define SIM_PROCESSORS 3
#define SIM_NEVER UINT64_MAX
#define SIM_TICK_PARTS 64
#define SIM_WINDOWS 4
#define SIM_CODES 96 /* of functions below half of it, then those of sites */
#define SIM_HOT 2    /* functions that may be called too often to record each call */
#define SIM_HOT_CODE(i) (VP_CODE_FUNCTION + 33 + (uint32_t)(i)) /* the first calls the second */

struct sim_thread;
struct sim_instance;
struct sim_segment;

/* Something that woke others. */
struct sim_release {
	struct sim_thread *by;
	uint64_t stamp; /* when the runtime took the time, 0: not yet */
	bool is_recorded;
};

/* A thread's hold of an object that one thread, or several readers, have at a time: until it releases it. */
struct sim_hold {
	struct sim_hold *older; /* the previous holder's */
	const struct sim_release *release;
	bool reads;
	bool counts; /* truth.c */
};

/* of one object */
struct sim_holds {
	struct sim_hold *newest;
	struct sim_holds *next; /* another object's */
};

struct sim_wait {
	uint64_t t0, t1;
	const void *object;	       /* what it is, whatever its address */
	const char *name;	       /* as the report calls it */
	struct sim_release *release;   /* NULL: nobody ended it */
	const struct sim_holds *holds; /* of the object; NULL: it is not held by one thread at a time */
	uint32_t outer;		       /* index + 1 of the wait around it */
	uint8_t kind;
	bool is_recorded, is_joined; /* joined: across a false wake-up */
	bool timed_out, is_unmapped; /* let go: of futexes only, perhaps not back yet */
	bool is_shifted;	     /* lost releases may have been shifted from wait to wait up to it */
};

struct sim_frame {	 /* a measured call */
	uint32_t parent; /* index + 1 */
	uint32_t code;
	uint64_t t0, t1;
	bool is_recorded;
	/* hot.h */
	bool is_skipped, is_unskipped; /* recorded from its first wait on */
	bool is_paused;		       /* skipped between two windows: recorded if it lasts into the next one */
	bool is_unseen;		       /* within a skipped call */
	bool is_second;		       /* of the two that were chosen of a block */
	uint32_t weight;	       /* sampled: stands for this many calls ... */
	uint64_t stands_until;	       /* ... up to here */
	uint32_t block, represented;
	uint64_t seen_from; /* on record from here on */
};

/* Intervals that begin in it have all their calls recorded; calls are, up to closed_at. */
struct sim_window {
	uint64_t from, to, closed_at;
};

/* From t on the thread is on a CPU whose clock is ahead by this much. */
struct sim_clock {
	uint64_t t, offset;
};

/* One thread's calls of one hot function in a stretch of work. */
struct sim_hot {
	uint64_t stretch, since;
	uint32_t n, left;	      /* calls before, calls up to the next decision */
	uint32_t size, first, second; /* of the block and those chosen; size 0: all are recorded */
	uint32_t block, n_skipped;    /* n_skipped: since the last one chosen */
};

/* What a thread does from t on. */
struct sim_moment {
	uint64_t t;
	uint32_t frame, wait;	   /* index + 1, 0: none */
	bool is_preempted, is_off; /* off: off-CPU, and could not have run */
};

/* Work for an interval on its way from thread to thread: an item of a queue, a message. */
struct sim_work {
	struct sim_instance *instance; /* NULL: of none */
	struct sim_thread *by;
	uint64_t t, t_taken;	     /* when it was handed over, and taken */
	struct sim_segment *segment; /* in which it was; NULL: by a thread that worked for no interval then */
	struct sim_work *before;     /* ... but had taken this up itself */
	uint64_t item;
	bool is_message, is_recorded;
};

/* A stretch of a thread that works for one interval. */
struct sim_segment {
	struct sim_thread *th;
	struct sim_instance *instance; /* NULL: one that began before the trace did */
	uint64_t from, to;	       /* to: SIM_NEVER while it lasts */
	struct sim_work *cause;	       /* what the thread took up; NULL: nothing says */
	bool is_inside;		       /* ... after it had begun to work for the interval */
	struct sim_segment *older;     /* of the instance */
};

struct sim_instance {
	uint64_t id, name, begin, end;
	uint32_t process;
	struct sim_thread *ended_by;
	struct sim_work *end_cause; /* END on a thread without the label: what that had taken up */
	struct sim_segment *end_segment;
	struct sim_segment *segments; /* the one begun last first */
	struct sim_instance *older;
	bool is_complete, is_restarted, is_before_trace, is_reused, is_end_lost;
	bool is_figured, is_apart; /* known.h; apart: has another name where its figures must not count */
	int n_active;		   /* hand-overs and threads that have not finished with it */
};

/* BEGIN, END, RESUME and SUSPEND of an interval. */
struct sim_mark {
	size_t unit; /* the record's first */
	const struct sim_instance *instance;
};

/* Records of a thread are missing between these times. */
struct sim_gap {
	const struct sim_thread *th;
	uint64_t from, to;
	bool is_told; /* by a record after it */
};

struct sim_thread {
	struct world *world;
	struct coroutine coroutine;
	void (*program)(struct sim_thread *th);
	void *arg;
	uint32_t seq, process; /* from 1 */
	uint32_t tid, pid;     /* kept over exec */
	uint64_t ready_at;     /* SIM_NEVER: parked */
	bool is_woken, is_over;
	uint64_t on_since; /* when it was given a CPU */
	/* truth */
	struct sim_frame *frames;
	size_t n_frames, cap_frames;
	struct sim_wait *waits;
	size_t n_waits, cap_waits;
	struct sim_moment *moments;
	size_t n_moments, cap_moments;
	struct sim_segment **segments;
	size_t n_segments, cap_segments;
	uint32_t frame, wait;
	bool is_preempted, is_off;
	struct sim_segment *segment; /* that lasts, NULL: works for no interval */
	/* records */
	struct vp_unit *units;
	size_t n_units, cap_units;
	struct sim_mark *marks; /* which of the units are whose */
	size_t n_marks, cap_marks;
	uint64_t t_first, t_last; /* of its records */
	uint64_t n_lost;	  /* records not written since the last one that was */
	uint64_t lose_from, lose_to;
	bool is_broken;	    /* a root frame lost its begin or its end: its other frames may be taken for it */
	uint64_t *received; /* when it got something from a channel, as recorded */
	size_t n_received, cap_received;
	uint64_t *enqueued; /* when it put something into an annotated queue, as recorded */
	size_t n_enqueued, cap_enqueued;
	struct sim_clock *clocks;
	size_t n_clocks, cap_clocks;
	struct sim_hot hot[SIM_HOT];
	uint64_t stretch;
	bool records_all, is_working; /* until the next mark: whatever the window is; for an interval */
	uint64_t seen_in[SIM_CODES];  /* stretch of each function's last call that was recorded */
	uint32_t chosen, skipped;     /* frame (index + 1) within which all, or no, calls are recorded */
	uint64_t handle;	      /* its pthread_t */
	uint64_t start_token;
	/* the program */
	unsigned lock_top; /* locks are taken in order */
	int depth;
	struct sim_release *exit;
	struct sim_thread *joiner;
};

struct world {
	uint64_t seed, random, now;
	uint64_t random_apart; /* for what was added to schedules later: the others stay what they were */
	double ns_per_tick;
	uint64_t record_from; /* what is written before is not kept */
	uint64_t stop_at;     /* programs begin nothing new */
	uint64_t end_at;      /* everything stops at this time */
	struct coroutine scheduler;
	struct sim_thread *threads[SIM_THREADS];
	size_t n_threads;
	struct sim_thread *current;
	uint32_t n_processes;
	bool with_switches, with_losses, with_preemption;
	bool shares_ids; /* processes give the same ids to different intervals */
	struct sim_window windows[SIM_WINDOWS];
	size_t n_windows; /* 0: calls are recorded throughout */
	bool has_windows;
	bool with_hot;
	uint32_t hot_after;  /* calls of a stretch that are all recorded */
	bool has_many_hot;   /* more than a thousand timed ones */
	uint64_t hot_ticks;  /* between calls, at most, when they are to be sampled */
	bool stands_for_all; /* no chosen call was so long that it does not stand for others */
	uint32_t lag_percent;
	struct vp_unit *switches[SIM_PROCESSORS];
	size_t n_switches[SIM_PROCESSORS], cap_switches[SIM_PROCESSORS];
	uint64_t lose_switches_from[SIM_PROCESSORS], lose_switches_to[SIM_PROCESSORS], n_switches_lost[SIM_PROCESSORS];
	struct sim_gap *switch_gaps; /* th: NULL */
	size_t n_switch_gaps, cap_switch_gaps;
	uint64_t n_lost;
	struct sim_gap *gaps;
	size_t n_gaps, cap_gaps;
	uint64_t next_token, next_handle, next_id, next_item;
	uint64_t next_id_of[SIM_PROCESSES + SIM_FORKS];
	bool with_offsets; /* between the CPUs' clocks: of parts of a tick, SIM_TICK_PARTS each */
	uint64_t clock_offsets[SIM_PROCESSORS];
	bool with_forks;
	uint32_t n_forked;
	uint32_t parent_of[SIM_PROCESSES + SIM_FORKS]; /* 0: none known */
	uint32_t maps_as[SIM_PROCESSES + SIM_FORKS];   /* process whose addresses of shared memory it has */
	struct sim_instance *instances;		       /* the one begun last first */
	struct sim_holds *holds;
	struct sim_scene *scene; /* objects and queues that programs use */
	struct sim_chunk *arena;
	uint64_t *coverage;
	int is_verbose;
};

/* A world without threads. `coverage` is added to. */
struct world *world_new(uint64_t seed, uint64_t *coverage);
void world_free(struct world *w);
struct sim_thread *world_thread(struct world *w, uint32_t process, void (*program)(struct sim_thread *), void *arg);
void world_run(struct world *w);

void *world_alloc(struct world *w, size_t n); /* zeroed; lives as long as the world */
uint64_t world_random(struct world *w);
uint64_t world_below(struct world *w, uint64_t n);
bool world_chance(struct world *w, uint32_t percent);
uint64_t world_below_apart(struct world *w, uint64_t n);
bool world_chance_apart(struct world *w, uint32_t percent);

/* Called by the running thread. */
void world_work(struct sim_thread *th, uint64_t ticks); /* may be preempted meanwhile */
void world_lag(struct sim_thread *th);			/* between two steps that look like one: seldom some ticks */
bool world_park(struct sim_thread *th, uint64_t until); /* false: `until` came */
bool world_spin(struct sim_thread *th, uint64_t until); /* the same, but the CPU is kept */
void world_wake(struct sim_thread *th);			/* a parked thread continues, at some time */

/* The truth about what the thread does from now on. */
void world_moment(struct sim_thread *th); /* something changes that the functions below do not know of */
void world_enter(struct sim_thread *th, uint32_t code);
struct sim_frame *world_leave(struct sim_thread *th);
uint32_t world_wait_begin(struct sim_thread *th, uint8_t kind, const void *object, const char *name); /* index + 1 */
void world_wait_end(struct sim_thread *th, uint32_t wait, struct sim_release *release, bool is_recorded);
/* The wait before was a false wake-up: it, what was done since, and this one are one wait. */
void world_wait_join(struct sim_thread *th, uint32_t before, uint32_t wait);

/* The release ends a turn at the object, from now on. */
void world_hold_end(struct world *w, struct sim_holds **holds, const struct sim_release *release, bool reads);

struct sim_release *sim_release_new(struct sim_thread *by);
void sim_release_stamp(struct sim_release *r); /* now */

#define COVER(w, what) ((w)->coverage[COVER_##what]++)

void *sim_grow(void *v, size_t n, size_t *cap, size_t size); /* room for one more, zeroed by the caller */

#endif
