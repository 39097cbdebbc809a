/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What earlier builds compiled. A build that stopped at an error continues where it stopped, and a repeated one
 * compiles what changed: what the same command made before is still part of the program, and stays in the database.
 *
 * Kept beside the database: init-command, the command that was observed; after a failed build both lie in
 * .vprof/failed.
 */
#define _GNU_SOURCE
#include "instrumenter/observe/observe_earlier.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/text.h"
#include "instrumenter/instrument.h"

#define COMMAND_FILE "init-command"
#define MISSING_SHOWN 3

char *vprof_observed_command(const char *vprof_dir)
{
	struct vprof_text known = VPROF_TEXT_INIT;
	char *path = vprof_path_join(vprof_dir, COMMAND_FILE);
	char *command = path && !vprof_file_read(path, &known, NULL) && known.len ? strdup(known.s) : NULL;

	vprof_text_release(&known);
	free(path);
	return command;
}

void vprof_forget_command(const char *vprof_dir)
{
	char *path = vprof_path_join(vprof_dir, COMMAND_FILE);

	if (path)
		unlink(path);
	free(path);
}

static int is_same_command(const char *dir, const char *command)
{
	char *known = vprof_observed_command(dir);
	int same = known && !strcmp(known, command);

	free(known);
	return same;
}

/* Moves entries whose files are all there; a damaged file counts as missing. Returns how many. */
static int recall_list(cJSON *list, const char *dir, const char *name)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	char *path = vprof_path_join(dir, name);
	cJSON *old = path && !vprof_file_read(path, &text, NULL) ? cJSON_Parse(text.s) : NULL;
	int n = 0;

	for (cJSON *e = cJSON_IsArray(old) ? old->child : NULL, *next; e; e = next) {
		const char *file = vprof_entry_text(e, "file"), *output = vprof_entry_text(e, "output");

		next = e->next;
		if (!*output || access(output, F_OK) || (*file && access(file, R_OK)))
			continue;
		cJSON_AddItemToArray(list, cJSON_DetachItemViaPointer(old, e));
		n++;
	}
	cJSON_Delete(old);
	vprof_text_release(&text);
	free(path);
	return n;
}

int vprof_database_recall(struct vprof_database *db, const char *vprof_dir, const char *command)
{
	char *failed = vprof_path_join(vprof_dir, VPROF_FAILED_DIR);
	const char *dir = failed && is_same_command(failed, command) ? failed : vprof_dir;
	int n = 0;

	if (is_same_command(dir, command)) {
		n = recall_list(db->units, dir, "compile_commands.json");
		recall_list(db->links, dir, "link_commands.json");
	}
	free(failed);
	return n;
}

static int write_command(const char *dir, const char *command, struct vprof_error *err)
{
	char *path = vprof_path_join(dir, COMMAND_FILE);
	int rc = path ? vprof_file_write(path, command, strlen(command), err) : vprof_error_no_memory(err);

	free(path);
	return rc;
}

int vprof_database_keep(const struct vprof_database *db, const char *vprof_dir, const char *command, int has_failed,
			struct vprof_error *err)
{
	char *failed = vprof_path_join(vprof_dir, VPROF_FAILED_DIR);
	const char *dir = has_failed ? failed : vprof_dir;
	int rc = failed ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && has_failed)
		rc = vprof_dir_make(failed, err);
	if (!rc)
		rc = vprof_database_write(db, dir, err);
	if (!rc)
		rc = write_command(dir, command, err);
	if (!rc && !has_failed)
		rc = vprof_dir_remove(failed, err);
	free(failed);
	return rc;
}

static int is_output(const cJSON *list, const char *path)
{
	const cJSON *e;

	cJSON_ArrayForEach(e, list) if (!strcmp(vprof_entry_text(e, "output"), path)) return 1;
	return 0;
}

/* Compiled code by its name: an object, an archive or a shared library. */
static int is_code(const char *word)
{
	size_t n = strlen(word);

	return *word != '-' && n > 2 &&
	       (!strcmp(word + n - 2, ".o") || !strcmp(word + n - 2, ".a") || (n > 3 && !strcmp(word + n - 3, ".so")));
}

static int is_older(const char *path, const struct timespec *started)
{
	struct stat st;

	return !stat(path, &st) && (st.st_mtim.tv_sec < started->tv_sec ||
				    (st.st_mtim.tv_sec == started->tv_sec && st.st_mtim.tv_nsec < started->tv_nsec));
}

/* Archives' members are not examined, so archives count only when nothing was recalled. */
static int is_unseen(const struct vprof_database *db, const char *path, const struct timespec *started, int recalled)
{
	size_t n = strlen(path);

	if (!vprof_path_inside(db->root, path) || (recalled && !strcmp(path + n - 2, ".a")))
		return 0;
	return is_older(path, started) && !is_output(db->units, path) && !is_output(db->links, path);
}

void vprof_note_unseen(const struct vprof_database *db, const struct timespec *started, int recalled,
		       struct vprof_text *notes)
{
	struct vprof_text shown = VPROF_TEXT_INIT;
	cJSON *seen = cJSON_CreateObject();
	const cJSON *link, *word;
	int n = 0;

	cJSON_ArrayForEach(link, db->links)
		cJSON_ArrayForEach(word, cJSON_GetObjectItemCaseSensitive(link, "arguments"))
	{
		const char *text = cJSON_GetStringValue(word);
		char *path = text && is_code(text) ?
				     vprof_path_rooted(db->root, vprof_entry_text(link, "directory"), text) :
				     NULL;

		if (path && seen && !cJSON_HasObjectItem(seen, path) && is_unseen(db, path, started, recalled)) {
			cJSON_AddTrueToObject(seen, path);
			if (n++ < MISSING_SHOWN)
				vprof_text_addf(&shown, "%s%s", n > 1 ? ", " : "", path + strlen(db->root) + 1);
		}
		free(path);
	}
	if (n)
		vprof_text_addf(
			notes,
			"%d file%s of the program %s there before this build (%s%s): functions in %s cannot be measured. To include them, clean (make clean, ninja -t clean) and run vprof init again\n",
			n, n == 1 ? "" : "s", n == 1 ? "was" : "were", shown.s, n > MISSING_SHOWN ? ", ..." : "",
			n == 1 ? "it" : "them");
	cJSON_Delete(seen);
	vprof_text_release(&shown);
}
