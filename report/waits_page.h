/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wait-for graph as one HTML file that needs nothing else, as page.h has it of the variance. The script in
 * report/waits_page/ lays the graph out and draws it. */
#ifndef VPROF_WAITS_PAGE_H
#define VPROF_WAITS_PAGE_H

#include "analysis/results/waits_results.h"
#include "common/error.h"
#include "common/text.h"

struct vprof_waits_page {
	const struct vprof_waits_results *results;
	const char *title;    /* whose run: the project's folder, or the run's */
	const char *version;  /* of vprof */
	const char *run_date; /* "2026-11-21 08:30"; "" when not known */
};

/* Appends the page. NOMEM. */
int vprof_report_waits_page(const struct vprof_waits_page *p, struct vprof_text *out, struct vprof_error *err);

#endif
