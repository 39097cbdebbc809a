/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which units the shadow tree concerns, for replay (splice_unit.h). Every file is examined once, however many units
 * read it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/files.h"
#include "instrumenter/instrument.h"
#include "instrumenter/splice/splice_unit.h"

#include "instrumenter/splice/splice_shadow.h"

static int read_file(struct vprof_edited *e, size_t i, const char *shadow_dir, struct vprof_error *err)
{
	const struct vprof_facts_file *file = &e->facts->files[i];
	char *shadow = vprof_shadow_path(e->facts, shadow_dir, file->path);
	struct vprof_text text = VPROF_TEXT_INIT;
	struct stat st;
	int rc = VPROF_OK;

	if (!shadow)
		return vprof_error_no_memory(err);
	if (!lstat(shadow, &st) && S_ISREG(st.st_mode)) {
		rc = vprof_file_read(shadow, &text, err);
		e->hashes[i] = vprof_hash(VPROF_HASH_SEED, file->path, strlen(file->path) + 1);
		e->hashes[i] = vprof_hash(e->hashes[i], text.s, text.len);
		e->needed[i] = 1;
	}
	vprof_text_release(&text);
	free(shadow);
	return rc;
}

static void find_api_calls(struct vprof_edited *e)
{
	const struct vprof_facts *facts = e->facts;

	for (size_t i = 0; i < facts->n_calls; i++) {
		const struct vprof_facts_call *c = &facts->calls[i];
		const struct vprof_facts_function *f;
		const struct vprof_facts_file *file;

		if (c->callee[0] != 'v' || c->callee_function || !vprof_is_interval_api(c->callee))
			continue;
		f = vprof_facts_function(facts, c->caller);
		file = f ? vprof_facts_file(facts, f->file) : NULL;
		if (file)
			e->needed[file - facts->files] = 1;
	}
}

int vprof_edited_read(struct vprof_edited *e, const struct vprof_facts *facts, const char *shadow_dir,
		      struct vprof_error *err)
{
	int rc = VPROF_OK;

	e->facts = facts;
	e->needed = calloc(facts->n_files + 1, sizeof *e->needed);
	e->hashes = calloc(facts->n_files + 1, sizeof *e->hashes);
	if (!e->needed || !e->hashes)
		return vprof_error_no_memory(err);
	for (size_t i = 0; !rc && i < facts->n_files; i++)
		if (facts->files[i].in_project && vprof_path_inside(facts->root, facts->files[i].path))
			rc = read_file(e, i, shadow_dir, err);
	find_api_calls(e);
	return rc;
}

void vprof_edited_release(struct vprof_edited *e)
{
	free(e->needed);
	free(e->hashes);
	free(e->users);
	*e = (struct vprof_edited){ 0 };
}

/* Does the unit read a file whose functions make the narrow header's probes open? */
static int is_user(const struct vprof_edited *e, const struct vprof_facts_tu *tu, uint32_t header)
{
	for (size_t i = 0; i < e->n_users; i++)
		if (e->users[i].header == header && vprof_facts_tu_reads(tu, e->users[i].file))
			return 1;
	return 0;
}

int vprof_edited_unit(const struct vprof_edited *e, const struct vprof_facts_tu *tu, char fingerprint[17])
{
	uint64_t hash = VPROF_HASH_SEED;
	int needed = 0;

	fingerprint[0] = 0;
	for (size_t i = 0; i < tu->n_files; i++) {
		const struct vprof_facts_file *file = vprof_facts_file(e->facts, tu->files[i]);
		size_t at = file ? (size_t)(file - e->facts->files) : 0;

		if (!file || !e->needed[at])
			continue;
		/* in the fingerprint either way: a unit that is compiled reads the header as it is edited */
		hash = vprof_hash(hash, &e->hashes[at], sizeof e->hashes[at]);
		needed |= e->needed[at] != VPROF_EDITED_NARROW || is_user(e, tu, tu->files[i]);
	}
	if (needed)
		snprintf(fingerprint, 17, "%016" PRIx64, hash);
	return needed;
}
