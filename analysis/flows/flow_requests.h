/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where requests begin, go on and end in a program that waits for events: from what was received and sent on registered
 * descriptors during a discovery run, and from the events whose handlers did it.
 *
 * A request is what is received on a descriptor until what is sent on it before more is received; only on descriptors
 * on which the program receives first. Where both happen in handlers of different events, these events are the same
 * object's: of one registered pointer, or of a pointer that is read, at one offset, from what was registered.
 * Everything is counted, and nothing is told of requests that contradict each other.
 */
#ifndef VPROF_FLOW_REQUESTS_H
#define VPROF_FLOW_REQUESTS_H

#include <stdint.h>

#include "analysis/flows/flow_place.h"
#include "common/arena.h"
#include "common/error.h"

struct vprof_flow_places;
struct vprof_flow_trace;

#define VPROF_FLOW_STEPS 16

enum vprof_flow_step_kind { VPROF_FLOW_BEGINS, VPROF_FLOW_RESUMES, VPROF_FLOW_ENDS, VPROF_FLOW_STEP_KINDS };

struct vprof_flow_step { /* a handler of events */
	struct vprof_flow_function function;
	uint64_t n; /* events: requests that begin or end there, or that go on there */
};

struct vprof_flow_requests {
	uint64_t n_requests;	/* received, and replied to */
	uint64_t n_apart;	/* of these: received and replied to in handlers of different events */
	uint64_t n_within;	/* in that of one event */
	uint64_t n_elsewhere;	/* replied to by a thread that handled no event, or received by such a thread */
	uint64_t n_descriptors; /* on which there were requests */
	uint64_t n_unknown;	/* events in between whose handler is not known: it received and sent nothing */
	uint64_t n_idle;	/* events whose handler begins requests, and received none */
	int offset;		/* of the pointer that all events of a request lead to; -1: the registered one itself */
	int is_number;		/* it is the descriptor's number: no pointer was registered */
	unsigned library; /* the functions are handlers that VPROF_FLOW_LIBEVENT or the like was told; 0: not all */
	struct vprof_flow_step steps[VPROF_FLOW_STEP_KINDS][VPROF_FLOW_STEPS];
	size_t n_steps[VPROF_FLOW_STEP_KINDS];
	const char *open; /* why no interval follows from this; NULL: one does */
};

/* Zeroes `out`; its texts belong to the arena. NOMEM. O(events + transfers) look-ups. */
int vprof_flow_requests_find(struct vprof_flow_requests *out, const struct vprof_flow_trace *t,
			     const struct vprof_flow_places *places, struct vprof_arena *arena,
			     struct vprof_error *err);

#endif
