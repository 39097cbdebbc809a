/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hot path of a run that was recorded with stacks, for vprof init: what is to be measured first. */
#ifndef VPROF_HOT_PATH_H
#define VPROF_HOT_PATH_H

#include "cli/latency/watch.h"
#include "common/error.h"

/* Fills w->seen.hot from the trace in that folder. interval: a function whose calls are intervals, then the path is of
 * the functions in it that have most of their variance (of their time, where the variance is not known); NULL: the
 * costliest path of the recording. Nothing is found where no function of the project takes a tenth of it. run: how the
 * reason names the run. INPUT, as vprof_latency_interval_infer() and vprof_latency_runs() have it; NOMEM. */
int vprof_hot_path_find(struct vprof_watch *w, const char *trace, const char *interval, const char *run,
			struct vprof_error *err);

#endif
