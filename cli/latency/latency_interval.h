/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inferred calls of a function as intervals, and what varies in them: vprof report latency --interval, and runs of
 * vprof record --interval. */
#ifndef VPROF_LATENCY_INTERVAL_CLI_H
#define VPROF_LATENCY_INTERVAL_CLI_H

#include "analysis/results/latency_interval_results.h"
#include "cli/run_page.h"
#include "common/error.h"

/* trace: the folder that holds records.vpt; run: its name; wanted: the function (analysis/latency/input). INPUT when
 * the trace has no stacks, or that names no function of it, or several. Release in any case. */
int vprof_latency_interval_infer(struct vprof_latency_interval *i, const char *trace, const char *run,
				 const char *wanted, struct vprof_error *err);
void vprof_latency_interval_release(struct vprof_latency_interval *i);

/* Prints text, JSON or a page (interval.html in the run's folder), whose file's path is printed. *status: the exit
 * status of what it says; inconclusive with fewer than 30 intervals, or when more are left out than used. */
int vprof_latency_interval_tell(const struct vprof_latency_interval *i, const struct vprof_view_form *form,
				const char *folder, int *status, struct vprof_error *err);

#endif
