/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/analyze.h"
#include "cli/command.h"
#include "cli/drilldown/awaited.h"
#include "cli/drilldown/decide.h"
#include "cli/drilldown/run_traces.h"
#include "cli/progress.h"
#include "common/files.h"
#include "instrumenter/instrument.h"
#include "report/format_value.h"
#include "report/report.h"

int vprof_step_plan(struct vprof_workspace *w, const struct vprof_decisions *d, struct vprof_plan **plan,
		    struct vprof_error *err)
{
	struct vprof_text skipped = VPROF_TEXT_INIT;
	char *line, *rest = NULL;
	int rc = vprof_plan_make(plan, w->facts, w->graph, w->annotations, d, &skipped, err);

	for (line = skipped.len ? strtok_r(skipped.s, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		vprof_tell("%s", line);
	vprof_text_release(&skipped);
	return rc;
}

int vprof_step_write_plan(struct vprof_workspace *w, const struct vprof_session *s, const char *run,
			  struct vprof_error *err)
{
	struct vprof_decisions decisions = vprof_session_decisions(s);
	char *path = vprof_project_run_path(&w->project, run, "plan.json");
	struct vprof_plan *plan = NULL;
	int rc = path ? vprof_step_plan(w, &decisions, &plan, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_plan_write(plan, path, err);
	vprof_plan_free(plan);
	free(path);
	return rc;
}

char *vprof_step_plan_asked(const struct vprof_project *p, const char *run)
{
	char *asked = vprof_project_run_path(p, run, "plan-asked.json");

	if (!asked || !access(asked, R_OK))
		return asked;
	free(asked);
	return vprof_project_run_path(p, run, "plan.json");
}

int vprof_step_build(struct vprof_workspace *w, const struct vprof_plan *plan, int link, const char *log_path,
		     struct vprof_error *err)
{
	const struct vprof_project *p = &w->project;
	struct vprof_splice_result splice = { 0 };
	struct vprof_replay_result replay = { 0 };
	struct vprof_progress progress;
	struct vprof_replay_options options = {
		.vprof_dir = p->vprof_dir,
		.probe_header = p->probe_header,
		.include_dir = p->include_dir,
		.library_dir = p->library_dir,
		.link = link,
		.build = w->annotations->build,
		.directory = w->annotations->directory,
		.log_path = log_path,
		.progress = vprof_progress_update,
		.progress_arg = &progress,
	};
	int rc;

	if (access(p->probe_header, R_OK))
		return vprof_error_set(err, VPROF_ERR_MISSING,
				       "cannot read %s. Install vprof again, or set VPROF_LIBDIR "
				       "to the folder that holds include/probe.h",
				       p->probe_header);
	vprof_progress_begin(&progress, "build");
	/* Until the build is done nobody may take the objects for those of any plan. */
	unlink(p->plan);
	rc = vprof_splice(w->facts, plan, w->annotations, p->shadow, &splice, err);
	if (!rc)
		rc = vprof_replay(w->facts, plan, w->annotations, &options, &replay, err);
	if (!rc)
		rc = vprof_plan_write(plan, p->plan, err);
	if (rc) {
		vprof_progress_drop(&progress);
		return rc;
	}
	vprof_progress_end(&progress, "%s of %s files compiled%s%s%s, %s probes%s%s",
			   vprof_format_count(replay.n_compiled).s, vprof_format_count(replay.n_units).s,
			   replay.n_earlier ? " (" : "", replay.n_earlier ? vprof_format_count(replay.n_earlier).s : "",
			   replay.n_earlier ? " by the interrupted build)" : "", vprof_format_count(plan->n_probes).s,
			   replay.n_reverted ? ", put back: " : "",
			   replay.n_reverted ? vprof_format_count(replay.n_reverted).s : "");
	if (plan->live)
		vprof_tell(
			"resident: %s probes can be switched, %s functions and calls left out (%s/live/resident.json)",
			vprof_format_count(replay.n_resident).s, vprof_format_count(replay.n_left_out).s,
			vprof_project_shown(p->vprof_dir));
	if (replay.n_without_twins)
		vprof_tell(
			"%s files do not compile with instrumented copies of their functions: their probes cost more "
			"while closed; the build's log has the reasons",
			vprof_format_count(replay.n_without_twins).s);
	if (replay.n_past_probes)
		vprof_tell(
			"probes are missing where %s is read, in %zu case%s: its include leads past %s, through a macro, a "
			"symbolic link or a file outside the project; the build's log names all",
			replay.past_probes, replay.n_past_probes, replay.n_past_probes == 1 ? "" : "s",
			vprof_project_shown(p->shadow));
	return VPROF_OK;
}

static void tell_outcome(struct vprof_progress *progress, const char *command, const struct vprof_run_outcome *o)
{
	char what[48];

	snprintf(what, sizeof what, "%.36s%s", command, strlen(command) > 36 ? "..." : "");
	for (char *c = what; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	vprof_progress_end(progress, "%s  %.1f MB of trace, %s thread%s", what, (double)o->stats.n_bytes / 1e6,
			   vprof_format_count(o->stats.n_threads).s, o->stats.n_threads == 1 ? "" : "s");
	if (o->stats.recorded_share < 0.995)
		vprof_tell("calls were recorded %.2g %% of the time, in %s windows: more would have exceeded the "
			   "recording budget (--budget)",
			   100 * o->stats.recorded_share, vprof_format_count(o->stats.n_windows).s);
	if (o->n_left_behind)
		vprof_tell("ended %d process%s that the run command left behind (--keep leaves them alone)",
			   o->n_left_behind, o->n_left_behind == 1 ? "" : "es");
}

/* The command of a run stands beside its trace. */
static int keep_command(const struct vprof_project *p, const char *run, const char *command, struct vprof_error *err)
{
	char *path = vprof_project_run_path(p, run, "command");
	int rc = path ? vprof_file_write(path, command, strlen(command), err) : vprof_error_no_memory(err);

	free(path);
	return rc;
}

static int read_command(const struct vprof_project *p, const char *run, struct vprof_text *command)
{
	char *path = vprof_project_run_path(p, run, "command");
	int rc = path ? vprof_file_read(path, command, NULL) : VPROF_ERR_NOMEM;

	free(path);
	return rc;
}

/* Another load's mean says nothing of what probes cost. Runs whose command is not known count as the same. */
static int has_baselines_load(const struct vprof_project *p, const char *run, const struct vprof_session *s)
{
	struct vprof_text a = VPROF_TEXT_INIT, b = VPROF_TEXT_INIT;
	int same = !s->n_rounds || read_command(p, s->rounds[0].run.s, &a) || read_command(p, run, &b) ||
		   (a.len == b.len && !memcmp(a.s, b.s, a.len));

	vprof_text_release(&a);
	vprof_text_release(&b);
	return same;
}

/* The plan's probes of which every call is recorded: their codes, in ascending order. OK, NOMEM, or why the plan cannot
 * be read. */
static int read_every_call(const struct vprof_project *p, const char *run, uint32_t **codes, size_t *n,
			   struct vprof_error *err)
{
	char *path = vprof_project_run_path(p, run, "plan.json");
	struct vprof_plan *plan = NULL;
	int rc = path ? vprof_plan_read(&plan, path, err) : vprof_error_no_memory(err);

	*n = 0;
	*codes = rc ? NULL : malloc((plan->n_probes + 1) * sizeof **codes);
	if (!rc && !*codes)
		rc = vprof_error_no_memory(err);
	if (!rc)
		*n = vprof_plan_every_call(plan, *codes, plan->n_probes);
	vprof_plan_free(plan);
	free(path);
	return rc;
}

int vprof_step_run(struct vprof_workspace *w, const char *run, const struct vprof_step_run_options *o,
		   struct vprof_run_outcome *outcome, struct vprof_error *err)
{
	struct vprof_progress progress;
	char *trace = vprof_run_trace_folder(&w->project, run, o->repetition);
	char *log = vprof_project_run_path(&w->project, run, "run.log");
	struct vprof_run_request request = {
		.command = o->command ? o->command : w->annotations->run,
		.directory = w->annotations->directory,
		.trace_dir = trace,
		.log_path = log,
		.library = w->project.library,
		.memory_bytes = o->memory_bytes,
		.sample_after = o->every_call ? 0 : VPROF_SAMPLE_AFTER,
		.kernel_kinds = o->kernel_kinds,
		.switches = o->switches,
		.compress = o->compress,
		.budget = o->budget,
		.records_hosts = o->records_hosts,
		.verbose = o->verbose,
		.keep = o->keep,
		.give_stdin = o->give_stdin,
		.progress = o->verbose ? NULL : &progress,
	};
	uint32_t *every_call = NULL;
	int rc;

	memset(outcome, 0, sizeof *outcome);
	if (!trace || !log) {
		rc = vprof_error_no_memory(err);
	} else if (!request.command || !*request.command) {
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "%s has no \"run\" command. Add one that starts the program, puts load on it and "
				     "ends, for example \"run\": \"./bench.sh\", or give it after \"--\"",
				     vprof_project_shown(w->project.config));
	} else {
		rc = vprof_run_traces_remove(&w->project, run, o->repetition, err);
		if (!rc)
			rc = read_every_call(&w->project, run, &every_call, &request.n_every_call, err);
		request.every_call = every_call;
		if (!rc)
			rc = keep_command(&w->project, run, request.command, err);
		vprof_progress_begin(&progress, "run");
		if (!rc)
			rc = vprof_run_target(&request, outcome, err);
		if (!rc && outcome->interrupted)
			rc = vprof_error_because(err, VPROF_ERR_FAILED, VPROF_REASON_INTERRUPTED,
						 "interrupted (%s); the command was stopped, what was "
						 "recorded is in %s. The same vprof command runs it again",
						 strsignal(outcome->interrupted), vprof_project_shown(trace));
		else if (!rc && outcome->status != 0)
			rc = vprof_run_blame(&request, outcome, err);
		else if (!rc && outcome->stats.disk_failed)
			rc = vprof_error_because(
				err, VPROF_ERR_FAILED, VPROF_REASON_TRACE_CUT,
				"the command ran, but its trace could not be written to %s: "
				"%s. Make room there (vprof clean --traces keeps the reports), or shorten "
				"the run; the same vprof command runs it again",
				vprof_project_shown(trace), strerror(outcome->stats.disk_failed));
		if (rc)
			vprof_progress_drop(&progress);
		else
			tell_outcome(&progress, request.command, outcome);
		if (rc && o->repetition)
			vprof_dir_remove(trace, NULL);
	}
	free(every_call);
	free(trace);
	free(log);
	return rc;
}

int vprof_step_new_run(const struct vprof_project *p, const char *given, struct vprof_run_name *run,
		       struct vprof_error *err)
{
	const char *from = given ? given : p->plan;
	struct vprof_plan *plan = NULL;
	char *to;
	int rc;

	if (!given && access(p->plan, R_OK))
		return vprof_error_set(err, VPROF_ERR_MISSING,
				       "nothing has been built with probes yet. Build with: vprof build "
				       "(or let vprof iterate do everything)");
	rc = vprof_plan_read(&plan, from, err); /* a damaged plan is told before the run, not after */
	vprof_plan_free(plan);
	if (!rc)
		rc = vprof_project_new_run(p, run, err);
	if (rc)
		return rc;
	to = vprof_project_run_path(p, run->s, "plan.json");
	rc = to ? vprof_file_copy(from, to, err) : vprof_error_no_memory(err);
	free(to);
	return rc;
}

static int render(const struct vprof_results *r, const struct vprof_session *s, struct vprof_text *out,
		  struct vprof_error *err)
{
	uint32_t chosen[VPROF_K_MAX];
	struct vprof_report_options options = { .top = 20, .factors = 1, .chosen = chosen };

	options.n_chosen = vprof_decide_choose(r, s, chosen, (size_t)s->k);
	return vprof_report_text(r, &options, out, err);
}

int vprof_step_write_report(const struct vprof_project *p, const char *run, const struct vprof_session *s,
			    struct vprof_results *results, struct vprof_error *err)
{
	char *json = vprof_project_run_path(p, run, "results.json"),
	     *txt = vprof_project_run_path(p, run, "report.txt");
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc;

	vprof_decide_verdicts(results, s);
	if (!json || !txt)
		rc = vprof_error_no_memory(err);
	else
		rc = vprof_results_write(results, json, err);
	if (!rc)
		rc = render(results, s, &text, err);
	if (!rc)
		rc = vprof_file_write(txt, text.s, text.len, err);
	vprof_text_release(&text);
	free(json);
	free(txt);
	return rc;
}

int vprof_step_analyse(const struct vprof_project *p, const char *run, const struct vprof_session *s,
		       const struct vprof_step_analyse_options *how, struct vprof_results **results,
		       struct vprof_plan **plan_out, struct vprof_error *err)
{
	struct vprof_progress progress;
	struct vprof_plan *plan = NULL;
	struct vprof_run_traces traces;
	char *path = vprof_project_run_path(p, run, "plan.json");
	char *earlier = vprof_project_run_path(p, run, "results.json");
	struct vprof_analyze_options options = {
		.interval = s->interval,
		.k = (int)s->k,
		.threshold = s->threshold,
		.min_intervals = 30,
		.earlier = earlier,
		.slower_than_ns = how ? how->slower_than_ns : 0,
		.most_intervals = how ? how->most_intervals : 0,
		.progress = vprof_progress_update,
		.progress_arg = &progress,
	};
	int rc;

	*results = NULL;
	rc = vprof_run_traces_find(&traces, p, run, err);
	if (!rc && (!path || !earlier))
		rc = vprof_error_no_memory(err);
	if (rc)
		goto out;
	options.trace_dirs = (const char *const *)traces.folders;
	options.n_trace_dirs = traces.n;
	vprof_progress_begin(&progress, "analyse");
	if (s->baseline_mean_ns > 0 && has_baselines_load(p, run, s)) {
		options.baseline_mean_ns = s->baseline_mean_ns;
		options.baseline_low = s->baseline_low;
		options.baseline_high = s->baseline_high;
		options.baseline_preempted_ns = s->baseline_preempted_ns;
	}
	rc = vprof_plan_read(&plan, path, err);
	options.plan = plan;
	if (!rc)
		rc = vprof_analyze(results, &options, err);
	if (!rc && vprof_awaited_fill(*results, plan->root))
		rc = vprof_error_no_memory(err);
	if (rc) {
		vprof_progress_drop(&progress);
		goto out;
	}
	(*results)->run = vprof_results_string(*results, run);
	rc = vprof_step_write_report(p, run, s, *results, err);
	vprof_progress_end(&progress, "%s complete, %s cut by the trace's end, %s ambiguous, %s dropped",
			   vprof_format_count(vprof_results_n_all(*results)).s, vprof_format_count((*results)->n_cut).s,
			   vprof_format_count((*results)->n_ambiguous).s, vprof_format_count((*results)->n_dropped).s);
out:
	vprof_run_traces_release(&traces);
	free(path);
	free(earlier);
	if (rc) {
		vprof_results_free(*results);
		*results = NULL;
	}
	if (plan_out && !rc)
		*plan_out = plan;
	else
		vprof_plan_free(plan);
	return rc;
}

static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || size.ws_col > 100)
		return 100;
	return size.ws_col;
}

int vprof_view_parse(const char *name, enum vprof_view *view)
{
	*view = VPROF_VIEW_VARIANCE;
	for (int i = 0; name && i < VPROF_VIEW_COUNT; i++)
		if (!strcmp(name, vprof_view_names[i])) {
			*view = (enum vprof_view)i;
			return 0;
		}
	return name ? -1 : 0;
}

int vprof_step_print_view(const struct vprof_results *r, enum vprof_view view, const struct vprof_report_options *o,
			  int *status, struct vprof_error *err)
{
	struct vprof_report_options options = *o;
	struct vprof_text text = VPROF_TEXT_INIT;
	char *lack = vprof_view_lacks(r, view);
	int rc;

	options.colour = vprof_progress_colour(STDOUT_FILENO);
	options.width = terminal_width();
	rc = vprof_report_view(r, view, &options, &text, err);
	if (!rc && !lack)
		rc = vprof_error_no_memory(err);
	if (!rc) {
		fputs(text.s, stdout);
		fflush(stdout);
		*status = r->inconclusive || *lack ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_OK;
	}
	vprof_text_release(&text);
	free(lack);
	return rc;
}

int vprof_step_print_report(const struct vprof_results *r, const uint32_t *chosen, size_t n_chosen, size_t top,
			    struct vprof_error *err)
{
	struct vprof_report_options options = { .colour = vprof_progress_colour(STDOUT_FILENO),
						.top = top,
						.width = terminal_width(),
						.chosen = chosen,
						.n_chosen = n_chosen };
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = vprof_report_text(r, &options, &text, err);

	if (!rc) {
		fputs(text.s, stdout);
		fflush(stdout);
	}
	vprof_text_release(&text);
	return rc;
}
