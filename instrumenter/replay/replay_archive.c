/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Static archives: the build's own rules often do not rebuild them (a sub-make that ran once, as for Redis's deps), so
 * changed objects are put into the archives that contain their earlier versions.
 *
 * Invariant: a member is replaced only when its name and its whole content are those of an earlier version of the
 * object (the original, or one that we compiled). Other members stay byte for byte; ranlib rebuilds the index. Thin
 * archives contain only names and count as changed when their objects have.
 */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_archive.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/process.h"
#include "common/elf/file_type.h"

#define HEADER_BYTES 60

struct archive {
	const char *bytes;
	size_t n;
	const char *names; /* the table of long names */
	size_t names_n;
};

/* The member's name, from the header at `at`; 0 for the index, the name table and names we do not understand. */
static int member_name(const struct archive *a, const char *header, char *name, size_t size)
{
	const char *from = header, *end = header + 16;
	size_t n = 0;

	if (header[0] == '/') {
		size_t offset = 0;
		const char *p = header + 1;

		if (!isdigit((unsigned char)*p))
			return 0;
		while (p < end && isdigit((unsigned char)*p))
			offset = offset * 10 + (size_t)(*p++ - '0');
		if (offset >= a->names_n)
			return 0;
		from = a->names + offset;
		end = a->names + a->names_n;
	}
	while (from + n < end && from[n] != '/' && from[n] != '\n' && n + 1 < size) {
		name[n] = from[n];
		n++;
	}
	name[n] = 0;
	while (n && name[n - 1] == ' ')
		name[--n] = 0;
	return n > 0;
}

static int is_index(const char *header)
{
	return !memcmp(header, "/ ", 2) || !memcmp(header, "/SYM64/ ", 8);
}

static int member_size(const char *header, size_t left, size_t *size)
{
	char digits[11], *end;

	memcpy(digits, header + 48, 10);
	digits[10] = 0;
	*size = strtoull(digits, &end, 10);
	return end != digits && header[58] == '`' && header[59] == '\n' && *size <= left;
}

/* The changed unit of which this member is an earlier version, or NULL. */
static const struct vprof_unit *unit_of_member(const struct vprof_replayer *r, const char *name, const char *data,
					       size_t n)
{
	char hash[17] = "";

	for (size_t i = 0; i < r->n_units; i++) {
		const struct vprof_unit *unit = &r->units[i];
		const struct vprof_original *original;

		if (strcmp(strrchr(unit->output, '/') + 1, name) || !vprof_replay_is_changed(r, unit->output))
			continue;
		if (!hash[0])
			snprintf(hash, sizeof hash, "%016" PRIx64, vprof_hash(VPROF_HASH_SEED, data, n));
		original = vprof_originals_find(&r->originals, unit->output);
		if ((original && !strcmp(original->hash, hash)) || !strcmp(unit->previous, hash) ||
		    vprof_made_has(vprof_made_find(r->state.objects, r->state.n_objects, unit->output), hash))
			return unit;
	}
	return NULL;
}

static int append_member(struct vprof_text *out, const char *header, const struct vprof_unit *unit,
			 struct vprof_error *err)
{
	struct vprof_text object = VPROF_TEXT_INIT;
	char fields[HEADER_BYTES + 1];
	int rc = vprof_file_read(unit->output, &object, err);

	memcpy(fields, header, HEADER_BYTES);
	snprintf(fields + 48, 13, "%-10zu`\n", object.len);
	vprof_text_append(out, fields, HEADER_BYTES);
	vprof_text_append(out, object.s, object.len);
	if (object.len & 1)
		vprof_text_add(out, "\n");
	vprof_text_release(&object);
	return rc;
}

/* Writes the archive with changed members replaced. Returns their number (0 when it is damaged: left alone), or an
 * error. */
static int rewrite(const struct vprof_replayer *r, struct archive *a, struct vprof_text *out, struct vprof_error *err)
{
	int replaced = 0, rc;
	size_t size;

	vprof_text_append(out, a->bytes, 8);
	for (size_t at = 8; at < a->n; at += HEADER_BYTES + size + (size & 1)) {
		const char *header = a->bytes + at, *data = header + HEADER_BYTES;
		const struct vprof_unit *unit = NULL;
		char name[1024];

		if (a->n - at < HEADER_BYTES || !member_size(header, a->n - at - HEADER_BYTES, &size))
			return 0;
		if (!memcmp(header, "//  ", 4)) {
			a->names = data;
			a->names_n = size;
		} else if (member_name(a, header, name, sizeof name)) {
			unit = unit_of_member(r, name, data, size);
		}
		if (unit && (rc = append_member(out, header, unit, err)))
			return rc;
		if (!unit && !is_index(header)) { /* LLVM's ranlib keeps an existing index, even an outdated one */
			vprof_text_append(out, header, HEADER_BYTES + size);
			if (size & 1)
				vprof_text_add(out, "\n");
		}
		replaced += unit != NULL;
	}
	return replaced;
}

