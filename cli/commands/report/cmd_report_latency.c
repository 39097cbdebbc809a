/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report latency: how long functions of all layers took, inferred from the stacks of a recorded run. */
#include "cli/commands/report/reports.h"

#include <stdio.h>

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
		"that varies (--html: interval.html); of a run of vprof record --interval that is told first. Exit status 3 when the bounds are too wide to tell which function takes most, or too few calls of\n"
		"FUNCTION were seen from begin to end.",
	.max_operands = 2,
	.example = "  vprof record --stacks -- ./load.sh\n"
		   "  vprof report latency --top 20",
};

struct arguments {
	struct vprof_view_form form;
	const char *per, *interval; /* NULL: not given */
};

static int tell_interval(const struct arguments *a, const struct vprof_recorded_run *run, int *status,
			 struct vprof_error *err)
{
	struct vprof_latency_interval i;
	int rc = vprof_latency_interval_infer(&i, run->trace, run->name.s, a->interval, err);

	if (!rc)
		rc = vprof_latency_interval_tell(&i, &a->form, run->folder, status, err);
	vprof_latency_interval_release(&i);
	return rc;
}

/* The run's own interval, before everything else: as a part of the JSON, as a page beside the other, as text. That it
 * cannot be told is told. */
static int tell_recorded(const struct arguments *a, const struct vprof_recorded_run *run, cJSON **json, int *status,
			 struct vprof_error *err)
{
	struct vprof_error why = { "" };
	struct vprof_latency_interval i;
	int rc = vprof_latency_interval_infer(&i, run->trace, run->name.s, run->interval, &why);

	if (!rc && a->form.json) {
		*json = vprof_latency_interval_json(&i);
		rc = *json ? VPROF_OK : vprof_error_no_memory(err);
	} else if (!rc && !a->form.file) {
		rc = vprof_latency_interval_tell(&i, &a->form, run->folder, status, err);
		if (!rc && !a->form.html)
			printf("\n\n");
	} else if (rc == VPROF_ERR_INPUT) {
		vprof_tell("the calls of %s, the interval of this run, cannot be told: %s", run->interval, why.message);
		*status = VPROF_EXIT_INCONCLUSIVE;
		rc = VPROF_OK;
	} else if (rc) {
		*err = why;
	}
	vprof_latency_interval_release(&i);
	return rc;
}

static int tell_layers(const struct arguments *a, const struct vprof_recorded_run *run, int *status,
		       struct vprof_error *err)
{
	struct vprof_latency_results *r = vprof_latency_results_new();
	int rc = r ? VPROF_OK : vprof_error_no_memory(err), of_interval = VPROF_EXIT_OK;
	cJSON *interval = NULL;

	if (!rc)
		rc = vprof_latency_runs(r, (const char *const[]){ NULL, run->trace },
					(const char *const[]){ NULL, run->name.s }, a->per, err);
	if (!rc && run->interval)
		rc = tell_recorded(a, run, &interval, &of_interval, err);
	if (!rc)
		rc = vprof_latency_runs_tell(r, interval, &a->form, run->folder, status, err);
	if (!rc && of_interval == VPROF_EXIT_INCONCLUSIVE)
		*status = of_interval;
	cJSON_Delete(interval);
	vprof_latency_results_free(r);
	return rc;
}

int vprof_cmd_report_latency(int argc, char **argv)
{
	struct arguments a = { .per = NULL };
	const char *run = NULL;
	const struct vprof_option options[] = {
		{ "html", VPROF_OPTION_FLAG, &a.form.html, NULL,
		  "draw flame graph, heat map and calls: one HTML file" },
		{ "interval", VPROF_OPTION_TEXT, &a.interval, "FUNCTION",
		  "of which the variance of the calls of this function is made (name@FILE: of this program or library)" },
		{ "per", VPROF_OPTION_TEXT, &a.per, "FUNCTION",
		  "in the JSON: costs for each call of this function (default: for each second)" },
		{ "json", VPROF_OPTION_FLAG, &a.form.json, NULL,
		  "print contexts, paths and instances as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &a.form.top, "N", "paths to show (default 10)" },
		{ NULL },
	};
	struct vprof_recorded_run recorded = { 0 };
	struct vprof_error err = { "" };
	int rc, status = vprof_report_page_parse(&usage, options, argc, argv, &a.form, &run);

	if (status >= 0)
		return status;
	if (a.interval && a.per)
		return vprof_options_misused(&usage,
					     "--per compares costs, not what is in a call: give it without --interval");
	rc = vprof_recorded_run_find(&recorded, run, "--stacks ", &err);
	if (!rc)
		rc = a.interval ? tell_interval(&a, &recorded, &status, &err) :
				  tell_layers(&a, &recorded, &status, &err);
	if (rc)
		status = vprof_complain(rc, &err);
	vprof_recorded_run_release(&recorded);
	return status;
}
