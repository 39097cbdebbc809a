/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report waits: which waits limit throughput, from the trace of a recorded run. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/waits/describe.h"
#include "analysis/waits/input/input.h"
#include "analysis/waits/input/stack_names.h"
#include "analysis/waits/input/timeline_history.h"
#include "analysis/timeline/edges/wakes.h"
#include "cli/commands/cmd_report_waits.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "common/files.h"
#include "report/report_waits.h"

static const struct vprof_usage usage = {
	.synopsis = "report waits [RUN] [--json] [--top N] [--threshold SHARE] [--link-speed MBITS]",
	.purpose =
		"Tells which waits limit throughput: the knots of the wait-for graph of a run, what shortening their\n"
		"waits would give, and what usually helps. RUN is a number or a folder. Exit status 3 when nothing in\n"
		"the recording limits throughput.",
	.max_operands = 1,
};

/* RUN's folder of trace files, and its name. */
static int find_trace(const char *wanted, char **dir, struct vprof_run_name *run, struct vprof_error *err)
{
	struct vprof_project p;
	int rc;

	*dir = NULL;
	if (wanted && wanted[strspn(wanted, "0123456789")]) {
		snprintf(run->s, sizeof run->s, "%s", "");
		*dir = vprof_path_join(wanted, "trace");
		return *dir ? VPROF_OK : vprof_error_no_memory(err);
	}
	rc = vprof_project_open(&p, NULL, err);
	if (!rc)
		rc = vprof_project_find_run(&p, wanted, "trace/records.vpt", "record one with: vprof record -- COMMAND",
					    run, err);
	if (!rc) {
		*dir = vprof_project_run_path(&p, run->s, "trace");
		rc = *dir ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_project_release(&p);
	return rc;
}

/* From the kernel's events; without them from what the probes and wrappers recorded. */
static int read_input(struct vprof_waits_input *input, const struct vprof_trace *trace, double bytes_per_s,
		      struct vprof_error *err)
{
	struct vprof_timeline *timeline = NULL;
	struct vprof_wake_counts counts;
	int rc;

	if (trace->n_kernel)
		return vprof_waits_input_kernel(input, trace, bytes_per_s, err);
	rc = vprof_timeline_build(&timeline, trace, 0, NULL, NULL, err);
	if (!rc)
		rc = vprof_wakes_match(timeline, &counts, err);
	if (!rc)
		rc = vprof_waits_input_timeline(input, timeline, err);
	vprof_timeline_free(timeline);
	return rc;
}

/* Names the stacks that the report may show. */
static int name_stacks(struct vprof_waits_input *input, const struct vprof_trace *trace,
		       const struct vprof_waits *waits, struct vprof_error *err)
{
	unsigned char *wanted = calloc(input->history.stacks.n + 1, 1);
	int rc = wanted && input->is_kernel ? VPROF_OK : wanted ? 1 : vprof_error_no_memory(err);

	for (size_t e = 0; e < waits->graph.edges.n && !rc; e++) {
		const struct vprof_waits_edge *edge = &waits->graph.edges.v[e];

		for (uint32_t i = 0; i < edge->n_reasons && i < 2 * VPROF_WAITS_STACKS_SHOWN; i++) {
			uint32_t reason = waits->graph.by_edge.v[edge->first_reason + i];

			wanted[waits->reasons.v.v[reason].wait_stack] = 1;
			wanted[waits->reasons.v.v[reason].waker_stack] = 1;
		}
	}
	if (!rc)
		rc = vprof_waits_input_name_stacks(input, trace, wanted, err);
	free(wanted);
	return rc > 0 ? VPROF_OK : rc;
}

static int analyse(const char *dir, const char *run, double bytes_per_s, const struct vprof_waits_options *options,
		   struct vprof_waits_results *r, struct vprof_error *err)
{
	struct vprof_waits_input input = { 0 };
	struct vprof_waits waits = { 0 };
	struct vprof_trace *trace = NULL;
	int rc = vprof_trace_open(&trace, dir, err);

	if (!rc)
		rc = read_input(&input, trace, bytes_per_s, err);
	if (!rc)
		rc = vprof_waits_analyze(&waits, &input.history, options, err);
	if (!rc)
		rc = name_stacks(&input, trace, &waits, err);
	if (!rc)
		rc = vprof_waits_describe(r, &waits, options, err);
	if (!rc) {
		r->is_kernel = input.is_kernel;
		r->n_events = input.n_events;
		r->n_lost = input.n_lost;
		r->n_assumed = input.n_assumed;
		r->run = vprof_strings_keep(&r->strings, run);
		r->missing = vprof_strings_keep(&r->strings, input.missing);
		rc = r->run && r->missing ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_waits_release(&waits);
	vprof_waits_input_release(&input);
	vprof_trace_free(trace);
	return rc;
}

static int print(const struct vprof_waits_results *r, size_t top, int is_json, struct vprof_error *err)
{
	struct vprof_report_options options = { .colour = vprof_progress_colour(STDOUT_FILENO), .top = top };
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = VPROF_OK;

	if (is_json) {
		cJSON *json = vprof_waits_results_json(r);
		char *printed = json ? cJSON_Print(json) : NULL;

		cJSON_Delete(json);
		if (!printed)
			return vprof_error_no_memory(err);
		puts(printed);
		cJSON_free(printed);
		return VPROF_OK;
	}
	vprof_report_waits(r, &options, &text);
	if (text.failed)
		rc = vprof_error_no_memory(err);
	else
		fputs(text.s, stdout);
	vprof_text_release(&text);
	return rc;
}

int vprof_cmd_report_waits(int argc, char **argv)
{
	struct vprof_waits_options wanted = vprof_waits_defaults();
	long top = 0, mbits = 0;
	int json = 0;
	const struct vprof_option options[] = {
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print the graph and its knots as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &top, "N", "waits shown of each knot (default 10)" },
		{ "threshold", VPROF_OPTION_SHARE, &wanted.knots.threshold, "SHARE",
		  "a knot is refined until all its edges weigh more than this share of the recording (default 0.2)" },
		{ "link-speed", VPROF_OPTION_COUNT, &mbits, "MBITS",
		  "megabits per second of network interfaces whose speed is not known" },
		{ NULL },
	};
	struct vprof_operands operands;
	struct vprof_run_name run = { "" };
	struct vprof_waits_results *r;
	struct vprof_error err = { "" };
	char *dir = NULL;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	r = vprof_waits_results_new();
	rc = r ? find_trace(operands.n_words ? operands.words[0] : NULL, &dir, &run, &err) :
		 vprof_error_no_memory(&err);
	if (!rc)
		rc = analyse(dir, run.s, (double)mbits * 1e6 / 8, &wanted, r, &err);
	if (!rc)
		rc = print(r, (size_t)top, json, &err);
	status = rc				? vprof_complain(rc, &err) :
		 vprof_report_waits_is_empty(r) ? VPROF_EXIT_INCONCLUSIVE :
						  VPROF_EXIT_OK;
	vprof_waits_results_free(r);
	free(dir);
	return status;
}
