/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See replay_project.h. */
#define _GNU_SOURCE
#include "replay_project.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/facts/facts_schema.h"
#include "common/process.h"

void project_init(struct project *p, const char *build)
{
	memset(p, 0, sizeof *p);
	strcpy(p->root, "/tmp/vprof-replay-XXXXXX");
	assert_non_null(mkdtemp(p->root));
	snprintf(p->vprof, sizeof p->vprof, "%s/.vprof", p->root);
	p->build = build;
}

void project_remove(struct project *p)
{
	vprof_facts_free(p->facts);
	assert_int_equal(vprof_dir_remove(p->root, NULL), 0);
}

/* Returns when the clock that files are stamped with has ticked: what is written from now on is newer than all that was
 * written before, as build systems compare it. */
static void await_newer_stamps(const struct project *p)
{
	char *probe = vprof_path_join(p->vprof, "clock");
	struct stat first, now;

	assert_int_equal(vprof_file_write(probe, "", 0, NULL), 0);
	assert_int_equal(stat(probe, &first), 0);
	do {
		assert_int_equal(utimensat(AT_FDCWD, probe, NULL, 0), 0);
		assert_int_equal(stat(probe, &now), 0);
	} while (now.st_mtim.tv_sec == first.st_mtim.tv_sec && now.st_mtim.tv_nsec == first.st_mtim.tv_nsec);
	unlink(probe);
	free(probe);
}

void project_write(struct project *p, const char *name, const char *text)
{
	char *path = vprof_path_join(p->root, name), *slash = strrchr(path, '/');

	if (p->facts) /* it was built */
		await_newer_stamps(p);
	*slash = 0;
	assert_int_equal(vprof_dir_make(path, NULL), 0);
	*slash = '/';
	assert_int_equal(vprof_file_write(path, text, strlen(text), NULL), 0);
	free(path);
}

static int is_source(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".c") || !strcmp(dot, ".h") || !strcmp(dot, ".cpp"));
}

typedef void (*visitor)(void *arg, const char *path, const struct stat *st);

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void walk(const char *dir, visitor visit, void *arg)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, by_name);

	for (int i = 0; i < n; i++) {
		char *path = vprof_path_join(dir, names[i]->d_name);
		struct stat st;

		if (strcmp(names[i]->d_name, ".") && strcmp(names[i]->d_name, "..") &&
		    strcmp(names[i]->d_name, ".vprof") && !lstat(path, &st)) {
			if (S_ISDIR(st.st_mode))
				walk(path, visit, arg);
			else
				visit(arg, path, &st);
		}
		free(path);
		free(names[i]);
	}
	free(names);
}

/* ---- facts ---- */

struct facts_writer {
	sqlite3 *db;
	struct project *p;
	char *paths[64];
	int n;
};

static void sql(sqlite3 *db, const char *fmt, ...)
{
	va_list ap;
	char *text, *message = NULL;

	va_start(ap, fmt);
	text = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (sqlite3_exec(db, text, NULL, NULL, &message))
		fail_msg("%s: %s", text, message);
	sqlite3_free(text);
}

static void facts_file(void *arg, const char *path, const struct stat *st)
{
	struct facts_writer *w = arg;
	char hash[17];

	if (!is_source(path))
		return;
	assert_true(w->n < 63);
	assert_int_equal(vprof_file_hash(path, hash, NULL), 0);
	w->paths[++w->n] = strdup(path);
	sql(w->db, "INSERT INTO file VALUES(%d,%Q,%Q,%lld,1)", w->n, path, hash, (long long)st->st_size);
}

static void facts_unit(struct facts_writer *w, const cJSON *entry, int id)
{
	const char *file = cJSON_GetObjectItem(entry, "file")->valuestring;
	char *arguments = cJSON_PrintUnformatted(cJSON_GetObjectItem(entry, "arguments"));
	struct vprof_text text = VPROF_TEXT_INIT;

	sql(w->db, "INSERT INTO tu VALUES(%d,%Q,%Q,%Q,%Q,'c','ok','')", id, file,
	    cJSON_GetObjectItem(entry, "directory")->valuestring, cJSON_GetObjectItem(entry, "output")->valuestring,
	    arguments);
	assert_int_equal(vprof_file_read(file, &text, NULL), 0);
	for (int i = 1; i <= w->n; i++) {
		struct vprof_text include = VPROF_TEXT_INIT;

		vprof_text_addf(&include, "%s\"", strrchr(w->paths[i], '/') + 1);
		if (!strcmp(w->paths[i], file) || strstr(text.s, include.s))
			sql(w->db, "INSERT INTO tu_file VALUES(%d,%d)", id, i);
		vprof_text_release(&include);
	}
	vprof_text_release(&text);
	free(arguments);
}

void project_facts(struct project *p)
{
	struct vprof_text path = VPROF_TEXT_INIT, text = VPROF_TEXT_INIT;
	struct facts_writer w = { .p = p };
	const cJSON *entry;
	cJSON *json;
	int id = 1;

	vprof_facts_free(p->facts);
	p->facts = NULL;
	vprof_text_addf(&path, "%s/compile_commands.json", p->vprof);
	assert_int_equal(vprof_file_read(path.s, &text, NULL), 0);
	json = cJSON_Parse(text.s);
	vprof_text_clear(&path);
	vprof_text_addf(&path, "%s/facts.db", p->vprof);
	unlink(path.s);
	assert_int_equal(sqlite3_open(path.s, &w.db), SQLITE_OK);
	sql(w.db, "BEGIN; %s", VPROF_FACTS_SCHEMA);
	sql(w.db, "INSERT INTO meta VALUES('version','%d'),('root',%Q)", VPROF_FACTS_VERSION, p->root);
	walk(p->root, facts_file, &w);
	cJSON_ArrayForEach(entry, json) facts_unit(&w, entry, id++);
	sql(w.db, "COMMIT");
	sqlite3_close(w.db);
	if (vprof_facts_open(&p->facts, path.s, &p->err))
		fail_msg("%s", p->err.message);
	while (w.n)
		free(w.paths[w.n--]);
	cJSON_Delete(json);
	vprof_text_release(&path);
	vprof_text_release(&text);
}

