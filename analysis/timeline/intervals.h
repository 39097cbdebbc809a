/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instances of intervals and the segments of threads that worked for them.
 *
 * An instance is (name, id) from BEGIN to END (docs/design/contracts.md, "Intervals"): looked up in the recording
 * process first, then in the others, the one begun last. A segment is a stretch of a thread with one instance as its
 * label. Invariants: segments are sorted by their begin; those of one thread do not overlap; t0 <= t1.
 */
#ifndef VPROF_INTERVALS_H
#define VPROF_INTERVALS_H

#include "analysis/timeline/timeline.h"

enum vprof_instance_state {
	VPROF_INSTANCE_OPEN, /* cut by the trace's end */
	VPROF_INSTANCE_COMPLETE,
	VPROF_INSTANCE_RESTARTED, /* begun again before it ended: given up */
};

struct vprof_instance {
	uint64_t begin, end;
	uint64_t id, name; /* name: hash */
	uint64_t type;	   /* string hash or number, see type_kind */
	uint32_t begin_thread, end_thread;
	uint32_t process_seq;
	uint32_t first_segment, n_segments; /* into by_instance */
	uint32_t older;			    /* next open instance with the same (name, id) in another process */
	uint8_t state, ambiguous;
	uint8_t type_kind; /* 0: none, 1: number, 2: string */
	uint8_t is_lossy;  /* records were lost that it may need (analysis/timeline/losses.h) */
};

struct vprof_segment {
	uint64_t t0, t1;
	uint64_t t_again; /* the last RESUME of the instance within it, 0: none */
	uint32_t thread, instance;
	/* call paths (struct vprof_call_path) of the marks that began it, and that ended it: of the thread, 0: unknown,
	   or the thread turned to another instance */
	uint32_t begin_path, end_path;
};

struct vprof_interval_name {
	uint64_t name;
	uint64_t n_complete, n_open, n_restarted, n_ambiguous;
	uint64_t n_ends_only; /* END of an instance whose BEGIN came before the trace */
	uint64_t n_stray;     /* RESUME, SUSPEND or END without an open instance, of an id seen before */
};

struct vprof_intervals {
	VPROF_ARRAY(struct vprof_instance) instances; /* by begin */
	VPROF_ARRAY(struct vprof_segment) segments;   /* by t0 */
	uint32_t *by_instance;	/* [n segments] indices of segments, grouped by instance, each group by t0 */
	uint32_t *by_thread;	/* [n segments] the same, grouped by thread */
	uint32_t *thread_first; /* [n_threads + 1] */
	size_t n_threads, cap_by_instance, cap_by_thread;
	VPROF_ARRAY(struct vprof_interval_name) names;
};

int vprof_intervals_build(struct vprof_intervals **out, const struct vprof_timeline *timeline, struct vprof_error *err);
void vprof_intervals_free(struct vprof_intervals *intervals);

/* Place in by_thread of the last segment of `thread` that begins at or before t, or VPROF_NONE. O(log n). */
uint32_t vprof_intervals_segment_before(const struct vprof_intervals *intervals, uint32_t thread, uint64_t t);

/* Segment of `thread` labelled with `instance` that covers t (both ends included), or VPROF_NONE. */
uint32_t vprof_intervals_segment_of(const struct vprof_intervals *intervals, uint32_t thread, uint64_t t,
				    uint32_t instance);

#endif
