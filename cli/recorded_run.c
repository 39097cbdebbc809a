/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/recorded_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

int vprof_recorded_run_find(struct vprof_recorded_run *run, const char *wanted, const char *options,
			    struct vprof_error *err)
{
	char advice[80];
	int rc;

	*run = (struct vprof_recorded_run){ 0 };
	snprintf(advice, sizeof advice, "record one with: vprof record %s-- COMMAND", options);
	rc = vprof_project_run_folder(wanted, "trace/records.vpt", advice, &run->name, &run->folder, err);
	if (!rc) {
		run->trace = vprof_path_join(run->folder, "trace");
		rc = run->trace ? vprof_recorded_interval_read(run->folder, &run->interval, err) :
				  vprof_error_no_memory(err);
	}
	return rc;
}

int vprof_recorded_interval_read(const char *folder, char **name, struct vprof_error *err)
{
	char *path = vprof_path_join(folder, "interval");
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error ignored = { "" };
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	*name = NULL;
	if (!rc && !access(path, R_OK) && !vprof_file_read(path, &text, &ignored) && text.len &&
	    text.len <= VPROF_INTERVAL_BYTES) {
		size_t n = strcspn(text.s, "\n");

		*name = n ? strndup(text.s, n) : NULL;
		rc = *name || !n ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_text_release(&text);
	free(path);
	return rc;
}

int vprof_recorded_interval_write(const char *folder, const char *name, struct vprof_error *err)
{
	char *path = vprof_path_join(folder, "interval");
	int rc = path ? vprof_file_write(path, name, strlen(name), err) : vprof_error_no_memory(err);

	free(path);
	return rc;
}

const char *vprof_recorded_run_shown(const struct vprof_recorded_run *run)
{
	return *run->name.s ? run->name.s : run->folder;
}

void vprof_recorded_run_release(struct vprof_recorded_run *run)
{
	free(run->interval);
	free(run->folder);
	free(run->trace);
}
