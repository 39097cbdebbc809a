/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of a run that was recorded and has no intervals: what its views answer. */
#ifndef VPROF_RECORDED_REPORT_H
#define VPROF_RECORDED_REPORT_H

#include "common/error.h"

/* As text, or with `html` as a page: to `file`, or report.html in the run's folder (NULL). wanted: the run's number or
 * folder; NULL: the last one. MISSING when there is no such run, or it was not recorded. *status: the exit status. */
int vprof_recorded_report(const char *wanted, int html, const char *file, int *status, struct vprof_error *err);

#endif
