/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Imports the user's compilation database (from CMake, Meson or bear) instead of observing a build.
 *
 * Such a database knows only compile commands. One in which a "-c" command claims to have made a program was written
 * by a tool that rewrites commands; it cannot be run again and is rejected.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/file_type.h"
#include "common/files.h"
#include "instrumenter/instrument.h"
#include "instrumenter/observe/observe_database.h"
#include "instrumenter/observe/observe_earlier.h"

static int import_words(struct vprof_database *db, const char *directory, const char *const *argv, size_t n,
			const char *file, struct vprof_error *err)
{
	char *absolute = vprof_path_rooted(db->root, directory, file);
	int rc;

	if (!absolute)
		return vprof_error_no_memory(err);
	rc = vprof_database_add(db, directory, argv, n, absolute, err);
	free(absolute);
	return rc;
}

static int import_entry(struct vprof_database *db, const char *base, const cJSON *entry, int index, const char *path,
			struct vprof_error *err)
{
	const char *directory = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "directory"));
	const char *file = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "file"));
	const char *command = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "command"));
	const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(entry, "arguments");
	struct vprof_command c = { 0 };
	char *absolute = NULL, **words = NULL;
	size_t n = 0;
	int rc;

	if (!directory || !file || (!command && !cJSON_IsArray(arguments)))
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "%s: entry %d lacks \"directory\", \"file\", or \"arguments\" or \"command\"",
				       path, index);
	absolute = vprof_path_absolute(base, directory);
	if (!absolute)
		return vprof_error_no_memory(err);
	if (cJSON_IsArray(arguments)) {
		rc = vprof_command_parse_json(&c, arguments, err);
		if (!rc)
			rc = import_words(db, absolute, (const char *const *)c.argv, c.n, file, err);
	} else {
		words = vprof_words_split(command, &n);
		rc = words ? import_words(db, absolute, (const char *const *)words, n, file, err) :
			     vprof_error_set(err, VPROF_ERR_INPUT, "a quote is not closed in: %s", command);
	}
	if (rc)
		vprof_error_prefix(err, rc, "%s: entry %d", path, index);
	vprof_command_release(&c);
	vprof_words_free(words);
	free(absolute);
	return rc;
}

/* Rejects "-c" commands whose output is a program. */
static int check_runnable(const struct vprof_database *db, const char *path, struct vprof_error *err)
{
	const cJSON *entry, *word;

	cJSON_ArrayForEach(entry, db->units)
	{
		const char *output = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "output"));
		int compiles = 0;

		cJSON_ArrayForEach(word, cJSON_GetObjectItemCaseSensitive(entry, "arguments"))
			compiles |= !strcmp(word->valuestring, "-c");
		if (compiles && vprof_file_type(output) == VPROF_FILE_PROGRAM)
			return vprof_error_set(
				err, VPROF_ERR_INPUT,
				"%s says that %s was made by -c, but it is a program: the database is not "
				"what the build ran; let vprof observe the build: vprof init -- BUILD "
				"COMMAND",
				path, output);
	}
	return VPROF_OK;
}

int vprof_import_build(const char *compile_commands, const char *vprof_dir, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_database db = { 0 };
	char *path = realpath(compile_commands, NULL), *base = NULL;
	cJSON *json = NULL;
	const cJSON *entry;
	int rc, i = 0;

	rc = vprof_file_read(compile_commands, &text, err);
	if (rc || !path)
		goto out;
	base = vprof_path_absolute("/", path);
	if (base && strrchr(base, '/') != base)
		*strrchr(base, '/') = 0;
	json = cJSON_ParseWithLength(text.s, text.len);
	if (!base || !cJSON_IsArray(json)) {
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "%s is not a compilation database (a JSON array of commands)", compile_commands);
		goto out;
	}
	rc = vprof_database_init(&db, vprof_dir, err);
	cJSON_ArrayForEach(entry, json)
	{
		if (rc)
			break;
		rc = import_entry(&db, base, entry, i++, compile_commands, err);
	}
	if (!rc)
		rc = check_runnable(&db, compile_commands, err);
	if (!rc && !cJSON_GetArraySize(db.units))
		rc = vprof_error_set(err, VPROF_ERR_INPUT, "%s lists no existing C or C++ source", compile_commands);
	if (!rc)
		rc = vprof_dir_make(vprof_dir, err);
	if (!rc)
		rc = vprof_database_write(&db, vprof_dir, err);
	if (!rc)
		vprof_forget_command(vprof_dir);
out:
	cJSON_Delete(json);
	vprof_database_release(&db);
	vprof_text_release(&text);
	free(path);
	free(base);
	return rc;
}
