/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_revert.h"

#include <string.h>
#include <sys/stat.h>

#include "common/files.h"
#include "instrumenter/replay/replay_compile.h"
#include "instrumenter/replay/replay_install.h"

/* The build keeps no object of this unit (it went into an archive and was removed): the original source is compiled
 * again. */
static int compile_original(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_error *err)
{
	struct vprof_process_result result;
	int rc = vprof_unit_compile(r, unit, &result, err);

	vprof_replay_log(r, NULL, "%s", unit->messages.s);
	if (!rc)
		rc = vprof_file_hash(unit->made, unit->hash, err);
	if (!rc && !vprof_made_note(&r->state.objects, &r->state.n_objects, unit->output, unit->hash))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_state_write(&r->state, err);
	return rc ? rc : vprof_replay_install(unit->made, unit->output, err);
}

/* Did the user edit a source since the saved object was made? */
static int is_outdated(const struct vprof_replayer *r, const struct vprof_unit *unit,
		       const struct vprof_original *original)
{
	struct stat st;

	for (size_t i = 0; i < unit->tu->n_files; i++) {
		const struct vprof_facts_file *file = vprof_facts_file(r->facts, unit->tu->files[i]);

		if (file && !stat(file->path, &st) &&
		    (st.st_mtim.tv_sec > original->mtime_s ||
		     (st.st_mtim.tv_sec == original->mtime_s && st.st_mtim.tv_nsec > original->mtime_ns)))
			return 1;
	}
	return 0;
}

static int revert_unit(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_error *err)
{
	const struct vprof_original *original = vprof_originals_find(&r->originals, unit->output);
	int absent = original->kind == VPROF_ORIGINAL_ABSENT, outdated = !absent && is_outdated(r, unit, original), rc;

	if (unit->command.step == VPROF_STEP_COMPILE && (absent || outdated)) {
		rc = compile_original(r, unit, err);
		/* What the edited source makes is the original from now on. */
		if (!rc && outdated)
			rc = vprof_originals_save(&r->originals, unit->output, original->kind, err);
		if (!rc && outdated)
			rc = vprof_originals_write(&r->originals, err);
	} else {
		rc = vprof_originals_put_back(&r->originals, original, err);
	}
	if (rc < 0)
		return rc;
	if (outdated && unit->command.step != VPROF_STEP_COMPILE) /* with its old time: the build rebuilds it */
		return vprof_replay_changed(r, unit->output, err);
	vprof_object_set_time(r, unit->output, NULL);
	return vprof_replay_changed(r, unit->output, err);
}

int vprof_units_revert(struct vprof_replayer *r, struct vprof_error *err)
{
	size_t before = r->result->n_reverted;
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < r->n_units; i++) {
		struct vprof_unit *unit = &r->units[i];
		struct vprof_made *made;

		if (unit->action != VPROF_UNIT_REVERT)
			continue;
		rc = vprof_replay_log(r, err, "revert %s\n", vprof_replay_short(r, unit->output));
		if (!rc)
			rc = revert_unit(r, unit, err);
		made = vprof_made_find(r->state.objects, r->state.n_objects, unit->output);
		if (made)
			made->fingerprint[0] = 0;
		unit->action = VPROF_UNIT_KEEP;
		r->result->n_reverted += !rc;
	}
	if (!rc && r->result->n_reverted != before)
		rc = vprof_state_write(&r->state, err);
	return rc;
}
