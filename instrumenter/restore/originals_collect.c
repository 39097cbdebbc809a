/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/restore/originals_collect.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/elf/file_type.h"

#define STAMP_MAX_BYTES (1 << 20)
#define SOURCE_MAX_BYTES (64 << 20) /* generated sources: tables can be large */
#define DEPTH_MAX 64

struct walk {
	struct vprof_originals *o;
	int (*is_output)(void *arg, const char *path);
	void *arg;
	int64_t since_s, bytes;
	size_t n_before;
};

static int64_t stamp_limit(const char *path)
{
	static const char *const sources[] = { ".h",  ".hh", ".hpp", ".hxx", ".inc", ".inl",
					       ".ic", ".c",  ".cc",  ".cpp", ".cxx", ".C" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof sources / sizeof *sources; i++)
		if (!strcmp(dot, sources[i]))
			return SOURCE_MAX_BYTES;
	return STAMP_MAX_BYTES;
}

static int visit(struct walk *w, const char *path, const struct stat *st, struct vprof_error *err)
{
	enum vprof_file_type type = vprof_file_type(path);

	for (size_t i = 0; i < w->n_before; i++)
		if (!strcmp(w->o->items[i].path, path))
			return VPROF_OK;
	if (w->is_output(w->arg, path)) /* a script may compile it again although we do not */
		return vprof_originals_add(w->o, path, VPROF_ORIGINAL_STAMP, err);
	if (type == VPROF_FILE_OTHER) {
		if (st->st_mtim.tv_sec < w->since_s || st->st_size > stamp_limit(path) || access(path, R_OK))
			return VPROF_OK;
		return vprof_originals_add(w->o, path, VPROF_ORIGINAL_STAMP, err);
	}
	w->bytes += st->st_size;
	if (w->bytes > VPROF_ARTEFACTS_MAX_BYTES)
		return vprof_error_set(
			err, VPROF_ERR_FAILED,
			"more than 8 GiB of programs and libraries would have to be saved before the first relink (at %s); move files that the build does not make out of the project folder",
			path);
	return vprof_originals_add(w->o, path, VPROF_ORIGINAL_ARTEFACT, err);
}

static int walk(struct walk *w, const char *dir, int depth, struct vprof_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = VPROF_OK;

	if (!d || depth > DEPTH_MAX) {
		if (d)
			closedir(d);
		return VPROF_OK; /* what we cannot read the build cannot replace */
	}
	while (!rc && (e = readdir(d))) {
		struct stat st;
		char *path;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strcmp(e->d_name, ".git"))
			continue;
		path = vprof_path_join(dir, e->d_name);
		if (!path) {
			rc = vprof_error_no_memory(err);
		} else if (!lstat(path, &st) && strcmp(path, w->o->vprof_dir)) {
			if (S_ISDIR(st.st_mode))
				rc = walk(w, path, depth + 1, err);
			else if (S_ISREG(st.st_mode))
				rc = visit(w, path, &st, err);
		}
		free(path);
	}
	closedir(d);
	return rc;
}

int vprof_originals_collect(struct vprof_originals *o, const char *const *dirs, size_t n_dirs,
			    int (*is_output)(void *arg, const char *path), void *arg, int64_t since_s,
			    struct vprof_error *err)
{
	struct walk w = { .o = o, .is_output = is_output, .arg = arg, .since_s = since_s, .n_before = o->n };
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < n_dirs; i++) {
		int inside = 0;

		for (size_t j = 0; j < n_dirs; j++)
			inside |= j != i && vprof_path_inside(dirs[j], dirs[i]) && (j < i || strcmp(dirs[j], dirs[i]));
		if (!inside && strcmp(dirs[i], "/"))
			rc = walk(&w, dirs[i], 0, err);
	}
	if (!rc)
		o->collected = 1;
	return rc;
}
