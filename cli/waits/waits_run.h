/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The waits of a run's trace, as results. */
#ifndef VPROF_WAITS_RUN_H
#define VPROF_WAITS_RUN_H

#include "analysis/results/waits_results.h"
#include "analysis/waits/waits.h"
#include "common/error.h"

/* Fills `r` from the trace in `dir`, of the run of that name: from the kernel's events, else from what probes and
 * wrappers recorded. bytes_per_s: of network interfaces whose speed is not known; 0: they are left out. */
int vprof_waits_run_analyse(const char *dir, const char *run, double bytes_per_s,
			    const struct vprof_waits_options *options, struct vprof_waits_results *r,
			    struct vprof_error *err);

#endif
