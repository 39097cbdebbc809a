/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What text and page of the paths of requests begin with. */
#ifndef VPROF_PATHS_ANSWER_H
#define VPROF_PATHS_ANSWER_H

#include "analysis/results/requests_results.h"
#include "report/answer.h"

void vprof_paths_answer(const struct vprof_requests_results *r, struct vprof_answer *answer);

/* Is there no request of which all is known? */
int vprof_report_paths_is_empty(const struct vprof_requests_results *r);

#endif
