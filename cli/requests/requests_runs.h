/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paths of requests in recorded runs, one of each host. */
#ifndef VPROF_REQUESTS_RUNS_H
#define VPROF_REQUESTS_RUNS_H

#include "analysis/results/requests_results.h"
#include "common/error.h"

#define VPROF_REQUESTS_RUNS_MOST 64 /* hosts */

/* Fills `r`. runs[n_runs]: numbers or folders; none: the last run. With lists_requests each request is told, too. */
int vprof_requests_runs_analyse(const char *const *runs, size_t n_runs, int lists_requests,
				struct vprof_requests_results *r, struct vprof_error *err);

/* Is it, by its number or folder (NULL: the last run), a recording of sends and receives, and no run of a program with
 * probes? */
int vprof_requests_run_is_one(const char *run);

#endif
