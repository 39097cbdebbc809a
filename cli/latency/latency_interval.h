/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report latency --interval: the inferred calls of a function as intervals, and what varies in them. */
#ifndef VPROF_LATENCY_INTERVAL_H
#define VPROF_LATENCY_INTERVAL_H

#include "cli/run_page.h"
#include "common/error.h"

/* folder: of the run, with its trace in `trace`; run: its name; name: the function. Prints text, JSON or a page
 * (interval.html in the folder), whose file's path is printed. *status: the exit status of what it says; inconclusive
 * with fewer than 30 intervals, or when more are left out than used. INPUT when the trace has no stacks, or the
 * function is not in it. */
int vprof_latency_interval(const char *folder, const char *trace, const char *run, const char *name,
			   const struct vprof_view_form *form, int *status, struct vprof_error *err);

#endif
