/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof export: a run in the formats of other tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/drilldown/decide.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/requests/requests_runs.h"
#include "cli/drilldown/session.h"
#include "common/files.h"
#include "common/unfinished.h"
#include "report/export/export.h"

static const struct vprof_usage usage = {
	.synopsis = "export FORMAT [RUN...] [FILE] [--interval WHICH] [--from TIME] [--to TIME] [--limit N]",
	.purpose =
		"Writes the last analysed run, or RUN, in another tool's format, to FILE or standard output. With "
		"--list it\n"
		"lists the formats: Perfetto, Chrome, folded stacks, speedscope, CSV, SARIF, OTLP. Those made "
		"from the trace\n"
		"contain as much of it as --limit allows, around the slowest interval; notes say what was left out.\n"
		"Of a run that was recorded with vprof record --paths, otlp and perfetto contain the paths of requests;\n"
		"several such runs, one of each host, are joined.",
	.max_operands = VPROF_REQUESTS_RUNS_MOST + 2,
	.example = "  vprof export perfetto trace.pftrace --interval slowest",
};

#define REQUESTS_LIMIT 10000 /* the slowest, unless --limit says otherwise */

struct request {
	const struct vprof_export_format *format;
	const char *run, *file, *which;
	const char *runs[VPROF_REQUESTS_RUNS_MOST]; /* numbers and folders; the first is `run` */
	size_t n_runs;
	double from_ns, to_ns;
	long limit;
	int list;
};

static void list_formats(void)
{
	for (size_t i = 0; i < vprof_n_export_formats; i++)
		printf("%-16s %s\n", vprof_export_formats[i].name, vprof_export_formats[i].summary);
}

/* A number, or of formats of requests a folder. */
static int is_run(const struct request *q, const char *word)
{
	struct stat st;

	return (*word && word[strspn(word, "0123456789")] == '\0') ||
	       (q->format->write_requests && !stat(word, &st) && S_ISDIR(st.st_mode));
}

/* FORMAT comes first; then what names a run is RUN, another word FILE. -1, or the status of a usage error. */
static int take_operands(struct request *q, const struct vprof_operands *operands)
{
	if (!operands->n_words)
		return vprof_options_misused(&usage, "say which format; vprof export --list lists them");
	q->format = vprof_export_find(operands->words[0]);
	if (!q->format)
		return vprof_options_misused(&usage, "no format \"%s\"; vprof export --list lists them",
					     operands->words[0]);
	for (size_t i = 1; i < operands->n_words; i++) {
		const char *word = operands->words[i];
		int names_run = is_run(q, word);
		const char **slot = names_run ? &q->run : &q->file;

		if (*slot && (!names_run || !q->format->write_requests || q->n_runs == VPROF_REQUESTS_RUNS_MOST))
			return vprof_options_misused(&usage, "unexpected argument \"%s\"", word);
		if (names_run)
			q->runs[q->n_runs++] = word;
		if (*slot)
			continue;
		if (vprof_export_find(word))
			return vprof_options_misused(&usage, "one format at a time; for a file of that name: ./%s",
						     word);
		*slot = word;
	}
	if (q->format->part == VPROF_PART_NONE && (q->which || q->from_ns > 0 || q->to_ns > 0 || q->limit))
		return vprof_options_misused(
			&usage,
			"%s is made from the results: --interval, --from, --to and --limit are for formats of the "
			"trace",
			q->format->name);
	if (q->which && (q->from_ns > 0 || q->to_ns > 0))
		return vprof_options_misused(&usage, "--interval goes with neither --from nor --to");
	return -1;
}

/* Verdicts given since the analysis stand in the export as in the report. */
static int read_results(struct vprof_export *e, struct vprof_results **results, const struct vprof_project *p,
			const char *run, struct vprof_error *err)
{
	char *path = vprof_project_run_path(p, run, "results.json");
	struct vprof_error ignored = { "" };
	struct vprof_session session;
	int rc = path ? vprof_results_read(results, path, err) : vprof_error_no_memory(err);

	free(path);
	if (!rc)
		rc = vprof_export_check(*results, err);
	if (rc)
		return rc;
	vprof_session_init(&session);
	rc = vprof_session_open(&session, p, &ignored);
	if (!rc || rc == VPROF_ERR_MISSING)
		vprof_decide_verdicts(*results, &session);
	else
		vprof_tell("the export shows no verdicts given since the analysis: %s", ignored.message);
	vprof_session_release(&session);
	e->results = *results;
	return VPROF_OK;
}

