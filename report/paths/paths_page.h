/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paths of requests as one HTML file that needs nothing else, as page.h has it of the variance. The script in
 * report/paths_page/ draws the patterns, the tiers' response times, and requests in time. */
#ifndef VPROF_PATHS_PAGE_H
#define VPROF_PATHS_PAGE_H

#include "analysis/results/requests_results.h"
#include "common/error.h"
#include "common/text.h"
#include "report/answer.h"

/* What the page shows, also as a part of the report (page.h); the caller deletes it. NULL without memory. */
cJSON *vprof_paths_page_data(const struct vprof_requests_results *r, const struct vprof_page_origin *origin);

/* Appends the page. With all requests listed it shows some of them: the slowest, and some of all latencies. NOMEM. */
int vprof_report_paths_page(const struct vprof_requests_results *r, const struct vprof_page_origin *origin,
			    struct vprof_text *out, struct vprof_error *err);

#endif
