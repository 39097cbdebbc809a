/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds what the waits of intervals' own threads took, for the nodes of the variance tree that they are. */
#ifndef VPROF_KNOT_WAITS_H
#define VPROF_KNOT_WAITS_H

#include "analysis/join/knot_times.h"
#include "analysis/results/results.h"

/* Sums of waits. */
struct vprof_knot_wait_sums {
	double ticks;
	double through_ticks[VPROF_KNOT_TIMES_MAX];
};

/* The waits of one function for one object, or for any that is not 0. */
struct vprof_knot_wait_group {
	const char *name;
	int is_any;
	uint64_t object; /* 0 when is_any */
	struct vprof_knot_wait_sums sums;
};

struct vprof_knot_wait_index {
	struct vprof_knot_wait_sums queued;
	VPROF_ARRAY(struct vprof_knot_wait_group) groups; /* by name, is_any, object */
};

/* Names are those of the timeline, which must outlive the index. OK or NOMEM; to be released in any case. */
int vprof_knot_wait_index_make(struct vprof_knot_wait_index *index, const struct vprof_knot_times *times,
			       const struct vprof_timeline *timeline);
void vprof_knot_wait_index_release(struct vprof_knot_wait_index *index);

/* The waits in a function of the node's name, as it is in the code or displayed, for the node's object; all zero when
 * there are none. O(log groups). */
struct vprof_knot_wait_sums vprof_knot_waits_of_node(const struct vprof_knot_wait_index *index,
						     const struct vprof_node *n);

#endif
