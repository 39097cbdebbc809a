/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report waits: which waits limit throughput, from the trace of a recorded run. */
#include <stdlib.h>

#include "analysis/join/knot_shares.h"
#include "analysis/waits/describe.h"
#include "analysis/waits/input/annotation_marks.h"
#include "analysis/waits/input/input.h"
#include "analysis/waits/input/stack_names.h"
#include "analysis/waits/input/timeline_history.h"
#include "analysis/timeline/edges/wakes.h"
#include "cli/commands/report/reports.h"
#include "cli/commands/report/report_page.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/recorded_run.h"
#include "report/report_waits.h"
#include "report/waits_answer.h"
#include "report/waits_page.h"

static const struct vprof_usage usage = {
	.synopsis = "report waits [RUN] [--html [FILE]] [--json] [--top N] [--threshold SHARE] [--link-speed MBITS]",
	.purpose =
		"Tells which waits limit throughput: the knots of the wait-for graph of a run, what shortening their\n"
		"waits would give, and what usually helps. RUN is a number or a folder. With --html it draws\n"
		"the graph: waits.html in the run's folder, or FILE, which may be - for standard output. Exit status 3\n"
		"when nothing in the recording limits throughput.",
	.max_operands = 2,
};

/* From the kernel's events; without them from what the probes and wrappers recorded. */
static int read_input(struct vprof_waits_input *input, const struct vprof_trace *trace, double bytes_per_s,
		      struct vprof_error *err)
{
	struct vprof_timeline *timeline = NULL;
	struct vprof_wake_counts counts;
	int rc;

	if (trace->n_kernel) {
		rc = vprof_waits_input_kernel(input, trace, bytes_per_s, err);
		return rc ? rc : vprof_waits_input_annotate(input, trace, err);
	}
	rc = vprof_timeline_build(&timeline, trace, 0, NULL, NULL, err);
	if (!rc)
		rc = vprof_wakes_match(timeline, &counts, err);
	if (!rc)
		rc = vprof_waits_input_timeline(input, timeline, err);
	vprof_timeline_free(timeline);
	return rc;
}

/* Names the stacks that the report may show. */
static int name_stacks(struct vprof_waits_input *input, const struct vprof_waits *waits, struct vprof_error *err)
{
	unsigned char *wanted;
	int rc;

	if (!input->is_kernel)
		return VPROF_OK;
	wanted = calloc(input->history.stacks.n + 1, 1);
	if (!wanted)
		return vprof_error_no_memory(err);
	for (size_t e = 0; e < waits->graph.edges.n; e++) {
		const struct vprof_waits_edge *edge = &waits->graph.edges.v[e];

		for (uint32_t i = 0; i < edge->n_reasons && i < 2 * VPROF_WAITS_STACKS_SHOWN; i++) {
			uint32_t reason = waits->graph.by_edge.v[edge->first_reason + i];

			wanted[waits->reasons.v.v[reason].wait_stack] = 1;
			wanted[waits->reasons.v.v[reason].waker_stack] = 1;
		}
	}
	rc = vprof_waits_input_name_stacks(input, wanted, err);
	free(wanted);
	return rc;
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
		rc = name_stacks(&input, &waits, err);
	if (!rc)
		rc = vprof_waits_describe(r, &waits, options, err);
	if (!rc && trace->n_threads)
		rc = vprof_knot_shares_of_trace(r, &waits, dir, input.is_kernel, 0, err);
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

static int print_text(const struct vprof_waits_results *r, long top, struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(top);
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_report_waits(r, &options, &text);
	return vprof_print_text(&text, err);
}

static int write_page(const struct vprof_waits_results *r, const char *folder, const char *file,
		      struct vprof_error *err)
{
	struct vprof_run_page page;
	int rc;

	vprof_run_page_begin(&page, folder);
	rc = vprof_report_waits_page(r, &page.origin, &page.text, err);
	return vprof_run_page_end(&page, rc, "waits.html", file, err);
}

int vprof_cmd_report_waits(int argc, char **argv)
{
	struct vprof_waits_options wanted = vprof_waits_defaults();
	struct vprof_view_form form = { 0 };
	const char *run = NULL;
	long mbits = 0;
	const struct vprof_option options[] = {
		{ "html", VPROF_OPTION_FLAG, &form.html, NULL, "draw the wait-for graph: one HTML file" },
		{ "json", VPROF_OPTION_FLAG, &form.json, NULL,
		  "print the graph and its knots as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &form.top, "N", "waits shown of each knot (default 10)" },
		{ "threshold", VPROF_OPTION_SHARE, &wanted.knots.threshold, "SHARE",
		  "a knot is refined until all its edges weigh more than this share of the recording (default 0.2)" },
		{ "link-speed", VPROF_OPTION_COUNT, &mbits, "MBITS",
		  "megabits per second of network interfaces whose speed is not known" },
		{ NULL },
	};
	struct vprof_recorded_run recorded = { 0 };
	struct vprof_waits_results *r;
	struct vprof_error err = { "" };
	int rc, status = vprof_report_page_parse(&usage, options, argc, argv, &form, &run);

	if (status >= 0)
		return status;
	r = vprof_waits_results_new();
	rc = r ? vprof_recorded_run_find(&recorded, run, "", &err) : vprof_error_no_memory(&err);
	if (!rc)
		rc = analyse(recorded.trace, recorded.name.s, (double)mbits * 1e6 / 8, &wanted, r, &err);
	if (!rc)
		rc = form.html ? write_page(r, recorded.folder, form.file, &err) :
		     form.json ? vprof_print_json(vprof_waits_results_json(r), &err) :
				 print_text(r, form.top, &err);
	status = rc ? vprof_complain(rc, &err) : vprof_waits_is_empty(r) ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_OK;
	vprof_waits_results_free(r);
	vprof_recorded_run_release(&recorded);
	return status;
}
