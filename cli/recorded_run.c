/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/recorded_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"

int vprof_recorded_run_find(struct vprof_recorded_run *run, const char *wanted, const char *options,
			    struct vprof_error *err)
{
	char advice[80];
	int rc;

	*run = (struct vprof_recorded_run){ 0 };
	snprintf(advice, sizeof advice, "record one with: vprof record %s-- COMMAND", options);
	rc = vprof_project_run_folder(wanted, "trace/records.vpt", advice, &run->name, &run->folder, err);
	if (!rc)
		run->trace = vprof_path_join(run->folder, "trace");
	return rc || run->trace ? rc : vprof_error_no_memory(err);
}

void vprof_recorded_run_release(struct vprof_recorded_run *run)
{
	free(run->folder);
	free(run->trace);
}
