/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tier took how much of each request's time.
 *
 * Each moment of a request belongs to one tier: to that of the visit in which it runs while none of its calls is under
 * way, else to the call that ends last of those under way. Of a call the time that is not its visit's is transit: in
 * networks, queues and buffers; only lengths are compared, never times of two hosts. For a part of that the bytes were
 * there and nobody had read them yet: in receive queues; as much as is known. So a request's times add up to its
 * latency, and with them variance and tail can be divided over the tiers.
 */
#ifndef VPROF_REQUESTS_TIER_TIMES_H
#define VPROF_REQUESTS_TIER_TIMES_H

#include "analysis/requests/request_trees.h"
#include "analysis/requests/tiers.h"

struct vprof_tier_time {	/* of one request and tier */
	uint32_t request, tier; /* the number of tiers: transit; one more: receive queues */
	uint32_t n_visits;
	double ns;
};

struct vprof_tier_times {
	VPROF_ARRAY(struct vprof_tier_time) v; /* by request */
};

/* What of a call's transit was in receive queues: no more than that, where both ends were recorded. */
struct vprof_queued {
	uint64_t request, reply;
};
struct vprof_queued vprof_queued_of(const struct vprof_exchange *e);

/* Of all requests. OK or NOMEM; to be released in any case. O(exchanges log calls of one visit). */
int vprof_tier_times_find(struct vprof_tier_times *times, const struct vprof_exchanges *x,
			  const struct vprof_request_trees *t, const struct vprof_tiers *tiers);
void vprof_tier_times_release(struct vprof_tier_times *times);

#endif
