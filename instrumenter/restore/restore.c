/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restore: the build tree as it was before the first replay, byte for byte, with modes and times, so that the build
 * has nothing to do afterwards. Runs, facts and the session stay.
 *
 * Invariant: a saved original is deleted only when every file is back; a restore that failed can be run again. What a
 * complete build without vprof made since then is newer than any original and stays.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "instrumenter/instrument.h"
#include "instrumenter/restore/originals.h"
#include "instrumenter/restore/replay_state.h"

static int forget(const char *vprof_dir, struct vprof_error *err)
{
	static const char *const names[] = { "state.json", "src", "tmp", "live", "original.json", "original" };
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < sizeof names / sizeof *names; i++) {
		char *path = vprof_path_join(vprof_dir, names[i]);

		rc = path ? vprof_dir_remove(path, err) : vprof_error_no_memory(err);
		free(path);
	}
	return rc;
}

static int has_ours(const struct vprof_made *list, size_t n)
{
	char hash[17];

	for (size_t i = 0; i < n; i++)
		if (!vprof_file_hash(list[i].path, hash, NULL) && vprof_made_has(&list[i], hash))
			return 1;
	return 0;
}

/* Has a build without vprof rebuilt everything since? Then none of our files exists any more. As long as one does, a
 * binary may contain it, and everything is put back; likewise when a relink is unfinished or the state is unknown.
 */
static int is_built_since(const char *vprof_dir)
{
	struct vprof_replay_state s;
	int since = !vprof_state_read(&s, vprof_dir, NULL) && !s.relinking && s.n_objects && s.n_artefacts &&
		    !has_ours(s.objects, s.n_objects) && !has_ours(s.artefacts, s.n_artefacts);

	vprof_state_release(&s);
	return since;
}

/* A file of that build stays; what is missing or was not touched by us is treated as usual. */
static int is_kept(const struct vprof_original *item, int built_since)
{
	return built_since && (item->kind == VPROF_ORIGINAL_OBJECT || item->kind == VPROF_ORIGINAL_ARTEFACT) &&
	       !access(item->path, F_OK);
}

int vprof_restore(const char *vprof_dir, size_t *n_restored, struct vprof_error *err)
{
	struct vprof_originals o;
	struct vprof_error first = { "" };
	size_t n_failed = 0, n_lost = 0, n = 0;
	int rc = vprof_originals_read(&o, vprof_dir, err), built_since = !rc && is_built_since(vprof_dir);

	for (int objects = 1; !rc && objects >= 0; objects--) { /* what they are made from first */
		for (size_t i = 0; i < o.n; i++) {
			const struct vprof_original *item = &o.items[i];
			struct vprof_error error = { "" };
			int done;

			if ((item->kind == VPROF_ORIGINAL_OBJECT || item->kind == VPROF_ORIGINAL_ABSENT) != objects)
				continue;
			if (is_kept(item, built_since))
				continue;
			done = vprof_originals_put_back(&o, item, &error);
			n += done > 0;
			if (done < 0 && !n_failed++)
				first = error;
			n_lost += done == VPROF_ERR_CORRUPT;
		}
	}
	vprof_originals_release(&o);
	if (n_restored)
		*n_restored = n;
	if (rc)
		return rc;
	if (n_lost)
		return vprof_error_set(
			err, VPROF_ERR_FAILED,
			"%zu files cannot be restored exactly, the first: %s\n  rebuild them: remove %s/original.json, original and state.json, clean the build (make clean) and run vprof init with the build command",
			n_lost, first.message, vprof_dir);
	if (n_failed)
		return vprof_error_set(
			err, VPROF_ERR_FAILED,
			"%zu files could not be restored, the first: %s\n  their originals stay in %s/original; fix the cause and run vprof restore again",
			n_failed, first.message, vprof_dir);
	return forget(vprof_dir, err);
}
