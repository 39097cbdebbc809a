/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inferred calls of a function as intervals: how long they take, and of which contexts that is made. */
#ifndef VPROF_LATENCY_INTERVAL_RESULTS_H
#define VPROF_LATENCY_INTERVAL_RESULTS_H

#include <cjson/cJSON.h>

#include "analysis/results/results.h"

#define VPROF_INFERRED_MIN 30 /* intervals, below which nothing is said about their variance */

struct vprof_latency_interval {
	struct vprof_results *results; /* interval, run, layers: the first one is the function itself */
	uint64_t n_calls;	       /* instances seen */
	uint64_t n_used;	       /* of these, with begin and end: all figures are of them */
	uint64_t n_cut, n_unsure; /* left out: cut by a window's or the recording's end; may be several calls each */
	uint64_t n_windows;	  /* of the recording; 0: it has none */
	uint64_t n_inlined;	  /* places at which the function was inlined beside: calls that are not seen */
	const char *file, *inlined_into; /* its program or library; "a, b": where that was. Of the results */
	double mean_low_ns, mean_high_ns, sd_low_ns, sd_high_ns; /* NaN: none is used */
};

/* Are there enough of them, and more than were left out? */
int vprof_latency_interval_is_known(const struct vprof_latency_interval *i);

/* NULL without memory; the caller deletes it. */
cJSON *vprof_latency_interval_json(const struct vprof_latency_interval *i);

#endif
