/* Latency of the complete intervals: distribution, and how much of the variance lies between types. */
#ifndef VPROF_LATENCY_H
#define VPROF_LATENCY_H

#include "analysis/intervals.h"
#include "analysis/results.h"

/* Fills min, max, percentiles and types of `r` from the instances at `chosen` (indices into intervals->instances);
 * mean, standard deviation and variance too. Variances n - 1; percentiles interpolate linearly between order
 * statistics (GSL). OK or NOMEM. O(n log n). */
int vprof_latency_fill(struct vprof_results *r, const struct vprof_timeline *timeline,
		       const struct vprof_intervals *intervals, const uint32_t *chosen, size_t n, struct vprof_error *err);

/* Name of a type, interned in `r`: the same pointer for the same name. NULL without memory. */
const char *vprof_latency_type_name(struct vprof_results *r, const struct vprof_timeline *timeline, uint8_t kind,
				    uint64_t type);

#endif
