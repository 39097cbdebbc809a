/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report paths: the path of each request through threads, processes and hosts. */
#include "analysis/requests/describe_requests.h"
#include "analysis/requests/input/socket_input.h"
#include "cli/command.h"
#include "cli/commands/report/reports.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/recorded_run.h"
#include "report/paths/report_paths.h"

#define RUNS_MOST 64 /* hosts */

static const struct vprof_usage usage = {
	.synopsis = "report paths [RUN...] [--requests] [--json] [--top N]",
	.purpose =
		"Tells the paths of requests through threads and processes, in a run that was recorded with vprof record\n"
		"--paths: which tiers they visit how often, how long each took, and which of them makes the slow ones slow.\n"
		"RUN is a number or a folder; several, recorded on one host each, are joined. Exit status 3 when no request\n"
		"was found.",
	.max_operands = RUNS_MOST,
};

static int add_run(struct vprof_socket_input *input, const char *wanted, struct vprof_run_name *name,
		   struct vprof_error *err)
{
	struct vprof_recorded_run run;
	struct vprof_trace *trace = NULL;
	int rc = vprof_recorded_run_find(&run, wanted, "--paths ", err);

	if (!rc)
		rc = vprof_trace_open(&trace, run.trace, err);
	if (!rc)
		rc = vprof_socket_input_add(input, trace, err);
	vprof_trace_free(trace);
	*name = run.name;
	vprof_recorded_run_release(&run);
	return rc;
}

static int analyse(const struct vprof_operands *runs, int lists_requests, struct vprof_requests_results *r,
		   struct vprof_error *err)
{
	struct vprof_socket_input input = { 0 };
	struct vprof_requests found = { 0 };
	struct vprof_run_name run = { "" };
	int rc = VPROF_OK;

	for (size_t i = 0; i < (runs->n_words ? runs->n_words : 1) && !rc; i++)
		rc = add_run(&input, runs->n_words ? runs->words[i] : NULL, &run, err);
	if (!rc)
		rc = vprof_requests_find(&found, &input.history, err);
	if (!rc)
		rc = vprof_requests_describe(r, &found, lists_requests, err);
	if (!rc) {
		r->n_transfers = input.n_transfers;
		r->n_lost = input.history.n_lost;
		r->n_unknown = input.n_unknown;
		r->n_hosts = input.history.hosts.n;
		r->duration_ns = (double)(input.history.end - input.history.begin);
		r->run = vprof_strings_keep(&r->strings, run.s);
		r->missing = vprof_strings_keep(&r->strings, input.missing);
		rc = r->run && r->missing ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_requests_release(&found);
	vprof_socket_input_release(&input);
	return rc;
}

static int print_text(const struct vprof_requests_results *r, long top, struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(top);
	struct vprof_text text = VPROF_TEXT_INIT;

	if (r->requests)
		vprof_report_paths_list(r, &text);
	else
		vprof_report_paths(r, &options, &text);
	return vprof_print_text(&text, err);
}

int vprof_cmd_report_paths(int argc, char **argv)
{
	long top = 0;
	int json = 0, requests = 0;
	const struct vprof_option options[] = {
		{ "requests", VPROF_OPTION_FLAG, &requests, NULL, "tell each request by itself (with --json: too)" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print tiers, paths and links as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &top, "N", "paths to show (default 10)" },
		{ NULL },
	};
	struct vprof_operands operands;
	struct vprof_requests_results *r;
	struct vprof_error err = { "" };
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	r = vprof_requests_results_new();
	rc = r ? analyse(&operands, requests, r, &err) : vprof_error_no_memory(&err);
	if (!rc)
		rc = json ? vprof_print_json(vprof_requests_results_json(r), &err) : print_text(r, top, &err);
	status = rc				? vprof_complain(rc, &err) :
		 vprof_report_paths_is_empty(r) ? VPROF_EXIT_INCONCLUSIVE :
						  VPROF_EXIT_OK;
	vprof_requests_results_free(r);
	return status;
}
