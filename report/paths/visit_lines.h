/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Visits opened into functions, as text. Internal to report/paths. */
#ifndef VPROF_VISIT_LINES_H
#define VPROF_VISIT_LINES_H

#include "analysis/results/requests_results.h"
#include "report/factor_lines.h"

/* Of each tier whose visits are opened, what they consist of in the mean. Nothing where none is. */
void vprof_visit_functions(const struct vprof_style *style, const struct vprof_requests_results *r,
			   struct vprof_text *out);

/* The visits of a listed request, below their callers, and the functions in each. */
void vprof_visit_list(const struct vprof_requests_results *r, const struct vprof_requests_one *q,
		      struct vprof_text *out);

#endif
