/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof init: how the program is built, what its sources hold, and a first vprof.json to correct.
 *
 * An existing vprof.json is never written: the draft then goes beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/discover/discover.h"
#include "cli/doctor/checkup.h"
#include "cli/command.h"
#include "cli/flows/flow_discover.h"
#include "cli/flows/flow_draft.h"
#include "cli/flows/flow_units.h"
#include "cli/latency/hot_path.h"
#include "cli/latency/watch.h"
#include "cli/lock.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/recorded_run.h"
#include "cli/doctor/symptoms.h"
#include "cli/workspace.h"
#include "common/files.h"
#include "common/text.h"
#include "instrumenter/instrument.h"

#define SHOWN_INTERVALS 5
#define SHOWN_OTHERS 12

static const struct vprof_usage usage = {
	.synopsis =
		"init [OPTIONS] [-- BUILD COMMAND] | init --watch [OPTIONS] -- LOAD COMMAND | init --from RUN [OPTIONS]",
	.purpose =
		"Observes a build (from a clean tree: files that are not compiled are not seen), or reads a compilation\n"
		"database, then scans the sources and drafts vprof.json: intervals, locks and queues, with the reasons.\n"
		"With --watch, LOAD COMMAND starts the program as it was built and puts load on it; it is recorded, and the\n"
		"draft's interval is the function in which each request is received and replied to, with counts. With --from the\n"
		"same is read from RUN, recorded with vprof record --stacks or --interval. The functions on the hot path that\n"
		"either shows are those that vprof iterate measures first. With --discover\n"
		"the draft's queues are those that a discovery run (vprof flows) of the run command has seen items pass, and its\n"
		"interval is made of the handlers of events in which that run saw requests received, continued and replied to.",
	.takes_command = 1,
	.example = "  vprof init -- make -j2",
};

struct init_options {
	const char *compile_commands, *directory, *run, *from;
	char *build;
	int watch, discover;
	long memory; /* MiB that a discovery run may record; 0: the default */
	char **load; /* with watch: ends with NULL */
	size_t n_load;
	char *load_line; /* the same in one line */
};

struct drafting {
	struct vprof_draft *draft;
	cJSON *answer; /* of the discovery run, to whose texts what was found refers */
	struct vprof_found_queues found;
	struct vprof_arena arena;
};

