/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof clean: makes room. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/compare/commits.h"
#include "cli/lock.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/standing/clean.h"
#include "report/format_value.h"

static const struct vprof_usage usage = {
	.synopsis = "clean [RUN...] [--older-than TIME] [--down-to MIB] [--traces] [--commits] [--dry-run] [--json]",
	.purpose =
		"Removes runs, or their traces, which are the largest part: the named ones, or those that fulfil all\n"
		"conditions, the oldest first; --traces alone: of all runs that were analysed. The last run stays,\n"
		"unless it is named, and so do the results of the drill-down's rounds and of runs that verdicts rest\n"
		"on. A run without its trace keeps its report.",
	.max_operands = SIZE_MAX,
	.example = "  vprof clean --older-than 7d --dry-run",
};

struct cleaning {
	struct vprof_project project;
	struct vprof_session session;
	struct vprof_run_list list;
	struct vprof_clean_choice *choices;
	size_t n_runs, n_traces; /* removed whole; that lost their traces */
	uint64_t bytes;
	size_t n_trees; /* of commits, that go */
};

static int remove_all(struct cleaning *c, int dry_run, struct vprof_error *err)
{
	for (size_t i = 0; i < c->list.n; i++) {
		const struct vprof_clean_choice *choice = &c->choices[i];
		int rc = dry_run ? VPROF_OK : vprof_clean_remove(&c->project, &c->list.items[i], choice->what, err);

		if (rc) { /* what went before it is told nevertheless */
			for (; i < c->list.n; i++)
				c->choices[i] = (struct vprof_clean_choice){ .why = "" };
			return rc;
		}
		c->n_runs += choice->what == VPROF_CLEAN_ALL;
		c->n_traces += choice->what == VPROF_CLEAN_TRACES;
		c->bytes += choice->bytes;
	}
	return VPROF_OK;
}

static int print_cleaning(const struct cleaning *c, int dry_run, struct vprof_error *err)
{
	static const char *const what[] = { "stays", "trace", "run" };
	struct vprof_text out = VPROF_TEXT_INIT;

	for (size_t i = 0; i < c->list.n; i++) {
		const struct vprof_clean_choice *choice = &c->choices[i];

		if (choice->what == VPROF_CLEAN_NOTHING && !*choice->why)
			continue;
		vprof_text_addf(&out, "%s  %-5s  %8s", c->list.items[i].name.s, what[choice->what],
				choice->bytes ? vprof_format_bytes(choice->bytes).s : "");
		if (*choice->why)
			vprof_text_addf(&out, "  %s%s", choice->what ? "its results stay: " : "", choice->why);
		vprof_text_add(&out, "\n");
	}
	vprof_text_addf(&out, "%s %s run%s and the traces of %s: %s", dry_run ? "would remove" : "removed",
			vprof_format_count(c->n_runs).s, c->n_runs == 1 ? "" : "s", vprof_format_count(c->n_traces).s,
			vprof_format_bytes(c->bytes).s);
	if (c->n_trees)
		vprof_text_addf(&out, "; %s work tree%s of commits", vprof_format_count(c->n_trees).s,
				c->n_trees == 1 ? "" : "s");
	vprof_text_add(&out, "\n");
	return vprof_print_text(&out, err);
}

static cJSON *cleaning_json(const struct cleaning *c, int dry_run)
{
	static const char *const what[] = { "nothing", "traces", "run" };
	cJSON *root = cJSON_CreateObject(), *runs = cJSON_CreateArray();

	cJSON_AddBoolToObject(root, "dry_run", dry_run);
	cJSON_AddNumberToObject(root, "bytes", (double)c->bytes);
	cJSON_AddNumberToObject(root, "work_trees", (double)c->n_trees);
	for (size_t i = 0; i < c->list.n; i++) {
		cJSON *run = cJSON_CreateObject();

		cJSON_AddStringToObject(run, "run", c->list.items[i].name.s);
		cJSON_AddStringToObject(run, "removed", what[c->choices[i].what]);
		cJSON_AddNumberToObject(run, "bytes", (double)c->choices[i].bytes);
		cJSON_AddStringToObject(run, "why", c->choices[i].why);
		cJSON_AddItemToArray(runs, run);
	}
	cJSON_AddItemToObject(root, "runs", runs);
	return root;
}

/* A damaged session would say that nothing rests on the runs. */
static int clean(struct cleaning *c, const struct vprof_clean_request *request, int commits, int dry_run, int json,
		 struct vprof_error *err)
{
	int removed, rc = vprof_project_open(&c->project, NULL, err);

	if (!rc && !dry_run && !access(c->project.vprof_dir, F_OK))
		rc = vprof_project_lock(&c->project, "clean", err);
	if (!rc) {
		rc = vprof_session_open(&c->session, &c->project, err);
		rc = rc == VPROF_ERR_MISSING ? VPROF_OK : rc;
	}
	if (!rc)
		rc = vprof_run_list_read(&c->list, &c->project, &c->session, err);
	if (!rc)
		rc = vprof_clean_choose(&c->list, request, &c->choices, err);
	if (!rc && commits)
		c->n_trees = vprof_commits_count(&c->project);
	if (!rc && commits && !dry_run)
		rc = vprof_commits_remove(&c->project, err);
	if (rc)
		return rc;
	removed = remove_all(c, dry_run, err);
	rc = json ? vprof_print_json(cleaning_json(c, dry_run), err) : print_cleaning(c, dry_run, err);
	return removed ? removed : rc;
}

int vprof_cmd_clean(int argc, char **argv)
{
	int json = 0, dry_run = 0, commits = 0;
	long mib = -1;
	struct vprof_clean_request request = { .now_s = (int64_t)time(NULL) };
	const struct vprof_option options[] = {
		{ "older-than", VPROF_OPTION_DURATION, &request.older_than_ns, "TIME",
		  "runs that began longer ago (7d, 12h, 30min)" },
		{ "down-to", VPROF_OPTION_COUNT, &mib, "MIB", "until all runs together are at most this large" },
		{ "traces", VPROF_OPTION_FLAG, &request.traces_only, NULL, "traces only: results and reports stay" },
		{ "commits", VPROF_OPTION_FLAG, &commits, NULL, "the work trees of commits that were compared" },
		{ "dry-run", VPROF_OPTION_FLAG, &dry_run, NULL, "say what would be removed" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print JSON" },
		{ NULL },
	};
	struct cleaning c = { 0 };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	request.runs = operands.words;
	request.n_runs = operands.n_words;
	if (request.n_runs && (request.older_than_ns > 0 || mib >= 0))
		return vprof_options_misused(&usage, "name the runs, or say which by --older-than and --down-to");
	if (!request.n_runs && !(request.older_than_ns > 0) && mib < 0 && !request.traces_only && !dry_run && !commits)
		return vprof_options_misused(&usage, "say what may go: RUN..., --older-than 7d, --down-to 500, or "
						     "--traces or --commits (--dry-run shows it first)");
	request.down_to = mib > 0 ? (uint64_t)mib << 20 : 0;
	if (!request.n_runs && !(request.older_than_ns > 0) && mib < 0) {
		request.down_to = commits && !request.traces_only ? UINT64_MAX : 0; /* no run, or any */
		request.traces_only = 1;
	}
	vprof_session_init(&c.session);
	rc = clean(&c, &request, commits, dry_run, json, &err);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	free(c.choices);
	vprof_run_list_release(&c.list);
	vprof_session_release(&c.session);
	vprof_project_release(&c.project);
	return status;
}
