/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run_folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

static int has_file(const char *dir, const char *file)
{
	char *path = vprof_path_join(dir, file);
	int found = path && !access(path, F_OK);

	free(path);
	return found;
}

int vprof_is_trace(const char *folder)
{
	return has_file(folder, "records.vpt") || has_file(folder, "trace/records.vpt");
}

int vprof_is_trace_folder(const char *word)
{
	return strchr(word, '/') || vprof_is_trace(word);
}

static int same_probes(const struct vprof_plan *a, const struct vprof_plan *b)
{
	if (a->n_probes != b->n_probes)
		return 0;
	for (size_t i = 0; i < a->n_probes; i++)
		if (a->probes[i].code != b->probes[i].code || a->probes[i].kind != b->probes[i].kind ||
		    strcmp(a->probes[i].name, b->probes[i].name) || strcmp(a->probes[i].caller, b->probes[i].caller))
			return 0;
	return 1;
}

/* Two names of one trace: its intervals would count twice, and bounds be narrower than they are. */
static int check_new(struct vprof_run_folders *in, size_t i, struct vprof_error *err)
{
	char *path = vprof_path_join(in->traces[i], "records.vpt");
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && stat(path, &in->files[i]))
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot read %s: %s", path, strerror(errno));
	for (size_t k = 0; k < i && !rc; k++)
		if (in->files[k].st_dev == in->files[i].st_dev && in->files[k].st_ino == in->files[i].st_ino)
			rc = vprof_error_set(err, VPROF_ERR_INPUT, "%s and %s are the same trace: name each once",
					     in->words[k], in->words[i]);
	free(path);
	return rc;
}

static int add_input(struct vprof_run_folders *in, size_t i, struct vprof_error *err)
{
	const char *word = in->words[i];
	int is_trace = has_file(word, "records.vpt");
	char *plan_path = vprof_path_join(word, is_trace ? "../plan.json" : "plan.json");
	struct vprof_plan *plan = NULL;
	int rc = VPROF_OK;

	in->traces[i] = is_trace ? strdup(word) : vprof_path_join(word, "trace");
	if (!plan_path || !in->traces[i])
		rc = vprof_error_no_memory(err);
	else if (!is_trace && !has_file(word, "trace/records.vpt"))
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "there is no trace in %s: name the folder of a run, such as .vprof/runs/0001",
				     word);
	if (!rc)
		rc = check_new(in, i, err);
	if (!rc)
		rc = vprof_plan_read(&plan, plan_path, err);
	if (!rc && in->plan && !same_probes(in->plan, plan))
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "the runs %s and %s have different plans, so their functions cannot be counted "
				     "together: record both with the same build",
				     in->words[0], word);
	if (in->plan || rc) {
		vprof_plan_free(plan);
		free(plan_path);
	} else {
		in->plan = plan;
		in->plan_path = plan_path;
	}
	return rc;
}

int vprof_run_folders_open(struct vprof_run_folders *in, char **words, size_t n, struct vprof_error *err)
{
	int rc = VPROF_OK;

	*in = (struct vprof_run_folders){ .words = words, .n = n };
	in->traces = calloc(n + 1, sizeof(char *));
	in->files = calloc(n + 1, sizeof *in->files);
	if (!in->traces || !in->files)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = add_input(in, i, err);
	return rc;
}

void vprof_run_folders_release(struct vprof_run_folders *in)
{
	for (size_t i = 0; i < in->n && in->traces; i++)
		free(in->traces[i]);
	free(in->traces);
	free(in->files);
	free(in->plan_path);
	vprof_plan_free(in->plan);
}
