/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inferred latencies, of a run or of two, as one HTML file that needs nothing else, as page.h has it of the variance:
 * paths, flame graphs, heat map, single calls. The script in report/latency_page/ draws them. */
#ifndef VPROF_LATENCY_PAGE_H
#define VPROF_LATENCY_PAGE_H

#include "analysis/results/latency_results.h"
#include "common/error.h"
#include "common/text.h"
#include "report/answer.h"

/* What the page shows, also as a part of the report (page.h); the caller deletes it. NULL without memory. */
cJSON *vprof_latency_page_data(const struct vprof_latency_results *r, const struct vprof_page_origin *origin);

/* Appends the page. NOMEM. */
int vprof_report_latency_page(const struct vprof_latency_results *r, const struct vprof_page_origin *origin,
			      struct vprof_text *out, struct vprof_error *err);

#endif
