/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The HTML page of inferred latencies, as a file. */
#ifndef VPROF_LATENCY_FILE_H
#define VPROF_LATENCY_FILE_H

#include "analysis/results/latency_results.h"
#include "common/error.h"

/* Into `file`; NULL: latency.html in the folder of the new run; "-": standard output. Prints the path of the file. */
int vprof_latency_file_write(const struct vprof_latency_results *r, const char *folder, const char *trace,
			     const char *file, struct vprof_error *err);

#endif
