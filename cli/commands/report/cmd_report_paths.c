/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof report paths: the path of each request through threads, processes and hosts. */
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/commands/report/report_page.h"
#include "cli/commands/report/reports.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/recorded_run.h"
#include "cli/requests/requests_runs.h"
#include "cli/run_page.h"
#include "report/paths/paths_answer.h"
#include "report/paths/paths_page.h"
#include "report/paths/report_paths.h"

static const struct vprof_usage usage = {
	.synopsis = "report paths [RUN...] [--html [FILE]] [--requests [--visits]] [--json] [--top N]",
	.purpose =
		"Tells the paths of requests through threads and processes, in a run that was recorded with vprof record\n"
		"--paths: which tiers they visit how often, how long each took, and which of them makes the slow ones slow;\n"
		"and, where there were probes or stacks (--stacks), which functions ran in a visit.\n"
		"RUN is a number or a folder; several, recorded on one host each, are joined. With --html it draws paths and\n"
		"requests: paths.html in the first run's folder, or FILE, which may be - for standard output. Exit status 3\n"
		"when no request was found.",
	.max_operands = VPROF_REQUESTS_RUNS_MOST + 1,
	.example = "  vprof record --paths -- ./load.sh\n"
		   "  vprof report paths",
};

/* What is known of the intervals of the same run; NULL: nothing. */
static struct vprof_results *results_of(const struct vprof_operands *runs)
{
	struct vprof_error ignored = { "" };
	struct vprof_recorded_run run;
	struct vprof_results *results = NULL;

	if (runs->n_words > 1)
		return NULL;
	if (!vprof_recorded_run_find(&run, runs->n_words ? runs->words[0] : NULL, "--paths ", &ignored))
		results = vprof_report_results_beside(run.folder);
	vprof_recorded_run_release(&run);
	return results;
}

static int print_text(const struct vprof_requests_results *r, const struct vprof_operands *runs, long top, int visits,
		      struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(top);
	struct vprof_results *of_run = r->requests ? NULL : results_of(runs);
	struct vprof_text text = VPROF_TEXT_INIT;

	if (r->requests)
		vprof_report_paths_list(r, visits, &text);
	else
		vprof_report_paths(r, of_run, &options, &text);
	vprof_results_free(of_run);
	return vprof_print_text(&text, err);
}

static int write_page(const struct vprof_requests_results *r, const char *run, const char *file,
		      struct vprof_error *err)
{
	struct vprof_recorded_run recorded;
	struct vprof_run_page page;
	int rc = vprof_recorded_run_find(&recorded, run, "--paths ", err);

	if (!rc) {
		vprof_run_page_begin(&page, recorded.folder);
		rc = vprof_report_paths_page(r, &page.origin, &page.text, err);
		rc = vprof_run_page_end(&page, rc, "paths.html", file, err);
	}
	vprof_recorded_run_release(&recorded);
	return rc;
}

/* Runs are numbers and folders; with --html one other word is a file. -1, or the status of a usage error. */
static int sort_operands(const struct vprof_operands *operands, int html, struct vprof_operands *runs,
			 const char **file)
{
	*runs = (struct vprof_operands){ .words = operands->words }; /* in place: never more than were read */
	for (size_t i = 0; i < operands->n_words; i++) {
		char *word = operands->words[i];
		struct stat st;

		if (!html || !word[strspn(word, "0123456789")] || (!stat(word, &st) && S_ISDIR(st.st_mode)))
			runs->words[runs->n_words++] = word;
		else if (*file)
			return vprof_options_misused(&usage, "unexpected argument \"%s\"", word);
		else
			*file = word;
	}
	return -1;
}

int vprof_cmd_report_paths(int argc, char **argv)
{
	const char *file = NULL;
	long top = 0;
	int html = 0, json = 0, requests = 0, visits = 0;
	const struct vprof_option options[] = {
		{ "html", VPROF_OPTION_FLAG, &html, NULL, "draw paths, requests and response times: one HTML file" },
		{ "requests", VPROF_OPTION_FLAG, &requests, NULL, "tell each request by itself (with --json: too)" },
		{ "visits", VPROF_OPTION_FLAG, &visits, NULL, "of each request the visits, and the functions in them" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print tiers, paths and links as JSON (docs/results.md)" },
		{ "top", VPROF_OPTION_COUNT, &top, "N", "paths to show (default 10)" },
		{ NULL },
	};
	struct vprof_operands operands, runs;
	struct vprof_requests_results *r;
	struct vprof_error err = { "" };
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status < 0)
		status = sort_operands(&operands, html, &runs, &file);
	if (status < 0 && html && json)
		status = vprof_options_misused(&usage, "--html and --json are two reports: ask for one");
	if (status < 0 && visits && (!requests || json || html))
		status = vprof_options_misused(&usage,
					       "--visits goes with --requests as text: --json and --html have them");
	if (status >= 0)
		return status;
	r = vprof_requests_results_new();
	rc = r ? vprof_requests_runs_analyse((const char *const *)runs.words, runs.n_words, requests || html, r, &err) :
		 vprof_error_no_memory(&err);
	if (!rc)
		rc = html ? write_page(r, runs.n_words ? runs.words[0] : NULL, file, &err) :
		     json ? vprof_print_json(vprof_requests_results_json(r), &err) :
			    print_text(r, &runs, top, visits, &err);
	status = rc				? vprof_complain(rc, &err) :
		 vprof_report_paths_is_empty(r) ? VPROF_EXIT_INCONCLUSIVE :
						  VPROF_EXIT_OK;
	vprof_requests_results_free(r);
	return status;
}
