/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units: which of them must be compiled again, compiling them in parallel, and putting the results in place.
 *
 * All outputs are compiled into .vprof/tmp first; only when every one of them succeeded are objects replaced. So a
 * failing or interrupted replay leaves the build as it was; the next one takes what it compiled (replay_kept.c). Under
 * make a replaced object gets a new time, so that everything made from it is made again; under ninja it keeps the
 * original's time, because ninja compares that with its log of dependencies and would compile the original anew (what
 * must be relinked is removed instead).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/process.h"
#include "instrumenter/build_log.h"
#include "instrumenter/replay/replay.h"
#include "instrumenter/splice/splice.h"

/* ---- units ---- */

static int unit_from_tu(struct vprof_unit *unit, const struct vprof_facts_tu *tu, struct vprof_error *err)
{
	cJSON *json = cJSON_Parse(tu->arguments);
	int rc = vprof_command_parse_json(&unit->command, json, err);

	cJSON_Delete(json);
	if (rc)
		return vprof_error_prefix(err, rc, "the recorded command of %s", tu->path);
	unit->tu = tu;
	unit->output = vprof_path_absolute(tu->directory, tu->output);
	vprof_text_init(&unit->messages);
	return unit->output ? VPROF_OK : vprof_error_no_memory(err);
}

int vprof_units_make(struct vprof_replayer *r, struct vprof_error *err)
{
	r->units = calloc(r->facts->n_tus + 1, sizeof *r->units);
	if (!r->units)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < r->facts->n_tus; i++) {
		struct vprof_unit *unit = &r->units[r->n_units];
		int rc = unit_from_tu(unit, &r->facts->tus[i], err), doubled = 0;

		if (rc) {
			vprof_command_release(&unit->command);
			return rc;
		}
		for (size_t j = 0; unit->command.step == VPROF_STEP_LINK && j < r->n_units; j++)
			doubled |= !strcmp(r->units[j].output, unit->output);
		if (doubled || unit->command.step == VPROF_STEP_OTHER) {
			vprof_command_release(&unit->command);
			free(unit->output);
			memset(unit, 0, sizeof *unit);
			continue;
		}
		r->n_units++;
	}
	return VPROF_OK;
}

void vprof_units_release(struct vprof_replayer *r)
{
	for (size_t i = 0; i < r->n_units; i++) {
		vprof_command_release(&r->units[i].command);
		vprof_text_release(&r->units[i].messages);
		free(r->units[i].output);
		free(r->units[i].made);
	}
	free(r->units);
}

struct vprof_unit *vprof_unit_of_output(const struct vprof_replayer *r, const char *path)
{
	for (size_t i = 0; i < r->n_units; i++)
		if (!strcmp(r->units[i].output, path))
			return &r->units[i];
	return NULL;
}

int vprof_is_unit_output(void *replayer, const char *path)
{
	return vprof_unit_of_output(replayer, path) != NULL;
}

/* ---- what to do ---- */

/* Mixes in the content of the headers that every edited unit reads. */
static uint64_t hash_headers(const struct vprof_replayer *r)
{
	char *api = vprof_path_join(r->o->include_dir, "vprof.h"), hex[17] = "";
	uint64_t h = VPROF_HASH_SEED;

	if (!vprof_file_hash(r->o->probe_header, hex, NULL))
		h = vprof_hash_text(h, hex);
	if (api && !vprof_file_hash(api, hex, NULL))
		h = vprof_hash_text(h, hex);
	free(api);
	return vprof_hash_text(vprof_hash_text(h, r->o->probe_header), r->o->include_dir);
}

static void fingerprint(const struct vprof_replayer *r, struct vprof_unit *unit, uint64_t h)
{
	int edited = 0;

	h = vprof_hash_text(h, unit->tu->directory);
	for (size_t i = 0; i < unit->command.n; i++)
		h = vprof_hash_text(h, unit->command.argv[i]);
	for (size_t i = 0; i < r->facts->n_tus; i++) {
		const struct vprof_facts_tu *tu = &r->facts->tus[i];
		char hex[17];

		if (tu != unit->tu && (unit->command.step != VPROF_STEP_LINK || strcmp(tu->output, unit->tu->output)))
			continue;
		edited |= vprof_edited_unit(&r->edited, tu, hex);
		h = vprof_hash_text(h, hex);
	}
	if (edited)
		snprintf(unit->fingerprint, sizeof unit->fingerprint, "%016" PRIx64, h);
	else
		unit->fingerprint[0] = 0;
}

