/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All outputs are compiled into .vprof/tmp first; only when every one of them succeeded are objects replaced. So a
 * failing or interrupted replay leaves the build as it was; the next one takes what it compiled (replay_kept.h).
 */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_compile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/file_type.h"
#include "common/files.h"
#include "instrumenter/build_log.h"
#include "instrumenter/replay/replay_command.h"
#include "instrumenter/replay/replay_deps.h"
#include "instrumenter/replay/replay_flows.h"
#include "instrumenter/replay/replay_install.h"
#include "instrumenter/replay/replay_kept.h"
#include "instrumenter/resident/resident_merge.h"
#include "instrumenter/splice/splice_live.h"

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
	vprof_error_because(
		err, VPROF_ERR_BUILD, vprof_output_reason(unit->messages.s),
		"the instrumented %s does not compile (%s)\n%s  command and whole output: %s\n  nothing was replaced, and what did compile is kept for the next attempt; vprof restore returns the build to its original state",
		vprof_replay_short(r, unit->tu->path), how, lines.s, r->o->log_path);
	vprof_text_release(&lines);
	vprof_text_release(&from);
	vprof_text_release(&to);
	return VPROF_ERR_BUILD;
}

/* A resident build's unit that does not compile with twins has its probes in the functions' bodies. The same when a
 * twin is called that the unit does not have: a symbol without a definition. */
static int lacks_twins(const struct vprof_replayer *r, const struct vprof_unit *unit, int status)
{
	if (!r->plan || !r->plan->live || unit->is_plain || unit->tu->lang != VPROF_LANG_C ||
	    unit->action == VPROF_UNIT_REVERT)
		return 0;
	return status ||
	       (unit->command.step == VPROF_STEP_COMPILE && vprof_elf_has_undefined(unit->made, VPROF_TWIN_SUFFIX));
}

static int run_command(struct vprof_unit *unit, char **argv, struct vprof_process *p,
		       struct vprof_process_result *result, struct vprof_error *err)
{
	int rc;

	if (!argv)
		return vprof_error_no_memory(err);
	p->argv = (const char *const *)argv;
	for (size_t i = 0; argv[i]; i++)
		vprof_text_addf(&unit->messages, "%s%s", i ? " " : "  ", argv[i]);
	vprof_text_add(&unit->messages, "\n");
	rc = vprof_process_run(p, result, err);
	p->argv = NULL;
	vprof_words_free(argv);
	return rc;
}

static int run_compiler(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process *p,
			struct vprof_process_result *result, struct vprof_error *err)
{
	char **argv = unit->action == VPROF_UNIT_REVERT ? vprof_original_command(unit, unit->made) :
		      r->o->flows			? vprof_flow_command(r, unit, unit->made) :
							  vprof_replay_command(r, unit, unit->made);

	return run_command(unit, argv, p, result, err);
}

static char *beside(const char *path, const char *suffix)
{
	char *joined;

	return asprintf(&joined, "%s%s", path, suffix) < 0 ? NULL : joined;
}

/* One half of a unit: 1 when the compiler fails. */
static int run_half(struct vprof_replayer *r, struct vprof_unit *unit, enum vprof_unit_half half,
		    struct vprof_process *p, struct vprof_text *text, struct vprof_error *err)
{
	char *path = beside(unit->made, half == VPROF_UNIT_PROBED ? ".probed.s" : ".plain.s");
	struct vprof_process_result result;
	int rc;

	unit->half = half;
	rc = path ? run_command(unit, vprof_replay_command(r, unit, path), p, &result, err) :
		    vprof_error_no_memory(err);
	unit->half = VPROF_UNIT_WHOLE;
	if (!rc)
		rc = result.status ? 1 : vprof_file_read(path, text, err);
	if (path)
		unlink(path);
	free(path);
	return rc;
}

