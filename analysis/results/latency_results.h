/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long functions took, inferred from stacks: what analysis/latency found in a run, or in two, for reports. Times
 * are ns; those of instances count from the recording's begin. JSON: docs/results.md, "Latencies".
 */
#ifndef VPROF_LATENCY_RESULTS_H
#define VPROF_LATENCY_RESULTS_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash/string_set.h"

#define VPROF_LATENCY_NONE UINT32_MAX

enum vprof_latency_results_layer {
	VPROF_LATENCY_RESULTS_PROGRAM,
	VPROF_LATENCY_RESULTS_LIBRARY,
	VPROF_LATENCY_RESULTS_KERNEL,
	VPROF_LATENCY_RESULTS_LAYERS
};

struct vprof_latency_name { /* a function */
	const char *name, *file;
	enum vprof_latency_results_layer layer;
};

struct vprof_latency_figures { /* of a context in one run */
	int is_there;
	double calls_low, calls_high; /* calls in all of the recording, with windows with their 95 % interval */
	double n, n_cut, n_unsure;    /* instances; of them cut by the recording's ends; further ones they may be */
	double low_ns, high_ns;	      /* on the stack, of the instances seen */
	double own_ns, own_low_ns, own_high_ns, own_off_ns, own_idle_ns, own_likely_ns;
	double call_low_ns, call_high_ns; /* mean of an instance; NaN: not known */
	double slowest_low_ns, slowest_high_ns;
};

struct vprof_latency_node {
	uint32_t parent;		      /* VPROF_LATENCY_NONE: outermost */
	uint32_t function;		      /* in names */
	struct vprof_latency_figures side[2]; /* base, new */
};

enum vprof_latency_path_verdict {
	VPROF_LATENCY_PATH_SETTLED,   /* the bounds tell, and of two runs it is more than varies within them */
	VPROF_LATENCY_PATH_UNBOUNDED, /* the bounds are too wide */
	VPROF_LATENCY_PATH_VARIES,    /* of two runs: it varies as much within them, or is small */
	VPROF_LATENCY_PATH_VERDICTS
};

struct vprof_latency_step { /* a context of a path */
	uint32_t context;   /* in nodes */
	uint32_t rank;	    /* by cost among those of the path */
	double cost_ns;	    /* own time per unit; of two runs: the difference */
};

struct vprof_latency_part { /* of two runs: of a path's difference a fifth or more */
	uint32_t context;   /* in nodes */
	double cost_ns;	    /* with all beneath */
};

struct vprof_latency_path_result {
	double cost_ns, low_ns, high_ns; /* per unit */
	double least_ns; /* cost_ns less its errors within and between the runs, with 95 % probability */
	uint64_t n_own;	 /* cost_ns is of the context at the end of so many steps, ... */
	int is_own;	 /* ... alone, or with all that it calls */
	double share;	 /* of all cost (of new) that is no idle time */
	double error_ns; /* NaN: one run */
	uint64_t
		n_whole; /* 0, or low and high are of the context at the end of so many steps, with all that it calls */
	enum vprof_latency_path_verdict verdict;
	struct vprof_latency_step *steps; /* outermost first */
	size_t n_steps;
	struct vprof_latency_part *parts; /* beneath the context whose difference it is */
	size_t n_parts;
};

struct vprof_latency_call { /* an instance of a context in the new run; its latency is between last - first and after -
			       before */
	uint32_t context, thread; /* in nodes, in threads */
	double before_ns, first_ns, last_ns, after_ns;
	int is_cut;
	uint64_t n_unsure;
};

#define VPROF_LATENCY_RECEIPTS_MIN 30 /* seen in each run: fewer are no measure of work */

struct vprof_latency_side { /* a run */
	const char *run;
	double duration_ns, observed_ns; /* of the recording; of that in windows in which stacks were taken */
	uint64_t n_windows;		 /* 0: always */
	uint64_t n_events, n_lost, n_without, n_cut, n_unpaired, n_threads, n_instances, n_contexts;
	uint64_t n_frames, n_unnamed; /* of all stacks */
	double total_ns, idle_ns, unsure_ns;
	double n_units;	     /* seconds, or calls */
	double n_few;	     /* receipts of requests that were seen, if they are too few to be the unit; else 0 */
	const char *missing; /* what was not recorded, and what to do; "" */
	uint64_t n_kernel_only, n_deep, n_long, n_untabled,
		n_gone; /* why: of n_without the first, of n_cut the others */
};

struct vprof_latency_results {
	int is_comparison;
	const char *unit; /* "s", or the function for whose calls the runs are compared */
	const char
		*unit_path; /* of the calls that receive requests, as "main > read_request > sys_recvfrom"; "": none */
	double ratio;  /* of two runs: so many times as much all functions alike cost in new; base's costs are times
			   that */
	double spread; /* how far contexts stray from it, as a standard deviation of logarithms */
	struct vprof_latency_side sides[2]; /* base, new; a run alone is new */
	struct vprof_latency_name *names;
	size_t n_names;
	struct vprof_latency_node *nodes; /* parents first; those that matter */
	size_t n_nodes;
	struct vprof_latency_path_result *paths; /* by rank */
	size_t n_paths;
	struct vprof_latency_call *calls; /* the slowest of contexts on the first paths */
	size_t n_calls;
	const char **threads;
	size_t n_threads;
	struct vprof_strings strings;
};

struct vprof_latency_results *vprof_latency_results_new(void);
void vprof_latency_results_free(struct vprof_latency_results *r); /* NULL is fine */

/* As JSON; NULL without memory. The caller deletes it. */
cJSON *vprof_latency_results_json(const struct vprof_latency_results *r);

extern const char *const vprof_latency_layer_names[VPROF_LATENCY_RESULTS_LAYERS];
extern const char *const vprof_latency_verdict_names[VPROF_LATENCY_PATH_VERDICTS];

#endif
