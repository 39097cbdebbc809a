/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved originals and their manifest, original.json (see originals.h).
 *
 * Copies, never links: a linker may write into the file that it replaces. A file of which a relink changes only the
 * time (a stamp, a list of objects) is remembered by its hash, so that restore can set its time back.
 */
#define _GNU_SOURCE
#include "instrumenter/restore/originals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "common/files.h"
#include "instrumenter/json_file.h"

#define MANIFEST_VERSION 1

static const char *const kind_names[] = { "object", "artefact", "stamp", "absent" };

struct vprof_original *vprof_originals_find(const struct vprof_originals *o, const char *path)
{
	for (size_t i = 0; i < o->n; i++)
		if (!strcmp(o->items[i].path, path))
			return &o->items[i];
	return NULL;
}

/* On the heap. */
static char *copy_path(const struct vprof_originals *o, const char *path)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_text_addf(&text, "%s/original%s", o->vprof_dir, path);
	return text.failed ? NULL : vprof_text_detach(&text);
}

static struct vprof_original *add(struct vprof_originals *o, const char *path)
{
	struct vprof_original *grown;

	if (!(o->n & (o->n - 1)) || !o->n) { /* grows at powers of two */
		grown = realloc(o->items, (o->n ? o->n * 2 : 1) * sizeof *grown);
		if (!grown)
			return NULL;
		o->items = grown;
	}
	memset(&o->items[o->n], 0, sizeof *o->items);
	o->items[o->n].path = strdup(path);
	return o->items[o->n].path ? &o->items[o->n++] : NULL;
}

static int copy_aside(const struct vprof_originals *o, const char *path, struct vprof_error *err)
{
	char *copy = copy_path(o, path), *slash;
	int rc;

	if (!copy)
		return vprof_error_no_memory(err);
	slash = strrchr(copy, '/');
	*slash = 0;
	rc = vprof_dir_make(copy, err);
	*slash = '/';
	if (!rc)
		rc = vprof_file_copy(path, copy, err);
	if (rc)
		vprof_error_prefix(err, rc, "cannot save the original of %s", path);
	free(copy);
	return rc;
}

/* `known`: the path's place in the list, or NULL: it has none yet. */
static int save(struct vprof_originals *o, struct vprof_original *known, const char *path,
		enum vprof_original_kind kind, struct vprof_error *err)
{
	struct vprof_original fresh = { .kind = kind };
	struct vprof_original *item;
	struct stat st;
	int rc = VPROF_OK;

	if (kind == VPROF_ORIGINAL_ABSENT) {
		strcpy(fresh.hash, "0000000000000000");
	} else {
		if (stat(path, &st))
			return vprof_error_set(err, VPROF_ERR_FAILED, "cannot read %s: %s", path, strerror(errno));
		fresh.size = st.st_size;
		fresh.mtime_s = st.st_mtim.tv_sec;
		fresh.mtime_ns = st.st_mtim.tv_nsec;
		fresh.mode = st.st_mode & 07777;
		rc = vprof_file_hash(path, fresh.hash, err);
		if (!rc && kind != VPROF_ORIGINAL_STAMP)
			rc = copy_aside(o, path, err);
	}
	if (rc)
		return rc;
	item = known ? known : add(o, path);
	if (!item)
		return vprof_error_no_memory(err);
	fresh.path = item->path;
	*item = fresh;
	return VPROF_OK;
}

int vprof_originals_secure(struct vprof_originals *o, const char *path, enum vprof_original_kind kind,
			   struct vprof_error *err)
{
	struct vprof_original *item = vprof_originals_find(o, path), old;
	int rc;

	if (item && item->kind != VPROF_ORIGINAL_STAMP)
		return VPROF_OK;
	if (item)
		old = *item;
	rc = save(o, item, path, kind, err);
	if (!rc && item && !strcmp(item->hash, old.hash)) { /* the relink may have written the same bytes again */
		item->mtime_s = old.mtime_s;
		item->mtime_ns = old.mtime_ns;
	}
	return rc;
}

int vprof_originals_save(struct vprof_originals *o, const char *path, enum vprof_original_kind kind,
			 struct vprof_error *err)
{
	return save(o, vprof_originals_find(o, path), path, kind, err);
}

int vprof_originals_add(struct vprof_originals *o, const char *path, enum vprof_original_kind kind,
			struct vprof_error *err)
{
	return save(o, NULL, path, kind, err);
}

static int read_item(struct vprof_originals *o, const cJSON *json)
{
	const char *path = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "path"));
	const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "kind"));
	const char *hash = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "hash"));
	const char *const number_names[] = { "size", "mode", "mtime_s", "mtime_ns" };
	struct vprof_original *item;
	char *normal;
	double numbers[4];
	int k = 0, same;

	if (!path || !kind || !hash || strlen(hash) != 16)
		return -1;
	normal = vprof_path_absolute("/", path);
	same = normal && !strcmp(normal, path);
	free(normal);
	while (k < 4 && strcmp(kind, kind_names[k]))
		k++;
	if (!same || k == 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const cJSON *n = cJSON_GetObjectItemCaseSensitive(json, number_names[i]);

		if (!cJSON_IsNumber(n) || !(n->valuedouble >= -9e15 && n->valuedouble <= 9e15))
			return -1;
		numbers[i] = n->valuedouble;
	}
	if (numbers[3] < 0 || numbers[3] >= 1e9 || numbers[1] < 0 || numbers[1] > 07777 || !(item = add(o, path)))
		return -1;
	item->kind = (enum vprof_original_kind)k;
	memcpy(item->hash, hash, 17);
	item->size = (int64_t)numbers[0];
	item->mode = (unsigned)numbers[1];
	item->mtime_s = (int64_t)numbers[2];
	item->mtime_ns = (int64_t)numbers[3];
	return 0;
}