static int assemble(struct vprof_unit *unit, const struct vprof_text *text, struct vprof_process *p,
		    struct vprof_process_result *result, struct vprof_error *err)
{
	char *path = beside(unit->made, ".s");
	int rc = path ? vprof_file_write(path, text->s, text->len, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = run_command(unit, vprof_assemble_command(unit, path, unit->made), p, result, err);
	if (path)
		unlink(path);
	free(path);
	return rc;
}

/* A unit that is compiled twice: 1 when it cannot be, for a reason that the messages end with. */
static int run_merged(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process *p,
		      struct vprof_error *err)
{
	struct vprof_text plain = VPROF_TEXT_INIT, probed = VPROF_TEXT_INIT, both = VPROF_TEXT_INIT,
			  why = VPROF_TEXT_INIT;
	struct vprof_process_result result = { 0 };
	int is_c = unit->tu->lang == VPROF_LANG_C, rc = run_half(r, unit, VPROF_UNIT_PLAIN, p, &plain, err);

	unit->keeps_statics = is_c;
	if (!rc)
		rc = run_half(r, unit, VPROF_UNIT_PROBED, p, &probed, err);
	if (!rc)
		rc = vprof_assembly_merge(&plain, &probed, is_c ? VPROF_MERGE_C_KEPT : VPROF_MERGE_CXX, &both, &why);
	if (rc == VPROF_MERGE_REFERS_FURTHER) {
		vprof_text_addf(&unit->messages, "  without -fkeep-static-functions: %s\n", why.s);
		vprof_text_clear(&probed);
		vprof_text_clear(&why);
		unit->keeps_statics = 0;
		rc = run_half(r, unit, VPROF_UNIT_PROBED, p, &probed, err);
		if (!rc)
			rc = vprof_assembly_merge(&plain, &probed, VPROF_MERGE_C, &both, &why);
	}
	if (rc == VPROF_ERR_NOMEM)
		vprof_error_no_memory(err);
	if (!rc)
		rc = assemble(unit, &both, p, &result, err);
	if (!rc && result.status)
		rc = 1;
	if (why.len)
		vprof_text_addf(&unit->messages, "  %s\n", why.s);
	vprof_text_release(&plain);
	vprof_text_release(&probed);
	vprof_text_release(&both);
	vprof_text_release(&why);
	return rc;
}

/* A C unit whose assembly is changed on its way. */
static int run_spared(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process *p,
		      struct vprof_process_result *result, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT, spared = VPROF_TEXT_INIT;
	int rc = run_half(r, unit, VPROF_UNIT_IN_C, p, &text, err);

	*result = (struct vprof_process_result){ .status = rc > 0 };
	if (!rc && vprof_assembly_spare(&text, &spared))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = assemble(unit, &spared, p, result, err);
	vprof_text_release(&text);
	vprof_text_release(&spared);
	return rc > 0 ? VPROF_OK : rc;
}

/* Of two assemblies: 1 when it cannot have those. */
static int run_doubled(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process *p,
		       struct vprof_process_result *result, struct vprof_error *err)
{
	int rc = run_merged(r, unit, p, err);

	*result = (struct vprof_process_result){ 0 };
	if (rc > 0) {
		vprof_replay_log(r, NULL, "no twins by two assemblies: %s\n%s", vprof_replay_short(r, unit->output),
				 unit->messages.s);
		vprof_text_clear(&unit->messages);
	}
	return rc;
}

/* With twins, if it can have any: of two assemblies, or those of its text. */
static int run_with_twins(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process *p,
			  struct vprof_process_result *result, struct vprof_error *err)
{
	int rc = 1;