static int open_part(struct vprof_trace_part **part, const struct request *q, const struct vprof_project *p,
		     const char *run, const char *name, struct vprof_error *err)
{
	char *trace = vprof_project_run_path(p, run, "trace"), *plan = vprof_project_run_path(p, run, "plan.json");
	struct vprof_progress progress;
	struct vprof_part_options options = { .trace_dir = trace,
					      .plan_path = plan,
					      .name = name,
					      .which = q->which,
					      .from_ns = q->from_ns,
					      .to_ns = q->to_ns,
					      .limit = q->limit ? (uint64_t)q->limit : q->format->limit,
					      .progress = vprof_progress_update,
					      .progress_arg = &progress };
	int rc = trace && plan ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc) {
		vprof_progress_begin(&progress, "export");
		rc = vprof_part_open(part, q->format->part, &options, err);
		vprof_progress_drop(&progress);
	}
	free(trace);
	free(plan);
	return rc;
}

static int write_to(struct vprof_export *e, const struct vprof_export_format *format, const char *shown,
		    struct vprof_error *err)
{
	int rc = format->write(e, err);

	errno = 0;
	if (!rc && (fflush(e->to) || ferror(e->to)))
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", shown,
				     errno ? strerror(errno) : "write error");
	return rc;
}

/* To a neighbour that takes the file's name once it is whole: whoever reads FILE sees all of it or what was there
 * before. A device, a pipe and what a link to nothing names are written into; a link stays, its file is replaced. */
static int write_file(struct vprof_export *e, const struct vprof_export_format *format, const char *file,
		      struct vprof_error *err)
{
	struct vprof_text neighbour = VPROF_TEXT_INIT;
	struct stat st;
	int exists = !stat(file, &st), is_odd = exists ? !S_ISREG(st.st_mode) : !lstat(file, &st);
	char *real = exists ? realpath(file, NULL) : NULL;
	const char *place = real ? real : file, *path;
	int slot = -1, rc;

	vprof_text_addf(&neighbour, "%s.%ld.part", place, (long)getpid());
	path = is_odd ? file : neighbour.s;
	if (!is_odd && !neighbour.failed)
		slot = vprof_unfinished_enter(path);
	e->to = neighbour.failed ? NULL : fopen(path, "we");
	if (!e->to) {
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", file, strerror(errno));
		goto out;
	}
	rc = write_to(e, format, file, err);
	if (!rc && exists && !is_odd && fchmod(fileno(e->to), st.st_mode & 07777))
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot keep the permissions of %s: %s", file,
				     strerror(errno));
	if (fclose(e->to) && !rc)
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", file, strerror(errno));
	if (!rc && !is_odd && rename(path, place))
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", file, strerror(errno));
	if (rc && !is_odd)
		unlink(path);
out:
	vprof_unfinished_leave(slot);
	free(real);
	vprof_text_release(&neighbour);
	return rc;
}

/* What stands in the file is valid, but less than was hoped for. */
static void tell_gaps(const struct vprof_export *e)
{
	const struct vprof_trace_part *part = e->part;
	uint64_t n_ignored = part ? part->trace->n_bytes_ignored + part->timeline->n_bytes_ignored : 0;

	if (n_ignored)
		vprof_tell("%llu bytes of the trace are damaged or cut and were ignored",
			   (unsigned long long)n_ignored);
	if (part && e->results && e->results->n_runs > 1)
		vprof_tell("the trace is that of the first of %llu runs that were analysed together",
			   (unsigned long long)e->results->n_runs);
	if (part && part->trace->is_cut)
		vprof_tell("the trace is truncated: recording did not finish. What was written is exported");
	if (part && *part->note)
		vprof_tell("exported is %s.", part->note);
	if (e->n_left_out)
		vprof_tell("%llu more calls or waits did not fit the limit and were left out",
			   (unsigned long long)e->n_left_out);
	if (!part && e->results->inconclusive)
		vprof_tell("the run is inconclusive; vprof report says why");
}

