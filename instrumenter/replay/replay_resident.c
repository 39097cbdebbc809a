/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files are looked at: whatever a link made, known from its command or found beside the build (copies that the
 * build made of its programs). What holds no sites is passed over. */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_resident.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/file_type.h"
#include "common/files.h"
#include "instrumenter/replay/replay_link.h"
#include "instrumenter/resident/resident_map.h"

static int add_module(struct vprof_paths *modules, const char *path)
{
	for (size_t i = 0; i < modules->n; i++)
		if (!strcmp(modules->v[i], path))
			return 0;
	return vprof_file_type(path) == VPROF_FILE_PROGRAM ? vprof_paths_add(modules, path) : 0;
}

static int find_modules(const struct vprof_replayer *r, struct vprof_paths *modules)
{
	int failed = 0;

	for (size_t i = 0; i < r->n_links; i++)
		failed |= add_module(modules, r->links[i].output);
	for (size_t i = 0; i < r->n_units; i++)
		if (r->units[i].command.step == VPROF_STEP_LINK)
			failed |= add_module(modules, r->units[i].output);
	for (size_t i = 0; i < r->originals.n; i++)
		if (r->originals.items[i].kind == VPROF_ORIGINAL_ARTEFACT)
			failed |= add_module(modules, r->originals.items[i].path);
	return failed;
}

/* A program that compiles and links in one command is an object of ours: its new content is noted. */
static int note_units(struct vprof_replayer *r, struct vprof_error *err)
{
	char hash[17];

	for (size_t i = 0; i < r->n_units; i++) {
		const struct vprof_unit *unit = &r->units[i];

		if (unit->command.step != VPROF_STEP_LINK || !unit->fingerprint[0] ||
		    vprof_file_hash(unit->output, hash, NULL))
			continue;
		if (!vprof_made_note(&r->state.objects, &r->state.n_objects, unit->output, hash))
			return vprof_error_no_memory(err);
	}
	return VPROF_OK;
}

int vprof_resident_refresh(struct vprof_replayer *r, struct vprof_error *err)
{
	char *path = vprof_resident_path(r->o->vprof_dir);
	struct vprof_resident_result result;
	struct vprof_paths modules = { 0 };
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc)
		unlink(path);
	if (rc || !r->plan || !r->plan->live)
		goto out;
	if (find_modules(r, &modules))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_resident_make((const char *const *)modules.v, modules.n, r->facts, r->plan, r->o->vprof_dir,
					 &result, err);
	if (!rc)
		rc = note_units(r, err);
	if (rc)
		goto out;
	r->result->n_resident = result.n_probes;
	r->result->n_left_out = result.n_left_out;
	for (size_t i = 0; i < r->n_units; i++)
		r->result->n_without_twins += r->units[i].is_plain;
	rc = vprof_replay_log(r, err, "resident: %zu modules, %zu entries, %zu probes, %zu left out\n",
			      result.n_modules, result.n_entries, result.n_probes, result.n_left_out);
	if (!rc)
		rc = vprof_state_write(&r->state, err);
out:
	vprof_paths_release(&modules);
	free(path);
	return rc;
}
