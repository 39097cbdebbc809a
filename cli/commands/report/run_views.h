/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views of a run besides the variance of its intervals, as parts of its page. */
#ifndef VPROF_RUN_VIEWS_H
#define VPROF_RUN_VIEWS_H

#include "cli/project.h"
#include "common/error.h"
#include "report/page.h"

#define VPROF_RUN_VIEWS 4

/* Zero-initialised; release it. */
struct vprof_run_views {
	struct vprof_page_view views[VPROF_RUN_VIEWS];
	cJSON *data[VPROF_RUN_VIEWS];
	struct vprof_error missing[VPROF_RUN_VIEWS];
	size_t n_views; /* the last one, of the calls of a function, is of runs of vprof record --interval only */
	size_t n_found;
};

/* Analyses the trace in `folder`, the run's. What it does not hold, or what cannot be read, is a view without data that
 * says so. NOMEM. */
int vprof_run_views_make(struct vprof_run_views *v, const char *folder, const char *run, struct vprof_error *err);
void vprof_run_views_release(struct vprof_run_views *v);

#endif