	if (vprof_can_merge(r, unit)) {
		rc = run_doubled(r, unit, p, result, err);
		unit->is_plain = rc > 0 && unit->tu->lang != VPROF_LANG_C;
	}
	if (rc > 0)
		rc = vprof_can_spare(r, unit) ? run_spared(r, unit, p, result, err) :
						run_compiler(r, unit, p, result, err);
	if (rc || !lacks_twins(r, unit, result->status))
		return rc;
	vprof_replay_log(r, NULL, "no twins by its text: %s, since it does not compile with them\n%s",
			 vprof_replay_short(r, unit->output), unit->messages.s);
	vprof_text_clear(&unit->messages);
	unit->is_plain = 1;
	return run_compiler(r, unit, p, result, err);
}

/* The sources of a unit that links, each as a unit of its own. */
struct parts {
	struct vprof_unit *units;
	char **objects;
	size_t n;
};

static void parts_release(struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		char *deps = parts->objects[i] ? vprof_deps_path(parts->objects[i]) : NULL;

		if (parts->objects[i])
			unlink(parts->objects[i]);
		if (deps)
			unlink(deps);
		free(deps);
		free(parts->objects[i]);
		vprof_command_release(&parts->units[i].command);
		vprof_text_release(&parts->units[i].messages);
	}
	free(parts->units);
	free(parts->objects);
}

/* The facts of the unit's source; NULL when it is not known by this output. */
static const struct vprof_facts_tu *tu_of(const struct vprof_replayer *r, const struct vprof_unit *unit, size_t source)
{
	char *path = vprof_path_absolute(unit->tu->directory, unit->command.argv[unit->command.sources[source]]);
	const struct vprof_facts_tu *found = NULL;

	for (size_t i = 0; path && !found && i < r->facts->n_tus; i++)
		if (!strcmp(r->facts->tus[i].path, path) && !strcmp(r->facts->tus[i].output, unit->tu->output))
			found = &r->facts->tus[i];
	free(path);
	return found;
}

static int part_make(const struct vprof_replayer *r, const struct vprof_unit *unit, size_t source,
		     struct vprof_unit *part, char **object, struct vprof_error *err)
{
	vprof_text_init(&part->messages);
	part->action = VPROF_UNIT_COMPILE;
	part->tu = tu_of(r, unit, source);
	part->output = unit->command.argv[unit->command.sources[source]];
	if (asprintf(object, "%s.part%zu.o", unit->made, source) < 0) {
		*object = NULL;
		return vprof_error_no_memory(err);
	}
	part->made = *object;
	return vprof_part_command(unit, source, &part->command, err);
}

/* Of a unit that may have them; none when no source would gain by it. */
static int parts_make(const struct vprof_replayer *r, const struct vprof_unit *unit, struct parts *parts,
		      struct vprof_error *err)
{
	size_t n = unit->command.n_sources;
	int rc = VPROF_OK, gains = 0;

	*parts = (struct parts){ .units = calloc(n, sizeof *parts->units),
				 .objects = calloc(n, sizeof *parts->objects) };
	if (!parts->units || !parts->objects)
		return vprof_error_no_memory(err);
	for (size_t i = 0; !rc && i < n; i++) {
		struct vprof_unit *part = &parts->units[parts->n++];

		rc = part_make(r, unit, i, part, &parts->objects[i], err);
		if (!rc && (!part->tu || part->command.step != VPROF_STEP_COMPILE || part->command.n_sources != 1 ||
			    part->command.n_inputs))
			n = 0;
		else if (!rc)
			gains |= vprof_can_merge(r, part);
	}
	if (!rc && (!n || !gains)) {
		parts_release(parts);
		*parts = (struct parts){ 0 };
	}
	return rc;
}

/* The unit's list of what it read, of those of its parts. */
static int join_deps(const struct vprof_unit *unit, const struct parts *parts, struct vprof_error *err)
{
	struct vprof_text all = VPROF_TEXT_INIT;
	char *path = vprof_deps_path(unit->made);
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	vprof_text_add(&all, "made:");
	for (size_t i = 0; !rc && i < parts->n; i++) {
		struct vprof_text one = VPROF_TEXT_INIT;
		char *deps = vprof_deps_path(parts->objects[i]);

		rc = deps ? vprof_file_read(deps, &one, err) : vprof_error_no_memory(err);
		if (!rc)
			vprof_text_addf(&all, " %s", one.s + strcspn(one.s, ":") + (strchr(one.s, ':') != NULL));
		vprof_text_release(&one);
		free(deps);
	}
	if (!rc)
		rc = all.failed ? vprof_error_no_memory(err) : vprof_file_write(path, all.s, all.len, err);
	vprof_text_release(&all);
	free(path);
	return rc;
}

