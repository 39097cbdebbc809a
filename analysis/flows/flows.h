/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A discovery run's answer: which functions hand what to which, and what each of these pairs is (docs/design/flows.md).
 *
 * Pairs of accesses with the same functions and verdict are told together. Sorted: flows first, then by counts.
 */
#ifndef VPROF_FLOWS_H
#define VPROF_FLOWS_H

#include "analysis/flows/flow_place.h"
#include "analysis/flows/flow_requests.h"
#include "analysis/flows/flow_verdict.h"
#include "common/arena.h"

struct vprof_flow {
	enum vprof_flow_verdict verdict;
	struct vprof_flow_place producer, consumer; /* of the pair with the most flows; of an event its handler */
	uint64_t n_items; /* handed over; several pointers that go from one section to another together are one item */
	uint64_t n_flows, n_allocator, n_own, n_again, n_again_others, n_filled, n_passed_on, n_blind, n_shared,
		n_asked; /* sums of the pairs */
	size_t n_pairs;
	int is_atomic;	    /* no lock */
	int is_event;	    /* registered for an event, used by its handler */
	int is_in_loop;	    /* an event that the function itself handles which waits for events */
	int is_by_taker;    /* it looks like a flow, but its verdict is that of most of what is taken at the place */
	int is_by_producer; /* likewise, but most of what its producer's function stores others find and use */
	int is_range;	    /* nearly all of the flows are */
	const char *reason;
};

struct vprof_flows {
	struct vprof_flow *flows;
	size_t n_flows;
	struct vprof_flow_requests requests; /* that events are about */
	uint64_t n_sections, n_unwritten, n_cut, n_nested, n_deep, n_displaced, n_enough, n_damaged, n_processes;
	struct vprof_arena arena;
};

/* Reads the folder of a discovery run. As vprof_flow_trace_open. */
int vprof_flows_find(struct vprof_flows *out, const char *folder, struct vprof_error *err);
void vprof_flows_release(struct vprof_flows *f);

#endif
