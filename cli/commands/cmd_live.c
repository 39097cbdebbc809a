/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof live: the drill-down in processes that run already, or one plan recorded there. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/commands/print_file.h"
#include "cli/drilldown/iteration.h"
#include "cli/drilldown/live_rounds.h"
#include "cli/drilldown/steps.h"
#include "cli/live/round_effect.h"
#include "cli/options.h"
#include "live/attachment.h"
#include "live/process_list.h"

#define PLAN_S 10.0 /* that a plan is recorded unless --for says so */

static const struct vprof_usage usage = {
	.synopsis = "live -p PID | --name NAME [OPTIONS]",
	.purpose =
		"Attaches to a server that was built with vprof build --live --link and runs already, and to all processes\n"
		"that descend from it; drills down as vprof iterate --live does, or records one plan; and leaves. The server\n"
		"goes on as it was, also when vprof is killed. Only its own user and root can attach.",
	.example = "  vprof build --live --link      # once; then start the server again\n"
		   "  vprof live --name server --for 30s",
};

struct live {
	struct vprof_iteration_options o;
	const char *plan;
	struct vprof_attachment *attachment;
};

/* One plan, recorded for some time, analysed and told. */
static int record_plan(const struct live *live, struct vprof_iteration *it, struct vprof_run_name *run,
		       struct vprof_error *err)
{
	const struct vprof_live_rounds_options how = { .seed = (uint64_t)live->o.seed,
						       .attachment = live->attachment,
						       .for_s = live->o.for_s > 0 ? live->o.for_s : PLAN_S,
						       .is_one_plan = 1 };
	const struct vprof_step_run_options options = { .every_call = live->o.every_call };
	struct vprof_workspace *w = &it->workspace;
	struct vprof_live_rounds *rounds = NULL;
	int rc, ended;

	vprof_session_init(&it->session);
	rc = vprof_workspace_open(w, "live", err);
	if (!rc)
		rc = vprof_session_open(&it->session, &w->project, err);
	if (rc == VPROF_ERR_MISSING && w->project.has_config)
		rc = VPROF_OK; /* no drill-down has begun */
	if (!rc)
		rc = vprof_workspace_load_facts(w, err);
	if (!rc)
		rc = vprof_workspace_check(w, err);
	if (!rc)
		rc = vprof_step_new_run(&w->project, live->plan, run, err);
	if (!rc)
		rc = vprof_live_rounds_new(&rounds, w, &how, err);
	if (!rc)
		rc = vprof_live_rounds_record(rounds, w, &it->session, run->s, &options, &it->results, &it->plan, err);
	ended = vprof_live_rounds_free(rounds, rc ? NULL : err);
	rc = rc ? rc : ended;
	if (!rc)
		rc = vprof_step_analyse(&w->project, run->s, &it->session, NULL, &it->results, &it->plan, err);
	if (!rc)
		rc = vprof_round_effect_conclude(&w->project, run->s, it->results, err);
	if (!rc && !live->o.json)
		rc = vprof_step_print_report(it->results, NULL, 0, 0, err);
	return rc;
}

static int attach(const struct live *live, struct vprof_error *err)
{
	struct vprof_iteration it = { .options = &live->o, .is_brief = live->o.automatic && !live->o.verbose };
	int rc = live->plan ? record_plan(live, &it, &it.told, err) : vprof_iterate(&it, err);
	int status = VPROF_EXIT_OK;

	if (live->o.json)
		rc = vprof_print_iterated(&it, rc, err);
	if (rc)
		status = vprof_complain(rc, err);
	else if (it.results && it.results->inconclusive)
		status = VPROF_EXIT_INCONCLUSIVE;
	vprof_iteration_release(&it);
	return status;
}

int vprof_cmd_live(int argc, char **argv)
{
	struct live live = {
		.o = { .max = VPROF_ITERATION_ROUNDS, .threshold = -1, .effect = -1, .seed = 1, .live = 1 }
	};
	struct vprof_iteration_options *o = &live.o;
	const char *name = NULL;
	double for_ns = 0;
	long pid_given = 0;
	const struct vprof_option options[] = {
		{ "pid", VPROF_OPTION_COUNT, &pid_given, "PID", "the process", 'p' },
		{ "name", VPROF_OPTION_TEXT, &name, "NAME", "the process of this name" },
		{ "for", VPROF_OPTION_DURATION, &for_ns, "TIME",
		  "leave after this time, for example 60s (default: when the drill-down is over; with --plan 10s)" },
		{ "plan", VPROF_OPTION_TEXT, &live.plan, "FILE",
		  "record this plan alone, of an earlier live round: .vprof/runs/NNNN/plan.json" },
		{ "k", VPROF_OPTION_COUNT, &o->k, "N", "causes chosen in a round (default 3)" },
		{ "auto", VPROF_OPTION_FLAG, &o->automatic, NULL,
		  "do not ask: break down whatever can be broken down" },
		{ "max", VPROF_OPTION_COUNT, &o->max, "N", "maximum number of rounds after the first (default 12)" },
		{ "threshold", VPROF_OPTION_SHARE, &o->threshold, "D", "minimum share of the variance (default 0.02)" },
		{ "interval", VPROF_OPTION_TEXT, &o->interval, "NAME",
		  "the interval to explain (default: the most frequent)" },
		{ "every-call", VPROF_OPTION_FLAG, &o->every_call, NULL,
		  "record every call, even of hot functions, which are otherwise sampled" },
		{ "keep-open", VPROF_OPTION_WORDS, &o->keep_open, "NAME...",
		  "measure these functions although recording them costs much and they cannot matter" },
		{ "effect", VPROF_OPTION_SHARE, &o->effect, "E",
		  "close what cannot matter while the probes slow the interval by more (default 0.02)" },
		{ "round", VPROF_OPTION_COUNT, &o->round, "S", "a round records for at most S seconds (default 60)" },
		{ "seed", VPROF_OPTION_COUNT, &o->seed, "N",
		  "of the order of measuring windows and baselines (default 1)" },
		{ "restart", VPROF_OPTION_FLAG, &o->restart, NULL, "begin a new drill-down; runs are kept" },
		{ "verbose", VPROF_OPTION_FLAG, &o->verbose, NULL, "show each step and each round's report" },
		{ "json", VPROF_OPTION_FLAG, &o->json, NULL, "print the last results.json on stdout, no reports" },
		{ NULL },
	};
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	pid_t pid = 0;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (!pid_given == !name)
		return vprof_options_misused(&usage, "the process is named by -p PID or by --name NAME");
	if (live.plan && (o->automatic || o->k || o->restart || o->round || o->effect >= 0))
		return vprof_options_misused(&usage, "--plan records one plan: there is nothing to drill down");
	if (o->k > VPROF_K_MAX)
		return vprof_options_misused(&usage, "--k is at most %d", VPROF_K_MAX);
	o->for_s = for_ns * 1e-9;
	pid = (pid_t)pid_given;
	rc = name ? vprof_process_named(name, &pid, &err) : VPROF_OK;
	if (!rc)
		rc = vprof_attachment_new(&live.attachment, pid, &err);
	if (rc)
		return vprof_complain(rc, &err);
	o->attachment = live.attachment;
	if (o->automatic && !o->verbose)
		vprof_progress_be_brief();
	status = attach(&live, &err);
	vprof_attachment_free(live.attachment);
	return status;
}
