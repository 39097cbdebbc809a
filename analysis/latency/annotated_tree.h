/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The performance-annotated calling context tree: of each context how often and how long it was on the stack, what of
 * that is its own time, and its longest instances (IntroPerf, sections 3.3 and 3.4.1).
 *
 * Own time, the paper's top-down normalisation: a function's time less that of the functions that it calls. The paper
 * subtracts means for each call, which is right only where each call makes one call of each child. Here times are sums:
 * the time between two events of a thread is the own time of the innermost context that was there throughout; so own
 * times add up to the threads' lives, those of a context and of all beneath it to the context's time.
 *
 * Between two events it is not known when the functions returned that were there at the first only, and when those were
 * called that were there at the second only. Hence bounds: on the stack for low_ns at least (that is the sum of the
 * conservative latencies) and high_ns at most; own time between own_low_ns, where nothing else was seen, and
 * own_high_ns, where it may have been.
 * With windows, times are sums over the windows; a context's mean is low_ns / n_begun, for all that is known of those
 * that began elsewhere is what they took in windows.
 *
 * All of that is about calls that were seen: what was called and returned between two events is own time of the others.
 *
 * A thread that waits for work is idle, which is no cost: sleeping in a function that waits for work or time, sleeping
 * at one place for four fifths of its life, or waiting for a condition variable in what it calls again and again for
 * nothing else (four fifths of that time at least, and no other system call), as the threads of a pool do. An
 * uninterruptible sleep (a disk) never is. Where a switch is missing, time in such a function is idle, too, but only
 * perhaps.
 */
#ifndef VPROF_LATENCY_ANNOTATED_TREE_H
#define VPROF_LATENCY_ANNOTATED_TREE_H

#include "analysis/latency/inference.h"

#define VPROF_LATENCY_BLOCKS 16u
#define VPROF_LATENCY_KEPT 16u

struct vprof_latency_context { /* of a node of the tree */
	uint64_t n;	       /* instances seen; short ones between two events are not */
	uint64_t n_begun;      /* ... whose begin was seen: each call begins once, in a window or between two */
	uint64_t n_cut;	       /* ... that were there before the recording, or after it */
	uint64_t n_unsure;     /* further instances that these may be in truth */
	uint64_t low_ns, high_ns;
	uint64_t aggressive_ns; /* sums over instances: of the paper's aggressive latencies */
	uint64_t longest_ns;	/* ... of the most that each may have lasted */
	uint64_t own_ns, own_low_ns, own_high_ns;
	double likely_ns;	     /* own time as it likely was */
	uint64_t own_off_ns;	     /* of own_ns, without a CPU */
	uint64_t own_sleep_ns;	     /* ... asleep interruptibly, or perhaps */
	uint64_t own_idle_ns;	     /* ... asleep until there is work, or perhaps: see above */
	uint64_t own_unpaired_ns;    /* of own_sleep_ns, what is perhaps: a switch is missing */
	uint64_t slowest_ns;	     /* of one instance: conservative */
	uint64_t slowest_longest_ns; /* ... and at most */
};

struct vprof_annotated_tree {
	const struct vprof_latency_history *history; /* the caller's */
	struct vprof_context_tree tree;
	uint32_t *nodes;			/* [frames of the history] node of each frame */
	uint32_t *paths;			/* [stacks] path of each */
	struct vprof_latency_context *contexts; /* [nodes]; the root's own time is that of which nothing is known */
	double *own_blocks;	/* [nodes * VPROF_LATENCY_BLOCKS] likely_ns in each of n_blocks equal parts of the time
				   observed, without interruptible sleep */
	uint64_t *sleep_blocks; /* ... and that sleep, but in functions that wait for work */
	uint32_t *begun_blocks; /* ... and n_begun */
	uint32_t n_blocks; /* 16, fewer with few windows: two parts of one window are no independent samples of the rest
			    */
	uint64_t observed_ns;				 /* of the recording: in windows */
	VPROF_ARRAY(struct vprof_latency_gap) gaps;	 /* all of them; equal ones may be several */
	VPROF_ARRAY(struct vprof_latency_instance) kept; /* the slowest of each node, by node, slowest first */
	size_t *first_kept;				 /* [nodes + 1] in `kept` */
	uint64_t n_instances;
	uint64_t total_ns;  /* of all threads' lives in the recording */
	uint64_t idle_ns;   /* ... asleep until there was work, or perhaps */
	uint64_t unsure_ns; /* ... in which a function may have returned and been called anew */
};

/* Algorithms 1 and 2 over a checked history. n_threads 0: one for each CPU; the result does not depend on it. NOMEM; to
 * be released in any case. O(events), and O(depth) for each pair of stacks that follow one another. */
int vprof_annotated_tree_build(struct vprof_annotated_tree *out, const struct vprof_latency_history *h, int n_threads,
			       struct vprof_error *err);
void vprof_annotated_tree_release(struct vprof_annotated_tree *tree);

/* Instances of the functions of this name; of calls within one another only the outermost count. blocks[n_blocks], or
 * NULL: those that began in each part of the time observed. */
uint64_t vprof_annotated_calls(const struct vprof_annotated_tree *t, const char *name, double *blocks);

/* The node's function; NULL: the root. */
const struct vprof_latency_function *vprof_annotated_function(const struct vprof_annotated_tree *t, uint32_t node);

#endif
