/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What calls of one function consist of: of each context beneath it, between which bounds its time in a call lies, on
 * average, and its share of the variance of the calls' latency.
 *
 * The input is a history in which each thread is one such call, from the first time at which it may have been under way
 * to the last one; the outermost frame of every stack is the function itself. If begin and end are known, there is an
 * event with that frame alone at each of them.
 *
 * Bounds of a context's time in one call: it was there at least between events that both show it, if it is sure that
 * they show the same calls. It may have been there between events of which one shows it, and wherever the program ran
 * code of its own while a caller of it was innermost: what is called and returns between two events is not seen. System
 * calls are, unless events were left out. So the bounds hold for functions that are never seen in a call, too.
 *
 * Bounds of a variance from bounds of each value: with x = mid + error, |error| <= half the width, the standard
 * deviations of x and mid differ by no more than the root mean square of the half widths (triangle inequality).
 */
#ifndef VPROF_LATENCY_CALL_SUMS_H
#define VPROF_LATENCY_CALL_SUMS_H

#include "analysis/latency/context_tree.h"

struct vprof_call_context {
	uint64_t n;			/* calls in which it was seen */
	double low_ns, high_ns;		/* mean time in a call */
	double own_low_ns, own_high_ns; /* ... of that in none of the contexts beneath it */
	double sd_low_ns, sd_high_ns;	/* standard deviation of the time in a call */
	double share_low, share_high;	/* its variance / that of the calls' latency; NaN: not known */
};

struct vprof_call_times { /* of a context in one call, ns */
	uint64_t low, high;
	uint64_t own_low, own_high; /* of that in none of the contexts beneath it */
	int is_seen;
};

/* Is told one call: of its history the thread, and the times of each node. Not 0 ends it with this error. */
typedef int vprof_call_told(void *arg, uint32_t thread, const struct vprof_call_times *times);

struct vprof_call_sums {
	const struct vprof_latency_history *history; /* the caller's */
	struct vprof_context_tree tree;		     /* node 1 is the function itself, if there are any calls */
	struct vprof_call_context *contexts;	     /* [nodes] */
	uint64_t n_calls;			     /* seen as a whole */
	uint64_t n_cut;				     /* left out: they began before what was seen, or ended after it */
};

/* Over a checked history without windows. INPUT when two stacks have different outermost functions; NOMEM; to be
 * released in any case. O(events * depth + calls * nodes). */
int vprof_call_sums_build(struct vprof_call_sums *out, const struct vprof_latency_history *calls,
			  struct vprof_error *err);
/* The same; and each call that was seen as a whole is told by itself, in the order of threads. */
int vprof_call_sums_build_each(struct vprof_call_sums *out, const struct vprof_latency_history *calls,
			       vprof_call_told *told, void *arg, struct vprof_error *err);
void vprof_call_sums_release(struct vprof_call_sums *sums);

#endif
