/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relink: what was made from changed objects is removed, and the user's build command makes it again.
 *
 * What to remove is known from the recorded link commands; without them (an imported database) it is every program
 * and shared library that is newer than the changed objects were. What the build does not make again gets its
 * original back. A build command that compiles everything anew (a plain script) would put the original objects back:
 * then our objects are compiled once more and the recorded link commands run instead of it, also from then on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/process.h"
#include "instrumenter/build_log.h"
#include "instrumenter/replay/replay.h"

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
			link->unit = vprof_unit_of_output(r, output);
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

static int changed_at(const struct vprof_replayer *r, const char *directory, const char *path)
{
	char *absolute = vprof_path_rooted(r->facts->root, directory, path);
	int changed = absolute && vprof_replay_is_changed(r, absolute);

	free(absolute);
	return changed;
}

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
		changed = !path.failed && changed_at(r, link->directory, path.s);
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
		if (changed_at(r, link->directory, c->argv[c->inputs[i]]))
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

struct outputs {
	char **paths;
	size_t n;
};

static int outputs_add(struct outputs *a, const char *path)
{
	char **grown;

	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->paths[i], path))
			return 0;
	grown = realloc(a->paths, (a->n + 1) * sizeof *grown);
	if (!grown)
		return -1;
	a->paths = grown;
	grown[a->n] = strdup(path);
	return grown[a->n] ? (a->n++, 0) : -1;
}

static void outputs_release(struct outputs *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->paths[i]);
	free(a->paths);
	memset(a, 0, sizeof *a);
}

/* Programs and libraries newer than the originals of what changed, when no link commands are known. */
static int affected_by_time(const struct vprof_replayer *r, struct outputs *affected)
{
	int64_t oldest = INT64_MAX;

	for (size_t i = 0; i < r->n_changed; i++) {
		const struct vprof_original *o = vprof_originals_find(&r->originals, r->changed[i]);

		if (o && o->kind == VPROF_ORIGINAL_OBJECT && o->mtime_s < oldest)
			oldest = o->mtime_s;
	}
	for (size_t i = 0; i < r->originals.n; i++) {
		const struct vprof_original *o = &r->originals.items[i];

		if (o->kind == VPROF_ORIGINAL_ARTEFACT && o->mtime_s >= oldest &&
		    vprof_file_type(o->path) == VPROF_FILE_PROGRAM && outputs_add(affected, o->path))
			return -1;
	}
	return 0;
}

/* The outputs to make again, saved if they are not yet. */
static int find_affected(struct vprof_replayer *r, struct outputs *affected, struct vprof_error *err)
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
		failed |= outputs_add(affected, link->output);
		if (vprof_file_type(link->output) == VPROF_FILE_RELOCATABLE)
			failed |= vprof_replay_changed(r, link->output);
	}
	if (failed)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < affected->n; i++) {
		const char *path = affected->paths[i];
		int rc = access(path, F_OK) ?
				 VPROF_OK :
				 vprof_originals_secure(&r->originals, path,
							vprof_is_unit_output(r, path) ? VPROF_ORIGINAL_OBJECT :
											VPROF_ORIGINAL_ARTEFACT,
							err);

		if (rc)
			return rc;
	}
	return vprof_originals_write(&r->originals, err);
}

static int remove_all(const struct outputs *affected, struct vprof_error *err)
{
	for (size_t i = 0; i < affected->n; i++)
		if (unlink(affected->paths[i]) && errno != ENOENT)
			return vprof_error_set(err, VPROF_ERR_FAILED, "cannot remove %s for the relink: %s",
					       affected->paths[i], strerror(errno));
	return VPROF_OK;
}

