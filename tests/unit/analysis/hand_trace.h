/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces made by hand for the tests of the analysis: one tick is one ns, and records of a thread are given in the order
 * in which its runtime would write them (calls at their ends). Everything is written to a real records.vpt. */
#ifndef HAND_TRACE_H
#define HAND_TRACE_H

#include <stdint.h>

#include "analysis/analyze.h"
#include "analysis/paths/critical_path.h"
#include "analysis/timeline/edges/wakes.h"
#include "trace/format.h"

struct hand_thread {
	uint32_t thread_seq, process_seq;
	struct vp_unit *units;
	size_t n, cap;
};

struct hand_trace {
	char dir[64];
	struct hand_thread threads[16];
	size_t n_threads;
	uint64_t end;
	int has_switches;
	const char *no_switches; /* why not */
	uint64_t n_switches_lost, n_kernel_lost;
	double record_ns, record_inside_ns; /* what the header says a record takes; 0: not known */
	uint32_t lost_chunk;		    /* each thread's chunk of this number is not written; 0: none */
	int is_unfinished;		    /* the collector died: no end in the header */
};

#define INTERVAL "request"
#define F(n) (VP_CODE_FUNCTION + (n)) /* a function's code */
#define S(n) (VP_CODE_SITE + (n))     /* a call site's code */

void hand_init(struct hand_trace *h);
void hand_release(struct hand_trace *h); /* removes the folder */
struct hand_thread *hand_thread(struct hand_trace *h, uint32_t process_seq);

void hand_units(struct hand_thread *th, const struct vp_unit *units, size_t n);
void hand_call(struct hand_thread *th, uint32_t code, uint64_t t0, uint64_t t1);
void hand_enter(struct hand_thread *th, uint32_t code, uint64_t t);
void hand_mark(struct hand_thread *th, enum vp_kind kind, uint64_t id, uint64_t t); /* of INTERVAL */
void hand_mark_of(struct hand_thread *th, enum vp_kind kind, const char *name, uint64_t id, uint64_t t);
void hand_type(struct hand_thread *th, const char *type, uint64_t t);
void hand_work(struct hand_thread *th, const char *counter, int64_t amount, uint64_t t);
void hand_wait(struct hand_thread *th, enum vp_wait kind, enum vp_call call, uint64_t object, uint32_t ticket,
	       uint64_t t0, uint64_t t1);
void hand_wake(struct hand_thread *th, enum vp_wait kind, unsigned flags, uint64_t object, uint32_t before,
	       uint32_t after, uint64_t t);
void hand_queue(struct hand_thread *th, enum vp_kind kind, uint64_t item, uint64_t t);

/* A processor's switches: its events are hand_switch and hand_switches_lost. The tid of thread n is n. */
struct hand_thread *hand_processor(struct hand_trace *h, uint32_t cpu);
void hand_switch(struct hand_thread *processor, uint64_t t, uint32_t tid, uint32_t flags);
void hand_switches_lost(struct hand_thread *processor, uint64_t t, uint64_t n);
/* The kernel's events of one CPU, encoded by vprof_kernel_event_encode(). */
struct hand_thread *hand_kernel(struct hand_trace *h, uint32_t cpu);

void hand_write(struct hand_trace *h);

/* The steps up to the paths, over a written trace. */
struct hand_steps {
	struct vprof_trace *trace;
	struct vprof_timeline *timeline;
	struct vprof_wake_counts wakes;
	struct vprof_intervals *intervals;
	struct vprof_edges *edges;
	struct vprof_path *path;
	const struct vprof_piece *pieces; /* of the last hand_walk() */
	size_t n_pieces;
};
void hand_steps(struct hand_steps *s, const struct hand_trace *h);
void hand_steps_release(struct hand_steps *s);
void hand_walk(struct hand_steps *s, uint32_t instance);
/* Is there a piece of this kind from..to on the thread, at this depth? */
int hand_has(const struct hand_steps *s, uint8_t kind, uint32_t thread, uint64_t from, uint64_t to, int depth);

/* A plan with n functions "f1".."fn" (codes F(1)..) of falling height, all broken down, and sites S(1).. "fdatasync",
 * S(2) "pthread_mutex_lock". */
struct vprof_plan *hand_plan(int n);

/* Adds f`i` as hand_plan does, in line 10 i: `as` has what differs from plan to plan (mask, context, is_root, height).
 */
void hand_plan_function(struct vprof_plan *plan, uint32_t i, struct vprof_probe as);

struct vprof_results *hand_analyze(const struct hand_trace *h, const struct vprof_plan *plan);
/* ... of at most so many intervals; 0: of all. */
struct vprof_results *hand_analyze_most(const struct hand_trace *h, const struct vprof_plan *plan, size_t most);

/* First node with this name and parent (VPROF_NONE: any), NULL when there is none. */
const struct vprof_node *hand_node(const struct vprof_results *r, const char *name, uint32_t parent);
const struct vprof_factor *hand_factor(const struct vprof_results *r, const char *key);

uint64_t hand_random(uint64_t *state);

#endif
