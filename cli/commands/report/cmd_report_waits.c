/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report waits: which waits limit throughput, from the trace of a recorded run. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands/report/reports.h"
#include "cli/commands/report/report_page.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/recorded_run.h"
#include "cli/waits/waits_run.h"
#include "report/waits/report_waits.h"
#include "report/waits/waits_answer.h"
#include "report/waits/waits_page.h"

static const struct vprof_usage usage = {
	.synopsis = "report waits [RUN] [--html [FILE]] [--json] [--top N] [--threshold SHARE] [--link-speed MBITS]",
	.purpose =
		"Tells which waits limit throughput: the knots of the wait-for graph of a run, what shortening their\n"
		"waits would give, and what usually helps. RUN is a number or a folder. With --html it draws\n"
		"the graph: waits.html in the run's folder, or FILE, which may be - for standard output. Exit status 3\n"
		"when nothing in the recording limits throughput.",
	.max_operands = 2,
	.example = "  vprof record -- ./load.sh\n"
		   "  vprof report waits",
};

static int print_text(const struct vprof_waits_results *r, const char *folder, long top, struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(top);
	struct vprof_results *of_run = vprof_report_results_beside(folder);
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_report_waits(r, of_run, &options, &text);
	vprof_results_free(of_run);
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

/* Long recordings take a while: each step is shown when it begins. */
static void show_step(void *arg, const char *what, double done)
{
	struct vprof_progress *p = arg;

	memset(&p->drawn, 0, sizeof p->drawn);
	vprof_progress_update(p, what, done);
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
	struct vprof_progress progress;
	struct vprof_waits_results *r;
	struct vprof_error err = { "" };
	int rc, status = vprof_report_page_parse(&usage, options, argc, argv, &form, &run);

	if (status >= 0)
		return status;
	wanted.progress = show_step;
	wanted.progress_arg = &progress;
	vprof_progress_begin(&progress, "waits");
	r = vprof_waits_results_new();
	rc = r ? vprof_recorded_run_find(&recorded, run, "", &err) : vprof_error_no_memory(&err);
	if (!rc)
		rc = vprof_waits_run_analyse(recorded.trace, recorded.name.s, (double)mbits * 1e6 / 8, &wanted, r,
					     &err);
	vprof_progress_drop(&progress);
	if (!rc)
		rc = form.html ? write_page(r, recorded.folder, form.file, &err) :
		     form.json ? vprof_print_json(vprof_waits_results_json(r), &err) :
				 print_text(r, recorded.folder, form.top, &err);
	status = rc ? vprof_complain(rc, &err) : vprof_waits_is_empty(r) ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_OK;
	vprof_waits_results_free(r);
	vprof_recorded_run_release(&recorded);
	return status;
}