static void hash_now(const char *path, char hex[17])
{
	hex[0] = 0;
	if (!access(path, R_OK) && vprof_file_hash(path, hex, NULL))
		hex[0] = 0;
}

int vprof_units_decide(struct vprof_replayer *r, struct vprof_error *err)
{
	uint64_t headers = hash_headers(r);
	int is_read = r->edited.facts != NULL;
	int rc = is_read ? VPROF_OK : vprof_edited_read(&r->edited, r->facts, r->shadow_dir, err);

	if (!rc && !is_read && r->plan)
		rc = vprof_edited_narrow(&r->edited, r->plan, r->annotations, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < r->n_units; i++) {
		struct vprof_unit *unit = &r->units[i];
		const struct vprof_made *made = vprof_made_find(r->state.objects, r->state.n_objects, unit->output);
		const struct vprof_original *original = vprof_originals_find(&r->originals, unit->output);

		fingerprint(r, unit, headers);
		unit->action = VPROF_UNIT_KEEP;
		if (!unit->fingerprint[0] && !made)
			continue;
		hash_now(unit->output, unit->previous);
		if (!unit->fingerprint[0]) {
			/* (a program relinked from changed objects is ours, too, but not edited) */
			if (vprof_made_has(made, unit->previous) && original &&
			    strcmp(original->hash, unit->previous) &&
			    (made->fingerprint[0] ||
			     (unit->command.step == VPROF_STEP_COMPILE && original->kind != VPROF_ORIGINAL_ABSENT)))
				unit->action = VPROF_UNIT_REVERT;
		} else if (!made || !made->n_hashes || strcmp(made->fingerprint, unit->fingerprint) ||
			   strcmp(made->hashes[made->n_hashes - 1], unit->previous)) {
			unit->action = VPROF_UNIT_COMPILE;
		}
	}
	return VPROF_OK;
}

/* ---- compiling ---- */

struct pool {
	struct vprof_replayer *r;
	struct vprof_unit **todo;
	size_t n, next, done;
	pthread_mutex_t lock;
	int rc; /* of the first that failed */
	struct vprof_error error;
};

static int compile_failed(const struct vprof_replayer *r, const struct vprof_unit *unit,
			  const struct vprof_process_result *result, struct vprof_error *err)
{
	struct vprof_text lines = VPROF_TEXT_INIT, from = VPROF_TEXT_INIT, to = VPROF_TEXT_INIT;
	char how[96];

	vprof_process_describe(result, how, sizeof how);
	vprof_text_addf(&from, "%s/", r->shadow_dir);
	vprof_text_addf(&to, "%s/", r->facts->root);
	/* the first line is the command */
	vprof_build_excerpt(&lines, unit->messages.s + strcspn(unit->messages.s, "\n"), 16, from.s, to.s);
	vprof_error_set(
		err, VPROF_ERR_BUILD,
		"the instrumented %s does not compile (%s)\n%s  command and whole output: %s\n"
		"  nothing was replaced, and what did compile is kept for the next try; vprof restore returns the build to "
		"its original state",
		vprof_replay_short(r, unit->tu->path), how, lines.s, r->o->log_path);
	vprof_text_release(&lines);
	vprof_text_release(&from);
	vprof_text_release(&to);
	return VPROF_ERR_BUILD;
}

static int compile_unit(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process_result *result,
			struct vprof_error *err)
{
	/* with a base folder ccache follows a header's link in the shadow tree to the original, and takes an object
	 * that was made of it for one that is made of the edited header in its place */
	static const char *const environment[] = { "CCACHE_BASEDIR=", NULL };
	struct vprof_process p = { .directory = unit->tu->directory,
				   .captured = &unit->messages,
				   .environment = environment };
	struct vprof_text dir = VPROF_TEXT_INIT;
	int64_t began_ns = vprof_kept_now();
	char **argv = NULL;
	int rc;

