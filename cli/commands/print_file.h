/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run's file as it is, on stdout: results.json is the data that --json promises. */
#ifndef VPROF_PRINT_FILE_H
#define VPROF_PRINT_FILE_H

#include "cli/drilldown/iteration.h"
#include "cli/project.h"

int vprof_print_file(const struct vprof_project *p, const char *run, const char *file, struct vprof_error *err);
/* After vprof_iterate(), which returned rc: the results.json of the run that it is about, also of an inconclusive one.
 * Returns rc, or why it cannot be printed. */
int vprof_print_iterated(const struct vprof_iteration *it, int rc, struct vprof_error *err);

#endif
