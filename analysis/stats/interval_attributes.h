/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of every interval besides its path: latency, type, amounts of work.
 *
 * This is the entry to the room analysis/stats: figures of the intervals as a whole, without the variance tree. It
 * takes the chosen intervals of the sources (source.h) and fills sections of the results: latency.h (mean, variance,
 * percentiles, types), latency_shape.h (histogram, periods), compare.h (two runs). moments.h and bootstrap.h are the
 * estimators, for all rooms (docs/design/statistics.md).
 *
 * Arrays are by place: attributes of place i are those of interval i of the variance tree (source.h). The intervals of
 * a source are in order of their start.
 */
#ifndef VPROF_INTERVAL_ATTRIBUTES_H
#define VPROF_INTERVAL_ATTRIBUTES_H

#include "analysis/results/results.h"
#include "analysis/source/source.h"

#define VPROF_COUNTERS_MAX 8

/* one of the types that occur */
struct vprof_interval_type {
	uint64_t type;
	uint8_t kind; /* as in struct vprof_instance */
	const char *name;
	uint32_t same; /* the first one with this name */
};

struct vprof_interval_attributes {
	size_t n;
	double *ns;	   /* [n] latencies */
	double *at_ns;	   /* [n] when they began, since the start of the first trace */
	size_t n_runs;	   /* traces that have intervals */
	size_t *run_first; /* [n_runs + 1] places with which they begin */
	uint32_t *slowest; /* [n] places by descending latency, equal ones by ascending place */
	/* [n] index into `types`; after vprof_latency_fill into the results' types, VPROF_NONE: none of them */
	uint32_t *type;
	VPROF_ARRAY(struct vprof_interval_type) types; /* in order of first occurrence */
	size_t n_counters;			       /* by descending number of amounts */
	uint64_t counters[VPROF_COUNTERS_MAX];	       /* hash of the name */
	const char *counter_names[VPROF_COUNTERS_MAX]; /* NULL: unknown */
	double *amounts;			       /* [n * n_counters] sums, row-major; 0: none was recorded */
	size_t cap_ns, cap_at_ns, cap_slowest, cap_type, cap_amounts; /* of these arrays, for vprof_array_free */
	uint64_t n_worked;					      /* intervals with an amount of any counter */
	uint64_t n_stray;  /* amounts recorded by threads that worked for no chosen interval */
	size_t n_left_out; /* counters beyond VPROF_COUNTERS_MAX */
};

/* Of the chosen instances of all sources. An amount counts for the interval that its thread works for at that moment.
 * Two intervals have the same type if its name is the same. Names are interned in `r`. OK or NOMEM; to be released in
 * both cases. */
int vprof_interval_attributes_gather(struct vprof_interval_attributes *attributes, const struct vprof_source *sources,
				     size_t n_sources, struct vprof_results *r);

/* Name of a type, interned in `r`: the same pointer for the same name. NULL without memory. */
const char *vprof_type_name(struct vprof_results *r, const struct vprof_timeline *timeline, uint8_t kind,
			    uint64_t type);

void vprof_interval_attributes_release(struct vprof_interval_attributes *attributes);

#endif
