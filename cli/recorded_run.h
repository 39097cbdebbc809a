/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorded run, which a view is made of. */
#ifndef VPROF_RECORDED_RUN_H
#define VPROF_RECORDED_RUN_H

#include "cli/project.h"
#include "common/error.h"

#define VPROF_INTERVAL_BYTES 1000 /* of a function's name */

struct vprof_recorded_run {
	char *folder, *trace;	    /* trace: the folder in it that holds records.vpt */
	struct vprof_run_name name; /* "" of a folder that was named */
	char *interval; /* the function whose calls are its intervals (vprof record --interval); NULL: none */
};

/* The run that `wanted` names, as vprof_project_run_folder has it; `options`: those of vprof record that it is to be
 * recorded with, as the advice when there is none ("" or "--stacks "). Release after success and after failure. */
int vprof_recorded_run_find(struct vprof_recorded_run *run, const char *wanted, const char *options,
			    struct vprof_error *err);

/* The same of a run's folder. *name: heap string, NULL: none. OK or NOMEM: a file that cannot be read names none. */
int vprof_recorded_interval_read(const char *folder, char **name, struct vprof_error *err);
int vprof_recorded_interval_write(const char *folder, const char *name, struct vprof_error *err);

/* The run as other commands name it: its number, or its folder. */
const char *vprof_recorded_run_shown(const struct vprof_recorded_run *run);
void vprof_recorded_run_release(struct vprof_recorded_run *run);

#endif
