/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units and what to do with them. A unit's fingerprint covers its command, the contents of the edited files that it
 * reads, and the headers that every edited unit reads: while it stays the same, so does the object.
 */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "common/files.h"
#include "instrumenter/replay/replay_flows.h"

static int unit_from_tu(struct vprof_unit *unit, const struct vprof_facts_tu *tu, struct vprof_error *err)
{
	cJSON *json = cJSON_Parse(tu->arguments);
	int rc = vprof_command_parse_json(&unit->command, json, err);

	cJSON_Delete(json);
	if (rc)
		return vprof_error_prefix(err, rc, "the recorded command of %s", tu->path);
	unit->tu = tu;
	unit->output = vprof_path_absolute(tu->directory, tu->output);
	vprof_text_init(&unit->messages);
	return unit->output ? VPROF_OK : vprof_error_no_memory(err);
}

int vprof_units_make(struct vprof_replayer *r, struct vprof_error *err)
{
	r->units = calloc(r->facts->n_tus + 1, sizeof *r->units);
	if (!r->units)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < r->facts->n_tus; i++) {
		struct vprof_unit *unit = &r->units[r->n_units];
		int rc = unit_from_tu(unit, &r->facts->tus[i], err), doubled = 0;

		if (rc) {
			vprof_command_release(&unit->command);
			return rc;
		}
		for (size_t j = 0; unit->command.step == VPROF_STEP_LINK && j < r->n_units; j++)
			doubled |= !strcmp(r->units[j].output, unit->output);
		if (doubled || unit->command.step == VPROF_STEP_OTHER) {
			vprof_command_release(&unit->command);
			free(unit->output);
			memset(unit, 0, sizeof *unit);
			continue;
		}
		r->n_units++;
	}
	return VPROF_OK;
}

void vprof_units_release(struct vprof_replayer *r)
{
	for (size_t i = 0; i < r->n_units; i++) {
		vprof_command_release(&r->units[i].command);
		vprof_text_release(&r->units[i].messages);
		free(r->units[i].output);
		free(r->units[i].made);
	}
	free(r->units);
}

/* Mixes in the content of the headers that every edited unit reads. */
static uint64_t hash_headers(const struct vprof_replayer *r)
{
	char *api = vprof_path_join(r->o->include_dir, "vprof.h"), hex[17] = "";
	uint64_t h = VPROF_HASH_SEED;

	if (!vprof_file_hash(r->o->probe_header, hex, NULL))
		h = vprof_hash_text(h, hex);
	if (api && !vprof_file_hash(api, hex, NULL))
		h = vprof_hash_text(h, hex);
	free(api);
	return vprof_hash_text(vprof_hash_text(h, r->o->probe_header), r->o->include_dir);
}

/* Of a discovery build; empty: the unit takes no part in it. */
static void flow_fingerprint(const struct vprof_replayer *r, struct vprof_unit *unit, uint64_t h)
{
	char hex[17] = "", edited[17];

	unit->fingerprint[0] = 0;
	if (!vprof_flow_unit_is_wanted(r, unit))
		return;
	if (!vprof_file_hash(r->o->flows->object, hex, NULL))
		h = vprof_hash_text(h, hex);
	h = vprof_hash_text(vprof_hash_text(h, "flows"), unit->tu->directory);
	if (vprof_flow_unit_is_edited(r, unit, edited))
		h = vprof_hash_text(vprof_hash_text(h, edited), r->o->probe_header);
	for (size_t i = 0; i < unit->command.n; i++)
		h = vprof_hash_text(h, unit->command.argv[i]);
	for (size_t i = 0; i < unit->tu->n_files; i++) {
		const struct vprof_facts_file *file = vprof_facts_file(r->facts, unit->tu->files[i]);

		h = vprof_hash_text(h, file ? file->hash : "");
	}
	snprintf(unit->fingerprint, sizeof unit->fingerprint, "%016" PRIx64, h);
}

static void fingerprint(const struct vprof_replayer *r, struct vprof_unit *unit, uint64_t h)
{
	int edited = 0;

	h = vprof_hash_text(h, unit->tu->directory);
	for (size_t i = 0; i < unit->command.n; i++)
		h = vprof_hash_text(h, unit->command.argv[i]);
	for (size_t i = 0; i < r->facts->n_tus; i++) {
		const struct vprof_facts_tu *tu = &r->facts->tus[i];
		char hex[17];

		if (tu != unit->tu && (unit->command.step != VPROF_STEP_LINK || strcmp(tu->output, unit->tu->output)))
			continue;
		edited |= vprof_edited_unit(&r->edited, tu, hex);
		h = vprof_hash_text(h, hex);
	}
	if (edited)
		snprintf(unit->fingerprint, sizeof unit->fingerprint, "%016" PRIx64, h);
	else
		unit->fingerprint[0] = 0;
}

static void hash_now(const char *path, char hex[17])
{
	hex[0] = 0;
	if (!access(path, R_OK) && vprof_file_hash(path, hex, NULL))
		hex[0] = 0;
}

int vprof_units_decide(struct vprof_replayer *r, struct vprof_error *err)
{
	uint64_t headers = vprof_hash_text(hash_headers(r), r->plan && r->plan->live ? "live" : "");
	int is_read = r->edited.facts != NULL || (r->o->flows && !r->o->flows->has_own_locks);
	int rc = is_read ? VPROF_OK : vprof_edited_read(&r->edited, r->facts, r->shadow_dir, err);

	if (!rc && !is_read && r->plan)
		rc = vprof_edited_narrow(&r->edited, r->plan, r->annotations, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < r->n_units; i++) {
		struct vprof_unit *unit = &r->units[i];
		const struct vprof_made *made = vprof_made_find(r->state.objects, r->state.n_objects, unit->output);
		const struct vprof_original *original = vprof_originals_find(&r->originals, unit->output);

		if (r->o->flows)
			flow_fingerprint(r, unit, VPROF_HASH_SEED);
		else
			fingerprint(r, unit,
				    r->state.links_library && unit->command.step == VPROF_STEP_LINK ?
					    vprof_hash_text(headers, "link") :
					    headers);
		unit->action = VPROF_UNIT_KEEP;
		if (!unit->fingerprint[0] && !made)
			continue;
		hash_now(unit->output, unit->previous);
		if (!unit->fingerprint[0]) {
			/* (a program relinked from changed objects is ours, too, but not edited) */
			if (vprof_made_has(made, unit->previous) && original &&
			    strcmp(original->hash, unit->previous) &&
			    (made->fingerprint[0] ||
			     (unit->command.step == VPROF_STEP_COMPILE && original->kind != VPROF_ORIGINAL_ABSENT)))
				unit->action = VPROF_UNIT_REVERT;
		} else if (!made || !made->n_hashes || strcmp(made->fingerprint, unit->fingerprint) ||
			   strcmp(made->hashes[made->n_hashes - 1], unit->previous)) {
			unit->action = VPROF_UNIT_COMPILE;
		}
	}
	return VPROF_OK;
}
