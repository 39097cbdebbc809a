/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof compare: did mean, variance and percentiles change from one build to another, through which factors, and may CI
 * pass? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/latency/latency_runs.h"
#include "cli/compare/commits.h"
#include "cli/compare/comparison.h"
#include "cli/lock.h"
#include "cli/options.h"
#include "cli/project.h"
#include "cli/recorded_run.h"
#include "common/files.h"

#define DEFAULT_TOP 10

static const struct vprof_usage usage = {
	.synopsis =
		"compare (BASE NEW | COMMIT COMMIT | --base RUN... --new RUN...) [OPTIONS] | compare BASE NEW --latency [OPTIONS]",
	.purpose =
		"Compares the latencies of two builds: how mean, variance and percentiles changed, and in which factors.\n\n"
		"BASE and NEW are folders of projects that are built with probes: their run commands are run in turn until\n"
		"the comparison is settled, at most 24 times each, or 96 times in five minutes; N times with --repeat N.\n"
		"With --base-command and --new-command it is one build with two commands. Or they are runs, by number or\n"
		"folder, several of each side with --base and --new: one run of each side shows a change, but decides\n"
		"nothing.\n\n"
		"Two COMMITs of the project's git repository are built in work trees of their own below .vprof/commits,\n"
		"with vprof.json as it is now, and run in turn: vprof compare main HEAD.\n\n"
		"With --latency, BASE and NEW are two runs recorded with vprof record --stacks, by number or folder: which\n"
		"paths of functions, of program, libraries and kernel, cost more in NEW. No probes are needed. Exit status 3\n"
		"when the bounds are too wide to tell.\n\n"
		"Exit status 1 when a condition of --fail-if holds, 3 when the runs cannot decide it.",
	.max_operands = 2,
	.example = "  vprof compare 1 2",
};

struct compare_options {
	struct vprof_option_words base, new;
	const char *fail_if, *base_command, *new_command, *per, *html, *setup;
	long top, repeat;
	int json, latency, probes;
};

/* What the operands are, when they are not runs. */
enum compared { COMPARED_RUNS, COMPARED_BUILDS, COMPARED_COMMITS };

static int is_project(const char *folder)
{
	char *config = vprof_path_join(folder, "vprof.json"), *results = vprof_path_join(folder, "results.json");
	struct stat st;
	int is = config && results && !stat(config, &st) && stat(results, &st);

	free(config);
	free(results);
	return is;
}

/* Runs the sides' builds: those of two projects, or that of the current one with two commands. */
static int compare_builds(struct vprof_comparison *c, const struct compare_options *o,
			  const struct vprof_operands *operands, struct vprof_error *err)
{
	struct vprof_compared_build builds[2] = { { NULL, o->base_command }, { NULL, o->new_command } };
	struct vprof_project projects[2] = { { 0 } };
	int rc = VPROF_OK;

	for (int i = 0; i < 2 && !rc; i++) {
		rc = vprof_project_open(&projects[i], operands->n_words ? operands->words[i] : NULL, err);
		builds[i].directory = projects[i].directory;
	}
	if (!rc)
		rc = vprof_comparison_run(c, builds, (size_t)o->repeat, err);
	for (int i = 0; i < 2; i++)
		vprof_project_release(&projects[i]);
	return rc;
}

/* Builds both commits and runs them in turn; *touched: the commits that changed the functions, on the heap. */
static int compare_commits(struct vprof_comparison *c, const struct compare_options *o,
			   const struct vprof_operands *operands, char **touched, struct vprof_error *err)
{
	const struct vprof_commit_options how = { .setup = o->setup, .with_probes = o->probes };
	struct vprof_commit commits[2] = { { "" } };
	struct vprof_compared_build builds[2] = { { NULL, o->base_command }, { NULL, o->new_command } };
	struct vprof_project p;
	int rc = vprof_project_open(&p, NULL, err);

	if (!rc && !access(p.vprof_dir, F_OK))
		rc = vprof_project_lock(&p, "compare", err);
	for (int i = 0; i < 2 && !rc; i++) {
		rc = vprof_commit_build(&commits[i], &p, operands->words[i], &how, err);
		builds[i].directory = commits[i].directory;
		snprintf(c->sides[i].label, sizeof c->sides[i].label, "%.12s %.60s", commits[i].id,
			 commits[i].subject ? commits[i].subject : "");
	}
	if (!rc)
		rc = vprof_comparison_run(c, builds, (size_t)o->repeat, err);
	if (!rc) {
		*touched = vprof_commits_between(commits, c, (size_t)o->top);
		rc = *touched ? VPROF_OK : vprof_error_no_memory(err);
	}
	for (int i = 0; i < 2; i++)
		vprof_commit_release(&commits[i]);
	vprof_project_release(&p);
	return rc;
}

