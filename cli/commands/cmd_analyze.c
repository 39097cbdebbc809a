/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof analyze: one run's trace into results.json, report.txt and the report on stdout; or the traces in some folders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/analyze_folders.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/run_folders.h"
#include "cli/commands/print_file.h"
#include "cli/commands/report/reports.h"
#include "cli/requests/requests_runs.h"
#include "cli/drilldown/steps.h"
#include "cli/doctor/symptoms.h"

static const struct vprof_usage usage = {
	.synopsis = "analyze [RUN | DIR...] [OPTIONS]",
	.purpose =
		"Analyses the trace of the last run, or of RUN, writes .vprof/runs/RUN/results.json and report.txt,\n"
		"and prints the report. Exit status 3 when the run has too little data to say anything.\n\n"
		"With folders, DIR..., it analyses the traces in them together, needs no project and writes no file but that of\n"
		"--output. They are folders of runs made with one build, perhaps on several hosts; or recordings of sends and\n"
		"receives (vprof record --paths), one of each host, of which it tells the paths of requests.\n\n"
		"With --by context, the types of intervals are the stages that they passed: the variance between and within them,\n"
		"and with --type all of the report for one of them.",
	.max_operands = 4096,
	.example = "  vprof analyze --slower-than 5ms",
};

/* The session's settings, when there is one, with what the options say instead. */
static int settings(struct vprof_session *s, const struct vprof_project *p, const char *interval, long k,
		    double threshold, struct vprof_error *err)
{
	int rc = vprof_session_open(s, p, err);

	if (rc && rc != VPROF_ERR_MISSING)
		return rc;
	if (interval) {
		free(s->interval);
		s->interval = strdup(interval);
	}
	s->k = k ? k : s->k;
	s->threshold = threshold >= 0 ? threshold : s->threshold;
	return interval && !s->interval ? vprof_error_no_memory(err) : VPROF_OK;
}

/* A run that was recorded elsewhere often lies where nothing can be written. */
static void tell_other_way(const struct vprof_project *p, const char *run)
{
	char *folder = p->runs && *run ? vprof_project_run_path(p, run, "") : NULL;

	if (folder && !access(folder, R_OK) && access(folder, W_OK))
		vprof_tell("vprof analyze %s prints the report and writes nothing", vprof_project_shown(folder));
	free(folder);
}

/* A run of the project, analysed anew with the options given here or, where they are not, the session's. */
static int analyze_run(const char *run_name, const char *interval, long k, double threshold, double slower_than_ns,
		       enum vprof_view view, int json)
{
	const struct vprof_step_analyse_options how = { .slower_than_ns = slower_than_ns };
	struct vprof_results *results = NULL;
	struct vprof_error err = { "" };
	struct vprof_session session;
	struct vprof_run_name run = { "" };
	struct vprof_project p;
	int rc, status = VPROF_EXIT_OK;

	vprof_session_init(&session);
	rc = vprof_project_open(&p, NULL, &err);
	if (!rc)
		rc = vprof_project_find_run(&p, run_name, "trace", "record one with: vprof run", &run, &err);
	if (!rc)
		rc = settings(&session, &p, interval, k, threshold, &err);
	if (!rc)
		rc = vprof_step_analyse(&p, run.s, &session, &how, &results, NULL, &err);
	if (!rc && json)
		rc = vprof_print_file(&p, run.s, "results.json", &err);
	else if (!rc)
		rc = vprof_step_print_view(results, view, &(struct vprof_report_options){ 0 }, &status, &err);
	if (rc) {
		status = vprof_complain(rc, &err);
		tell_other_way(&p, run.s);
	} else if (json)
		status = results->inconclusive ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_OK;
	if (results && results->inconclusive)
		vprof_symptoms_tell(&p, results, VPROF_REASON_NONE);
	vprof_results_free(results);
	vprof_session_release(&session);
	vprof_project_release(&p);
	return status;
}

/* Recordings of sends and receives, one of each host: what is joined of them is the paths of requests. */
static int tell_paths(void *folders)
{
	const struct vprof_folders *f = folders;
	char **argv = calloc(f->n + 3, sizeof *argv), name[] = "paths", option[] = "--json";
	struct vprof_error err = { "" };
	int argc = 0, status;

	if (!argv)
		return vprof_complain(vprof_error_no_memory(&err), &err);
	argv[argc++] = name;
	for (size_t i = 0; i < f->n; i++)
		argv[argc++] = f->words[i];
	if (f->json)
		argv[argc++] = option;
	status = vprof_cmd_report_paths(argc, argv);
	free(argv);
	return status;
}

