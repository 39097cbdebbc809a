/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which waits limit throughput: what analysis/waits found, for reports. Times are ns, shares are of the recording
 * (weights, to which several threads' waits may add, can exceed 1). JSON: docs/results.md, "Waits".
 */
#ifndef VPROF_WAITS_RESULTS_H
#define VPROF_WAITS_RESULTS_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash/string_set.h"

enum vprof_waits_party_kind {
	VPROF_WAITS_PARTY_THREAD, /* or several alike */
	VPROF_WAITS_PARTY_DISK,
	VPROF_WAITS_PARTY_NETWORK,
	VPROF_WAITS_PARTY_TIMER,
	VPROF_WAITS_PARTY_INTERRUPT,
	VPROF_WAITS_PARTY_OUTSIDE,
	VPROF_WAITS_PARTY_KINDS
};

/* A vertex of the wait-for graph. */
struct vprof_waits_party {
	const char *name; /* unique */
	const char *role; /* the function that the thread begins in, or its place in a file; "": not known, or none */
	enum vprof_waits_party_kind kind;
	uint32_t n_threads;
	int is_outside; /* a thread of none of the processes to be recorded: a client, a kernel thread */
	double running_ns, runnable_ns, blocked_ns,
		unknown_ns; /* summed over its threads; unknown: blocked, waker unknown */
};

struct vprof_waits_stack {
	const char *wait, *waker; /* innermost function first, " < " between; "": not recorded */
	uint64_t n;
	double weight_ns;
};

struct vprof_waits_arc {   /* an edge: `from` waits for `to` */
	uint32_t from, to; /* parties */
	int is_idle;	   /* a device waits for requests */
	int is_sleep;	   /* for a timer or what is not recorded, while others wait for `from` */
	uint64_t n_waits;
	double own_ns, weight_ns;
	double halved, gone;		  /* throughput gained, estimated; NaN: not estimated */
	double saved;			  /* of waits for a disk: if its requests took no time, either; else NaN */
	struct vprof_waits_stack *stacks; /* by falling weight */
	size_t n_stacks;
};

enum vprof_waits_verdict {
	VPROF_WAITS_KNOT, /* its members wait for one another and nobody else: it limits throughput */
	VPROF_WAITS_SINK, /* one party that waits for nobody: its own work does */
	VPROF_WAITS_ASIDE /* in the background */
};

enum vprof_waits_ending { /* why a knot was not refined further */
			  VPROF_WAITS_ENDING_VERTEX,
			  VPROF_WAITS_ENDING_CYCLE,
			  VPROF_WAITS_ENDING_HEAVY,
			  VPROF_WAITS_ENDING_PARTS,
			  VPROF_WAITS_ENDING_BACKGROUND,
			  VPROF_WAITS_ENDINGS
};

/* Of an instrumented run: what of its intervals' time passes through a knot, because they wait for a member of it, or
 * for a thread that does (analysis/join/knot_times.h). */
struct vprof_waits_through {
	const char *type; /* "": of all intervals */
	uint64_t n;
	double mean_ns, sd_ns;	      /* of the latency */
	double through_ns;	      /* mean of what passes through the knot */
	double own_ns;		      /* ... of own work of the knot's threads, which is not in it */
	double share;		      /* Var(what passes) / Var(latency) */
	double share_low, share_high; /* 95 % confidence interval, NaN: not estimated */
	double if_constant;	      /* 1 - Var(latency - what passes) / Var(latency) */
	double if_constant_low, if_constant_high;
};

struct vprof_waits_group { /* a knot or sink */
	enum vprof_waits_verdict verdict;
	enum vprof_waits_ending ending;
	double busy_ns, runnable_ns; /* of its threads: running or runnable; runnable */
	uint32_t *parties, *arcs;
	size_t n_parties, n_arcs;
	struct vprof_waits_through *through; /* of all intervals first, then by type; none without intervals */
	size_t n_through;
};

struct vprof_waits_results {
	const char *run;
	int is_kernel; /* from the kernel's events; else from what the probes and wrappers recorded */
	double duration_ns;
	uint64_t n_events, n_lost, n_assumed, n_circular, n_threads;
	uint32_t n_cpus;  /* 0: not known */
	double threshold; /* share of the recording above which a knot's edge is not removed */
	double fidelity;  /* length of the unchanged replay, as a share of the real one; NaN: none; infinite: it came to
			     no end */
	int cpus_simulated;   /* in the replay; else a runnable thread took as long to get a CPU as it did */
	double replayed;      /* share of the recording that was replayed */
	const char *missing;  /* what was not recorded, and what to do; "" */
	const char *interval; /* whose time passes through the knots; "": the run has none */
	struct vprof_waits_party *parties;
	size_t n_parties;
	struct vprof_waits_arc *arcs; /* by from, then to */
	size_t n_arcs;
	struct vprof_waits_group *groups; /* what limits throughput first, then by falling weight */
	size_t n_groups;
	struct vprof_strings strings;
};

struct vprof_waits_results *vprof_waits_results_new(void);
void vprof_waits_results_free(struct vprof_waits_results *r); /* NULL is fine */

/* As JSON; NULL without memory. The caller deletes it. */
cJSON *vprof_waits_results_json(const struct vprof_waits_results *r);

extern const char *const vprof_waits_party_names[VPROF_WAITS_PARTY_KINDS];
extern const char *const vprof_waits_verdict_names[VPROF_WAITS_ASIDE + 1];
extern const char *const vprof_waits_ending_names[VPROF_WAITS_ENDINGS];

#endif
