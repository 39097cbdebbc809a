/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compilation database that init makes: one entry for each (source, output), as it can be run again.
 *
 * Invariants of .vprof/compile_commands.json: "directory", "file" and "output" are absolute and normalised, the file
 * exists, "arguments" is the command as it ran, but without precompiled headers. A command with -c names this one
 * source and its -o. A command without -c compiled and linked in one step: it is kept whole, with one entry for each of
 * its sources, and "output" is the program. Commands that linked are in .vprof/link_commands.json (when the build was
 * observed).
 */
#ifndef VPROF_OBSERVE_DATABASE_H
#define VPROF_OBSERVE_DATABASE_H

#include <cjson/cJSON.h>

#include "instrumenter/build_command.h"

struct vprof_database {
	char *root;	/* the project's folder; a path that leads into it over a link is given as in there */
	cJSON *units;	/* array of entries */
	cJSON *links;	/* array of {directory, arguments, output} */
	cJSON *headers; /* object: precompiled header (absolute) -> what it was made from */
	cJSON *gone;	/* array: sources that no longer exist although their object does */
};

/* `vprof_dir` lies in the project's folder. */
int vprof_database_init(struct vprof_database *db, const char *vprof_dir, struct vprof_error *err);
void vprof_database_release(struct vprof_database *db);

/* Adds what the command compiled and linked; nothing for commands that do not matter (configure tests, assembler, ...).
 * An entry with the same source and output is replaced. `file`: only this source (absolute), NULL: all. */
int vprof_database_add(struct vprof_database *db, const char *directory, const char *const *argv, size_t n,
		       const char *file, struct vprof_error *err);

/* The array (taken over) with headers in place of clang's precompiled ones: `first` is the place after the compiler,
 * `made` a database's headers. NULL when out of memory. */
cJSON *vprof_without_precompiled(cJSON *arguments, int first, const char *directory, const cJSON *made);

/* A member of an entry; "" without it. */
const char *vprof_entry_text(const cJSON *entry, const char *key);
/* Appends a word to a command's arguments. 0, or -1 without memory. */
int vprof_arguments_add(cJSON *arguments, const char *word);

/* Writes both files into vprof_dir. */
int vprof_database_write(const struct vprof_database *db, const char *vprof_dir, struct vprof_error *err);

#endif
