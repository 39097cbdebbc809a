/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replay: compiles what the plan changed and has it linked again. The order of steps:
 *
 *   units from the facts; what changed since state.json                       (replay_unit.h)
 *   objects missing: the user's build first                                   (replay_build.h)
 *   once: save all programs, libraries and archives                           (originals_collect.h)
 *   compile changed objects, put them in place; put reverted ones back        (replay_compile.h, replay_revert.h)
 *   archives, then units that compile and link in one step                    (replay_archive.h)
 *   remove what was linked from them, run the user's build, check             (replay_relink.h)
 *
 * Compilers write to .vprof/tmp until all outputs are whole; no build folder holds a half-written file. An
 * interrupted replay leaves there what it compiled (replay_kept.h).
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/process.h"
#include "instrumenter/instrument.h"
#include "instrumenter/replay/replay_archive.h"
#include "instrumenter/replay/replay_build.h"
#include "instrumenter/replay/replay_compile.h"
#include "instrumenter/replay/replay_flows.h"
#include "instrumenter/replay/replay_kept.h"
#include "instrumenter/replay/replay_link.h"
#include "instrumenter/replay/replay_relink.h"
#include "instrumenter/replay/replay_revert.h"
#include "instrumenter/replay/replay_unit.h"
#include "instrumenter/restore/originals_collect.h"

/* ---- the state of the build before we touch it ---- */

/* Did the user rebuild everything, so that nothing of ours is left? Then we start from the beginning. */
static int is_all_new(const struct vprof_replayer *r)
{
	size_t n_ours = 0;
	char hash[17];

	if (r->state.relinking || !r->originals.n)
		return 0;
	for (size_t i = 0; i < r->state.n_objects; i++) {
		const struct vprof_made *made = &r->state.objects[i];

		if (!made->fingerprint[0])
			continue;
		n_ours++;
		if (vprof_file_hash(made->path, hash, NULL) || vprof_made_has(made, hash))
			return 0;
	}
	for (size_t i = 0; i < r->state.n_artefacts; i++)
		if (vprof_file_hash(r->state.artefacts[i].path, hash, NULL) ||
		    vprof_made_has(&r->state.artefacts[i], hash))
			return 0;
	return n_ours > 0;
}

static int start_anew(struct vprof_replayer *r, struct vprof_error *err)
{
	static const char *const names[] = { "original.json", "state.json", "original" };
	int rc = vprof_replay_log(r, err, "the project was rebuilt: its objects are the new originals\n");

	for (size_t i = 0; !rc && i < sizeof names / sizeof *names; i++) {
		char *path = vprof_path_join(r->o->vprof_dir, names[i]);

		rc = path ? vprof_dir_remove(path, err) : vprof_error_no_memory(err);
		free(path);
	}
	vprof_originals_release(&r->originals);
	vprof_state_release(&r->state);
	if (!rc)
		rc = vprof_originals_read(&r->originals, r->o->vprof_dir, err);
	if (!rc)
		rc = vprof_state_read(&r->state, r->o->vprof_dir, err);
	return rc;
}

/* Objects that the build must make before we can replace them: gone, or (when we link without the build) outdated. */
static size_t count_unbuilt(const struct vprof_replayer *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_units; i++) {
		const struct vprof_unit *unit = &r->units[i];
		const struct vprof_made *made = vprof_made_find(r->state.objects, r->state.n_objects, unit->output);
		struct stat object, source;

		if (stat(unit->output, &object)) {
			n += unit->fingerprint[0] || made;
			continue;
		}
		for (size_t j = 0; r->state.direct_link && j < unit->tu->n_files; j++) {
			const struct vprof_facts_file *file = vprof_facts_file(r->facts, unit->tu->files[j]);

			if (file && !stat(file->path, &source) && source.st_mtim.tv_sec > object.st_mtim.tv_sec) {
				n++;
				break;
			}
		}
	}
	return n;
}

static int is_unit_output(void *replayer, const char *path)
{
	return vprof_replay_unit_of(replayer, path) != NULL;
}

/* Saves what a relink could replace, in the project and in the folders where its compilers ran. */
static int collect_originals(struct vprof_replayer *r, struct vprof_error *err)
{
	const char **dirs = calloc(r->n_units + 2, sizeof *dirs);
	int64_t since_s = INT64_MAX;
	size_t n = 0;
	int rc;

	if (!dirs)
		return vprof_error_no_memory(err);
	dirs[n++] = r->facts->root;
	if (!vprof_path_inside(r->facts->root, r->o->directory) && !vprof_path_inside(r->o->directory, r->facts->root))
		dirs[n++] = r->o->directory;
	for (size_t i = 0; i < r->n_units; i++) {
		const char *dir = r->units[i].tu->directory;
		struct stat st;
		int known = vprof_path_inside(dir, r->facts->root); /* never a folder above the project */

		for (size_t j = 0; j < n; j++)
			known |= vprof_path_inside(dirs[j], dir);
		if (!known)
			dirs[n++] = dir;
		if (!stat(r->units[i].output, &st) && st.st_mtim.tv_sec < since_s)
			since_s = st.st_mtim.tv_sec;
	}
	rc = vprof_originals_collect(&r->originals, dirs, n, is_unit_output, r, since_s, err);
	if (!rc)
		rc = vprof_originals_write(&r->originals, err);
	free(dirs);
	return rc;
}