static int compare_runs(struct vprof_comparison *c, const struct compare_options *o,
			const struct vprof_operands *operands, struct vprof_error *err)
{
	const struct vprof_option_words *named[2] = { &o->base, &o->new };
	int rc = VPROF_OK;

	c->error = VPROF_COMPARE_ERROR;
	for (int i = 0; i < 2 && !rc; i++) {
		if (operands->n_words)
			rc = vprof_compared_side_add(&c->sides[i], operands->words[i], err);
		for (size_t k = 0; k < named[i]->n && !rc; k++)
			rc = vprof_compared_side_add(&c->sides[i], named[i]->v[k], err);
	}
	return rc ? rc : vprof_comparison_make(c, err);
}

/* Two recordings with stacks; the exit status. */
static int compare_latencies(const struct compare_options *o, const struct vprof_operands *operands)
{
	struct vprof_recorded_run runs[2] = { 0 };
	struct vprof_latency_results *r = vprof_latency_results_new();
	struct vprof_error err = { "" };
	int rc = r ? VPROF_OK : vprof_error_no_memory(&err), status = VPROF_EXIT_OK;

	for (int i = 0; i < 2 && !rc; i++)
		rc = vprof_recorded_run_find(&runs[i], operands->words[i], "--stacks ", &err);
	if (!rc)
		rc = vprof_latency_runs(r, (const char *const[]){ runs[0].trace, runs[1].trace },
					(const char *const[]){ operands->words[0], operands->words[1] }, o->per, &err);
	if (!rc)
		rc = vprof_latency_runs_tell(r, NULL,
					     &(struct vprof_view_form){ o->json, o->html != NULL, o->html, o->top },
					     runs[1].folder, &status, &err);
	for (int i = 0; i < 2; i++)
		vprof_recorded_run_release(&runs[i]);
	vprof_latency_results_free(r);
	return rc ? vprof_complain(rc, &err) : status;
}

/* -1: the options go together. */
static int check(const struct compare_options *o, const struct vprof_operands *operands, enum compared *what)
{
	int has_commands = o->base_command || o->new_command, has_lists = o->base.n || o->new.n;
	int n_projects = 0;

	for (size_t i = 0; i < operands->n_words; i++)
		n_projects += is_project(operands->words[i]);
	*what = operands->n_words == 2 && !n_projects && vprof_commit_is_meant(operands->words[0]) &&
				vprof_commit_is_meant(operands->words[1]) ?
			COMPARED_COMMITS :
		n_projects == 2 || has_commands ? COMPARED_BUILDS :
						  COMPARED_RUNS;
	if ((o->setup || o->probes) && *what != COMPARED_COMMITS)
		return vprof_options_misused(&usage, "--%s is for two commits", o->setup ? "setup" : "probes");
	if ((o->per || o->html) && !o->latency)
		return vprof_options_misused(&usage, "--%s goes with --latency", o->per ? "per" : "html");
	if (o->html && o->json)
		return vprof_options_misused(&usage, "--html and --json are two reports: ask for one");
	if (o->latency && (has_lists || has_commands || o->repeat || o->fail_if || operands->n_words != 2))
		return vprof_options_misused(&usage, "--latency compares two recordings: name BASE and NEW, and only "
						     "--per, --top, --html or --json with them");
	if (o->latency)
		return -1;
	if (has_lists && (operands->n_words || has_commands || o->repeat))
		return vprof_options_misused(&usage, "--base and --new name runs: nothing else names any");
	if (has_lists ? !o->base.n || !o->new.n : operands->n_words != 2 && !(has_commands && !operands->n_words))
		return vprof_options_misused(&usage, "name two sides: two runs, two projects, or --base and --new");
	if (has_commands && !operands->n_words && !(o->base_command && o->new_command))
		return vprof_options_misused(&usage, "--base-command goes with --new-command");
	if (has_commands && operands->n_words && n_projects != 2 && *what != COMPARED_COMMITS)
		return vprof_options_misused(&usage, "commands are run in projects: name two, or none for this one");
	if (n_projects == 1)
		return vprof_options_misused(&usage, "compare a project with a project, or a run with a run");
	if (o->repeat == 1 || (o->repeat && *what == COMPARED_RUNS))
		return vprof_options_misused(&usage, o->repeat == 1 ? "--repeat takes 2 or more" :
								      "--repeat runs builds: name two projects");
	return -1;
}

