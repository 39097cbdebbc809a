/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long functions took, inferred from stacks, as text: paths by what they cost, or cost more than in a base run,
 * each figure as an interval. */
#ifndef VPROF_REPORT_LATENCY_H
#define VPROF_REPORT_LATENCY_H

#include "analysis/results/latency_results.h"
#include "report/report.h"

/* Appends the report; of o, `top` is the number of paths shown (0: 10). Failed memory shows in out. */
void vprof_report_latency(const struct vprof_latency_results *r, const struct vprof_report_options *o,
			  struct vprof_text *out);

#endif
