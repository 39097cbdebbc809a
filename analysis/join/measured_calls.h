/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured calls and waits, with the stacks that the kernel took while they lasted: as a history for
 * analysis/latency/call_sums.h, in which each call is a thread of its own and its stacks begin with the function. Both
 * are on the trace's clock.
 *
 * Where the call lies in a stack: its measured callers are found on it by name, from the outermost on, then the
 * function itself. A caller that was inlined is no frame and is passed over, and so is the function, if its caller is
 * there: all that lies further in is beneath the call, then. An event whose stack shows neither is left out and
 * counted. libvprof's own frames are left out.
 */
#ifndef VPROF_MEASURED_CALLS_H
#define VPROF_MEASURED_CALLS_H

#include "analysis/latency/history/latency_history.h"
#include "analysis/timeline/timeline.h"
#include "common/plan.h"

struct vprof_measured_target {
	const char *name;
	int is_wait;	       /* waits in the primitive of this name, else calls: */
	const uint32_t *codes; /* [n_codes] of the trace */
	size_t n_codes;
	/* filled: */
	struct vprof_latency_history history; /* its texts are borrowed from the events' */
	uint64_t n_calls;		      /* recorded one by one */
	uint64_t n_outside;		      /* of these none of whose time lies where stacks were taken */
	uint64_t n_unplaced;		      /* events left out: their stack shows neither function nor caller */
};

/* events: a checked history of the same trace. The targets are to be released in any case. NOMEM. O(calls + events). */
int vprof_measured_calls_gather(struct vprof_measured_target *targets, size_t n_targets,
				const struct vprof_timeline *timeline, const struct vprof_plan *plan,
				const struct vprof_latency_history *events);
void vprof_measured_target_release(struct vprof_measured_target *target);

#endif
