/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The causes of a report: an entry of some lines for each. Internal to report/. */
#ifndef VPROF_CAUSE_LINES_H
#define VPROF_CAUSE_LINES_H

#include "analysis/results/results.h"
#include "common/text.h"
#include "report/factor_lines.h"

void vprof_cause_heading(const struct vprof_style *style, struct vprof_text *out);
/* `rank` counts from 1; `chosen`: up for a decision, printed bold. The results have been checked. */
void vprof_cause_lines(const struct vprof_style *style, const struct vprof_results *r, size_t rank, int chosen,
		       struct vprof_text *out);

#endif
