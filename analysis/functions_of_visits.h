/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two views are put together: the visits of requests' paths, and the functions that their threads ran. */
#ifndef VPROF_FUNCTIONS_OF_VISITS_H
#define VPROF_FUNCTIONS_OF_VISITS_H

#include "analysis/requests/requests.h"
#include "analysis/results/requests_results.h"
#include "common/plan.h"
#include "trace/reader.h"

struct vprof_visits_source { /* a trace of the socket history's */
	const struct vprof_trace *trace;
	const struct vprof_plan *plan; /* of its probes; NULL: it has none */
	uint32_t host;
	uint64_t start_ns; /* its start in the history's time */
};

/* Opens the visits of `to`, which describes what was found: by probes where their threads have them, else by stacks
 * where they were recorded. Of a visit whose thread worked for others meanwhile, or that was passed on, only what the
 * program itself says belongs to it (marked_work.h) is taken. Traces without either, or with some that contradict
 * themselves, open none. OK or NOMEM. */
int vprof_functions_of_visits_fill(struct vprof_requests_results *to, const struct vprof_requests *found,
				   const struct vprof_visits_source *sources, size_t n_sources,
				   struct vprof_error *err);

#endif