int vprof_originals_read(struct vprof_originals *o, const char *vprof_dir, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	char *path = vprof_path_join(vprof_dir, "original.json");
	const cJSON *item, *version;
	cJSON *json = NULL;
	int rc = VPROF_OK, bad;

	memset(o, 0, sizeof *o);
	o->vprof_dir = strdup(vprof_dir);
	if (!path || !o->vprof_dir) {
		rc = vprof_error_no_memory(err);
		goto out;
	}
	if (access(path, F_OK))
		goto out; /* nothing was replaced yet */
	rc = vprof_file_read(path, &text, err);
	if (rc)
		goto out;
	json = cJSON_ParseWithLength(text.s, text.len);
	version = cJSON_GetObjectItemCaseSensitive(json, "version");
	bad = !cJSON_IsNumber(version) || version->valueint != MANIFEST_VERSION;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "files")) bad = bad || read_item(o, item);
	o->collected = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "collected"));
	if (bad)
		rc = vprof_error_set(
			err, VPROF_ERR_CORRUPT,
			"%s is damaged or from another version; the saved originals are in %s/original: rebuild the project (make clean, then your build), then remove both",
			path, vprof_dir);
out:
	cJSON_Delete(json);
	vprof_text_release(&text);
	free(path);
	return rc;
}

int vprof_originals_write(const struct vprof_originals *o, struct vprof_error *err)
{
	cJSON *json = cJSON_CreateObject(), *files = cJSON_AddArrayToObject(json, "files");
	int rc;

	cJSON_AddNumberToObject(json, "version", MANIFEST_VERSION);
	cJSON_AddBoolToObject(json, "collected", o->collected);
	for (size_t i = 0; i < o->n; i++) {
		const struct vprof_original *item = &o->items[i];
		cJSON *file = cJSON_CreateObject();

		cJSON_AddStringToObject(file, "path", item->path);
		cJSON_AddStringToObject(file, "kind", kind_names[item->kind]);
		cJSON_AddStringToObject(file, "hash", item->hash);
		cJSON_AddNumberToObject(file, "size", (double)item->size);
		cJSON_AddNumberToObject(file, "mode", item->mode);
		cJSON_AddNumberToObject(file, "mtime_s", (double)item->mtime_s);
		cJSON_AddNumberToObject(file, "mtime_ns", (double)item->mtime_ns);
		cJSON_AddItemToArray(files, file);
	}
	rc = vprof_json_file_write(o->vprof_dir, "original.json", json, err);
	cJSON_Delete(json);
	return rc;
}

void vprof_originals_release(struct vprof_originals *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->items[i].path);
	free(o->items);
	free(o->vprof_dir);
	memset(o, 0, sizeof *o);
}

/* Is the file on disk what was saved? */
static int same_content(const struct vprof_original *item, const struct stat *st)
{
	char hash[17];

	return st->st_size == item->size && !vprof_file_hash(item->path, hash, NULL) && !strcmp(hash, item->hash);
}

static int set_times(const struct vprof_original *item)
{
	struct timespec times[2] = { { 0, UTIME_OMIT }, { (time_t)item->mtime_s, (long)item->mtime_ns } };

	return utimensat(AT_FDCWD, item->path, times, 0) ||
	       (item->kind != VPROF_ORIGINAL_STAMP && chmod(item->path, item->mode));
}

static int put_back_copy(const struct vprof_originals *o, const struct vprof_original *item, struct vprof_error *err)
{
	char *copy = copy_path(o, item->path), hash[17];
	int rc;

	if (!copy)
		return vprof_error_no_memory(err);
	rc = vprof_file_hash(copy, hash, err);
	if (rc == VPROF_ERR_MISSING || (!rc && strcmp(hash, item->hash)))
		rc = vprof_error_set(err, VPROF_ERR_CORRUPT, "the saved original of %s (%s) %s", item->path, copy,
				     rc ? "is missing" : "has changed");
	if (!rc)
		rc = vprof_file_copy(copy, item->path, err);
	if (!rc && set_times(item))
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot set the time of %s: %s", item->path,
				     strerror(errno));
	free(copy);
	return rc;
}

int vprof_originals_put_back(const struct vprof_originals *o, const struct vprof_original *item,
			     struct vprof_error *err)
{
	struct stat st;
	int there = !stat(item->path, &st), rc;
	char *slash;

	if (item->kind == VPROF_ORIGINAL_ABSENT) {
		if (unlink(item->path) && errno != ENOENT)
			return vprof_error_set(err, VPROF_ERR_FAILED, "cannot remove %s: %s", item->path,
					       strerror(errno));
		return there;
	}
	if (there && same_content(item, &st)) {
		if (st.st_mtim.tv_sec == item->mtime_s && st.st_mtim.tv_nsec == item->mtime_ns &&
		    (st.st_mode & 07777) == item->mode)
			return 0;
		if (set_times(item))
			return vprof_error_set(err, VPROF_ERR_FAILED, "cannot set the time of %s: %s", item->path,
					       strerror(errno));
		return item->kind != VPROF_ORIGINAL_STAMP;
	}
	if (item->kind == VPROF_ORIGINAL_STAMP)
		return 0; /* the build wrote something else: leave it */
	slash = strrchr(item->path, '/');
	if (!there && slash > item->path) {
		*slash = 0;
		there = !access(item->path, F_OK);
		*slash = '/';
		if (!there)
			return 0; /* the whole build folder is gone: the user's decision */
	}
	rc = put_back_copy(o, item, err);
	return rc ? rc : 1;
}
