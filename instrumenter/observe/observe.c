/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Observes one build under bear's interceptor.
 *
 * bear's own database is not used: it turns commands that compile and link into "-c" commands and forgets -shared,
 * -l and the dependency flags, so that they could not be run again. Its list of executed programs ("intercept") has the
 * commands as they ran. A compiler started by a compiler (a wrapper script, ccache, collect2) counts as part of the
 * outer one.
 */
#define _GNU_SOURCE
#include "instrumenter/observe/observe_database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/process.h"
#include "instrumenter/build_log.h"
#include "instrumenter/instrument.h"
#include "instrumenter/observe/observe_earlier.h"

#define CLOCK_TICK_NS 20000000
#define ATTEMPTS 3 /* at a build that fails because of bear */

/* compile commands that have not ended yet */
struct started {
	char *id;
	double pid;
	cJSON *event;
};

struct events {
	struct started *live;
	size_t n;
};

static const cJSON *member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static int is_linker(const char *program)
{
	program = vprof_path_name(program);
	return !strcmp(program, "ld") || !strncmp(program, "ld.", 3);
}

/* A cheap look before parsing: most events are shells, make and assemblers, each with a whole environment. */
static int may_matter(const char *line)
{
	static const char key[] = "\"executable\":\"";
	const char *found = strstr(line, key), *end;
	char path[4096];
	size_t n;

	if (!found)
		return 1;
	found += sizeof key - 1;
	end = strchr(found, '"');
	n = end ? (size_t)(end - found) : sizeof path;
	if (n >= sizeof path)
		return 0;
	memcpy(path, found, n);
	path[n] = 0;
	return vprof_is_compiler(path) || vprof_is_compiler_prefix(path) || is_linker(path);
}

static int on_start(struct events *ev, cJSON *event, const char *id, struct vprof_error *err)
{
	const cJSON *started = member(event, "started");
	const cJSON *parent = member(started, "ppid"), *pid = member(started, "pid");
	struct started *grown;
	char *copy;

	for (size_t i = 0; i < ev->n; i++) {
		if (cJSON_IsNumber(parent) && ev->live[i].pid == parent->valuedouble) {
			cJSON_Delete(event);
			return VPROF_OK;
		}
	}
	grown = realloc(ev->live, (ev->n + 1) * sizeof *grown);
	copy = strdup(id);
	if (grown)
		ev->live = grown;
	if (!grown || !copy) {
		free(copy);
		cJSON_Delete(event);
		return vprof_error_no_memory(err);
	}
	ev->live[ev->n++] = (struct started){ copy, cJSON_IsNumber(pid) ? pid->valuedouble : -1, event };
	return VPROF_OK;
}

/* The words of a response file (@file), when it still exists; NULL otherwise. */
static char **response_words(const char *directory, const char *word, size_t *n)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	char *path = vprof_path_absolute(directory, word + 1), **words = NULL;

	if (path && !vprof_file_read(path, &text, NULL))
		words = vprof_words_split(text.s, n);
	vprof_text_release(&text);
	free(path);
	return words;
}

/* Passes the event's command on, response files expanded, argv[0] absolute. */
static int add_command(struct vprof_database *db, const cJSON *event, struct vprof_error *err)
{
	const cJSON *execution = member(member(event, "started"), "execution"), *word;
	const char *directory = cJSON_GetStringValue(member(execution, "working_dir"));
	const char *executable = cJSON_GetStringValue(member(execution, "executable"));
	const char **argv = NULL, **grown;
	char ***kept = NULL;
	size_t n = 0, n_kept = 0;
	int rc = VPROF_OK;

	if (!directory || !cJSON_IsArray(member(execution, "arguments")))
		return VPROF_OK;
	kept = calloc((size_t)cJSON_GetArraySize(member(execution, "arguments")) + 1, sizeof *kept);
	cJSON_ArrayForEach(word, member(execution, "arguments"))
	{
		const char *text = cJSON_GetStringValue(word);
		size_t more = 1;
		char **words = NULL;

		if (!text || !kept)
			break;
		if (text[0] == '@' && text[1])
			words = response_words(directory, text, &more);
		grown = realloc(argv, (n + more + 1) * sizeof *argv);
		if (words)
			kept[n_kept++] = words;
		if (!grown) {
			rc = vprof_error_no_memory(err);
			break;
		}
		argv = grown;
		for (size_t i = 0; i < more; i++)
			argv[n++] = words ? words[i] : text;
	}
	if (!rc && n) {
		if (executable && !strcmp(basename(executable), basename(argv[0])))
			argv[0] = executable;
		rc = vprof_database_add(db, directory, argv, n, NULL, err);
	}
	for (size_t i = 0; i < n_kept; i++)
		vprof_words_free(kept[i]);
	free(kept);
	free(argv);
	return rc;
}

static int on_end(struct vprof_database *db, struct events *ev, const char *id, const cJSON *terminated,
		  struct vprof_error *err)
{
	const char *status = cJSON_GetStringValue(member(terminated, "status"));

