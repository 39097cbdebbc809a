/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report latency: how long functions of all layers took, inferred from the stacks of a recorded run. */
#include "cli/commands/report/reports.h"

#include "cli/command.h"
#include "cli/latency/latency_interval.h"
#include "cli/latency/latency_runs.h"
#include "cli/commands/report/report_page.h"
#include "cli/options.h"
#include "cli/recorded_run.h"

static const struct vprof_usage usage = {
	.synopsis = "report latency [RUN] [--html [FILE]] [--interval FUNCTION] [--per FUNCTION] [--json] [--top N]",
	.purpose =
		"Tells how long functions took, of the program, its libraries and the kernel, in a run that was recorded\n"
		"with vprof record --stacks; the program needs no probes for it. Each figure is between two bounds. RUN is a\n"
		"number or a folder. With --html it draws them: latency.html in the run's folder, or FILE, which may be - for\n"
		"standard output. With --interval, calls of FUNCTION are intervals: how long they take, and in which functions\n"
		"that varies (--html: interval.html). Exit status 3 when the bounds are too wide to tell which function takes most, or too few calls of\n"
		"FUNCTION were seen from begin to end.",
	.max_operands = 2,
};

int vprof_cmd_report_latency(int argc, char **argv)
{
	struct vprof_view_form form = { 0 };
	const char *per = NULL, *run = NULL, *interval = NULL;
	const struct vprof_option options[] = {
		{ "html", VPROF_OPTION_FLAG, &form.html, NULL, "draw flame graph, heat map and calls: one HTML file" },
		{ "interval", VPROF_OPTION_TEXT, &interval, "FUNCTION",
		  "of which the variance of the calls of this function is made" },
		{ "per", VPROF_OPTION_TEXT, &per, "FUNCTION",
		  "in the JSON: costs for each call of this function (default: for each second)" },
		{ "json", VPROF_OPTION_FLAG, &form.json, NULL,
		  "print contexts, paths and instances as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &form.top, "N", "paths to show (default 10)" },
		{ NULL },
	};
	struct vprof_recorded_run recorded = { 0 };
	struct vprof_latency_results *r;
	struct vprof_error err = { "" };
	int rc, status = vprof_report_page_parse(&usage, options, argc, argv, &form, &run);

	if (status >= 0)
		return status;
	if (interval && per)
		return vprof_options_misused(&usage,
					     "--per compares costs, not what is in a call: give it without --interval");
	r = vprof_latency_results_new();
	rc = r ? vprof_recorded_run_find(&recorded, run, "--stacks ", &err) : vprof_error_no_memory(&err);
	if (!rc && interval)
		rc = vprof_latency_interval(recorded.folder, recorded.trace, recorded.name.s, interval, &form, &status,
					    &err);
	if (!rc && !interval)
		rc = vprof_latency_runs(r, (const char *const[]){ NULL, recorded.trace },
					(const char *const[]){ NULL, recorded.name.s }, per, &err);
	if (!rc && !interval)
		rc = vprof_latency_runs_tell(r, &form, recorded.folder, &status, &err);
	if (rc)
		status = vprof_complain(rc, &err);
	vprof_latency_results_free(r);
	vprof_recorded_run_release(&recorded);
	return status;
}
