/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report transactions: who waited for whom, and what transactions did by the stages that they passed; from the
 * results of an analysed run. */
#include "cli/commands/report/reports.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/project.h"
#include "common/files.h"
#include "report/transactions/report_contexts.h"
#include "report/transactions/report_crosstalk.h"

static const struct vprof_usage usage = {
	.synopsis = "report transactions [RUN] [--by type|context] [--context NAME] [--json] [--top N]",
	.purpose =
		"Tells which requests wait for which: a matrix of waiting time by the type of the request that waits and the\n"
		"type that the holder of the lock worked for; for each pair the locks, and what the holders ran meanwhile.\n"
		"With --by context: the stages that requests passed from thread to thread, as call paths; requests that passed\n"
		"the same ones are of one context. For each, one tree from the first stage to the last lock: what ran, what was\n"
		"waited for, and what others did meanwhile; of a run with stacks (vprof run --stacks) also the functions in\n"
		"which its threads were when a timer looked. RUN is a number or a folder; it has been analysed.\n"
		"Exit status 3 when no request waited for another thread, or no call path is known.",
	.max_operands = 1,
	.example = "  vprof report transactions",
};

static int load(const char *wanted, struct vprof_results **results, struct vprof_error *err)
{
	struct vprof_run_name name = { "" };
	char *folder = NULL, *path = NULL;
	int rc = vprof_project_run_folder(wanted, "results.json",
					  "analyse one with: vprof analyze (or let vprof iterate do everything)", &name,
					  &folder, err);

	if (!rc && !(path = vprof_path_join(folder, "results.json")))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_results_read(results, path, err);
	free(path);
	free(folder);
	return rc;
}

static int print_contexts(const struct vprof_results *r, const char *wanted, long top, struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(top);
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = vprof_report_contexts(r, wanted, &options, &text, err);

	if (!rc)
		return vprof_print_text(&text, err);
	vprof_text_release(&text);
	return rc;
}

static int print_crosstalk(const struct vprof_results *r, long top, struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(top);
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_report_crosstalk(r, &options, &text);
	return vprof_print_text(&text, err);
}

int vprof_cmd_report_transactions(int argc, char **argv)
{
	int json = 0, crosstalk = 0, by_context;
	long top = 0;
	const char *by = NULL, *context = NULL;
	const struct vprof_option options[] = {
		{ "by", VPROF_OPTION_TEXT, &by, "type|context",
		  "who waits for whom by type (the default), or contexts" },
		{ "context", VPROF_OPTION_TEXT, &context, "NAME",
		  "this context alone, with more of its tree; its name or number" },
		{ "crosstalk", VPROF_OPTION_FLAG, &crosstalk, NULL, "as --by type" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL,
		  "print parties and pairs, or contexts, as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &top, "N", "pairs to show (default 10), or contexts (5)" },
		{ NULL },
	};
	struct vprof_results *results = NULL;
	struct vprof_operands operands;
	struct vprof_error err = { "" };
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	by_context = context || (by && !strcmp(by, "context"));
	if ((by && strcmp(by, "context") && strcmp(by, "type")) || (by_context && (crosstalk || (by && *by == 't'))))
		return vprof_options_misused(&usage,
					     "--by is type or context; --context and --crosstalk exclude each other");
	rc = load(operands.n_words ? operands.words[0] : NULL, &results, &err);
	if (!rc)
		rc = json ? vprof_print_json(by_context ? vprof_contexts_json(results) : vprof_crosstalk_json(results),
					     &err) :
		     by_context ? print_contexts(results, context, top, &err) :
				  print_crosstalk(results, top, &err);
	status = rc ? vprof_complain(rc, &err) :
		 (by_context ? vprof_contexts_is_empty(results) : vprof_crosstalk_is_empty(results)) ?
		      VPROF_EXIT_INCONCLUSIVE :
		      VPROF_EXIT_OK;
	vprof_results_free(results);
	return status;
}