int vprof_cmd_compare(int argc, char **argv)
{
	struct compare_options o = { .top = DEFAULT_TOP };
	const struct vprof_option options[] = {
		{ "base", VPROF_OPTION_WORDS, &o.base, "RUN...", "runs of the first side" },
		{ "new", VPROF_OPTION_WORDS, &o.new, "RUN...", "runs of the second side" },
		{ "repeat", VPROF_OPTION_COUNT, &o.repeat, "N", "run each build N times (default: until settled)" },
		{ "base-command", VPROF_OPTION_TEXT, &o.base_command, "COMMAND",
		  "run this in BASE, or in this project, in place of vprof.json's" },
		{ "new-command", VPROF_OPTION_TEXT, &o.new_command, "COMMAND", "the same of NEW" },
		{ "fail-if", VPROF_OPTION_TEXT, &o.fail_if, "CONDITIONS",
		  "such as 'p99 > +5%, variance > +20%'; mean, variance, sd, "
		  "p50, p90 or p99" },
		{ "setup", VPROF_OPTION_TEXT, &o.setup, "COMMAND",
		  "of two commits: run this first in each tree (./configure)" },
		{ "probes", VPROF_OPTION_FLAG, &o.probes, NULL,
		  "of two commits: build with the probes of this project's drill-down, to see which functions changed" },
		{ "top", VPROF_OPTION_COUNT, &o.top, "N", "factors to show (default 10)" },
		{ "latency", VPROF_OPTION_FLAG, &o.latency, NULL,
		  "compare what functions cost in two runs of vprof record --stacks" },
		{ "per", VPROF_OPTION_TEXT, &o.per, "FUNCTION",
		  "with --latency: costs for each call of this function (default: for each request received, or each second)" },
		{ "html", VPROF_OPTION_TEXT, &o.html, "FILE",
		  "with --latency: draw both runs' functions and their difference: one HTML file (- for standard output)" },
		{ "json", VPROF_OPTION_FLAG, &o.json, NULL, "print JSON" },
		{ NULL },
	};
	struct vprof_comparison c = { .n_conditions = 0 };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	const char *wrong = "";
	enum compared what;
	char *touched = NULL;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status < 0)
		status = check(&o, &operands, &what);
	if (status >= 0)
		return status;
	if (o.latency)
		return compare_latencies(&o, &operands);
	if (o.fail_if) {
		c.n_conditions = vprof_conditions_parse(o.fail_if, c.conditions, &wrong);
		if (!c.n_conditions)
			return vprof_options_misused(
				&usage, "--fail-if does not understand \"%s\"; write it like 'p99 > +5%%'", wrong);
	}
	rc = what == COMPARED_COMMITS ? compare_commits(&c, &o, &operands, &touched, &err) :
	     what == COMPARED_BUILDS  ? compare_builds(&c, &o, &operands, &err) :
					compare_runs(&c, &o, &operands, &err);
	status = vprof_comparison_status(&c);
	if (!rc && o.json)
		rc = vprof_comparison_print_json(&c, touched, &err);
	else if (!rc)
		vprof_comparison_print(&c, (size_t)o.top, touched);
	if (rc)
		status = vprof_complain(rc, &err);
	vprof_comparison_release(&c);
	free(touched);
	return status;
}
