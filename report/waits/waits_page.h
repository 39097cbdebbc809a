/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wait-for graph as one HTML file that needs nothing else, as page.h has it of the variance. The script in
 * report/waits_page/ lays the graph out and draws it. */
#ifndef VPROF_WAITS_PAGE_H
#define VPROF_WAITS_PAGE_H

#include "analysis/results/waits_results.h"
#include "common/error.h"
#include "common/text.h"
#include "report/answer.h"

/* What the page shows, also as a part of the report (page.h); the caller deletes it. NULL without memory. */
cJSON *vprof_waits_page_data(const struct vprof_waits_results *r, const struct vprof_page_origin *origin);

/* Appends the page. NOMEM. */
int vprof_report_waits_page(const struct vprof_waits_results *r, const struct vprof_page_origin *origin,
			    struct vprof_text *out, struct vprof_error *err);

#endif
