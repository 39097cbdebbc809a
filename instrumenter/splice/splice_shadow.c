/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes and cleans the shadow tree, and reads it for replay.
 *
 * Invariant: a path is a regular file only when it is edited in the present plan; everything else is a symlink to an
 * original, so that quoted includes in an edited file find edited files first, then originals. A path that is already
 * right is not touched: its time says when its content last changed.
 */
#define _GNU_SOURCE
#include "instrumenter/splice/splice_shadow.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"

char *vprof_shadow_path(const struct vprof_facts *facts, const char *shadow_dir, const char *path)
{
	size_t n = strlen(facts->root);

	if (!vprof_path_inside(facts->root, path))
		return NULL;
	if (n == 1)
		n = 0; /* the root folder itself */
	return vprof_path_join(shadow_dir, path + n + (path[n] == '/'));
}

/* Takes the path over. */
static int remember(struct vprof_shadow *s, char *path, struct vprof_error *err)
{
	if (path && s->n_paths == s->cap_paths) {
		size_t cap = s->cap_paths ? s->cap_paths * 2 : 256;
		char **grown = realloc(s->paths, cap * sizeof *grown);

		if (!grown) {
			free(path);
			return vprof_error_no_memory(err);
		}
		s->paths = grown;
		s->cap_paths = cap;
	}
	if (!path)
		return vprof_error_no_memory(err);
	s->paths[s->n_paths++] = path;
	return VPROF_OK;
}

static int make_parent(const char *path, struct vprof_error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = strndup(path, (size_t)(slash - path));
	int rc = dir ? vprof_dir_make(dir, err) : vprof_error_no_memory(err);

	free(dir);
	return rc;
}

static int is_same_file(const char *path, const struct vprof_text *text)
{
	struct vprof_text old = VPROF_TEXT_INIT;
	struct stat st;
	int same = 0;

	if (!lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size == (off_t)text->len)
		same = !vprof_file_read(path, &old, NULL) && old.len == text->len && !memcmp(old.s, text->s, old.len);
	vprof_text_release(&old);
	return same;
}

int vprof_shadow_write(struct vprof_shadow *s, const char *path, const struct vprof_text *text, struct vprof_error *err)
{
	char *shadow = vprof_shadow_path(s->facts, s->dir, path);
	struct stat st;
	int rc;

	if (!shadow)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "%s lies outside the project root %s and cannot be "
				       "instrumented; run `vprof init` in a folder that holds both",
				       path, s->facts->root);
	rc = remember(s, shadow, err);
	if (rc || is_same_file(shadow, text)) {
		s->n_edited = s->n_paths;
		return rc;
	}
	s->n_edited = s->n_paths;
	rc = make_parent(shadow, err);
	if (!rc && !lstat(shadow, &st) && S_ISDIR(st.st_mode))
		rc = vprof_dir_remove(shadow, err);
	return rc ? rc : vprof_file_write(shadow, text->s, text->len, err);
}

/* ---- what else belongs there ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int is_edited(const struct vprof_shadow *s, const char *path)
{
	return s->n_edited && bsearch(&path, s->paths, s->n_edited, sizeof *s->paths, by_name);
}

/* Original of a shadow path: heap string. */
static char *original_of(const struct vprof_shadow *s, const char *shadow)
{
	return vprof_path_join(s->facts->root, shadow + strlen(s->dir) + 1);
}

static int add_original(struct vprof_shadow *s, const char *path, struct vprof_error *err)
{
	char *shadow;

	if (vprof_path_inside(s->dir, path) || access(path, R_OK))
		return VPROF_OK;
	shadow = vprof_shadow_path(s->facts, s->dir, path);
	if (shadow && is_edited(s, shadow)) {
		free(shadow);
		return VPROF_OK;
	}
	return remember(s, shadow, err);
}

static int is_source_name(const char *name)
{
	static const char *const endings[] = { ".h",   ".hh",  ".hpp", ".hxx",	".h++",	 ".inc", ".inl", ".ipp",
					       ".tcc", ".def", ".c",   ".cc",	".cpp",	 ".cxx", ".c++", ".C",
					       ".H",   ".x",   ".tbl", ".list", ".json", ".gen", ".tab", NULL };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && endings[i]; i++)
		if (!strcmp(dot, endings[i]))
			return 1;
	return 0;
}

