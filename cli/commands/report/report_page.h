/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.html of a run: results, session, facts and sources as one page. */
#ifndef VPROF_REPORT_PAGE_H
#define VPROF_REPORT_PAGE_H

#include "analysis/results/results.h"
#include "cli/project.h"
#include "cli/drilldown/session.h"
#include "cli/options.h"
#include "cli/run_page.h"

/* `file` NULL: runs/RUN/report.html; "-": standard output. Prints the path of the file written. */
int vprof_report_page_write(const struct vprof_project *p, const char *run, const struct vprof_session *s,
			    const struct vprof_results *results, const char *file, struct vprof_error *err);

/* What vprof analyze found in a recorded run; NULL where it has no intervals, or was not analysed. The caller frees it.
 */
struct vprof_results *vprof_report_results_beside(const char *folder);

/* The words of a report that may be a page, of a recorded run: parses them and tells what does not go together. -1, or
 * the exit status. */
int vprof_report_page_parse(const struct vprof_usage *usage, const struct vprof_option *options, int argc, char **argv,
			    struct vprof_view_form *form, const char **run);

/* RUN is a number or a folder; with --html another word is FILE. -1, or the status of a usage error. */
int vprof_report_page_operands(const struct vprof_usage *usage, const struct vprof_operands *operands, int html,
			       const char **run, const char **file);

#endif
