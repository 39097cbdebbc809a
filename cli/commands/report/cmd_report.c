/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report: what a run's analysis found, again. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/results/results_json.h"
#include "cli/command.h"
#include "cli/drilldown/decide.h"
#include "cli/drilldown/ending.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/commands/report/reports.h"
#include "cli/commands/report/recorded_report.h"
#include "cli/commands/report/report_page.h"
#include "cli/drilldown/steps.h"
#include "cli/recorded_run.h"
#include "cli/doctor/symptoms.h"
#include "common/files.h"

static const struct vprof_usage usage = {
	.synopsis = "report [RUN] [--factors | --view VIEW] [--html [FILE]] [--json] [--top N]",
	.purpose =
		"Prints the report of the last analysed run, or of RUN: the causes of the variance, with the verdicts given\n"
		"since; with --factors also the ranked factors that the causes are made of.\n"
		"With --html it writes one self-contained page instead, with what the run says of waits, paths of requests\n"
		"and layers as well: .vprof/runs/RUN/report.html, or FILE, which may be - for standard output. Of a run that\n"
		"was recorded without intervals these views are all. Exit status 3 when that run is inconclusive, or says\n"
		"nothing in that view.",
	.max_operands = 2,
	.example = "  vprof report --html",
};

static int load(const struct vprof_project *p, const char *run, struct vprof_results **results, struct vprof_error *err)
{
	char *path = vprof_project_run_path(p, run, "results.json");
	int rc = path ? vprof_results_read(results, path, err) : vprof_error_no_memory(err);

	free(path);
	return rc;
}

/* The report stands without them. */
static void add_verdicts(const struct vprof_project *p, struct vprof_session *s, struct vprof_results *results)
{
	struct vprof_error err = { "" };
	int rc = vprof_session_open(s, p, &err);

	if (!rc || rc == VPROF_ERR_MISSING)
		vprof_decide_verdicts(results, s);
	else
		vprof_tell("this report shows no verdicts given since the analysis: %s", err.message);
}

/* The run that ended a drill-down says why it was the last. */
static int print_view(const struct vprof_results *results, enum vprof_view view, const struct vprof_session *s,
		      const struct vprof_report_options *o, int *status, struct vprof_error *err)
{
	struct vprof_report_options options = *o;
	int is_last = s->n_rounds && !strcmp(s->rounds[s->n_rounds - 1].run.s, results->run);
	char *ending = is_last && s->ending ? vprof_ending_tell(results, s) : NULL;
	int rc;

	options.ending = ending;
	rc = vprof_step_print_view(results, view, &options, status, err);
	free(ending);
	return rc;
}

/* Is it a run of vprof record --hosts? */
static int is_of_hosts(const char *wanted)
{
	struct vprof_error ignored = { "" };
	struct vprof_run_name run;
	char *folder = NULL, *names = NULL;
	int is_one = wanted && !vprof_project_run_folder(wanted, "hosts", "", &run, &folder, &ignored);

	names = is_one ? vprof_path_join(folder, "hosts") : NULL;
	is_one = names && !access(names, F_OK);
	free(names);
	free(folder);
	return is_one;
}

/* Is it a run that was recorded only, with no plan of probes? */
static int is_recorded(const char *wanted)
{
	struct vprof_error ignored = { "" };
	struct vprof_recorded_run run;
	int is_one = !vprof_recorded_run_find(&run, wanted, "", &ignored);
	char *plan = is_one ? vprof_path_join(run.folder, "plan.json") : NULL;

	is_one = is_one && plan && access(plan, F_OK) != 0;
	free(plan);
	vprof_recorded_run_release(&run);
	return is_one;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} reports[] = {
	{ "latency", vprof_cmd_report_latency },
	{ "paths", vprof_cmd_report_paths },
	{ "transactions", vprof_cmd_report_transactions },
	{ "waits", vprof_cmd_report_waits },
};

int vprof_cmd_report(int argc, char **argv)
{
	const char *view_name = NULL;
	enum vprof_view view;
	const char *wanted = NULL, *file = NULL;
	long top = 0;
	int json = 0, html = 0, factors = 0;
	const struct vprof_option options[] = {
		{ "view", VPROF_OPTION_TEXT, &view_name, "VIEW",
		  "variance (default), tail, mean, types or work (docs/cli.md)" },
		{ "factors", VPROF_OPTION_FLAG, &factors, NULL, "print the ranked factors below the causes" },
		{ "html", VPROF_OPTION_FLAG, &html, NULL, "write the report as one HTML file" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print results.json (docs/results.md) instead" },
		{ "top", VPROF_OPTION_COUNT, &top, "N", "causes and factors to show (default 10)" },
		{ NULL },
	};
	struct vprof_results *results = NULL;
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_session session;
	struct vprof_run_name run;
	struct vprof_project p;
	int rc, status;

	for (size_t i = 0; argc > 1 && i < sizeof reports / sizeof *reports; i++)
		if (!strcmp(argv[1], reports[i].name))
			return reports[i].run(argc - 1, argv + 1);
	status = vprof_options_parse(&usage, options, argc, argv, &operands);
	if (status < 0)
		status = vprof_report_page_operands(&usage, &operands, html, &wanted, &file);
	if (status >= 0)
		return status;
	if (vprof_view_parse(view_name, &view))
		return vprof_options_misused(&usage, "--view takes variance, tail, mean, types or work, not \"%s\"",
					     view_name);
	if (factors && (json || html || (view_name && view != VPROF_VIEW_VARIANCE)))
		return vprof_options_misused(&usage, "--factors goes with the causes alone: --json, --html and other "
						     "views have what they show of factors anyway");
	if (html && (json || view_name))
		return vprof_options_misused(&usage, "--html holds all views; it goes with neither --json nor --view");
	vprof_session_init(&session);
	rc = vprof_project_open(&p, NULL, &err);
	if (!rc)
		rc = vprof_project_find_run(&p, wanted, "results.json",
					    "analyse one with: vprof analyze (or let vprof iterate do everything)",
					    &run, &err);
	if (rc && is_of_hosts(wanted))
		vprof_error_set(
			&err, VPROF_ERR_INPUT,
			"run %s holds recordings of several hosts, which are told together by: vprof report paths %s",
			wanted, wanted);
	else if (rc && !view_name && !json && is_recorded(wanted)) {
		rc = vprof_recorded_report(wanted, html, file, &status, &err);
		vprof_project_release(&p);
		return rc ? vprof_complain(rc, &err) : status;
	}
	if (!rc)
		rc = load(&p, run.s, &results, &err);
	if (!rc)
		add_verdicts(&p, &session, results);
	if (!rc && json)
		rc = vprof_print_json(vprof_results_json(results), &err);
	else if (!rc && html)
		rc = vprof_report_page_write(&p, run.s, &session, results, file, &err);
	else if (!rc)
		rc = print_view(results, view, &session,
				&(struct vprof_report_options){ .top = (size_t)top, .factors = factors }, &status,
				&err);
	if (rc)
		status = vprof_complain(rc, &err);
	else if (json || html)
		status = results->inconclusive ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_OK;
	if (results && results->inconclusive)
		vprof_symptoms_tell(&p, results, VPROF_REASON_NONE);
	vprof_results_free(results);
	vprof_session_release(&session);
	vprof_project_release(&p);
	return status;
}