/* Compiles the sources of a command that also links one by one, then links: 1 when it is to be run as it is. */
static int run_parts(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process *p,
		     struct vprof_process_result *result, struct vprof_error *err)
{
	struct parts parts = { 0 };
	int rc = vprof_has_parts(r, unit) ? parts_make(r, unit, &parts, err) : VPROF_OK, none = !rc && !parts.n;

	for (size_t i = 0; !rc && i < parts.n; i++) {
		struct vprof_unit *part = &parts.units[i];

		p->captured = &part->messages;
		rc = run_with_twins(r, part, p, result, err);
		if (!rc && result->status)
			rc = compile_failed(r, part, result, err);
		vprof_text_add(&unit->messages, part->messages.s ? part->messages.s : "");
		unit->is_plain |= part->is_plain;
	}
	p->captured = &unit->messages;
	if (!rc && !none)
		rc = join_deps(unit, &parts, err);
	if (!rc && !none)
		rc = run_command(unit, vprof_join_command(r, unit, (const char *const *)parts.objects), p, result, err);
	parts_release(&parts);
	return none ? 1 : rc;
}

int vprof_unit_compile(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process_result *result,
		       struct vprof_error *err)
{
	/* with a base folder ccache follows a header's link in the shadow tree to the original, and mistakes an object
	 * made from that for one made from the edited header */
	static const char *const environment[] = { "CCACHE_BASEDIR=", NULL };
	struct vprof_process p = { .directory = unit->tu->directory,
				   .captured = &unit->messages,
				   .environment = environment };
	struct vprof_text dir = VPROF_TEXT_INIT;
	int64_t began_ns = vprof_kept_now();
	int rc;

	vprof_text_clear(&unit->messages);
	/* never the folder of a compiler that a killed vprof left behind */
	vprof_text_addf(&dir, "%s/%d-%zu", r->tmp_dir, (int)getpid(), (size_t)(unit - r->units));
	free(unit->made);
	unit->made = dir.failed ? NULL : vprof_path_join(dir.s, strrchr(unit->output, '/') + 1);
	rc = unit->made ? vprof_dir_make(dir.s, err) : vprof_error_no_memory(err);
	if (!rc)
		rc = run_parts(r, unit, &p, result, err);
	if (rc == 1)
		rc = run_with_twins(r, unit, &p, result, err);
	if (!rc && result->status)
		rc = compile_failed(r, unit, result, err);
	if (!rc && r->o->flows && unit->action != VPROF_UNIT_REVERT)
		rc = vprof_flow_join(r, unit, unit->made, err);
	if (!rc && unit->key[0])
		vprof_kept_keep(r, unit, began_ns);
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
		rc = vprof_unit_compile(pool->r, unit, &result, &error);
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

static int reads_changed(const struct vprof_replayer *r, const struct vprof_unit *unit)
{
	for (size_t i = 0; i < unit->command.n_inputs; i++)
		if (vprof_replay_reads_changed(r, unit->tu->directory, unit->command.argv[unit->command.inputs[i]]))
			return 1;
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
		if (links != that_link || unit->action != VPROF_UNIT_COMPILE)
			continue;
		free(unit->made); /* the build replaced it since */
		unit->made = NULL;
		pool.todo[pool.n++] = unit;
	}
	if (pool.n && !r->o->flows)
		rc = vprof_kept_take(r, pool.todo, pool.n, &pool.done, err);
	if (!rc)
		r->result->n_earlier += pool.done;
	if (!rc && pool.n)
		rc = compile_all(&pool, err);
	for (size_t i = 0; !rc && i < pool.n && !r->o->flows; i++)
		vprof_deps_check(r, pool.todo[i]);
	if (!rc && pool.n)
		rc = vprof_units_install(r, pool.todo, pool.n, err);
	free(pool.todo);
	return rc;
}