void project_observe(struct project *p)
{
	if (vprof_observe_build(p->build, p->root, p->vprof, NULL, &p->err))
		fail_msg("%s", p->err.message);
	project_facts(p);
}

/* ---- the shadow ---- */

static char *shadow_path(struct project *p, const char *name)
{
	struct vprof_text path = VPROF_TEXT_INIT;

	vprof_text_addf(&path, "%s/src/%s", p->vprof, name);
	return vprof_text_detach(&path);
}

static void mirror(void *arg, const char *path, const struct stat *st)
{
	struct project *p = arg;
	char *shadow = shadow_path(p, path + strlen(p->root) + 1), *slash = strrchr(shadow, '/');

	(void)st;
	if (is_source(path)) {
		*slash = 0;
		assert_int_equal(vprof_dir_make(shadow, NULL), 0);
		*slash = '/';
		if (access(shadow, F_OK))
			assert_int_equal(symlink(path, shadow), 0);
	}
	free(shadow);
}

void project_edit(struct project *p, const char *name, const char *from, const char *to)
{
	struct vprof_text text = VPROF_TEXT_INIT, edited = VPROF_TEXT_INIT;
	char *shadow = shadow_path(p, name), *path = vprof_path_join(p->root, name), *hit;

	walk(p->root, mirror, p);
	unlink(shadow);
	if (from) {
		assert_int_equal(vprof_file_read(path, &text, NULL), 0);
		hit = strstr(text.s, from);
		assert_non_null(hit);
		vprof_text_append(&edited, text.s, (size_t)(hit - text.s));
		vprof_text_addf(&edited, "%s%s", to, hit + strlen(from));
		assert_int_equal(vprof_file_write(shadow, edited.s, edited.len, NULL), 0);
	} else {
		assert_int_equal(symlink(path, shadow), 0);
	}
	vprof_text_release(&text);
	vprof_text_release(&edited);
	free(shadow);
	free(path);
}

int project_replay(struct project *p)
{
	struct vprof_text log = VPROF_TEXT_INIT;
	struct vprof_replay_options o = { .vprof_dir = p->vprof,
					  .probe_header = VPROF_PROBE_HEADER,
					  .include_dir = VPROF_INCLUDE_DIR,
					  .build = p->build,
					  .directory = p->root,
					  .jobs = 2 };
	int rc;

	vprof_text_addf(&log, "%s/build.log", p->vprof);
	o.log_path = log.s;
	await_newer_stamps(p);
	rc = vprof_replay(p->facts, NULL, NULL, &o, &p->result, &p->err);
	vprof_text_release(&log);
	return rc;
}

void project_check_replay(struct project *p, size_t n_compiled, size_t n_reverted)
{
	if (project_replay(p))
		fail_msg("%s", p->err.message);
	if (p->result.n_compiled != n_compiled || p->result.n_reverted != n_reverted) {
		char *log = project_log(p);

		fail_msg("compiled %zu, reverted %zu; expected %zu and %zu\n%s", p->result.n_compiled,
			 p->result.n_reverted, n_compiled, n_reverted, log);
	}
}

char *project_log(struct project *p)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	char *path = vprof_path_join(p->vprof, "build.log");

	vprof_file_read(path, &text, NULL);
	free(path);
	return vprof_text_detach(&text);
}

/* ---- looking ---- */

const char *project_shell(struct project *p, int status, const char *command)
{
	static char output[8192];
	struct vprof_text captured = VPROF_TEXT_INIT;
	struct vprof_process process = { .command = command, .directory = p->root, .captured = &captured };
	struct vprof_process_result result;

	assert_int_equal(vprof_process_run(&process, &result, &p->err), 0);
	if (result.status != status)
		fail_msg("%s: exit status %d, expected %d\n%s", command, result.status, status, captured.s);
	snprintf(output, sizeof output, "%s", captured.s);
	vprof_text_release(&captured);
	return output;
}

void project_check_output(struct project *p, const char *command, const char *output)
{
	assert_string_equal(project_shell(p, 0, command), output);
}

struct snapshot {
	struct vprof_text text;
	const char *skip;
};

static void snapshot_file(void *arg, const char *path, const struct stat *st)
{
	struct snapshot *s = arg;
	char hash[17] = "link";

	if (s->skip && strstr(path, s->skip))
		return;
	if (S_ISREG(st->st_mode))
		assert_int_equal(vprof_file_hash(path, hash, NULL), 0);
	vprof_text_addf(&s->text, "%s %s %o %lld.%09ld\n", path, hash, (unsigned)st->st_mode,
			(long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

char *project_snapshot(struct project *p, const char *skip)
{
	struct snapshot s = { VPROF_TEXT_INIT, skip };

	walk(p->root, snapshot_file, &s);
	return vprof_text_detach(&s.text);
}

void project_check_snapshot(struct project *p, const char *skip, const char *before)
{
	char *now = project_snapshot(p, skip);

	assert_string_equal(before, now);
	free(now);
}
