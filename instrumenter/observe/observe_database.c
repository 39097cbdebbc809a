/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See observe.h. What is left out: tests of configure scripts, CMake and Meson, outputs that are not kept, sources that
 * no longer exist, assembler, and commands that produce no object.
 */
#define _GNU_SOURCE
#include "instrumenter/observe/observe_database.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "instrumenter/json_file.h"

int vprof_database_init(struct vprof_database *db, const char *vprof_dir, struct vprof_error *err)
{
	db->root = vprof_path_absolute(vprof_dir, "..");
	db->units = cJSON_CreateArray();
	db->links = cJSON_CreateArray();
	db->headers = cJSON_CreateObject();
	db->gone = cJSON_CreateArray();
	if (db->root && db->units && db->links && db->headers && db->gone)
		return VPROF_OK;
	vprof_database_release(db);
	return vprof_error_no_memory(err);
}

void vprof_database_release(struct vprof_database *db)
{
	free(db->root);
	cJSON_Delete(db->units);
	cJSON_Delete(db->links);
	cJSON_Delete(db->headers);
	cJSON_Delete(db->gone);
	*db = (struct vprof_database){ 0 };
}

static int is_build_test(const char *path)
{
	static const char *const signs[] = { "/conftest.",   "/CMakeScratch/",	"/TryCompile",	 "/CMakeTmp/",
					     "/CompilerIdC", "/meson-private/", "/ShowIncludes/" };

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (strstr(path, signs[i]))
			return 1;
	return !strncmp(path, "/dev/", 5) || (!strncmp(path, "/tmp/cc", 7) && access(path, F_OK));
}

const char *vprof_entry_text(const cJSON *entry, const char *key)
{
	const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, key));

	return value ? value : "";
}

int vprof_arguments_add(cJSON *arguments, const char *word)
{
	return cJSON_AddItemToArray(arguments, cJSON_CreateString(word)) ? 0 : -1;
}

/* The command for this source alone (-c), or whole; with its -o. NULL when out of memory. */
static cJSON *arguments_for(const struct vprof_command *c, size_t source)
{
	cJSON *array = cJSON_CreateArray();
	size_t other = 0;
	int failed = !array;

	for (size_t i = 0; !failed && i < c->n; i++) {
		while (other < c->n_sources && c->sources[other] < i)
			other++;
		if (c->step == VPROF_STEP_COMPILE && other < c->n_sources && c->sources[other] == i && i != source)
			continue;
		failed |= vprof_arguments_add(array, c->argv[i]);
	}
	if (!failed && !c->output) {
		char *output = vprof_default_output(c, source);

		failed |= !output || vprof_arguments_add(array, "-o") || vprof_arguments_add(array, output);
		free(output);
	}
	if (failed) {
		cJSON_Delete(array);
		return NULL;
	}
	return array;
}

static int put_entry(cJSON *list, const char *directory, const char *file, const char *output, cJSON *arguments)
{
	cJSON *entry = cJSON_CreateObject(), *old;
	int i = 0;

	if (!entry || !arguments || !cJSON_AddStringToObject(entry, "directory", directory) ||
	    (file && !cJSON_AddStringToObject(entry, "file", file)) ||
	    !cJSON_AddStringToObject(entry, "output", output) ||
	    !cJSON_AddItemToObject(entry, "arguments", arguments)) {
		cJSON_Delete(arguments);
		cJSON_Delete(entry);
		return -1;
	}
	cJSON_ArrayForEach(old, list)
	{
		if (!strcmp(vprof_entry_text(old, "output"), output) &&
		    (!file || !strcmp(vprof_entry_text(old, "file"), file))) {
			cJSON_DeleteItemFromArray(list, i);
			break;
		}
		i++;
	}
	return cJSON_AddItemToArray(list, entry) ? 0 : -1;
}

