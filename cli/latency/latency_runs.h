/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inferred latencies of a run's trace, or of two to be compared, as results. */
#ifndef VPROF_LATENCY_RUNS_H
#define VPROF_LATENCY_RUNS_H

#include "analysis/results/latency_results.h"
#include "cli/run_page.h"
#include "common/error.h"

/* traces: folders of base (NULL: none) and new; runs: their names. per: the function for whose calls the costs are
 * told; NULL: a second of the recording. INPUT when a trace has no stacks, or `per` is not in it. */
int vprof_latency_runs(struct vprof_latency_results *r, const char *const traces[2], const char *const runs[2],
		       const char *per, struct vprof_error *err);

/* Text, JSON or a page (latency.html), whose file's path is printed. interval: what vprof_latency_interval_json() says
 * of the run's interval, becomes a part of the JSON; NULL: it has none. folder: of the new run. *status: the exit
 * status of what the results say. */
int vprof_latency_runs_tell(const struct vprof_latency_results *r, const cJSON *interval,
			    const struct vprof_view_form *form, const char *folder, int *status,
			    struct vprof_error *err);

#endif
