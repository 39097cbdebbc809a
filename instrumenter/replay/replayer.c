/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/replay/replayer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

struct vprof_unit *vprof_replay_unit_of(const struct vprof_replayer *r, const char *path)
{
	for (size_t i = 0; i < r->n_units; i++)
		if (!strcmp(r->units[i].output, path))
			return &r->units[i];
	return NULL;
}

int vprof_replay_changed(struct vprof_replayer *r, const char *path, struct vprof_error *err)
{
	return vprof_paths_add(&r->changed, path) ? vprof_error_no_memory(err) : VPROF_OK;
}

int vprof_replay_is_changed(const struct vprof_replayer *r, const char *path)
{
	return vprof_paths_has(&r->changed, path);
}

int vprof_replay_reads_changed(const struct vprof_replayer *r, const char *directory, const char *spelled)
{
	char *path = vprof_path_rooted(r->facts->root, directory, spelled);
	int changed = path && vprof_replay_is_changed(r, path);

	free(path);
	return changed;
}

int vprof_replay_log(const struct vprof_replayer *r, struct vprof_error *err, const char *fmt, ...)
{
	FILE *log = fopen(r->o->log_path, "ae");
	va_list ap;
	int failed = 1;

	if (log) {
		va_start(ap, fmt);
		failed = vfprintf(log, fmt, ap) < 0;
		va_end(ap);
		failed |= fclose(log) != 0;
	}
	if (failed)
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", r->o->log_path, strerror(errno));
	return VPROF_OK;
}

void vprof_replay_progress(const struct vprof_replayer *r, const char *step, double done)
{
	if (r->o->progress)
		r->o->progress(r->o->progress_arg, step, done);
}

int vprof_replay_install(const char *made, const char *path, struct vprof_error *err)
{
	int rc;

	if (!rename(made, path))
		return VPROF_OK;
	if (errno != EXDEV)
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot replace %s: %s", path, strerror(errno));
	rc = vprof_file_copy(made, path, err);
	unlink(made);
	return rc;
}

const char *vprof_replay_short(const struct vprof_replayer *r, const char *path)
{
	size_t n = strlen(r->facts->root);

	return n > 1 && vprof_path_inside(r->facts->root, path) && path[n] ? path + n + 1 : path;
}
