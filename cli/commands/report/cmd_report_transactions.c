/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report transactions: who waited for whom, from the results of an analysed run. */
#include "cli/commands/report/reports.h"

#include <stdlib.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/project.h"
#include "common/files.h"
#include "report/transactions/report_crosstalk.h"

static const struct vprof_usage usage = {
	.synopsis = "report transactions [RUN] [--crosstalk] [--json] [--top N]",
	.purpose =
		"Tells which requests wait for which: a matrix of waiting time by the type of the request that waits and the\n"
		"type that the holder of the lock worked for; for each pair the locks, and what the holders ran meanwhile.\n"
		"RUN is a number or a folder; it has been analysed. Exit status 3 when no request waited for another thread.",
	.max_operands = 1,
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

static int print_text(const struct vprof_results *r, long top, struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(top);
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_report_crosstalk(r, &options, &text);
	return vprof_print_text(&text, err);
}

int vprof_cmd_report_transactions(int argc, char **argv)
{
	int json = 0, crosstalk = 0;
	long top = 0;
	const struct vprof_option options[] = {
		{ "crosstalk", VPROF_OPTION_FLAG, &crosstalk, NULL, "who waits for whom (the default)" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print parties and pairs as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &top, "N", "pairs to show (default 10)" },
		{ NULL },
	};
	struct vprof_results *results = NULL;
	struct vprof_operands operands;
	struct vprof_error err = { "" };
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	rc = load(operands.n_words ? operands.words[0] : NULL, &results, &err);
	if (!rc)
		rc = json ? vprof_print_json(vprof_crosstalk_json(results), &err) : print_text(results, top, &err);
	status = rc				   ? vprof_complain(rc, &err) :
		 vprof_crosstalk_is_empty(results) ? VPROF_EXIT_INCONCLUSIVE :
						     VPROF_EXIT_OK;
	vprof_results_free(results);
	return status;
}
