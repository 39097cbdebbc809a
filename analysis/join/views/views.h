/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two views of one run are put together, which know nothing of one another: knots of the wait-for graph and the
 * variance of intervals, stacks and what probes measured, tiers of requests' paths and both. Each function adds one
 * section to results that have the two already; what it computes is in analysis/join.
 *
 * The order, in analyze.c: vprof_tiers_without_probes_add() extends the timeline before critical paths are walked; the
 * others come when tree, factors and causes are there. A trace without one of the two views leaves its section empty,
 * which is no error.
 */
#ifndef VPROF_JOINED_VIEWS_H
#define VPROF_JOINED_VIEWS_H

#include "analysis/latency/history/latency_history.h"
#include "analysis/results/requests_results.h"
#include "analysis/results/results.h"
#include "analysis/source/source.h"
#include "analysis/stats/interval_attributes.h"
#include "analysis/transactions/call_paths.h"
#include "common/plan.h"
#include "trace/reader.h"

struct vprof_requests; /* analysis/requests/requests.h */

/* Where an instrumented thread waits for a reply, and the tier that replies has no probes: the recorder's transfers
 * tell who served it, from when to when. Each visit to such a tier becomes a wait of a thread that stands for it,
 * called "tier NAME" (results.h), and the thread that waited for its reply is woken by it. So critical paths go on
 * there, and the tier's time lies beneath the wait in the variance tree.
 *
 * Adds threads, their waits, and wakers to the timeline of a source whose wakes are matched. Waits whose waker is known
 * keep it; calls that are ambiguous are left out. A trace without transfers, or with some that contradict themselves,
 * gives none. OK or NOMEM. */
int vprof_tiers_without_probes_add(struct vprof_source *source, struct vprof_error *err);

/* The tiers of requests' paths, and the functions of the variance tree: fills `tiers` of r, whose factors and causes
 * are there, where several tiers work for the intervals. A trace without transfers, or with some that contradict
 * themselves, gives none. OK, NOMEM. */
int vprof_tiers_fill(struct vprof_results *r, struct vprof_source *source, int n_threads, struct vprof_error *err);

/* Knots of the wait-for graph, and the variance of intervals: fills `knots` of r, and knot and knot_part of its factors
 * and causes, from the waits of the trace; its types and nodes are there. Without anything that limits throughput
 * nothing is filled. OK, NOMEM. */
int vprof_knots_fill(struct vprof_results *r, struct vprof_source *source,
		     const struct vprof_interval_attributes *attributes, int n_threads, struct vprof_error *err);

/* Factors that nothing measured explains, and what the stacks that were taken meanwhile show beneath them: fills
 * `layers` of r, whose factors are there. events: of the same trace. OK, NOMEM. */
int vprof_layers_fill(struct vprof_results *r, const struct vprof_source *source, const struct vprof_plan *plan,
		      const struct vprof_latency_history *events, struct vprof_error *err);

/* Transaction contexts, and the stacks that a timer took of threads while they worked for their intervals: fills
 * `sampled` of the contexts of r, which are there. call_paths: with the labels that the contexts are called by; events:
 * of the same trace. OK, NOMEM. */
int vprof_samples_of_contexts_fill(struct vprof_results *r, struct vprof_source *source,
				   const struct vprof_call_paths *call_paths,
				   const struct vprof_latency_history *events, struct vprof_error *err);

struct vprof_visits_source { /* a trace of the socket history's */
	const struct vprof_trace *trace;
	const struct vprof_plan *plan; /* of its probes; NULL: it has none */
	uint32_t host;
	uint64_t start_ns; /* its start in the history's time */
};

/* The visits of requests' paths, and the functions that their threads ran: opens the visits of `to`, which describes
 * what was found, by probes where their threads have them, else by stacks where they were recorded. Of a visit whose
 * thread worked for others meanwhile, or that was passed on, only what the program itself says belongs to it
 * (marked_work.h) is taken. Traces without either, or with some that contradict themselves, open none. OK or NOMEM. */
int vprof_functions_of_visits_fill(struct vprof_requests_results *to, const struct vprof_requests *found,
				   const struct vprof_visits_source *sources, size_t n_sources,
				   struct vprof_error *err);

#endif