	for (size_t i = 0; i < ev->n; i++) {
		struct started s = ev->live[i];
		int rc = VPROF_OK;

		if (strcmp(s.id, id))
			continue;
		ev->live[i] = ev->live[--ev->n];
		if (status && !strcmp(status, "0"))
			rc = add_command(db, s.event, err);
		free(s.id);
		cJSON_Delete(s.event);
		return rc;
	}
	return VPROF_OK;
}

static int on_line(struct vprof_database *db, struct events *ev, const char *line, struct vprof_error *err)
{
	cJSON *event = may_matter(line) ? cJSON_Parse(line) : NULL;
	const char *id = cJSON_GetStringValue(member(event, "rid"));
	int rc = VPROF_OK;

	if (id && member(event, "started"))
		return on_start(ev, event, id, err);
	if (id && member(event, "terminated"))
		rc = on_end(db, ev, id, member(event, "terminated"), err);
	cJSON_Delete(event);
	return rc;
}

/* Adds the commands in bear's events (one JSON object per line) that succeeded, and with `with_unended` those whose end
 * is missing. */
static int read_events(struct vprof_database *db, const char *path, int with_unended, struct vprof_error *err)
{
	struct events ev = { 0 };
	char *line = NULL;
	size_t size = 0;
	int rc = VPROF_OK;
	FILE *in = fopen(path, "re");

	if (!in)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "bear recorded no commands (%s: %s); does `bear -- true` work here?", path,
				       strerror(errno));
	while (!rc && getline(&line, &size, in) > 0)
		rc = on_line(db, &ev, line, err);
	for (size_t i = 0; i < ev.n; i++) {
		if (!rc && with_unended)
			rc = add_command(db, ev.live[i].event, err);
		free(ev.live[i].id);
		cJSON_Delete(ev.live[i].event);
	}
	free(ev.live);
	free(line);
	fclose(in);
	return rc;
}

/* Did one of bear's own programs fail, and the build with it? bear cannot be reached in time when the machine is
 * suspended or heavily overloaded. */
static int is_bears_failure(const char *log)
{
	return strstr(log, "wrapper: failed with: gRPC call failed") != NULL;
}

/* *is_bears: the build itself may be fine. */
static int build_failed(const char *command, const char *log_path, const struct vprof_process_result *result,
			int *is_bears, struct vprof_error *err)
{
	struct vprof_text log = VPROF_TEXT_INIT, lines = VPROF_TEXT_INIT;
	char how[96];

	vprof_process_describe(result, how, sizeof how);
	if (!vprof_file_read(log_path, &log, NULL)) {
		vprof_build_excerpt(&lines, log.s, 15, NULL, NULL);
		*is_bears = is_bears_failure(log.s);
	}
	vprof_error_because(
		err, VPROF_ERR_BUILD, vprof_output_reason(log.s),
		"the build failed (%s): %s\n%s  whole output: %s\n  %s; what was compiled so far is kept", how, command,
		lines.s, log_path,
		*is_bears ?
			"the connection to bear, which observes the build, was lost: run vprof init again; if that does not help, run vprof doctor" :
			"fix the build and run vprof init again");
	vprof_text_release(&log);
	vprof_text_release(&lines);
	return VPROF_ERR_BUILD;
}

/* Runs the build under bear; leaves the list of executed programs in `events_path`. *is_bears as of build_failed(). */
static int run_bear(const char *command, const char *directory, const char *events_path, const char *log_path,
		    int *is_bears, struct vprof_error *err)
{
	/* bear talks to itself through gRPC, which would ask a proxy for localhost */
	const char *const environment[] = { "no_grpc_proxy=localhost,127.0.0.1", NULL };
	const char *const argv[] = { "bear", "intercept", "--output", events_path, "--", "sh", "-c", command, NULL };
	struct vprof_process p = {
		.argv = argv, .directory = directory, .environment = environment, .log_path = log_path
	};
	struct vprof_process_result result;
	char *bear = vprof_process_find("bear");
	int rc;

	if (!bear)
		return vprof_error_set(
			err, VPROF_ERR_MISSING,
			"bear, which observes the build, is not in PATH: apt install bear (3.1 or later), "
			"or give a database: vprof init --compile-commands compile_commands.json");
	free(bear);
	rc = vprof_file_write(log_path, "", 0, err);
	if (!rc)
		rc = vprof_process_run(&p, &result, err);
	if (!rc && result.status)
		rc = build_failed(command, log_path, &result, is_bears, err);
	return rc;
}

/* The folder that contains both: their common prefix. Heap string, or NULL when that is the root. */
static char *common_folder(const char *a, const char *b)
{
	size_t n = 0, slash = 0;

	for (; a[n] && a[n] == b[n]; n++)
		if (a[n] == '/')
			slash = n;
	if ((!a[n] && b[n] == '/') || (!b[n] && a[n] == '/'))
		slash = n;
	return slash ? strndup(a, slash) : NULL;
}