static int export(const struct request *q, const struct vprof_project *p, struct vprof_error *err)
{
	int needs_results = q->format->part == VPROF_PART_NONE;
	struct vprof_export e = { .root = p->directory, .version = VPROF_VERSION, .to = stdout };
	struct vprof_results *results = NULL;
	struct vprof_trace_part *part = NULL;
	struct vprof_run_name run;
	int to_stdout = !q->file || !strcmp(q->file, "-");
	int rc;

	if (q->format->is_binary && to_stdout && isatty(STDOUT_FILENO))
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "%s is a binary format, not for a terminal: name a FILE, or redirect the output",
				       q->format->name);
	rc = vprof_project_find_run(p, q->run, needs_results ? "results.json" : "trace",
				    needs_results ?
					    "analyse one with: vprof analyze (or let vprof iterate do everything)" :
					    "record one with: vprof run",
				    &run, err);
	if (!rc) {
		struct vprof_error lacking = { "" };

		/* Of the trace's formats they only name the interval. */
		rc = read_results(&e, &results, p, run.s, needs_results ? err : &lacking);
		rc = needs_results ? rc : VPROF_OK;
	}
	if (!rc && !needs_results)
		rc = open_part(&part, q, p, run.s, results ? results->interval : NULL, err);
	e.part = part;
	if (!rc)
		rc = to_stdout ? write_to(&e, q->format, "standard output", err) :
				 write_file(&e, q->format, q->file, err);
	if (!rc)
		tell_gaps(&e);
	if (!rc && !to_stdout)
		printf("%s\n", vprof_project_shown(q->file));
	vprof_part_free(part);
	vprof_results_free(results);
	return rc;
}

/* The paths of requests in runs of vprof record --paths. */
static int export_requests(const struct request *q, struct vprof_error *err)
{
	struct vprof_requests_results *r = vprof_requests_results_new();
	struct vprof_export e = { .requests = r,
				  .version = VPROF_VERSION,
				  .to = stdout,
				  .limit = q->limit ? (uint64_t)q->limit : REQUESTS_LIMIT };
	struct vprof_export_format format = *q->format;
	int rc = r ? vprof_requests_runs_analyse(q->runs, q->n_runs, 1, r, err) : vprof_error_no_memory(err);
	int to_stdout = !q->file || !strcmp(q->file, "-");

	format.write = format.write_requests;
	if (!rc && format.is_binary && to_stdout && isatty(STDOUT_FILENO))
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "%s is a binary format, not for a terminal: name a FILE, or redirect the output",
				     format.name);
	if (!rc)
		rc = to_stdout ? write_to(&e, &format, "standard output", err) : write_file(&e, &format, q->file, err);
	if (!rc && e.n_left_out)
		vprof_tell(
			"%llu of %zu requests were left out: ambiguous ones, those with parts missing, and all but the "
			"slowest %llu",
			(unsigned long long)e.n_left_out, r->n_listed, (unsigned long long)e.limit);
	if (!rc && !to_stdout)
		printf("%s\n", vprof_project_shown(q->file));
	vprof_requests_results_free(r);
	return rc;
}

int vprof_cmd_export(int argc, char **argv)
{
	struct request q = { 0 };
	const struct vprof_option options[] = {
		{ "interval", VPROF_OPTION_TEXT, &q.which, "WHICH",
		  "only this part of the trace: slowest, median, p99 or an interval's id" },
		{ "from", VPROF_OPTION_DURATION, &q.from_ns, "TIME",
		  "begin at TIME after the start of the trace, such as 1.5s" },
		{ "to", VPROF_OPTION_DURATION, &q.to_ns, "TIME", "end at TIME" },
		{ "limit", VPROF_OPTION_COUNT, &q.limit, "N",
		  "maximum number of calls, waits and intervals (default 500000; otlp: 10000 intervals)" },
		{ "list", VPROF_OPTION_FLAG, &q.list, NULL, "list the formats" },
		{ NULL },
	};
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_project p;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (q.list) {
		list_formats();
		return VPROF_EXIT_OK;
	}
	status = take_operands(&q, &operands);
	if (status >= 0)
		return status;
	if (q.format->write_requests && !q.which && q.from_ns <= 0 && q.to_ns <= 0 &&
	    vprof_requests_run_is_one(q.run)) {
		rc = export_requests(&q, &err);
		return rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	}
	if (q.n_runs > 1)
		return vprof_options_misused(&usage, "unexpected argument \"%s\"", q.runs[1]);
	rc = vprof_project_open(&p, NULL, &err);
	if (!rc)
		rc = export(&q, &p, &err);
	vprof_project_release(&p);
	return rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
}