/* A run by its number, as a folder. */
static int analyze_one(struct vprof_folders *f, const char *run)
{
	struct vprof_run_name name = { "" };
	struct vprof_error err = { "" };
	char *folder = NULL, *words[1];
	int status, rc = vprof_project_run_folder(run, "trace", "record one with: vprof run", &name, &folder, &err);

	if (rc)
		return vprof_complain(rc, &err);
	words[0] = folder;
	f->words = words;
	f->n = 1;
	status = vprof_analyze_folders(f);
	free(folder);
	return status;
}

int vprof_cmd_analyze(int argc, char **argv)
{
	const char *view_name = NULL, *by = NULL;
	struct vprof_folders f = { .threshold = -1 };
	const struct vprof_option options[] = {
		{ "interval", VPROF_OPTION_TEXT, &f.interval, "NAME",
		  "the interval to explain (default: the most frequent)" },
		{ "type", VPROF_OPTION_TEXT, &f.type, "NAME",
		  "only intervals of this type; nothing is written but --output" },
		{ "by", VPROF_OPTION_TEXT, &by, "WHAT",
		  "context: the types of intervals are their transaction contexts; likewise" },
		{ "k", VPROF_OPTION_COUNT, &f.k, "N", "factors chosen (default: the session's, or 3)" },
		{ "threshold", VPROF_OPTION_SHARE, &f.threshold, "D", "minimum share of the variance (default 0.02)" },
		{ "view", VPROF_OPTION_TEXT, &view_name, "VIEW",
		  "variance (default), tail, mean, types or work (docs/cli.md)" },
		{ "slower-than", VPROF_OPTION_DURATION, &f.slower_than_ns, "TIME",
		  "the tail view's slowest intervals, such as 5ms (default: the slowest 1 %)" },
		{ "json", VPROF_OPTION_FLAG, &f.json, NULL, "print results.json instead of the report" },
		{ "output", VPROF_OPTION_TEXT, &f.output, "FILE",
		  "with DIR, --type or --by: write results.json to FILE" },
		{ "threads", VPROF_OPTION_COUNT, &f.n_threads, "N",
		  "with DIR, --type or --by: threads (default: one per CPU)" },
		{ "mpi", VPROF_OPTION_FLAG, &f.use_mpi, NULL,
		  "with DIR: share the work with the other ranks of mpirun (docs/cluster.md)" },
		{ NULL },
	};
	struct vprof_operands operands;
	int status = vprof_options_parse(&usage, options, argc, argv, &operands);
	const char *run;

	if (status >= 0)
		return status;
	run = operands.n_words ? operands.words[0] : NULL;
	if (f.k > 1000)
		return vprof_options_misused(&usage, "--k is between 1 and 1000");
	if (vprof_view_parse(view_name, &f.view))
		return vprof_options_misused(&usage, "--view takes variance, tail, mean, types or work, not \"%s\"",
					     view_name);
	if (by && strcmp(by, "context"))
		return vprof_options_misused(&usage, "--by takes context, not \"%s\"", by);
	f.by_context = by != NULL;
	if (f.use_mpi || (run && (operands.n_words > 1 || vprof_is_trace_folder(run)))) {
		if (!run)
			return vprof_options_misused(&usage, "--mpi takes folders of runs, such as .vprof/runs/0001");
		f.words = operands.words;
		f.n = operands.n_words;
		if (!f.output && vprof_requests_run_is_one(run))
			return f.use_mpi ? vprof_tell_by_first_rank(tell_paths, &f) : tell_paths(&f);
		return vprof_analyze_folders(&f);
	}
	if (f.type || f.by_context)
		return analyze_one(&f, run);
	if (f.output || f.n_threads)
		return vprof_options_misused(&usage,
					     "--output and --threads go with folders, such as .vprof/runs/0001");
	return analyze_run(run, f.interval, f.k, f.threshold, f.slower_than_ns, f.view, f.json);
}
