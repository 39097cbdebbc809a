/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands without precompiled headers: they were made without probes, so that instrumented sources cannot use them,
 * and the recorded command names the header itself instead.
 *
 * Invariant: the command means the same. A precompiled header comes before everything else that the unit includes.
 * gcc's .gch files need no change: gcc ignores them when something else is included first (replay's probe.h).
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "instrumenter/observe/observe_database.h"

static const char *word_at(const cJSON *array, int i)
{
	const char *word = cJSON_GetStringValue(cJSON_GetArrayItem(array, i));

	return word ? word : "";
}

/* -include F, -include-pch F, also handed to clang's frontend word by word: F, and how many words it all takes. */
static const char *included(const cJSON *array, int i, int is_pch, int *n_words)
{
	const char *option = is_pch ? "-include-pch" : "-include";

	if (!strcmp(word_at(array, i), option)) {
		*n_words = 2;
		return word_at(array, i + 1);
	}
	if (strcmp(word_at(array, i), "-Xclang") || strcmp(word_at(array, i + 1), option) ||
	    strcmp(word_at(array, i + 2), "-Xclang"))
		return NULL;
	*n_words = 4;
	return word_at(array, i + 3);
}

/* What the precompiled header was made from: the file beside it, else what the build gave the compiler. Heap or NULL.
 */
static char *header_of(const char *directory, const char *pch, const cJSON *made)
{
	char *header = vprof_path_absolute(directory, pch), *dot = header ? strrchr(header, '.') : NULL;
	const char *recorded = header ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(made, header)) : NULL;

	if (dot && (!strcmp(dot, ".pch") || !strcmp(dot, ".gch"))) {
		*dot = 0;
		if (!access(header, R_OK)) {
			free(header);
			return strndup(pch, strlen(pch) - 4); /* as it was spelled */
		}
	}
	free(header);
	return recorded && !access(recorded, R_OK) ? strdup(recorded) : NULL;
}

static int is_included(const cJSON *array, const char *directory, const char *header)
{
	char *wanted = vprof_path_absolute(directory, header);
	int found = 0, n_words = 1, n = cJSON_GetArraySize(array);

	for (int i = 0; wanted && !found && i < n; i++) {
		const char *value = included(array, i, 0, &n_words);
		char *path = value ? vprof_path_absolute(directory, value) : NULL;

		found = path && !strcmp(path, wanted);
		free(path);
	}
	free(wanted);
	return found;
}

static int add_option(cJSON *array, const char *option, const char *value)
{
	return vprof_arguments_add(array, option) || vprof_arguments_add(array, value) ? -1 : 0;
}

/* The header of the command's precompiled one, heap: *is_new when no -include names it. NULL: none, or not known. */
static char *find_header(const cJSON *arguments, const char *directory, const cJSON *made, int *is_new)
{
	int n_words;

	for (int i = 0; i < cJSON_GetArraySize(arguments); i++) {
		const char *pch = included(arguments, i, 1, &n_words);
		char *header = pch ? header_of(directory, pch, made) : NULL;

		*is_new = header && !is_included(arguments, directory, header);
		if (header)
			return header;
	}
	return NULL;
}

cJSON *vprof_without_precompiled(cJSON *arguments, int first, const char *directory, const cJSON *made)
{
	int n = cJSON_GetArraySize(arguments), is_new = 0, n_words = 1;
	char *header = find_header(arguments, directory, made, &is_new);
	cJSON *out = cJSON_CreateArray();
	int failed = !out;

	for (int i = 0; !failed && i < n; i += n_words) {
		const char *pch = included(arguments, i, 1, &n_words);
		const char *file = pch ? NULL : included(arguments, i, 0, &n_words);

		if (i == first && is_new)
			failed |= add_option(out, "-include", header);
		if (!pch && !file)
			n_words = 1;
		if (file)
			failed |= add_option(out, "-include", file);
		else if (pch && !header)
			failed |= add_option(out, "-include-pch", pch);
		else if (!pch)
			failed |= vprof_arguments_add(out, word_at(arguments, i));
	}
	free(header);
	cJSON_Delete(arguments);
	if (failed) {
		cJSON_Delete(out);
		out = NULL;
	}
	return out;
}
