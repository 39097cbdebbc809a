/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inferred calls of a function as intervals, as text: the answer in a sentence, then contexts by time. */
#ifndef VPROF_REPORT_INTERVAL_H
#define VPROF_REPORT_INTERVAL_H

#include "analysis/results/latency_interval_results.h"
#include "report/answer.h"
#include "report/report.h"

/* Fills *answer, which the caller initialised and releases. */
void vprof_interval_answer(const struct vprof_latency_interval *i, struct vprof_answer *answer);

/* Appends the report; of o, `top` is the number of contexts shown (0: 20). Failed memory shows in out. */
void vprof_report_interval(const struct vprof_latency_interval *i, const struct vprof_report_options *o,
			   struct vprof_text *out);

#endif
