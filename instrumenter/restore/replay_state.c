/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing state.json. It is treated as hostile, like every file: a damaged one is an error, whose message
 * says how to recover.
 */
#define _GNU_SOURCE
#include "instrumenter/restore/replay_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "common/files.h"
#include "instrumenter/json_file.h"

#define STATE_VERSION 1

struct vprof_made *vprof_made_find(struct vprof_made *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].path, path))
			return &list[i];
	return NULL;
}

int vprof_made_has(const struct vprof_made *made, const char *hash)
{
	for (size_t i = 0; made && i < made->n_hashes; i++)
		if (!strcmp(made->hashes[i], hash))
			return 1;
	return 0;
}

/* Makes `hash` the last of the list. */
static int note_hash(struct vprof_made *made, const char *hash)
{
	size_t kept = 0;
	char(*grown)[17];

	for (size_t i = 0; i < made->n_hashes; i++)
		if (strcmp(made->hashes[i], hash))
			memmove(made->hashes[kept++], made->hashes[i], 17);
	made->n_hashes = kept;
	grown = realloc(made->hashes, (kept + 1) * sizeof *grown);
	if (!grown)
		return -1;
	made->hashes = grown;
	memcpy(grown[made->n_hashes++], hash, 17);
	return 0;
}

struct vprof_made *vprof_made_note(struct vprof_made **list, size_t *n, const char *path, const char *hash)
{
	struct vprof_made *made = vprof_made_find(*list, *n, path);

	if (!made) {
		struct vprof_made *grown = realloc(*list, (*n + 1) * sizeof *grown);

		if (!grown)
			return NULL;
		*list = grown;
		made = &grown[*n];
		memset(made, 0, sizeof *made);
		made->path = strdup(path);
		if (!made->path)
			return NULL;
		++*n;
	}
	return hash && note_hash(made, hash) ? NULL : made;
}

static void made_release(struct vprof_made *made)
{
	free(made->path);
	free(made->hashes);
}

static int read_list(const cJSON *json, struct vprof_made **list, size_t *n)
{
	const cJSON *item, *hash;

	cJSON_ArrayForEach(item, json)
	{
		const char *path = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "path"));
		const char *fingerprint = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "fingerprint"));
		struct vprof_made *made;

		if (!path || path[0] != '/' || (fingerprint && strlen(fingerprint) > 16))
			return -1;
		made = vprof_made_note(list, n, path, NULL);
		if (!made)
			return -1;
		if (fingerprint)
			strcpy(made->fingerprint, fingerprint);
		cJSON_ArrayForEach(hash, cJSON_GetObjectItemCaseSensitive(
						 item, "hashes")) if (!cJSON_IsString(hash) ||
								      strlen(hash->valuestring) != 16 ||
								      note_hash(made, hash->valuestring)) return -1;
	}
	return 0;
}

int vprof_state_read(struct vprof_replay_state *s, const char *vprof_dir, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	char *path = vprof_path_join(vprof_dir, "state.json");
	cJSON *json = NULL;
	const cJSON *version;
	int rc = VPROF_OK;

	memset(s, 0, sizeof *s);
	s->vprof_dir = strdup(vprof_dir);
	if (!path || !s->vprof_dir) {
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
	if (!cJSON_IsNumber(version) || version->valueint != STATE_VERSION ||
	    read_list(cJSON_GetObjectItemCaseSensitive(json, "objects"), &s->objects, &s->n_objects) ||
	    read_list(cJSON_GetObjectItemCaseSensitive(json, "artefacts"), &s->artefacts, &s->n_artefacts))
		rc = vprof_error_set(err, VPROF_ERR_CORRUPT,
				     "%s is damaged or from another version; vprof restore returns the build to its "
				     "original state and removes it",
				     path);
	s->relinking = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "relinking"));
	s->direct_link = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "direct_link"));
	s->links_library = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "links_library"));
out:
	cJSON_Delete(json);
	vprof_text_release(&text);
	free(path);
	return rc;
}

static cJSON *list_json(const struct vprof_made *list, size_t n)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < n; i++) {
		cJSON *item = cJSON_CreateObject(), *hashes = cJSON_AddArrayToObject(item, "hashes");

		cJSON_AddStringToObject(item, "path", list[i].path);
		if (list[i].fingerprint[0])
			cJSON_AddStringToObject(item, "fingerprint", list[i].fingerprint);
		for (size_t j = 0; j < list[i].n_hashes; j++)
			cJSON_AddItemToArray(hashes, cJSON_CreateString(list[i].hashes[j]));
		cJSON_AddItemToArray(array, item);
	}
	return array;
}

int vprof_state_write(const struct vprof_replay_state *s, struct vprof_error *err)
{
	cJSON *json = cJSON_CreateObject();
	int rc;

	cJSON_AddNumberToObject(json, "version", STATE_VERSION);
	cJSON_AddBoolToObject(json, "relinking", s->relinking);
	cJSON_AddBoolToObject(json, "direct_link", s->direct_link);
	if (s->links_library)
		cJSON_AddTrueToObject(json, "links_library");
	cJSON_AddItemToObject(json, "objects", list_json(s->objects, s->n_objects));
	cJSON_AddItemToObject(json, "artefacts", list_json(s->artefacts, s->n_artefacts));
	rc = vprof_json_file_write(s->vprof_dir, "state.json", json, err);
	cJSON_Delete(json);
	return rc;
}

void vprof_state_release(struct vprof_replay_state *s)
{
	for (size_t i = 0; i < s->n_objects; i++)
		made_release(&s->objects[i]);
	for (size_t i = 0; i < s->n_artefacts; i++)
		made_release(&s->artefacts[i]);
	free(s->objects);
	free(s->artefacts);
	free(s->vprof_dir);
	memset(s, 0, sizeof *s);
}