static int add_siblings(struct vprof_shadow *s, const char *dir, struct vprof_error *err)
{
	DIR *open_dir = opendir(dir);
	int rc = VPROF_OK;

	if (!open_dir)
		return VPROF_OK; /* gone: nothing beside it */
	for (struct dirent *e; !rc && (e = readdir(open_dir));) {
		char *path;
		struct stat st;

		if (!is_source_name(e->d_name))
			continue;
		path = vprof_path_join(dir, e->d_name);
		if (!path)
			rc = vprof_error_no_memory(err);
		else if (!stat(path, &st) && S_ISREG(st.st_mode))
			rc = add_original(s, path, err);
		free(path);
	}
	closedir(open_dir);
	return rc;
}

/* Every folder that contains a project file, once. */
static int add_folders(struct vprof_shadow *s, struct vprof_error *err)
{
	const struct vprof_facts *facts = s->facts;
	char **dirs = calloc(facts->n_files + 1, sizeof *dirs);
	size_t n = 0;
	int rc = dirs ? VPROF_OK : vprof_error_no_memory(err);

	for (size_t i = 0; !rc && i < facts->n_files; i++) {
		const char *slash = strrchr(facts->files[i].path, '/');

		if (!facts->files[i].in_project || !slash || !vprof_path_inside(facts->root, facts->files[i].path))
			continue;
		dirs[n] = strndup(facts->files[i].path, (size_t)(slash - facts->files[i].path));
		if (!dirs[n++])
			rc = vprof_error_no_memory(err);
	}
	if (n && !rc)
		qsort(dirs, n, sizeof *dirs, by_name);
	for (size_t i = 0; !rc && i < n; i++)
		if (!i || strcmp(dirs[i], dirs[i - 1]))
			rc = add_siblings(s, *dirs[i] ? dirs[i] : "/", err);
	for (size_t i = 0; i < n; i++)
		free(dirs[i]);
	free(dirs);
	return rc;
}

static int link_original(const char *original, const char *shadow, struct vprof_error *err)
{
	char target[4096];
	ssize_t n = readlink(shadow, target, sizeof target - 1);
	struct stat st;
	int rc;

	if (n > 0 && (size_t)n == strlen(original) && !memcmp(target, original, (size_t)n))
		return VPROF_OK;
	rc = make_parent(shadow, err);
	if (rc)
		return rc;
	if (!lstat(shadow, &st)) {
		rc = vprof_dir_remove(shadow, err);
		if (rc)
			return rc;
	}
	if (symlink(original, shadow))
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot link %s to %s: %s", shadow, original,
				       strerror(errno));
	return VPROF_OK;
}

/* Removes everything in `dir` that is not in the sorted s->paths; 1 when the folder is empty afterwards. */
static int prune(const struct vprof_shadow *s, const char *dir)
{
	DIR *open_dir = opendir(dir);
	int empty = 1;

	if (!open_dir)
		return 0;
	for (struct dirent *e; (e = readdir(open_dir));) {
		char *path;
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		path = vprof_path_join(dir, e->d_name);
		if (!path || lstat(path, &st))
			empty = 0;
		else if (S_ISDIR(st.st_mode))
			empty &= prune(s, path) && !rmdir(path);
		else if (bsearch(&path, s->paths, s->n_paths, sizeof *s->paths, by_name) || unlink(path))
			empty = 0;
		free(path);
	}
	closedir(open_dir);
	return empty;
}

int vprof_shadow_finish(struct vprof_shadow *s, struct vprof_error *err)
{
	const struct vprof_facts *facts = s->facts;
	size_t n = s->n_edited;
	int rc = VPROF_OK;

	if (n)
		qsort(s->paths, n, sizeof *s->paths, by_name);
	for (size_t i = 0; !rc && i < facts->n_files; i++)
		if (facts->files[i].in_project && vprof_path_inside(facts->root, facts->files[i].path))
			rc = add_original(s, facts->files[i].path, err);
	if (!rc)
		rc = add_folders(s, err);
	if (!rc && s->n_paths > n)
		qsort(s->paths + n, s->n_paths - n, sizeof *s->paths, by_name);
	for (size_t i = n; !rc && i < s->n_paths; i++) {
		char *original;

		if (i > n && !strcmp(s->paths[i], s->paths[i - 1]))
			continue;
		original = original_of(s, s->paths[i]);
		rc = original ? link_original(original, s->paths[i], err) : vprof_error_no_memory(err);
		s->n_links += !rc;
		free(original);
	}
	if (rc)
		return rc;
	if (s->n_paths)
		qsort(s->paths, s->n_paths, sizeof *s->paths, by_name);
	prune(s, s->dir);
	return VPROF_OK;
}

void vprof_shadow_release(struct vprof_shadow *s)
{
	for (size_t i = 0; i < s->n_paths; i++)
		free(s->paths[i]);
	free(s->paths);
	s->paths = NULL;
	s->n_paths = s->cap_paths = s->n_edited = 0;
}
