/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inferred calls of a function as intervals, as one HTML file that needs nothing else: how long they take, and the
 * contexts beneath them with their bounds. The script in report/interval_page/ draws it. */
#ifndef VPROF_INTERVAL_PAGE_H
#define VPROF_INTERVAL_PAGE_H

#include "analysis/results/latency_interval_results.h"
#include "common/error.h"
#include "report/answer.h"

/* What the page shows, also as a part of the report (page.h); the caller deletes it. NULL without memory. */
cJSON *vprof_interval_page_data(const struct vprof_latency_interval *i, const struct vprof_page_origin *origin);

/* Appends the page. NOMEM. */
int vprof_report_interval_page(const struct vprof_latency_interval *i, const struct vprof_page_origin *origin,
			       struct vprof_text *out, struct vprof_error *err);

#endif
