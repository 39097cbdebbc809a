/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report latency: how long functions of all layers took, inferred from the stacks of a recorded run. */
#include "cli/commands/report/reports.h"

#include <stdlib.h>

#include "cli/command.h"
#include "cli/latency/latency_runs.h"
#include "cli/commands/report/report_page.h"
#include "cli/options.h"
#include "cli/project.h"
#include "common/files.h"

static const struct vprof_usage usage = {
	.synopsis = "report latency [RUN] [--html [FILE]] [--per FUNCTION] [--json] [--top N]",
	.purpose =
		"Tells how long functions took, of the program, its libraries and the kernel, in a run that was recorded\n"
		"with vprof record --stacks; the program needs no probes for it. Each figure is between two bounds. RUN is a\n"
		"number or a folder. With --html it draws them: latency.html in the run's folder, or FILE, which may be - for\n"
		"standard output. Exit status 3 when the bounds are too wide to tell which function takes most.",
	.max_operands = 2,
};

int vprof_cmd_report_latency(int argc, char **argv)
{
	struct vprof_latency_output o = { 0 };
	const char *per = NULL, *run = NULL;
	const struct vprof_option options[] = {
		{ "html", VPROF_OPTION_FLAG, &o.html, NULL, "draw flame graph, heat map and calls: one HTML file" },
		{ "per", VPROF_OPTION_TEXT, &per, "FUNCTION",
		  "in the JSON: costs for each call of this function (default: for each second)" },
		{ "json", VPROF_OPTION_FLAG, &o.json, NULL,
		  "print contexts, paths and instances as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &o.top, "N", "paths to show (default 10)" },
		{ NULL },
	};
	char *folder = NULL, *trace = NULL;
	struct vprof_run_name name = { "" };
	struct vprof_operands operands;
	struct vprof_latency_results *r;
	struct vprof_error err = { "" };
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status < 0)
		status = vprof_report_page_operands(&usage, &operands, o.html, &run, &o.file);
	if (status >= 0)
		return status;
	if (o.html && o.json)
		return vprof_options_misused(&usage, "--html and --json are two reports: ask for one");
	r = vprof_latency_results_new();
	rc = r ? vprof_project_run_folder(run, "trace/records.vpt", "record one with: vprof record --stacks -- COMMAND",
					  &name, &folder, &err) :
		 vprof_error_no_memory(&err);
	if (!rc && !(trace = vprof_path_join(folder, "trace")))
		rc = vprof_error_no_memory(&err);
	if (!rc)
		rc = vprof_latency_runs(r, (const char *const[]){ NULL, trace }, (const char *const[]){ NULL, name.s },
					per, &err);
	if (!rc)
		rc = vprof_latency_runs_tell(r, &o, folder, &status, &err);
	if (rc)
		status = vprof_complain(rc, &err);
	vprof_latency_results_free(r);
	free(folder);
	free(trace);
	return status;
}
