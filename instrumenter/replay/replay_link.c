/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is affected is known from the recorded link commands; without them (an imported database) it is every program
 * and shared library that is newer than the changed objects were.
 */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_link.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "common/files.h"
#include "common/process.h"
#include "instrumenter/replay/replay_build.h"
#include "instrumenter/replay/replay_command.h"
#include "common/elf/file_type.h"

int vprof_links_read(struct vprof_replayer *r, struct vprof_error *err)
{
	char *path = vprof_path_join(r->o->vprof_dir, "link_commands.json");
	struct vprof_text text = VPROF_TEXT_INIT;
	cJSON *json = NULL;
	const cJSON *item;
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	if (!path || access(path, F_OK))
		goto out; /* an imported database */
	rc = vprof_file_read(path, &text, err);
	if (rc)
		goto out;
	json = cJSON_ParseWithLength(text.s, text.len);
	if (!cJSON_IsArray(json))
		rc = vprof_error_set(err, VPROF_ERR_CORRUPT, "%s is damaged; run vprof init again", path);
	r->links = calloc((size_t)cJSON_GetArraySize(json) + 1, sizeof *r->links);
	if (!rc && !r->links)
		rc = vprof_error_no_memory(err);
	cJSON_ArrayForEach(item, json)
	{
		const char *directory = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "directory"));
		const char *output = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "output"));
		struct vprof_link *link = &r->links[r->n_links];

		if (rc)
			break;
		if (!directory || !output || directory[0] != '/' || output[0] != '/') {
			rc = vprof_error_set(err, VPROF_ERR_CORRUPT, "%s is damaged; run vprof init again", path);
			break;
		}
		r->n_links++;
		link->directory = strdup(directory);
		link->output = strdup(output);
		rc = link->directory && link->output ?
			     vprof_command_parse_json(&link->command,
						      cJSON_GetObjectItemCaseSensitive(item, "arguments"), err) :
			     vprof_error_no_memory(err);
		if (!rc)
			link->unit = vprof_replay_unit_of(r, output);
	}
	r->links_known = r->n_links > 0;
out:
	cJSON_Delete(json);
	vprof_text_release(&text);
	free(path);
	return rc;
}

void vprof_links_release(struct vprof_replayer *r)
{
	for (size_t i = 0; i < r->n_links; i++) {
		vprof_command_release(&r->links[i].command);
		free(r->links[i].directory);
		free(r->links[i].output);
	}
	free(r->links);
}

/* ---- what is affected ---- */

/* -lNAME: an archive that we changed, in one of the command's -L folders. */
static int changed_library(const struct vprof_replayer *r, const struct vprof_link *link, const char *name)
{
	const struct vprof_command *c = &link->command;

	for (size_t i = 1; i < c->n; i++) {
		const char *dir = !strncmp(c->argv[i], "-L", 2) ? c->argv[i] + 2 : NULL;
		struct vprof_text path = VPROF_TEXT_INIT;
		int changed;

		if (dir && !*dir)
			dir = i + 1 < c->n ? c->argv[i + 1] : NULL;
		if (!dir)
			continue;
		vprof_text_addf(&path, name[0] == ':' ? "%s/%s" : "%s/lib%s.a", dir, name + (name[0] == ':'));
		changed = !path.failed && vprof_replay_reads_changed(r, link->directory, path.s);
		vprof_text_release(&path);
		if (changed)
			return 1;
	}
	return 0;
}

static int link_reads_changed(const struct vprof_replayer *r, const struct vprof_link *link)
{
	const struct vprof_command *c = &link->command;

	for (size_t i = 0; i < c->n_inputs; i++)
		if (vprof_replay_reads_changed(r, link->directory, c->argv[c->inputs[i]]))
			return 1;
	for (size_t i = c->compiler + 1; i < c->n; i++) {
		const char *name = !strncmp(c->argv[i], "-l", 2) ? c->argv[i] + 2 : NULL;

		if (name && !*name)
			name = i + 1 < c->n ? c->argv[i + 1] : NULL;
		if (name && changed_library(r, link, name))
			return 1;
	}
	return 0;
}

/* Programs and libraries newer than the originals of what changed, when no link commands are known. */
static int affected_by_time(const struct vprof_replayer *r, struct vprof_paths *affected)
{
	int64_t oldest = INT64_MAX;

	for (size_t i = 0; i < r->changed.n; i++) {
		const struct vprof_original *o = vprof_originals_find(&r->originals, r->changed.v[i]);

		if (o && o->kind == VPROF_ORIGINAL_OBJECT && o->mtime_s < oldest)
			oldest = o->mtime_s;
	}
	for (size_t i = 0; i < r->originals.n; i++) {
		const struct vprof_original *o = &r->originals.items[i];

		if (o->kind == VPROF_ORIGINAL_ARTEFACT && o->mtime_s >= oldest &&
		    vprof_file_type(o->path) == VPROF_FILE_PROGRAM && vprof_paths_add(affected, o->path))
			return -1;
	}
	return 0;
}

int vprof_links_affected(struct vprof_replayer *r, struct vprof_paths *affected, struct vprof_error *err)
{
	int failed = r->links_known ? 0 : affected_by_time(r, affected);

	for (size_t i = 0; i < r->n_links; i++) {
		struct vprof_link *link = &r->links[i];

		/* (edited units are compiled and linked by us; one that is not edited any more is reverted by its link)
		 */
		link->affected = !(link->unit && link->unit->fingerprint[0]) &&
				 (link_reads_changed(r, link) || vprof_replay_is_changed(r, link->output));
		if (!link->affected)
			continue;
		failed |= vprof_paths_add(affected, link->output);
		if (vprof_file_type(link->output) == VPROF_FILE_RELOCATABLE)
			failed |= vprof_replay_changed(r, link->output, err);
	}
	if (failed)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < affected->n; i++) {
		const char *path = affected->v[i];
		int rc = access(path, F_OK) ?
				 VPROF_OK :
				 vprof_originals_secure(&r->originals, path,
							vprof_replay_unit_of(r, path) ? VPROF_ORIGINAL_OBJECT :
											VPROF_ORIGINAL_ARTEFACT,
							err);

		if (rc)
			return rc;
	}
	return vprof_originals_write(&r->originals, err);
}

/* ---- making it again ---- */

int vprof_link_run(struct vprof_replayer *r, const struct vprof_link *link, struct vprof_error *err)
{
	const struct vprof_command *c = &link->command;
	const char **argv = calloc(c->n + 3, sizeof *argv);
	struct vprof_text output = VPROF_TEXT_INIT;
	struct vprof_process p = {
		.argv = argv, .directory = link->directory, .log_path = r->o->log_path, .captured = &output
	};
	struct vprof_process_result result;
	char *library[2] = { NULL, NULL };
	int rc = argv ? vprof_replay_log(r, err, "link %s\n", vprof_replay_short(r, link->output)) :
			vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_library_link(r, c, library, err);
	if (!rc) {
		memcpy(argv, c->argv, c->n * sizeof *argv);
		argv[c->n] = library[0];
		argv[c->n + 1] = library[1];
		rc = vprof_process_run(&p, &result, err);
	}
	if (!rc && result.status)
		rc = vprof_build_failed(r, vprof_replay_short(r, link->output), &output, &result, err);
	vprof_text_release(&output);
	free(library[0]);
	free(library[1]);
	free(argv);
	return rc;
}
