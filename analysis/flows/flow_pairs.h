/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who produced what whom consumed: the algorithm of Whodunit, section 3.2, over a recorded discovery run.
 *
 * Differences to the paper (docs/design/flows.md): a move is recognised by its value, since the compiler's callbacks
 * say what was read and written, not what became of it in registers; and nothing follows from a lock as a whole: every
 * pair of a producing and a consuming access is counted by itself and judged at the end (flow_verdict.h).
 */
#ifndef VPROF_FLOW_PAIRS_H
#define VPROF_FLOW_PAIRS_H

#include "analysis/flows/flow_trace.h"

struct vprof_flow_site { /* an access in the program */
	uint32_t process;
	uint64_t pc;	/* a return address there */
	uint64_t owner; /* the function whose section it is: one access may serve several queues */
	const struct vprof_flow_record *first;	/* a section that it lay in, the first with a flow if there is one */
	const struct vprof_flow_record *nested; /* in it the acquisition of the innermost lock beneath it; NULL: none */
};

struct vprof_flow_role {
	uint32_t thread;
	uint64_t n_produced, n_consumed; /* flows, and what the thread consumed of its own */
};

struct vprof_flow_pair {
	uint32_t producer, consumer; /* sites */
	int is_range;		     /* a copied range, not what a pointer leads to */
	int is_event;		     /* what was registered for an event, and where its handler begins to use it */
	uint64_t lock;		     /* of the first; 0: an atomic object, or an event */
	uint64_t n_flows;
	uint64_t n_allocator;	 /* taken over and only written */
	uint64_t n_own;		 /* consumed by the thread that produced it */
	uint64_t n_again;	 /* consumed before by the same thread */
	uint64_t n_again_others; /* consumed before by another one */
	uint64_t n_filled;	 /* flows of what the producer had just filled in, n_blind left out */
	uint64_t n_passed_on;	 /* flows whose consumer later produced the same, having filled it in */
	uint64_t n_blind;	 /* flows of which it is not known whether the producer had filled them in */
	uint64_t n_passed_blind; /* flows whose consumer later produced the same, and may have filled it in */
	uint64_t n_shared; /* flows of what others than the consumer had found elsewhere and used after it was produced
			    */
	uint64_t n_asked;  /* flows of which that is known */
	uint64_t asked_until; /* number of the section from which on it is not; 0: it always is */
	VPROF_ARRAY(struct vprof_flow_role) roles;
};

struct vprof_flow_event { /* one flow */
	uint32_t pair;
	uint64_t from, to; /* parts of sections */
};

struct vprof_flow_pairs {
	VPROF_ARRAY(struct vprof_flow_site) sites;
	VPROF_ARRAY(struct vprof_flow_pair) pairs;
	VPROF_ARRAY(struct vprof_flow_event) events;
	uint64_t n_reads, n_writes;
};

/* Identifies the function whose section it is, or the part of it under the lock that was taken at `nested` (NULL: the
 * whole); the same for the same function of one module. */
typedef uint64_t vprof_flow_owner_of(void *arg, const struct vprof_flow_section *section,
				     const struct vprof_flow_record *nested);

/* Zero-initialise. owner_of NULL: accesses are not told apart by their sections. NOMEM. O(accesses). Release it also
 * after an error. */
int vprof_flow_pairs_find(struct vprof_flow_pairs *p, const struct vprof_flow_trace *t, vprof_flow_owner_of *owner_of,
			  void *arg, struct vprof_error *err);
void vprof_flow_pairs_release(struct vprof_flow_pairs *p);

#endif