/* Programs get the library, or lose it: then all of them are linked again, without the build command. */
static int decide_library(struct vprof_replayer *r, int was_linked, struct vprof_error *err)
{
	int is_wanted = r->plan && r->plan->live && (r->o->link || was_linked);

	if (is_wanted && !r->links_known)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "--link: the commands that link the program are not known, since vprof did not "
				       "observe the build (vprof init -- BUILD COMMAND does). Or add this to the link "
				       "yourself: %s/libvprof.so -Wl,-rpath,%s",
				       r->o->library_dir, r->o->library_dir);
	if (is_wanted == r->state.links_library)
		return VPROF_OK;
	r->state.links_library = is_wanted;
	r->state.direct_link |= is_wanted;
	r->state.relinking = 1;
	return vprof_state_write(&r->state, err);
}

static int prepare(struct vprof_replayer *r, struct vprof_error *err)
{
	int rc = vprof_file_write(r->o->log_path, "", 0, err), was_linked;

	if (!rc)
		rc = vprof_dir_make(r->tmp_dir, err);
	if (!rc)
		rc = vprof_kept_clear(r->tmp_dir, NULL, 0, err);
	if (!rc)
		rc = vprof_originals_read(&r->originals, r->o->vprof_dir, err);
	if (!rc)
		rc = vprof_state_read(&r->state, r->o->vprof_dir, err);
	if (!rc)
		rc = vprof_units_make(r, err);
	if (!rc && r->o->flows)
		rc = vprof_flow_units_check(r, err);
	if (!rc)
		rc = vprof_links_read(r, err);
	was_linked = r->state.links_library;
	if (!rc)
		rc = vprof_units_decide(r, err);
	if (!rc && count_unbuilt(r)) {
		rc = vprof_replay_log(r, err, "objects are missing or out of date: building first\n");
		vprof_replay_progress(r, "build", 0);
		if (!rc)
			rc = vprof_build_run(r, err);
	}
	if (!rc && is_all_new(r))
		rc = start_anew(r, err); /* the state is a new one */
	if (!rc)
		rc = decide_library(r, was_linked, err);
	if (!rc)
		rc = vprof_units_decide(r, err);
	if (!rc && !r->originals.collected)
		rc = collect_originals(r, err);
	for (size_t i = 0; !rc && r->state.relinking && i < r->state.n_objects; i++)
		/* the last relink did not end: all of it again */
		rc = vprof_replay_changed(r, r->state.objects[i].path, err);
	return rc;
}

int vprof_replay(const struct vprof_facts *facts, const struct vprof_plan *plan, const struct vprof_annotations *a,
		 const struct vprof_replay_options *o, struct vprof_replay_result *result, struct vprof_error *err)
{
	struct vprof_replayer r = { .facts = facts, .plan = plan, .annotations = a, .o = o, .result = result };
	double begin = vprof_clock_s();
	int rc;

	memset(result, 0, sizeof *result);
	r.shadow_dir = vprof_path_join(o->vprof_dir, "src");
	r.tmp_dir = vprof_path_join(o->vprof_dir, "tmp");
	rc = r.shadow_dir && r.tmp_dir ? prepare(&r, err) : vprof_error_no_memory(err);
	result->n_units = r.n_units;
	if (!rc)
		rc = vprof_units_compile(&r, 0, err);
	if (!rc)
		rc = vprof_units_revert(&r, err);
	if (!rc)
		rc = vprof_archives_refresh(&r, err);
	if (!rc)
		rc = vprof_units_compile(&r, 1, err);
	result->compile_s = vprof_clock_s() - begin;
	begin = vprof_clock_s();
	vprof_replay_progress(&r, "link", 0);
	if (!rc)
		rc = vprof_relink(&r, err);
	result->link_s = vprof_clock_s() - begin;
	vprof_replay_progress(&r, "link", 1);
	if (r.tmp_dir && !rc)
		vprof_dir_remove(r.tmp_dir, NULL);
	else if (r.tmp_dir)
		vprof_kept_clear(r.tmp_dir, NULL, 0, NULL);
	vprof_links_release(&r);
	vprof_edited_release(&r.edited);
	vprof_units_release(&r);
	vprof_originals_release(&r.originals);
	vprof_state_release(&r.state);
	vprof_paths_release(&r.changed);
	vprof_paths_release(&r.not_linked);
	free(r.shadow_dir);
	free(r.tmp_dir);
	return rc;
}
