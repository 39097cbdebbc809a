/* See observe.h. What is left out: tests of configure scripts, CMake and Meson, outputs that nobody keeps, sources that
 * are gone, assembler, and commands that make no object.
 */
#define _GNU_SOURCE
#include "instrumenter/observe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

int vprof_database_init(struct vprof_database *db, struct vprof_error *err)
{
	db->units = cJSON_CreateArray();
	db->links = cJSON_CreateArray();
	if (db->units && db->links)
		return VPROF_OK;
	vprof_database_release(db);
	return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
}

void vprof_database_release(struct vprof_database *db)
{
	cJSON_Delete(db->units);
	cJSON_Delete(db->links);
	db->units = db->links = NULL;
}

static int is_build_test(const char *path)
{
	static const char *const signs[] = { "/conftest.", "/CMakeScratch/", "/TryCompile", "/CMakeTmp/", "/CompilerIdC",
					     "/meson-private/", "/ShowIncludes/" };

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (strstr(path, signs[i]))
			return 1;
	return !strcmp(path, "/dev/null") || (!strncmp(path, "/tmp/cc", 7) && access(path, F_OK));
}

static const char *text_of(const cJSON *object, const char *key)
{
	const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return value ? value : "";
}

static int add_word(cJSON *array, const char *word)
{
	return cJSON_AddItemToArray(array, cJSON_CreateString(word)) ? 0 : -1;
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
		failed |= add_word(array, c->argv[i]);
	}
	if (!failed && !c->output) {
		char *output = vprof_default_output(c, source);

		failed |= !output || add_word(array, "-o") || add_word(array, output);
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
	cJSON_ArrayForEach(old, list) {
		if (!strcmp(text_of(old, "output"), output) && (!file || !strcmp(text_of(old, "file"), file))) {
			cJSON_DeleteItemFromArray(list, i);
			break;
		}
		i++;
	}
	return cJSON_AddItemToArray(list, entry) ? 0 : -1;
}

static int add_source(struct vprof_database *db, const struct vprof_command *c, size_t source, const char *directory,
		      const char *only)
{
	char *name = c->output ? NULL : vprof_default_output(c, source);
	char *file = vprof_path_absolute(directory, c->argv[source]);
	char *output = c->output || name ? vprof_path_absolute(directory, c->output ? c->output : name) : NULL;
	int failed = !file || !output;

	if (!failed && !is_build_test(file) && !is_build_test(output) && !access(file, R_OK) &&
	    (!only || !strcmp(only, file)))
		failed = put_entry(db->units, directory, file, output, arguments_for(c, source));
	free(name);
	free(file);
	free(output);
	return failed;
}

static int add_link(struct vprof_database *db, const struct vprof_command *c, const char *directory)
{
	char *output = vprof_path_absolute(directory, c->output ? c->output : "a.out");
	int failed = !output;

	if (output && !is_build_test(output) && !access(output, F_OK))
		failed = put_entry(db->links, directory, NULL, output, arguments_for(c, SIZE_MAX));
	free(output);
	return failed;
}

int vprof_database_add(struct vprof_database *db, const char *directory, const char *const *argv, size_t n,
		       const char *file, struct vprof_error *err)
{
	struct vprof_command c;
	int rc = vprof_command_parse(&c, argv, n, err), failed = 0;

	if (rc == VPROF_ERR_INPUT)
		rc = VPROF_OK; /* no compiler in it: none of ours */
	else if (!rc && c.step != VPROF_STEP_OTHER) {
		for (size_t i = 0; i < c.n_sources; i++)
			failed |= add_source(db, &c, c.sources[i], directory, file);
		if (c.step == VPROF_STEP_LINK && (c.n_sources || c.n_inputs))
			failed |= add_link(db, &c, directory);
		if (failed)
			rc = vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
	}
	vprof_command_release(&c);
	return rc;
}

static int write_json(const cJSON *json, const char *dir, const char *name, struct vprof_error *err)
{
	char *text = cJSON_Print(json), *path = vprof_path_join(dir, name);
	int rc;

	if (text && path)
		rc = vprof_file_write(path, text, strlen(text), err);
	else
		rc = vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
	free(text);
	free(path);
	return rc;
}

int vprof_database_write(const struct vprof_database *db, const char *vprof_dir, struct vprof_error *err)
{
	int rc = write_json(db->links, vprof_dir, "link_commands.json", err);

	return rc ? rc : write_json(db->units, vprof_dir, "compile_commands.json", err);
}