static void note_outside(const struct vprof_database *db, struct vprof_text *notes)
{
	const char *first = NULL;
	char *common = strdup(db->root);
	const cJSON *unit;
	int n = 0;

	cJSON_ArrayForEach(unit, db->units)
	{
		const char *file = cJSON_GetStringValue(member(unit, "file"));
		char *shorter;

		if (!file || vprof_path_inside(db->root, file))
			continue;
		if (!n++)
			first = file;
		shorter = common ? common_folder(common, file) : NULL;
		free(common);
		common = shorter;
	}
	if (n)
		vprof_text_addf(notes,
				"%d source%s outside the project, %s%s: functions there cannot be measured%s%s%s\n", n,
				n == 1 ? " lies" : "s lie", n == 1 ? "" : "the first: ", first,
				common ? "; to include them, run vprof init in " : "", common ? common : "",
				common ? ", which contains both" : "");
	free(common);
}

static void note_gone(const struct vprof_database *db, struct vprof_text *notes)
{
	size_t n = strlen(db->root);
	const cJSON *gone;

	cJSON_ArrayForEach(gone, db->gone) if (vprof_path_inside(db->root, gone->valuestring) && gone->valuestring[n])
		vprof_text_addf(
			notes,
			"%s no longer exists after the build, so its functions cannot be measured. Make the build keep it (make: .SECONDARY), clean, and run vprof init again\n",
			gone->valuestring + n + 1);
}

/* What was compiled until a build failed is kept: it is not compiled again once the build is fixed. If bear failed, it
 * may not know the end of a command. */
static void keep_failed(const char *command, const char *vprof_dir, const char *events_path, int with_unended)
{
	struct vprof_database db = { 0 };

	if (!vprof_database_init(&db, vprof_dir, NULL)) {
		vprof_database_recall(&db, vprof_dir, command);
		if (!read_events(&db, events_path, with_unended, NULL) && cJSON_GetArraySize(db.units))
			vprof_database_keep(&db, vprof_dir, command, 1, NULL);
	}
	vprof_database_release(&db);
}

/* File systems' clocks tick every few milliseconds. */
static struct timespec just_before_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= now.tv_nsec < CLOCK_TICK_NS;
	now.tv_nsec += now.tv_nsec < CLOCK_TICK_NS ? 1000000000 - CLOCK_TICK_NS : -CLOCK_TICK_NS;
	return now;
}

/* The database of a build that succeeded. */
static int take_events(const char *command, const char *vprof_dir, const char *events_path, const char *log_path,
		       const struct timespec *started, struct vprof_text *notes, struct vprof_error *err)
{
	struct vprof_database db = { 0 };
	int rc = vprof_database_init(&db, vprof_dir, err), recalled = 0;

	if (!rc) {
		recalled = vprof_database_recall(&db, vprof_dir, command);
		rc = read_events(&db, events_path, 0, err);
	}
	if (!rc && !cJSON_GetArraySize(db.units))
		rc = vprof_error_because(
			err, VPROF_ERR_INPUT, VPROF_REASON_NOTHING_COMPILED,
			"the build compiled nothing: %s\n  already built? clean first (make clean, ninja -t "
			"clean), then run vprof init again; output: %s",
			command, log_path);
	if (!rc)
		rc = vprof_database_keep(&db, vprof_dir, command, 0, err);
	if (!rc && notes) {
		note_gone(&db, notes);
		note_outside(&db, notes);
		vprof_note_unseen(&db, started, recalled, notes);
	}
	vprof_database_release(&db);
	return rc;
}

/* Runs the build to its end: when it fails because bear does, it is restarted and continues where it stopped. */
static int observe(const char *command, const char *directory, const char *vprof_dir, const char *events_path,
		   const char *log_path, struct vprof_text *notes, struct vprof_error *err)
{
	int rc = VPROF_ERR_BUILD, is_bears = 1, n = 0;

	for (; rc == VPROF_ERR_BUILD && is_bears && n < ATTEMPTS; n++) {
		is_bears = 0;
		rc = run_bear(command, directory, events_path, log_path, &is_bears, err);
		if (rc == VPROF_ERR_BUILD)
			keep_failed(command, vprof_dir, events_path, is_bears);
	}
	if (!rc && n > 1 && notes)
		vprof_text_addf(
			notes,
			"the connection to bear, which observes the build, was lost %s: the build was restarted and continued where it had stopped\n",
			n == 2 ? "once" : "twice");
	return rc;
}

int vprof_observe_build(const char *command, const char *directory, const char *vprof_dir, struct vprof_text *notes,
			struct vprof_error *err)
{
	char *events_path = vprof_path_join(vprof_dir, "init-commands.json");
	char *log_path = vprof_path_join(vprof_dir, "init-build.log");
	struct timespec started = just_before_now();
	int rc;

	if (!events_path || !log_path) {
		rc = vprof_error_no_memory(err);
		goto out;
	}
	rc = vprof_dir_make(vprof_dir, err);
	if (!rc)
		rc = observe(command, directory, vprof_dir, events_path, log_path, notes, err);
	if (!rc)
		rc = take_events(command, vprof_dir, events_path, log_path, &started, notes, err);
out:
	if (events_path)
		unlink(events_path);
	free(events_path);
	free(log_path);
	return rc;
}