static int observe(const struct vprof_project *p, const char *command, struct vprof_error *err)
{
	struct vprof_text notes = VPROF_TEXT_INIT;
	struct vprof_progress progress;
	char *line, *rest = NULL;
	int rc;

	vprof_progress_begin(&progress, "observe");
	vprof_progress_update(&progress, command, -1);
	rc = vprof_observe_build(command, p->directory, p->vprof_dir, &notes, err);
	if (rc)
		vprof_progress_drop(&progress);
	else
		vprof_progress_end(&progress, "%.60s", command);
	for (line = notes.len ? strtok_r(notes.s, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		vprof_tell("%s", line);
	vprof_text_release(&notes);
	return rc;
}

/* A database that lies where CMake, Meson and bear put it, as seen from the project. Heap string or NULL. */
static char *nearby_database(const char *directory)
{
	static const char *const places[] = { "compile_commands.json", "build/compile_commands.json" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char *path = vprof_path_join(directory, places[i]);

		if (path && !access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* Leaves .vprof/compile_commands.json. */
static int learn_build(const struct vprof_project *p, const struct init_options *o, struct vprof_error *err)
{
	char *found, *own;
	int rc, known;

	if (o->build)
		return observe(p, o->build, err);
	if (o->compile_commands)
		return vprof_import_build(o->compile_commands, p->vprof_dir, err);
	own = vprof_workspace_compile_commands(p, NULL);
	known = own && !access(own, R_OK);
	free(own);
	found = nearby_database(p->directory);
	if (found && !known) {
		vprof_tell("using the compilation database %s", vprof_project_shown(found));
		rc = vprof_import_build(found, p->vprof_dir, err);
	} else if (known) {
		vprof_tell("using the build observed earlier; give the build command again if it has changed");
		rc = VPROF_OK;
	} else {
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "how is the program built? Give the command, from a clean "
				     "tree: vprof init -- make, or a database: vprof init --compile-commands FILE");
	}
	free(found);
	return rc;
}

static void print_unlikely(void)
{
	printf("  of a program that serves no requests take one unit of its work (a line, a file, a query) or the whole run:\n"
	       "  docs/annotations.md, Command-line programs\n");
}

static void print_intervals(const struct vprof_draft *d)
{
	printf("\nintervals: where a request could begin and end\n");
	if (!d->n_intervals)
		printf("  none found; write the functions that begin and end a request into vprof.json\n");
	if (!d->n_intervals && !d->annotated_in)
		print_unlikely();
	for (size_t i = 0; i < d->n_intervals && i < SHOWN_INTERVALS; i++) {
		const struct vprof_interval_proposal *p = &d->intervals[i];

		printf("  %zu %s%s%s%s%s  (%s, %s confidence)\n", i + 1, p->function, p->end ? " .. " : "",
		       p->end ? p->end : "", p->given_up ? " or " : "", p->given_up ? p->given_up : "", p->where,
		       p->confidence);
		printf("      %s; id %s%s%s%s\n", p->why, p->id, p->end && strcmp(p->id, p->end_id) ? " .. " : "",
		       p->end && strcmp(p->id, p->end_id) ? p->end_id : "",
		       p->begins_at_exit ? "; begins when it returns, for it waits for the request" :
		       p->is_left	 ? "; suspended in between, when the thread works on others" :
					   "");
	}
	if (d->found && d->found->interval.open)
		printf("  a discovery run saw requests, but no interval: %s\n", d->found->interval.open);
	if (d->n_intervals > SHOWN_INTERVALS)
		printf("    and %zu more\n", d->n_intervals - SHOWN_INTERVALS);
	if (d->n_intervals && !strcmp(d->intervals[0].confidence, "low")) {
		printf("  none of them is likely\n");
		print_unlikely();
	}
	if (d->type_function)
		printf("  type: %s%s%s\n", d->type_function, d->type_hint ? ": " : "",
		       d->type_hint ? d->type_hint : "");
}

static void print_first(const struct vprof_draft *d)
{
	if (!d->n_first)
		return;
	printf("\nmeasured first\n  ");
	for (size_t i = 0; i < d->n_first; i++)
		printf("%s%s", i ? " > " : "", d->first[i]);
	printf("\n      %s\n", d->first_why);
}

static void print_entries(const struct vprof_draft *d)
{
	static const char *const kinds[] = { "program", "thread", "process" };

	if (d->n_entries)
		printf("\nentry points\n");
	for (size_t i = 0; i < d->n_entries && i < SHOWN_OTHERS; i++)
		printf("  %-8s %s  (%s) %s\n", kinds[d->entries[i].kind], d->entries[i].function, d->entries[i].where,
		       d->entries[i].why);
	if (d->n_entries > SHOWN_OTHERS)
		printf("  and %zu more\n", d->n_entries - SHOWN_OTHERS);
}

static void print_sync(const struct vprof_draft *d)
{
	if (d->n_sync)
		printf("\nsynchronisation\n");
	for (size_t i = 0; i < d->n_sync && i < SHOWN_OTHERS; i++)
		printf("  %s%s%s  (%s) %s%s\n", d->sync[i].acquire ? d->sync[i].acquire : "",
		       d->sync[i].acquire && d->sync[i].release ? " / " : "",
		       d->sync[i].release ? d->sync[i].release : "", d->sync[i].where, d->sync[i].why,
		       d->sync[i].custom ? "" : "; needs no annotation");
	if (d->n_sync > SHOWN_OTHERS)
		printf("  and %zu more\n", d->n_sync - SHOWN_OTHERS);
	if (d->n_queues)
		printf("\nqueues\n");
	for (size_t i = 0; i < d->n_queues && i < SHOWN_OTHERS; i++)
		printf("  %s / %s  (%s) %s%s\n", d->queues[i].enqueue, d->queues[i].dequeue, d->queues[i].where,
		       d->queues[i].is_unconfirmed ? "not confirmed, only a remark: " : "", d->queues[i].why);
	if (d->n_queues > SHOWN_OTHERS)
		printf("  and %zu more\n", d->n_queues - SHOWN_OTHERS);
}

static void print_open_flows(const struct vprof_draft *d)
{
	int n = d->n_queues != 0;

	for (size_t i = 0; d->found && i < d->found->n_seen; i++)
		if (d->found->seen[i].open)
			printf("%s  %s -> %s: no entry: %s\n", n++ ? "" : "\nqueues\n", d->found->seen[i].from,
			       d->found->seen[i].to, d->found->seen[i].open);
}

static void print_next(const char *written, int is_draft, int has_interval, int has_build, int has_run)
{
	printf("\nwrote %s\n", vprof_project_shown(written));
	if (is_draft)
		printf("vprof.json already exists and was not changed; copy what you want from the draft\n");
	if (is_draft)
		has_build = has_run = 1; /* that file's affair */
	printf("next\n  1. open vprof.json: %s%s%s\n",
	       has_interval ? "confirm the interval" :
			      "write the interval: the functions that begin and end a request (man vprof.json)",
	       has_build ? "" : ", add the \"build\" command that relinks the program",
	       has_run ? "" : ", add a \"run\" command that starts the program, puts load on it and exits");
	printf("  2. vprof annotations      checks it against the sources\n"
	       "  3. vprof iterate          builds, runs, analyses, drills down\n");
}

/* .vprof/watch: the load, with all stacks and transfers. */
static int record_load(const struct vprof_project *p, const struct init_options *o, struct vprof_error *err)
{
	const char *const head[] = { "record",	  "--stacks", "--paths",  "--budget", "0",
				     "--spacing", "1ns",      "--memory", "32",	      "--output" };
	size_t n = sizeof head / sizeof *head;
	char **argv = calloc(n + o->n_load + 3, sizeof *argv), *folder = vprof_path_join(p->vprof_dir, "watch");
	int status, rc = argv && folder ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_dir_remove(folder, err);
	if (!rc) {
		memcpy(argv, head, sizeof head);
		argv[n++] = folder;
		argv[n++] = (char *)"--";
		memcpy(argv + n, o->load, o->n_load * sizeof *argv);
		status = vprof_cmd_record((int)(n + o->n_load), argv);
		if (status)
			rc = vprof_error_set(err, VPROF_ERR_INPUT,
					     "the load could not be recorded, or its command failed: see above");
	}
	free(folder);
	free(argv);
	return rc;
}

/* What there is to read is read; the draft stands without it. */
static int find_hot_path(struct vprof_watch *watch, const char *trace, const char *interval, const char *run,
			 struct vprof_error *err)
{
	struct vprof_error why = { "" };
	int rc = vprof_hot_path_find(watch, trace, interval, run, &why);

	if (rc == VPROF_ERR_INPUT) {
		vprof_tell("no hot path: %s", why.message);
		return VPROF_OK;
	}
	if (rc)
		*err = why;
	return rc;
}

static int read_load(const struct vprof_project *p, const struct vprof_facts *facts, struct vprof_watch *watch,
		     struct vprof_error *err)
{
	char *trace = vprof_path_join(p->vprof_dir, "watch/trace");
	int rc = trace ? vprof_watch_read(watch, trace, facts, err) : vprof_error_no_memory(err);

	if (!rc && !watch->is_found)
		vprof_tell("the load says nothing of intervals: %s", watch->why_not);
	if (!rc)
		rc = find_hot_path(watch, trace,
				   watch->is_found && !watch->seen.is_split ? watch->seen.begins[0] : NULL, "the load",
				   err);
	free(trace);
	return rc;
}

/* --from: what a run that was recorded before shows. */
static int read_run(const char *wanted, const struct vprof_facts *facts, struct vprof_watch *watch,
		    struct vprof_error *err)
{
	struct vprof_recorded_run run;
	char named[300];
	int rc = vprof_recorded_run_find(&run, wanted, "--stacks ", err);

	snprintf(named, sizeof named, "run %.250s", rc ? "" : vprof_recorded_run_shown(&run));
	if (!rc && run.interval)
		rc = vprof_watch_name(watch, run.interval, named, err);
	else if (!rc)
		rc = vprof_watch_read(watch, run.trace, facts, err);
	if (!rc && !watch->is_found)
		vprof_tell("%s says nothing of intervals: %s", named, watch->why_not);
	if (!rc)
		rc = find_hot_path(watch, run.trace,
				   watch->is_found && !watch->seen.is_split ? watch->seen.begins[0] : NULL, named, err);
	if (!rc && run.interval && watch->seen.n_hot) /* it may be named by a part of its name */
		watch->seen.begins[0] = watch->seen.hot[0];
	vprof_recorded_run_release(&run);
	return rc;
}

/* A discovery run of the program as vprof.json says it is built: the draft, where there was none before. */
static int discover_flows(const struct init_options *o, const char *directory, cJSON **answer, struct vprof_error *err)
{
	struct vprof_option_words all = { 0 };
	struct vprof_workspace w;
	char *folder = NULL;
	int rc = chdir(directory) ? vprof_error_set(err, VPROF_ERR_INPUT, "cannot change to the folder %s", directory) :
				    VPROF_OK;

	if (rc)
		return rc;
	rc = vprof_workspace_open(&w, NULL, err);
	if (!rc) {
		folder = vprof_path_join(w.project.vprof_dir, "flows");
		rc = folder ? VPROF_OK : vprof_error_no_memory(err);
	}
	if (!rc)
		rc = vprof_flow_discover(&w, &all,
					 &(struct vprof_flow_run_options){ .command = o->run ? o->run : o->load_line,
									   .memory_mib = o->memory,
									   .folder = folder },
					 0, answer, err);
	free(folder);
	vprof_workspace_release(&w);
	return rc;
}

/* A program in which nothing locks has no queues to find: its draft is whole without a run. */
static int finds_units(const struct vprof_facts *facts, const struct vprof_callgraph *graph, int *found,
		       struct vprof_error *err)
{
	struct vprof_option_words all = { 0 };
	const struct vprof_annotations none = { NULL };
	struct vprof_flow_own_locks own;
	struct vprof_flow_units units = { 0 };
	struct vprof_error why = { "" };
	int rc = vprof_flow_own_locks_find(&own, facts, graph, &none, &why);

	if (!rc)
		rc = vprof_flow_units_choose(&units, facts, graph, &all, &own, &why);
	vprof_flow_units_release(&units);
	vprof_flow_own_locks_release(&own);
	*found = !rc;
	if (rc == VPROF_ERR_MISSING) {
		vprof_tell("no discovery run: %s", why.message);
		return VPROF_OK;
	}
	if (rc)
		*err = why;
	return rc;
}

/* With a discovery run the draft is written twice: without one it stays as the code alone suggests. */
static int discover(const struct vprof_project *p, const struct init_options *o, const struct vprof_facts *facts,
		    const struct vprof_callgraph *graph, const struct vprof_watched *watched, const char *written,
		    struct drafting *g, struct vprof_error *err)
{
	const char *run = o->run ? o->run : o->load_line;
	int found = 0, rc = vprof_discover(facts, graph, watched, NULL, &g->draft, err);

	if (!rc)
		rc = vprof_draft_write(g->draft, written, o->build, run, err);
	if (!rc && o->discover)
		rc = finds_units(facts, graph, &found, err);
	if (rc || !found)
		return rc;
	rc = discover_flows(o, p->directory, &g->answer, err);
	if (rc) {
		vprof_tell("%s was written, with queues as the code alone suggests them", vprof_project_shown(written));
		return rc;
	}
	vprof_draft_free(g->draft);
	g->draft = NULL;
	rc = vprof_flow_draft_of(g->answer, &g->arena, &g->found);
	rc = rc ? vprof_error_no_memory(err) : vprof_discover(facts, graph, watched, &g->found, &g->draft, err);
	return rc ? rc : vprof_draft_write(g->draft, written, o->build, run, err);
}

/* Facts -> proposals -> vprof.json or vprof.json.draft. */
static int draft(const struct vprof_project *p, const struct init_options *o, struct vprof_error *err)
{
	struct vprof_watch watch = { .is_found = 0 };
	struct vprof_callgraph *graph = NULL;
	struct vprof_facts *facts = NULL;
	struct drafting g = { 0 };
	const struct vprof_draft *d;
	char *written = vprof_path_join(p->directory, p->has_config ? "vprof.json.draft" : "vprof.json");
	int rc = written ? vprof_facts_open(&facts, p->facts, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_callgraph_build(&graph, facts, err);
	if (!rc && o->from)
		rc = read_run(o->from, facts, &watch, err);
	else if (!rc && o->watch)
		rc = read_load(p, facts, &watch, err);
	if (!rc)
		rc = discover(p, o, facts, graph, watch.is_found || watch.seen.n_hot ? &watch.seen : NULL, written, &g,
			      err);
	d = g.draft;
	if (!rc && d->not_watched)
		vprof_tell("what was recorded says nothing of intervals: %s", d->not_watched);
	if (!rc) {
		print_intervals(d);
		print_first(d);
		print_entries(d);
		print_sync(d);
		print_open_flows(d);
		print_next(written, p->has_config, d->n_intervals || p->has_config, o->build != NULL,
			   o->run || o->load_line);
	}
	vprof_draft_free(g.draft);
	vprof_arena_release(&g.arena);
	cJSON_Delete(g.answer);
	vprof_watch_release(&watch);
	vprof_callgraph_free(graph);
	vprof_facts_free(facts);
	free(written);
	return rc;
}

static int initialise(struct vprof_project *p, struct init_options *o, struct vprof_error *err)
{
	char *database = vprof_workspace_compile_commands(p, NULL);
	int rc = database ? vprof_project_make_dir(p, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_project_lock(p, "init", err);
	if (!rc)
		rc = learn_build(p, o, err);
	if (!rc && o->watch)
		rc = record_load(p, o, err);
	if (!rc)
		rc = vprof_workspace_scan(p, database, p->directory, err);
	if (!rc && !o->build)
		o->build = vprof_observed_command(p->vprof_dir);
	if (!rc)
		rc = draft(p, o, err);
	free(database);
	return rc;
}

int vprof_cmd_init(int argc, char **argv)
{
	struct init_options o = { 0 };
	const struct vprof_option options[] = {
		{ "compile-commands", VPROF_OPTION_TEXT, &o.compile_commands, "FILE", "use this compilation database" },
		{ "directory", VPROF_OPTION_TEXT, &o.directory, "DIR",
		  "the project's folder (default: the current one)" },
		{ "run", VPROF_OPTION_TEXT, &o.run, "COMMAND", "the run command to write into vprof.json" },
		{ "watch", VPROF_OPTION_FLAG, &o.watch, NULL,
		  "the command after -- is no build but the load: record it once with stacks, and find the interval in it" },
		{ "from", VPROF_OPTION_TEXT, &o.from, "RUN",
		  "a run recorded with stacks: its interval, and the hot path in it, which is measured first" },
		{ "discover", VPROF_OPTION_FLAG, &o.discover, NULL,
		  "run the workload once with files compiled for discovery: queues that items passed, handlers of requests" },
		{ "memory", VPROF_OPTION_COUNT, &o.memory, "MIB",
		  "the most that the discovery run may record (default 512)" },
		{ NULL },
	};
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_project p;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (o.watch && !operands.n_command)
		return vprof_options_misused(
			&usage, "--watch needs the command that starts the program and puts load on it: -- COMMAND");
	if (o.watch && o.from)
		return vprof_options_misused(&usage,
					     "--watch records the load, --from takes what was recorded: give one");
	if (o.memory && !o.discover)
		return vprof_options_misused(&usage, "--memory is for the discovery run: give --discover, too");
	if (operands.n_command && o.compile_commands && !o.watch)
		return vprof_options_misused(&usage, "give a build command or --compile-commands, not both");
	if (o.watch) {
		o.load = operands.command;
		o.n_load = (size_t)operands.n_command;
		o.load_line = vprof_options_shell(operands.command, operands.n_command);
	} else if (operands.n_command)
		o.build = vprof_options_shell(operands.command, operands.n_command);
	rc = vprof_project_open(&p, o.directory ? o.directory : ".", &err);
	if (!rc && o.discover && !o.run && !o.watch && !p.has_config)
		rc = vprof_error_set(
			&err, VPROF_ERR_INPUT,
			"--discover runs the program: say which command starts it, puts load on it and ends, with --run COMMAND");
	if (!rc)
		rc = initialise(&p, &o, &err);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	if (rc && (o.build || o.compile_commands)) {
		vprof_symptoms_tell(&p, NULL, err.reason);
		vprof_checkup_tell_broken(&p, err.reason);
	}
	free(o.build);
	free(o.load_line);
	vprof_project_release(&p);
	return status;
}
