/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paths of requests as text: the answer first, then tiers, patterns, and how links were decided. */
#ifndef VPROF_REPORT_PATHS_H
#define VPROF_REPORT_PATHS_H

#include "analysis/results/requests_results.h"
#include "analysis/results/results.h"
#include "report/report.h"

/* Appends the report; of o, `top` is the number of patterns shown (0: 10). of_run: what the variance tree says of the
 * same run, whose causes are told by tier; NULL: nothing. Failed memory shows in out. */
void vprof_report_paths(const struct vprof_requests_results *r, const struct vprof_results *of_run,
			const struct vprof_report_options *o, struct vprof_text *out);

/* Each request by itself, one line for each; with opens_visits followed by its visits and what their threads ran. */
void vprof_report_paths_list(const struct vprof_requests_results *r, int opens_visits, struct vprof_text *out);

#endif
