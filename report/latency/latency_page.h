/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inferred latencies, of a run or of two, as one HTML file that needs nothing else, as page.h has it of the variance:
 * paths, flame graphs, heat map, single calls. The script in report/latency_page/ draws them. */
#ifndef VPROF_LATENCY_PAGE_H
#define VPROF_LATENCY_PAGE_H

#include "analysis/results/latency_results.h"
#include "common/error.h"
#include "common/text.h"

struct vprof_latency_page {
	const struct vprof_latency_results *results;
	const char *title;    /* whose run: the project's folder, or the run's */
	const char *version;  /* of vprof */
	const char *run_date; /* "2026-11-21 08:30"; "" when not known */
};

/* Appends the page. NOMEM. */
int vprof_report_latency_page(const struct vprof_latency_page *p, struct vprof_text *out, struct vprof_error *err);

#endif
