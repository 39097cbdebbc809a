/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of runs that are taken together: made with one build, each named once. */
#ifndef VPROF_RUN_FOLDERS_H
#define VPROF_RUN_FOLDERS_H

#include <stddef.h>
#include <sys/stat.h>

#include "common/error.h"
#include "common/plan.h"

struct vprof_run_folders {
	char **words; /* [n] as they were named: runs' folders, or their trace folders */
	size_t n;
	char **traces;	    /* [n] the folders that hold records.vpt */
	struct stat *files; /* [n] of these */
	struct vprof_plan *plan;
	char *plan_path; /* of the first */
};

int vprof_is_trace(const char *folder); /* or holds one */
/* Is the operand a folder with a trace, and not the name of a project's run? */
int vprof_is_trace_folder(const char *word);

/* MISSING, INPUT, NOMEM. Release after success and after failure. */
int vprof_run_folders_open(struct vprof_run_folders *in, char **words, size_t n, struct vprof_error *err);
void vprof_run_folders_release(struct vprof_run_folders *in);

#endif
