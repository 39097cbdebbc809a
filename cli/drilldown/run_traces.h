/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traces of a run that was repeated with one build: runs/0007/trace, trace-2, trace-3 ..., which are analysed
 * together. Invariant: the first that is missing ends them. */
#ifndef VPROF_RUN_TRACES_H
#define VPROF_RUN_TRACES_H

#include <stddef.h>

#include "cli/project.h"
#include "common/error.h"

struct vprof_run_traces {
	char **folders; /* [n] */
	size_t n;
};

/* Those that exist; at least "trace", whether it exists or not. NOMEM. */
int vprof_run_traces_find(struct vprof_run_traces *t, const struct vprof_project *p, const char *run,
			  struct vprof_error *err);
/* The same of a run's folder. */
int vprof_run_traces_in(struct vprof_run_traces *t, const char *run_folder, struct vprof_error *err);
void vprof_run_traces_release(struct vprof_run_traces *t);

/* The folder of a repetition, counted from 0, on the heap; NULL: out of memory. */
char *vprof_run_trace_folder(const struct vprof_project *p, const char *run, size_t repetition);

/* Removes what an earlier attempt at this repetition left, and at those after it. */
int vprof_run_traces_remove(const struct vprof_project *p, const char *run, size_t from, struct vprof_error *err);

#endif