	vprof_text_clear(&unit->messages);
	/* never the folder of a compiler that a killed vprof left behind */
	vprof_text_addf(&dir, "%s/%d-%zu", r->tmp_dir, (int)getpid(), (size_t)(unit - r->units));
	free(unit->made);
	unit->made = dir.failed ? NULL : vprof_path_join(dir.s, strrchr(unit->output, '/') + 1);
	if (unit->made)
		argv = unit->action == VPROF_UNIT_REVERT ? vprof_original_command(unit, unit->made) :
							   vprof_replay_command(r, unit, unit->made);
	rc = argv ? vprof_dir_make(dir.s, err) : vprof_error_no_memory(err);
	if (rc)
		goto out;
	p.argv = (const char *const *)argv;
	for (size_t i = 0; argv[i]; i++)
		vprof_text_addf(&unit->messages, "%s%s", i ? " " : "  ", argv[i]);
	vprof_text_add(&unit->messages, "\n");
	rc = vprof_process_run(&p, result, err);
	if (!rc && result->status)
		rc = compile_failed(r, unit, result, err);
	if (!rc && unit->key[0])
		vprof_kept_keep(r, unit, began_ns);
out:
	vprof_words_free(argv);
	vprof_text_release(&dir);
	return rc;
}

static void *compile_some(void *arg)
{
	struct pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	while (!pool->rc && pool->next < pool->n) {
		struct vprof_unit *unit = pool->todo[pool->next++];
		struct vprof_process_result result;
		struct vprof_error error = { "" };
		int rc;

		if (unit->made)
			continue; /* by a replay that was interrupted */
		pthread_mutex_unlock(&pool->lock);
		rc = compile_unit(pool->r, unit, &result, &error);
		pthread_mutex_lock(&pool->lock);
		vprof_replay_log(pool->r, NULL, "compile %s\n%s", vprof_replay_short(pool->r, unit->output),
				 unit->messages.s);
		if (rc && !pool->rc) {
			pool->rc = rc;
			pool->error = error;
		}
		pool->done++;
		vprof_replay_progress(pool->r, "compile", (double)pool->done / (double)pool->n);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static int compile_all(struct pool *pool, struct vprof_error *err)
{
	long n = pool->r->o->jobs > 0 ? pool->r->o->jobs : sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[64];
	int started = 0;

	pthread_mutex_init(&pool->lock, NULL);
	n = n < 1 ? 1 : n > 64 ? 64 : n;
	n = (size_t)n > pool->n ? (long)pool->n : n;
	while (started < n - 1 && !pthread_create(&threads[started], NULL, compile_some, pool))
		started++;
	compile_some(pool);
	while (started)
		pthread_join(threads[--started], NULL);
	pthread_mutex_destroy(&pool->lock);
	if (pool->rc && err)
		*err = pool->error;
	return pool->rc;
}

/* ---- putting in place ---- */

static int under_ninja(const char *path)
{
	struct vprof_text dir = VPROF_TEXT_INIT;
	int found = 0;

	for (const char *slash = path + strlen(path); slash > path && !found;) {
		while (slash > path && *--slash != '/')
			;
		vprof_text_clear(&dir);
		vprof_text_append(&dir, path, (size_t)(slash - path));
		vprof_text_add(&dir, "/.ninja_log");
		found = !access(dir.s, F_OK);
	}
	vprof_text_release(&dir);
	return found;
}

/* libtool's rules look at NAME.lo, which stands for .libs/NAME.o. */
static void touch_libtool(const char *output)
{
	const char *libs = strstr(output, "/.libs/"), *dot = strrchr(output, '.');
	char *lo = NULL;

	if (!libs || !dot || strchr(libs + 7, '/') || strcmp(dot, ".o") ||
	    asprintf(&lo, "%.*s/%.*s.lo", (int)(libs - output), output, (int)(dot - libs - 7), libs + 7) < 0)
		return;
	utimensat(AT_FDCWD, lo, NULL, 0);
	free(lo);
}

/* `before`: when what stood there was made, the original or what the build made of it since; NULL: nothing did. */
static void set_time(const struct vprof_replayer *r, const char *path, const struct timespec *before)
{
	const struct vprof_original *original = vprof_originals_find(&r->originals, path);
	struct timespec times[2] = { { 0, UTIME_OMIT }, { 0, UTIME_NOW } };

	if (original && original->kind != VPROF_ORIGINAL_ABSENT && under_ninja(path)) {
		times[1].tv_sec = before ? before->tv_sec : (time_t)original->mtime_s;
		times[1].tv_nsec = before ? before->tv_nsec : (long)original->mtime_ns;
	} else {
		touch_libtool(path);
	}
	utimensat(AT_FDCWD, path, times, 0);
}

/* Saves what stands in the unit's place, unless it is ours or is saved already. */
static int save_original(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_error *err)
{
	const struct vprof_original *original = vprof_originals_find(&r->originals, unit->output);
	const struct vprof_made *made = vprof_made_find(r->state.objects, r->state.n_objects, unit->output);

	if (unit->compiled)
		return VPROF_OK; /* what the relink put there meanwhile is no original */
	if (!unit->previous[0])
		return original ? VPROF_OK :
				  vprof_originals_save(&r->originals, unit->output, VPROF_ORIGINAL_ABSENT, err);
	if (vprof_made_has(made, unit->previous))
		return VPROF_OK;
	if (original && !strcmp(original->hash, unit->previous))
		return vprof_originals_secure(&r->originals, unit->output, VPROF_ORIGINAL_OBJECT, err);
	return vprof_originals_save(&r->originals, unit->output, VPROF_ORIGINAL_OBJECT, err);
}

static int install_unit(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_error *err)
{
	struct vprof_made *made;
	struct stat st;
	int rc, there = !stat(unit->output, &st);

	if (there)
		chmod(unit->made, st.st_mode & 07777);
	rc = vprof_replay_install(unit->made, unit->output, err);
	if (rc)
		return rc;
	set_time(r, unit->output, there ? &st.st_mtim : NULL);
	made = vprof_made_note(&r->state.objects, &r->state.n_objects, unit->output, unit->hash);
	if (!made || vprof_replay_changed(r, unit->output))
		return vprof_error_no_memory(err);
	memcpy(made->fingerprint, unit->fingerprint, sizeof made->fingerprint);
	if (!unit->compiled)
		r->result->n_compiled++;
	unit->compiled = 1;
	unit->action = VPROF_UNIT_KEEP;
	return VPROF_OK;
}

/* All or none: Ctrl-C waits for these renames. */
static int install_made(struct pool *pool, struct vprof_error *err)
{
	sigset_t deferred, before;
	int rc = VPROF_OK;

	sigemptyset(&deferred);
	sigaddset(&deferred, SIGINT);
	sigaddset(&deferred, SIGTERM);
	sigaddset(&deferred, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &deferred, &before);
	for (size_t i = 0; !rc && i < pool->n; i++)
		rc = install_unit(pool->r, pool->todo[i], err);
	if (!rc)
		rc = vprof_state_write(&pool->r->state, err);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int install_all(struct pool *pool, struct vprof_error *err)
{
	struct vprof_replayer *r = pool->r;
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < pool->n; i++)
		rc = save_original(r, pool->todo[i], err);
	if (!rc)
		rc = vprof_originals_write(&r->originals, err);
	for (size_t i = 0; !rc && i < pool->n; i++) {
		struct vprof_unit *unit = pool->todo[i];
		struct vprof_made *made = NULL;

		vprof_deps_check(r, unit);
		rc = vprof_file_hash(unit->made, unit->hash, err);
		if (!rc)
			made = vprof_made_note(&r->state.objects, &r->state.n_objects, unit->output, unit->hash);
		if (made)
			strcpy(made->fingerprint, "?"); /* an interruption compiles it again */
		else if (!rc)
			rc = vprof_error_no_memory(err);
	}
	r->state.relinking = 1; /* from the first rename on, until what is made from them is made again */
	if (!rc)
		rc = vprof_state_write(&r->state, err);
	return rc ? rc : install_made(pool, err);
}

static int reads_changed(const struct vprof_replayer *r, const struct vprof_unit *unit)
{
	for (size_t i = 0; i < unit->command.n_inputs; i++) {
		const char *word = unit->command.argv[unit->command.inputs[i]];
		char *path = vprof_path_rooted(r->facts->root, unit->tu->directory, word);
		int changed = path && vprof_replay_is_changed(r, path);

		free(path);
		if (changed)
			return 1;
	}
	return 0;
}

int vprof_units_compile(struct vprof_replayer *r, int that_link, struct vprof_error *err)
{
	struct pool pool = { .r = r };
	int rc = VPROF_OK;

	pool.todo = calloc(r->n_units + 1, sizeof *pool.todo);
	if (!pool.todo)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < r->n_units; i++) {
		struct vprof_unit *unit = &r->units[i];
		int links = unit->command.step == VPROF_STEP_LINK;

		if (that_link && links && unit->fingerprint[0] && unit->action == VPROF_UNIT_KEEP &&
		    reads_changed(r, unit))
			unit->action = VPROF_UNIT_COMPILE;
		if (links == that_link && unit->action == VPROF_UNIT_COMPILE)
			pool.todo[pool.n++] = unit;
	}
	if (pool.n)
		rc = vprof_kept_take(r, pool.todo, pool.n, &pool.done, err);
	if (!rc)
		r->result->n_earlier += pool.done;
	if (!rc && pool.n)
		rc = compile_all(&pool, err);
	if (!rc && pool.n)
		rc = install_all(&pool, err);
	free(pool.todo);
	return rc;
}

/* The build keeps no object of this unit (it went into an archive and was removed): what it was is compiled again. */
static int compile_original(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_error *err)
{
	struct vprof_process_result result;
	int rc = compile_unit(r, unit, &result, err);

	vprof_replay_log(r, NULL, "%s", unit->messages.s);
	if (!rc)
		rc = vprof_file_hash(unit->made, unit->hash, err);
	if (!rc && !vprof_made_note(&r->state.objects, &r->state.n_objects, unit->output, unit->hash))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_state_write(&r->state, err);
	return rc ? rc : vprof_replay_install(unit->made, unit->output, err);
}

/* Did the user edit a source since the saved object was made? */
static int is_outdated(const struct vprof_replayer *r, const struct vprof_unit *unit,
		       const struct vprof_original *original)
{
	struct stat st;

	for (size_t i = 0; i < unit->tu->n_files; i++) {
		const struct vprof_facts_file *file = vprof_facts_file(r->facts, unit->tu->files[i]);

		if (file && !stat(file->path, &st) &&
		    (st.st_mtim.tv_sec > original->mtime_s ||
		     (st.st_mtim.tv_sec == original->mtime_s && st.st_mtim.tv_nsec > original->mtime_ns)))
			return 1;
	}
	return 0;
}

static int revert_unit(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_error *err)
{
	const struct vprof_original *original = vprof_originals_find(&r->originals, unit->output);
	int absent = original->kind == VPROF_ORIGINAL_ABSENT, outdated = !absent && is_outdated(r, unit, original), rc;

	if (unit->command.step == VPROF_STEP_COMPILE && (absent || outdated)) {
		rc = compile_original(r, unit, err);
		/* What the edited source makes is the original from now on. */
		if (!rc && outdated)
			rc = vprof_originals_save(&r->originals, unit->output, original->kind, err);
		if (!rc && outdated)
			rc = vprof_originals_write(&r->originals, err);
	} else {
		rc = vprof_originals_put_back(&r->originals, original, err);
	}
	if (rc < 0)
		return rc;
	if (outdated && unit->command.step != VPROF_STEP_COMPILE) /* with its old time: the build makes it anew */
		return vprof_replay_changed(r, unit->output) ? vprof_error_no_memory(err) : VPROF_OK;
	set_time(r, unit->output, NULL);
	return vprof_replay_changed(r, unit->output) ? vprof_error_no_memory(err) : VPROF_OK;
}

int vprof_units_revert(struct vprof_replayer *r, struct vprof_error *err)
{
	size_t before = r->result->n_reverted;
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < r->n_units; i++) {
		struct vprof_unit *unit = &r->units[i];
		struct vprof_made *made;

		if (unit->action != VPROF_UNIT_REVERT)
			continue;
		rc = vprof_replay_log(r, err, "revert %s\n", vprof_replay_short(r, unit->output));
		if (!rc)
			rc = revert_unit(r, unit, err);
		made = vprof_made_find(r->state.objects, r->state.n_objects, unit->output);
		if (made)
			made->fingerprint[0] = 0;
		unit->action = VPROF_UNIT_KEEP;
		r->result->n_reverted += !rc;
	}
	if (!rc && r->result->n_reverted != before)
		rc = vprof_state_write(&r->state, err);
	return rc;
}
