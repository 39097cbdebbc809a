/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/drilldown/live_rounds.h"
#include "cli/live/round_effect.h"
#include "common/files.h"

static int same_content(const char *a, const char *b)
{
	struct vprof_text x = VPROF_TEXT_INIT, y = VPROF_TEXT_INIT;
	int same = !vprof_file_read(a, &x, NULL) && !vprof_file_read(b, &y, NULL) && x.len == y.len &&
		   !memcmp(x.s, y.s, x.len);

	vprof_text_release(&x);
	vprof_text_release(&y);
	return same;
}

int vprof_round_open(struct vprof_workspace *w, struct vprof_session *s, int *changed, struct vprof_error *err)
{
	struct vprof_run_name run;
	char *last = NULL, *next = NULL, *folder = NULL;
	int rc;

	*changed = 1;
	rc = vprof_project_new_run(&w->project, &run, err);
	if (!rc)
		rc = vprof_step_write_plan(w, s, run.s, err);
	if (rc)
		return rc;
	next = vprof_project_run_path(&w->project, run.s, "plan.json");
	folder = vprof_project_run_path(&w->project, run.s, "");
	if (s->n_rounds)
		last = vprof_step_plan_asked(&w->project, s->rounds[s->n_rounds - 1].run.s);
	if (!next || !folder || (s->n_rounds && !last))
		rc = vprof_error_no_memory(err);
	else if (last && same_content(last, next))
		*changed = 0;
	if (!rc && !*changed)
		rc = vprof_dir_remove(folder, err);
	else if (!rc && vprof_session_add_round(s, run.s))
		rc = vprof_error_no_memory(err);
	if (!rc && *changed)
		rc = vprof_session_save(s, w->project.session, err);
	free(last);
	free(next);
	free(folder);
	return rc;
}

static int reach(struct vprof_workspace *w, struct vprof_session *s, enum vprof_round_state state,
		 struct vprof_error *err)
{
	s->rounds[s->n_rounds - 1].state = state;
	return vprof_session_save(s, w->project.session, err);
}

/* The plan is made again: ids are of one scan, and the sources may have been scanned again since it was written. */
static int build(struct vprof_workspace *w, const struct vprof_session *s, const char *run, struct vprof_error *err)
{
	char *path = vprof_project_run_path(&w->project, run, "plan.json");
	char *log = vprof_project_run_path(&w->project, run, "build.log");
	struct vprof_plan *plan = NULL;
	int rc = path && log ? vprof_step_write_plan(w, s, run, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_plan_read(&plan, path, err);
	if (!rc)
		rc = vprof_step_build(w, plan, 0, log, err);
	vprof_plan_free(plan);
	free(path);
	free(log);
	return rc;
}

/* Whether the objects still hold this run's probes and the sources are those that were built. */
static int is_built(const struct vprof_workspace *w, const char *run)
{
	char *path = vprof_project_run_path(&w->project, run, "plan.json");
	int built = path && !w->rescanned && same_content(path, w->project.plan);

	free(path);
	return built;
}

static int load_analysed(struct vprof_workspace *w, const char *run, struct vprof_results **results,
			 struct vprof_plan **plan, struct vprof_error *err)
{
	char *json = vprof_project_run_path(&w->project, run, "results.json");
	char *path = vprof_project_run_path(&w->project, run, "plan.json");
	int rc = json && path ? vprof_results_read(results, json, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = vprof_plan_read(plan, path, err);
	free(json);
	free(path);
	return rc;
}

/* As often as the round wants; each run that is done counts at once. */
static int run_repeatedly(struct vprof_workspace *w, struct vprof_session *s,
			  const struct vprof_step_run_options *options, struct vprof_error *err)
{
	struct vprof_round *round = &s->rounds[s->n_rounds - 1];
	struct vprof_step_run_options how = *options;
	struct vprof_run_outcome outcome;
	int rc = VPROF_OK;

	while (!rc && round->n_runs < round->n_runs_wanted) {
		how.repetition = round->n_runs;
		rc = vprof_step_run(w, round->run.s, &how, &outcome, err);
		if (!rc) {
			round->n_runs++;
			rc = vprof_session_save(s, w->project.session, err);
		}
	}
	return rc ? rc : reach(w, s, VPROF_ROUND_RAN, err);
}

int vprof_round_complete(struct vprof_workspace *w, struct vprof_session *s,
			 const struct vprof_step_run_options *options, int accepts_inconclusive,
			 struct vprof_results **results, struct vprof_plan **plan, struct vprof_error *err)
{
	struct vprof_round *round = &s->rounds[s->n_rounds - 1];
	int rc = VPROF_OK;

	*results = NULL;
	*plan = NULL;
	if (round->state >= VPROF_ROUND_ANALYSED)
		return load_analysed(w, round->run.s, results, plan, err);
	if (options->live && round->state < VPROF_ROUND_RAN) {
		rc = vprof_step_write_plan(w, s, round->run.s, err);
		if (!rc)
			rc = vprof_live_rounds_record(options->live, w, s, round->run.s, options, results, plan, err);
		if (!rc) {
			round->n_runs = 1;
			rc = reach(w, s, VPROF_ROUND_RAN, err);
		}
		if (rc)
			return rc;
	}
	if (round->state == VPROF_ROUND_BUILT && !is_built(w, round->run.s))
		round->state = VPROF_ROUND_OPEN;
	if (round->state < VPROF_ROUND_BUILT) {
		round->n_runs = 0; /* they were of another build */
		rc = build(w, s, round->run.s, err);
		if (!rc)
			rc = reach(w, s, VPROF_ROUND_BUILT, err);
	}
	if (!rc && round->state < VPROF_ROUND_RAN)
		rc = run_repeatedly(w, s, options, err);
	if (rc)
		return rc;
	if (!*results)
		rc = vprof_step_analyse(&w->project, round->run.s, s, NULL, results, plan, err);
	if (!rc && options->live)
		rc = vprof_round_effect_conclude(&w->project, round->run.s, *results, err);
	if (rc || ((*results)->inconclusive && !accepts_inconclusive)) {
		int saved;

		round->n_runs = 0;
		saved = reach(w, s, VPROF_ROUND_BUILT, rc ? NULL : err);

		if (rc || saved)
			return rc ? rc : saved;
		return vprof_error_set(err, VPROF_ERR_INCONCLUSIVE,
				       "run %s is inconclusive; the report says why. The session is kept: %s",
				       round->run.s,
				       options->live ? "when it goes on, this round is recorded again" :
						       "vprof iterate runs the workload again");
	}
	if (s->n_rounds == 1) {
		s->baseline_mean_ns = (*results)->mean_ns;
		s->baseline_low = (*results)->mean_low;
		s->baseline_high = (*results)->mean_high;
		s->baseline_preempted_ns = (*results)->n_nodes ? (*results)->nodes[0].preempted_ns : NAN;
	}
	return reach(w, s, VPROF_ROUND_ANALYSED, err);
}
