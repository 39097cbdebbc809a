/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/run_traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/files.h"

static char *trace_in(const char *folder, size_t repetition)
{
	char name[32] = "trace";

	if (repetition)
		snprintf(name, sizeof name, "trace-%zu", repetition + 1);
	return vprof_path_join(folder, name);
}

char *vprof_run_trace_folder(const struct vprof_project *p, const char *run, size_t repetition)
{
	char *folder = vprof_project_run_path(p, run, ""), *path = folder ? trace_in(folder, repetition) : NULL;

	free(folder);
	return path;
}

int vprof_run_traces_in(struct vprof_run_traces *t, const char *run_folder, struct vprof_error *err)
{
	*t = (struct vprof_run_traces){ 0 };
	for (;;) {
		char **more = realloc(t->folders, (t->n + 1) * sizeof *more);
		char *folder = more ? trace_in(run_folder, t->n) : NULL;

		t->folders = more ? more : t->folders;
		if (!folder)
			return vprof_error_no_memory(err);
		if (t->n && access(folder, F_OK)) {
			free(folder);
			return VPROF_OK;
		}
		t->folders[t->n++] = folder;
	}
}

int vprof_run_traces_find(struct vprof_run_traces *t, const struct vprof_project *p, const char *run,
			  struct vprof_error *err)
{
	char *folder = vprof_project_run_path(p, run, "");
	int rc;

	*t = (struct vprof_run_traces){ 0 };
	rc = folder ? vprof_run_traces_in(t, folder, err) : vprof_error_no_memory(err);
	free(folder);
	return rc;
}

void vprof_run_traces_release(struct vprof_run_traces *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->folders[i]);
	free(t->folders);
	*t = (struct vprof_run_traces){ 0 };
}

int vprof_run_traces_remove(const struct vprof_project *p, const char *run, size_t from, struct vprof_error *err)
{
	struct vprof_run_traces t;
	int rc = vprof_run_traces_find(&t, p, run, err);

	for (size_t i = t.n; i-- > from && !rc;) /* the last first: what is left always begins with "trace" */
		rc = vprof_dir_remove(t.folders[i], err);
	vprof_run_traces_release(&t);
	return rc;
}