/* A source that the build removed, while its object is linked: what make calls an intermediate file. */
static int note_gone(struct vprof_database *db, const char *file, const char *output)
{
	const cJSON *known;

	if (access(output, F_OK))
		return 0;
	cJSON_ArrayForEach(known, db->gone) if (!strcmp(known->valuestring, file)) return 0;
	return vprof_arguments_add(db->gone, file);
}

static int add_source(struct vprof_database *db, const struct vprof_command *c, size_t source, const char *directory,
		      const char *only)
{
	char *name = c->output ? NULL : vprof_default_output(c, source);
	char *file = vprof_path_rooted(db->root, directory, c->argv[source]);
	char *output = c->output || name ? vprof_path_rooted(db->root, directory, c->output ? c->output : name) : NULL;
	int failed = !file || !output;
	cJSON *arguments;

	if (!failed && !is_build_test(file) && !is_build_test(output) && (!only || !strcmp(only, file))) {
		if (access(file, R_OK)) {
			failed = note_gone(db, file, output);
		} else {
			arguments = arguments_for(c, source);
			arguments = arguments ? vprof_without_precompiled(arguments, (int)c->compiler + 1, directory,
									  db->headers) :
						NULL;
			failed = put_entry(db->units, directory, file, output, arguments);
		}
	}
	free(name);
	free(file);
	free(output);
	return failed;
}

/* Does it make a precompiled header, from its only input? */
static int makes_header(const struct vprof_command *c)
{
	const char *dot = c->output ? strrchr(c->output, '.') : NULL;

	return dot && (!strcmp(dot, ".pch") || !strcmp(dot, ".gch")) && c->n_inputs == 1 && !c->n_sources;
}

static int add_header(struct vprof_database *db, const struct vprof_command *c, const char *directory)
{
	char *output = vprof_path_absolute(directory, c->output);
	char *input = vprof_path_absolute(directory, c->argv[c->inputs[0]]);
	int failed = !output || !input;

	if (!failed) {
		cJSON_DeleteItemFromObjectCaseSensitive(db->headers, output);
		failed = !cJSON_AddStringToObject(db->headers, output, input);
	}
	free(output);
	free(input);
	return failed;
}

static int add_link(struct vprof_database *db, const struct vprof_command *c, const char *directory)
{
	char *output = vprof_path_rooted(db->root, directory, c->output ? c->output : "a.out");
	int failed = !output;

	if (output && !is_build_test(output) && !access(output, F_OK))
		failed = put_entry(db->links, directory, NULL, output, arguments_for(c, SIZE_MAX));
	free(output);
	return failed;
}

static int add_command(struct vprof_database *db, const struct vprof_command *c, const char *directory,
		       const char *file)
{
	int failed = 0;

	if (makes_header(c))
		return add_header(db, c, directory);
	if (c->step == VPROF_STEP_OTHER)
		return 0;
	for (size_t i = 0; i < c->n_sources; i++)
		failed |= add_source(db, c, c->sources[i], directory, file);
	if (c->step == VPROF_STEP_LINK && (c->n_sources || c->n_inputs))
		failed |= add_link(db, c, directory);
	return failed;
}

int vprof_database_add(struct vprof_database *db, const char *directory, const char *const *argv, size_t n,
		       const char *file, struct vprof_error *err)
{
	char *rooted = vprof_path_rooted(db->root, "/", directory);
	struct vprof_command c;
	int rc = vprof_command_parse(&c, argv, n, err);

	if (rc == VPROF_ERR_INPUT)
		rc = VPROF_OK; /* no compiler in it: ignored */
	else if (!rc && (!rooted || add_command(db, &c, rooted, file)))
		rc = vprof_error_no_memory(err);
	vprof_command_release(&c);
	free(rooted);
	return rc;
}

int vprof_database_write(const struct vprof_database *db, const char *vprof_dir, struct vprof_error *err)
{
	int rc = vprof_json_file_write(vprof_dir, "link_commands.json", db->links, err);

	return rc ? rc : vprof_json_file_write(vprof_dir, "compile_commands.json", db->units, err);
}
