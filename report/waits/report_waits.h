/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which waits limit throughput, as text: knots in words, who waits for whom, how much, what it would give. */
#ifndef VPROF_REPORT_WAITS_H
#define VPROF_REPORT_WAITS_H

#include "analysis/results/results.h"
#include "analysis/results/waits_results.h"
#include "report/report.h"

/* Appends the report; of o, `top` is the number of edges shown of each knot (0: 10). of_run: what the variance tree
 * says of the same run, which knows the locks; NULL: nothing. Failed memory shows in out. */
void vprof_report_waits(const struct vprof_waits_results *r, const struct vprof_results *of_run,
			const struct vprof_report_options *o, struct vprof_text *out);

#endif
