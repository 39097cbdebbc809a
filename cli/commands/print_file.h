/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run's file as it is, on stdout: results.json is the data that --json promises. */
#ifndef VPROF_PRINT_FILE_H
#define VPROF_PRINT_FILE_H

#include "cli/project.h"

int vprof_print_file(const struct vprof_project *p, const char *run, const char *file, struct vprof_error *err);

#endif
