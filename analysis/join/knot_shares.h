/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The join of two views, which know nothing of one another: the waits that limit throughput, and the latency of
 * intervals. For each knot, which share of the intervals' mean and variance passes through it, of all and by type; for
 * each wait of the variance tree, in which knot the threads are that it waits for.
 *
 * This is the entry to the room analysis/join. knot_times.h has each interval's times, knot_waits.h those of the tree's
 * waits, knot_locks.h and knot_parts.h their places. The other joins stand by themselves: tier_work.h (tiers and
 * functions), visit_calls.h (visits and functions), measured_calls.h (measured calls and stacks), context_samples.h
 * (contexts and stacks). views/views.h puts all of them into results.
 */
#ifndef VPROF_KNOT_SHARES_H
#define VPROF_KNOT_SHARES_H

#include "analysis/join/knot_times.h"
#include "analysis/stats/interval_attributes.h"

/* Fills `through` of the first knots of `r`, from the times of the intervals that the attributes describe; latency's
 * types are those of `of_latency` (vprof_latency_fill). Shares as those of causes (analysis/results/results.h), without
 * what recording cost taken out; bounds by a bootstrap over blocks of intervals. OK or NOMEM. */
int vprof_knot_shares_fill(struct vprof_waits_results *r, const struct vprof_knot_times *times,
			   const struct vprof_interval_attributes *attributes, const struct vprof_results *of_latency,
			   int n_threads);

/* The same for a trace by itself: of the interval with the most complete instances. Nothing is filled when there is
 * none. INPUT, NOMEM. */
int vprof_knot_shares_of_trace(struct vprof_waits_results *r, const struct vprof_waits *waits, const char *trace_dir,
			       int is_kernel, int n_threads, struct vprof_error *err);

#endif