static int is_earlier(struct timespec a, struct timespec b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

/* What was linked before the build compiled originals again cannot hold these: a program that generates sources would
 * make it compile them once more. */
static void keep_earlier(struct outputs *affected, struct timespec since)
{
	size_t n = 0;

	for (size_t i = 0; i < affected->n; i++) {
		struct stat st;

		if (!stat(affected->paths[i], &st) && is_earlier(st.st_mtim, since))
			free(affected->paths[i]);
		else
			affected->paths[n++] = affected->paths[i];
	}
	affected->n = n;
}

/* What was not made again gets its original back; how many of `affected` were made. */
static size_t put_back_rest(struct vprof_replayer *r, const struct outputs *affected)
{
	size_t made = 0;

	for (size_t i = 0; i < affected->n; i++) {
		const struct vprof_original *o = vprof_originals_find(&r->originals, affected->paths[i]);

		if (!access(affected->paths[i], F_OK)) {
			made++;
		} else if (o) {
			vprof_replay_log(r, NULL, "not made again, original put back: %s\n",
					 vprof_replay_short(r, affected->paths[i]));
			vprof_originals_put_back(&r->originals, o, NULL);
		}
	}
	return made;
}

/* ---- making it again ---- */

static int build_failed(const struct vprof_replayer *r, const char *command, const struct vprof_text *output,
			const struct vprof_process_result *result, struct vprof_error *err)
{
	struct vprof_text lines = VPROF_TEXT_INIT;
	char how[96];

	vprof_process_describe(result, how, sizeof how);
	vprof_build_excerpt(&lines, output->s, 15, NULL, NULL);
	vprof_error_set(err, VPROF_ERR_BUILD,
			"the relink failed (%s): %s\n%s  whole output: %s\n"
			"  vprof restore returns the build to its original state",
			how, command, lines.s, r->o->log_path);
	vprof_text_release(&lines);
	return VPROF_ERR_BUILD;
}

int vprof_run_build(struct vprof_replayer *r, struct vprof_error *err)
{
	struct vprof_text output = VPROF_TEXT_INIT;
	struct vprof_process p = {
		.command = r->o->build, .directory = r->o->directory, .log_path = r->o->log_path, .captured = &output
	};
	struct vprof_process_result result;
	int rc = vprof_replay_log(r, err, "build %s\n", r->o->build);

	if (!rc)
		rc = vprof_process_run(&p, &result, err);
	if (!rc && result.status)
		rc = build_failed(r, r->o->build, &output, &result, err);
	vprof_text_release(&output);
	return rc;
}

static int run_link(struct vprof_replayer *r, const struct vprof_link *link, struct vprof_error *err)
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
		rc = vprof_static_link(r, c, library, err);
	if (!rc) {
		memcpy(argv, c->argv, c->n * sizeof *argv);
		argv[c->n] = library[0];
		argv[c->n + 1] = library[1];
		rc = vprof_process_run(&p, &result, err);
	}
	if (!rc && result.status)
		rc = build_failed(r, vprof_replay_short(r, link->output), &output, &result, err);
	vprof_text_release(&output);
	free(library[0]);
	free(library[1]);
	free(argv);
	return rc;
}

/* The build command would link static programs without libvprof.a. */
static int find_static_links(struct vprof_replayer *r, struct vprof_error *err)
{
	struct outputs affected = { 0 };
	int rc = find_affected(r, &affected, err);

	for (size_t i = 0; !rc && i < r->n_links && !r->state.direct_link; i++)
		r->state.direct_link = r->links[i].affected && vprof_links_statically(&r->links[i].command);
	if (!rc && r->state.direct_link)
		rc = vprof_replay_log(
			r, err, "a program is linked statically: linking with libvprof.a, without the build command\n");
	outputs_release(&affected);
	return rc;
}

/* Objects of ours that the build replaced. They are marked to be compiled again; `since`: when it compiled the first of
 * them. */
static size_t mark_overwritten(struct vprof_replayer *r, struct timespec *since)
{
	struct stat st;
	size_t n = 0;

	for (size_t i = 0; i < r->n_units; i++) {
		struct vprof_unit *unit = &r->units[i];
		const struct vprof_made *made;
		char hash[17];

		if (!unit->fingerprint[0])
			continue;
		made = vprof_made_find(r->state.objects, r->state.n_objects, unit->output);
		if (!made || !made->n_hashes ||
		    (!vprof_file_hash(unit->output, hash, NULL) && !strcmp(hash, made->hashes[made->n_hashes - 1])))
			continue;
		unit->action = VPROF_UNIT_COMPILE;
		if (!stat(unit->output, &st) && (!n || is_earlier(st.st_mtim, *since)))
			*since = st.st_mtim;
		n++;
	}
	return n;
}

static int relink_directly(struct vprof_replayer *r, struct vprof_error *err)
{
	struct outputs affected = { 0 };
	int rc = vprof_units_compile(r, 0, err);

	if (!rc)
		rc = vprof_archives_refresh(r, err);
	if (!rc)
		rc = vprof_units_compile(r, 1, err);
	if (!rc)
		rc = find_affected(r, &affected, err);
	if (!rc)
		rc = remove_all(&affected, err);
	for (size_t i = 0; !rc && i < r->n_links; i++)
		if (r->links[i].affected)
			rc = run_link(r, &r->links[i], err);
	put_back_rest(r, &affected);
	outputs_release(&affected);
	return rc;
}