/* Is there LLVM bitcode in it (clang -flto)? Only LLVM's ranlib knows its symbols. */
static int has_bitcode(const struct vprof_text *bytes)
{
	return memmem(bytes->s, bytes->len, "`\nBC\xc0\xde", 6) ||
	       memmem(bytes->s, bytes->len, "`\n\xde\xc0\x17\x0b", 6);
}

/* llvm-ranlib beside the clang of a changed unit, or with its version in PATH. Heap string, or NULL. */
static char *llvm_ranlib(const struct vprof_replayer *r)
{
	for (size_t i = 0; i < r->n_units; i++) {
		const struct vprof_command *c = &r->units[i].command;
		const char *name = strstr(c->argv[c->compiler], "clang"), *version = name ? strrchr(name, '-') : NULL;
		char *program = name ? vprof_process_find(c->argv[c->compiler]) : NULL, *real, *beside = NULL, *slash;
		struct vprof_text versioned = VPROF_TEXT_INIT;

		if (!program || !vprof_replay_is_changed(r, r->units[i].output)) {
			free(program);
			continue;
		}
		real = realpath(program, NULL);
		slash = real ? strrchr(real, '/') : NULL;
		if (slash) {
			*slash = 0;
			beside = vprof_path_join(real, "llvm-ranlib");
		}
		free(real);
		free(program);
		if (beside && !access(beside, X_OK))
			return beside;
		free(beside);
		vprof_text_addf(&versioned, "llvm-ranlib%s", version ? version : "");
		program = versioned.failed ? NULL : vprof_process_find(versioned.s);
		vprof_text_release(&versioned);
		return program ? program : vprof_process_find("llvm-ranlib");
	}
	return NULL;
}

static int run_ranlib(const struct vprof_replayer *r, const char *path, const struct vprof_text *bytes,
		      struct vprof_error *err)
{
	char *llvm = has_bitcode(bytes) ? llvm_ranlib(r) : NULL;
	const char *const argv[] = { llvm ? llvm : "ranlib", path, NULL };
	struct vprof_process p = { .argv = argv, .log_path = r->o->log_path };
	struct vprof_process_result result;
	int rc = vprof_process_run(&p, &result, err);

	free(llvm);
	if (rc)
		return vprof_error_prefix(err, rc, "ranlib (apt install binutils)");
	if (result.status)
		return vprof_error_set(err, VPROF_ERR_BUILD, "ranlib failed on %s; its messages are in %s", path,
				       r->o->log_path);
	return VPROF_OK;
}

static int install_archive(struct vprof_replayer *r, const char *path, const struct vprof_text *bytes,
			   struct vprof_error *err)
{
	char *made = vprof_path_join(r->tmp_dir, strrchr(path, '/') + 1), hash[17];
	struct stat st;
	int rc;

	if (!made || stat(path, &st)) {
		free(made);
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot read %s", path);
	}
	rc = vprof_file_write(made, bytes->s, bytes->len, err);
	if (!rc)
		rc = run_ranlib(r, made, bytes, err);
	if (!rc)
		rc = vprof_file_hash(made, hash, err);
	if (!rc && !vprof_made_note(&r->state.artefacts, &r->state.n_artefacts, path, hash))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_state_write(&r->state, err);
	if (!rc) {
		chmod(made, st.st_mode & 07777);
		rc = vprof_replay_install(made, path, err);
	}
	if (!rc)
		rc = vprof_replay_changed(r, path, err);
	free(made);
	return rc;
}

static int refresh(struct vprof_replayer *r, const char *path, struct vprof_error *err)
{
	struct vprof_text old = VPROF_TEXT_INIT, fresh = VPROF_TEXT_INIT;
	struct archive a = { 0 };
	int rc = vprof_file_read(path, &old, err), replaced;

	if (rc)
		goto out;
	a.bytes = old.s;
	a.n = old.len;
	replaced = rewrite(r, &a, &fresh, err);
	if (replaced < 0) {
		rc = replaced;
	} else if (fresh.failed) {
		rc = vprof_error_no_memory(err);
	} else if (replaced > 0) {
		rc = vprof_replay_log(r, err, "archive %s (%d changed)\n", vprof_replay_short(r, path), replaced);
		if (!rc)
			rc = install_archive(r, path, &fresh, err);
	}
out:
	vprof_text_release(&old);
	vprof_text_release(&fresh);
	return rc;
}

int vprof_archives_refresh(struct vprof_replayer *r, struct vprof_error *err)
{
	int rc = VPROF_OK;

	if (!r->changed.n)
		return VPROF_OK;
	for (size_t i = 0; !rc && i < r->originals.n; i++) {
		const struct vprof_original *item = &r->originals.items[i];
		enum vprof_file_type type;

		if (item->kind != VPROF_ORIGINAL_ARTEFACT)
			continue;
		type = vprof_file_type(item->path);
		if (type == VPROF_FILE_ARCHIVE)
			rc = refresh(r, item->path, err);
		else if (type == VPROF_FILE_THIN)
			rc = vprof_replay_changed(r, item->path, err);
	}
	return rc;
}
