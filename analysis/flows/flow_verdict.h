/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a pair of accesses is, from all that a run did with it: a flow of work, or one of the patterns that look alike
 * (Whodunit, section 3.4). */
#ifndef VPROF_FLOW_VERDICT_H
#define VPROF_FLOW_VERDICT_H

#include "analysis/flows/flow_pairs.h"

enum vprof_flow_verdict {
	VPROF_FLOW_FLOW,      /* work is handed over */
	VPROF_FLOW_EVENTS,    /* a thread handles events that it registered itself */
	VPROF_FLOW_ALLOCATOR, /* memory is: its content is not read */
	VPROF_FLOW_STATE,     /* the same is taken over again and again: a cache, a table */
	VPROF_FLOW_ROLES,     /* whoever produces consumes as well */
	VPROF_FLOW_UNDECIDED, /* constructed objects come back, or work that was filled in unseen; or all share it; or
				 too little of it was watched */
	VPROF_FLOW_FEW,	      /* too few to tell */
};

#define VPROF_FLOW_FEWEST 10u	      /* flows */
#define VPROF_FLOW_FEWEST_WATCHED 40u /* of which it is known whether they were filled in, where it is not of all */
#define VPROF_FLOW_ALLOCATED 0.20     /* share of what is only written */
#define VPROF_FLOW_SHARED_AGAIN 0.10  /* consumed again by others, of the flows */
#define VPROF_FLOW_MIXED 0.50	      /* flows from threads that consume there, too */
#define VPROF_FLOW_SHARED 0.50	      /* flows of what others find elsewhere and use meanwhile */

/* Most of the flows are of what others than the consumer use as well, as far as that is known. */
int vprof_flow_is_shared(uint64_t n_asked, uint64_t n_shared);
/* Of enough flows it is known whether their producer had filled in what was handed over. */
int vprof_flow_is_watched(uint64_t n_flows, uint64_t n_blind);
enum vprof_flow_verdict vprof_flow_judge(const struct vprof_flow_pair *pair);
/* "flow", "allocator" ... */
const char *vprof_flow_verdict_name(enum vprof_flow_verdict verdict);

#endif