/* `since`: when the build compiled originals again before, or 0; then the same of this build, where n_overwritten says
 * so. */
static int relink_by_build(struct vprof_replayer *r, struct timespec *since, size_t *n_overwritten, size_t *n_unmade,
			   struct vprof_error *err)
{
	struct outputs affected = { 0 };
	int rc = find_affected(r, &affected, err);

	if (!rc && since->tv_sec && !r->links_known)
		keep_earlier(&affected, *since);
	if (!rc)
		rc = remove_all(&affected, err);
	if (!rc)
		rc = vprof_run_build(r, err);
	*n_unmade = affected.n;
	if (put_back_rest(r, &affected))
		*n_unmade = 0; /* the others belong to another target */
	*n_overwritten = rc ? 0 : mark_overwritten(r, since);
	outputs_release(&affected);
	return rc;
}

/* Remembers what the artefacts are now, so that they are never taken for originals. */
static int note_artefacts(struct vprof_replayer *r, struct vprof_error *err)
{
	for (size_t i = 0; i < r->originals.n; i++) {
		const struct vprof_original *o = &r->originals.items[i];
		struct stat st;
		char hash[17];

		if (o->kind != VPROF_ORIGINAL_ARTEFACT || stat(o->path, &st) ||
		    (st.st_size == o->size && st.st_mtim.tv_sec == o->mtime_s && st.st_mtim.tv_nsec == o->mtime_ns) ||
		    vprof_file_hash(o->path, hash, NULL) || !strcmp(hash, o->hash))
			continue;
		if (!vprof_made_note(&r->state.artefacts, &r->state.n_artefacts, o->path, hash))
			return vprof_error_no_memory(err);
	}
	for (size_t i = 0; i < r->n_links; i++) {
		const struct vprof_original *o = vprof_originals_find(&r->originals, r->links[i].output);
		char hash[17];

		if (!r->links[i].unit || !r->links[i].affected || !o || vprof_file_hash(o->path, hash, NULL) ||
		    !strcmp(hash, o->hash))
			continue;
		if (!vprof_made_note(&r->state.objects, &r->state.n_objects, o->path, hash))
			return vprof_error_no_memory(err);
	}
	r->state.relinking = 0;
	return vprof_state_write(&r->state, err);
}

int vprof_relink(struct vprof_replayer *r, struct vprof_error *err)
{
	size_t n_overwritten = 0, n_unmade = 0;
	struct timespec since = { 0 };
	int rc;

	if (r->state.direct_link && !r->n_changed)
		return VPROF_OK;
	r->state.relinking = 1;
	rc = vprof_state_write(&r->state, err);
	if (!rc && !r->state.direct_link)
		rc = find_static_links(r, err);
	if (!rc && !r->state.direct_link)
		rc = relink_by_build(r, &since, &n_overwritten, &n_unmade, err);
	if (!rc && n_overwritten) {
		rc = vprof_replay_log(r, err,
				      "the build command replaced %zu instrumented objects by originals: "
				      "compiling them again%s\n",
				      n_overwritten, r->links_known ? ", linking without it" : "");
		r->state.direct_link = r->links_known;
	} else if (!rc && n_unmade) {
		rc = vprof_replay_log(r, err, "the build command linked nothing again%s\n",
				      r->links_known ? ": linking without it" : "");
		r->state.direct_link = r->links_known;
	}
	if (!rc && r->state.direct_link) {
		rc = relink_directly(r, err);
	} else if (!rc && (n_overwritten || n_unmade)) {
		rc = vprof_units_compile(r, 0, err);
		if (!rc)
			rc = vprof_archives_refresh(r, err);
		if (!rc)
			rc = vprof_units_compile(r, 1, err);
		if (!rc)
			rc = relink_by_build(r, &since, &n_overwritten, &n_unmade, err);
	}
	if (!rc && !r->state.direct_link && (n_overwritten || n_unmade))
		rc = vprof_error_set(
			err, VPROF_ERR_BUILD,
			"the build command %s: %s\n  vprof needs a build that only makes what is out of date "
			"(make, ninja), or one that it observed itself: vprof init -- BUILD COMMAND\n"
			"  vprof restore returns the build to its original state",
			n_overwritten ? "compiles the original objects again each time" :
					"does not link anything again after objects changed",
			r->o->build);
	return rc ? rc : note_artefacts(r, err);
}
