/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was linked from changed objects is removed, and the user's build command makes it again. What the build does not
 * make again gets its original back. A build command that recompiles everything (a plain script) would put the original
 * objects back: then our objects are compiled once more and the recorded link commands run instead of it, also from
 * then on.
 */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_relink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "instrumenter/replay/replay_archive.h"
#include "instrumenter/replay/replay_build.h"
#include "instrumenter/replay/replay_command.h"
#include "instrumenter/replay/replay_compile.h"
#include "instrumenter/replay/replay_link.h"
#include "instrumenter/replay/replay_resident.h"

static int remove_all(const struct vprof_paths *affected, struct vprof_error *err)
{
	for (size_t i = 0; i < affected->n; i++)
		if (unlink(affected->v[i]) && errno != ENOENT)
			return vprof_error_set(err, VPROF_ERR_FAILED, "cannot remove %s for the relink: %s",
					       affected->v[i], strerror(errno));
	return VPROF_OK;
}

static int is_earlier(struct timespec a, struct timespec b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

/* What was linked before the build recompiled originals cannot contain these, so it stays: relinking a program that
 * generates sources would make the build compile them once more. */
static void keep_earlier(struct vprof_paths *affected, struct timespec since)
{
	size_t n = 0;

	for (size_t i = 0; i < affected->n; i++) {
		struct stat st;

		if (!stat(affected->v[i], &st) && is_earlier(st.st_mtim, since))
			free(affected->v[i]);
		else
			affected->v[n++] = affected->v[i];
	}
	affected->n = n;
}

/* What was not made again gets its original back, and is noted; how many of `affected` were made. */
static size_t put_back_rest(struct vprof_replayer *r, const struct vprof_paths *affected)
{
	size_t made = 0;

	vprof_paths_release(&r->not_linked);
	for (size_t i = 0; i < affected->n; i++) {
		const struct vprof_original *o = vprof_originals_find(&r->originals, affected->v[i]);

		if (!access(affected->v[i], F_OK)) {
			made++;
		} else if (o) {
			vprof_replay_log(r, NULL, "not rebuilt, original restored: %s\n",
					 vprof_replay_short(r, affected->v[i]));
			vprof_originals_put_back(&r->originals, o, NULL);
			if (!vprof_replay_unit_of(r, affected->v[i]))
				vprof_paths_add(&r->not_linked, affected->v[i]);
		}
	}
	return made;
}

/* The build command would link static programs without libvprof.a. */
static int find_static_links(struct vprof_replayer *r, struct vprof_error *err)
{
	struct vprof_paths affected = { 0 };
	int rc = vprof_links_affected(r, &affected, err);

	for (size_t i = 0; !rc && i < r->n_links && !r->state.direct_link; i++)
		r->state.direct_link = r->links[i].affected && vprof_links_statically(&r->links[i].command);
	if (!rc && r->state.direct_link)
		rc = vprof_replay_log(
			r, err, "a program is linked statically: linking with libvprof.a, without the build command\n");
	vprof_paths_release(&affected);
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
	struct vprof_paths affected = { 0 };
	int rc = vprof_units_compile(r, 0, err);

	if (!rc)
		rc = vprof_archives_refresh(r, err);
	if (!rc)
		rc = vprof_units_compile(r, 1, err);
	if (!rc)
		rc = vprof_links_affected(r, &affected, err);
	if (!rc)
		rc = remove_all(&affected, err);
	for (size_t i = 0; !rc && i < r->n_links; i++)
		if (r->links[i].affected)
			rc = vprof_link_run(r, &r->links[i], err);
	put_back_rest(r, &affected);
	vprof_paths_release(&affected);
	return rc;
}

/* `since`: when the build compiled originals again before, or 0; then the same of this build, where n_overwritten says
 * so. */
static int relink_by_build(struct vprof_replayer *r, struct timespec *since, size_t *n_overwritten, size_t *n_unmade,
			   struct vprof_error *err)
{
	struct vprof_paths affected = { 0 };
	int rc = vprof_links_affected(r, &affected, err);

	if (!rc && since->tv_sec && !r->links_known)
		keep_earlier(&affected, *since);
	if (!rc)
		rc = remove_all(&affected, err);
	if (!rc)
		rc = vprof_build_run(r, err);
	*n_unmade = affected.n;
	if (put_back_rest(r, &affected))
		*n_unmade = 0; /* the others belong to another target */
	*n_overwritten = rc ? 0 : mark_overwritten(r, since);
	vprof_paths_release(&affected);
	return rc;
}

/* A discovery run must not take for discovered what was not linked from the objects of this build: see instrument.h. */
static int tell_not_linked(const struct vprof_replayer *r, struct vprof_error *err)
{
	const char *path = r->o->flows ? r->o->flows->not_linked : NULL;
	struct vprof_text lines = VPROF_TEXT_INIT;
	int rc = VPROF_OK;

	if (!path)
		return rc;
	unlink(path);
	for (size_t i = 0; i < r->not_linked.n; i++)
		vprof_text_addf(&lines, "%s\n", r->not_linked.v[i]);
	if (lines.failed)
		rc = vprof_error_no_memory(err);
	else if (lines.len)
		rc = vprof_file_write(path, lines.s, lines.len, err);
	vprof_text_release(&lines);
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
	/* what a kept discovery build lacks must be linked by the next */
	r->state.relinking = r->not_linked.n && r->o->flows && r->o->flows->n_sources;
	return vprof_state_write(&r->state, err);
}

/* vprof.json names no build command. */
static int link_without_build(struct vprof_replayer *r, struct vprof_error *err)
{
	if (!r->links_known)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "vprof.json has no \"build\", the command that relinks the program; add it, or "
				       "observe the build: vprof init -- BUILD COMMAND");
	r->state.direct_link = 1;
	return vprof_replay_log(r, err, "vprof.json has no build command: linking without it\n");
}

int vprof_relink(struct vprof_replayer *r, struct vprof_error *err)
{
	size_t n_overwritten = 0, n_unmade = 0;
	struct timespec since = { 0 };
	int rc;

	if (r->state.direct_link && !r->changed.n)
		return vprof_resident_refresh(r, err);
	rc = r->o->build || r->state.direct_link ? VPROF_OK : link_without_build(r, err);
	r->state.relinking = 1;
	if (!rc)
		rc = vprof_state_write(&r->state, err);
	if (!rc && !r->state.direct_link)
		rc = find_static_links(r, err);
	if (!rc && !r->state.direct_link)
		rc = relink_by_build(r, &since, &n_overwritten, &n_unmade, err);
	if (!rc && n_overwritten) {
		rc = vprof_replay_log(
			r, err,
			"the build command replaced %zu instrumented objects with originals: compiling them again%s\n",
			n_overwritten, r->links_known ? ", linking without it" : "");
		r->state.direct_link = r->links_known;
	} else if (!rc && n_unmade) {
		rc = vprof_replay_log(r, err, "the build command relinked nothing%s\n",
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
			"the build command %s: %s\n  vprof needs an incremental build (make, ninja), or one that it observed itself: vprof init -- BUILD COMMAND\n  vprof restore returns the build to its original state",
			n_overwritten ? "compiles the original objects again each time" :
					"relinks nothing after objects have changed",
			r->o->build);
	if (!rc)
		rc = vprof_resident_refresh(r, err);
	if (!rc)
		rc = tell_not_linked(r, err);
	return rc ? rc : note_artefacts(r, err);
}
