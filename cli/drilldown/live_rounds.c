/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A round's trace is looked at when `first_s` seconds were recorded under the plan, and again whenever that has
 * doubled; whether it may end then is decided in ending.h. At longest_s it ends as it is.
 *
 * Where there are many intervals, a look draws LOOK_INTERVALS of them at random, or fewer where these have more than
 * LOOK_RECORDS records, at least LOOK_INTERVALS_MIN: how often the recording turned to the plan often matters more to
 * its bounds than how many requests a turn had, and where it does not, the round goes on for longer. At a look that
 * would end the round all of them are analysed, too, and must say the same. If so, that is the round's analysis: its
 * trace stays as it was then.
 *
 * Where recording slows the intervals too much, looks that can tell close what need not be measured, and the
 * round begins again: a smaller plan, an empty trace, looks from the first on. */
#include "cli/drilldown/live_rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/drilldown/close.h"
#include "cli/drilldown/ending.h"
#include "cli/drilldown/live_requests.h"
#include "cli/live/live_channel.h"
#include "cli/live/live_contexts.h"
#include "cli/live/live_hosts.h"
#include "cli/live/live_run.h"
#include "cli/live/live_status.h"
#include "cli/live/resident_probes.h"
#include "common/files.h"
#include "common/array.h"
#include "common/process.h"
#include "report/format_value.h"

#define LOOKS_MAX 16
#define LOOK_INTERVALS 50000
#define LOOK_INTERVALS_MIN 1000
#define LOOK_RECORDS 10000000
#define STATUS_S 1.0 /* between two writings of what `vprof top` shows */
#define WAIT_S 10.0  /* for a process with resident probes */
#define HOLD_S 1800.0

struct vprof_live_rounds {
	struct vprof_live_rounds_options options;
	struct vprof_resident_probes *probes;
	struct vprof_live_run *run; /* NULL: the command does not run */
	struct vprof_run_request request;
	char *log, *discarded;
	struct vprof_live_contexts contexts; /* of the processes that run now */
	uint32_t n_plans;
	double recorded_s;
	size_t n_rounds, n_windows, n_looks, n_analyses, n_starts;
	struct vprof_results *looked; /* of the last look, until recording goes on; NULL: none */
	struct vprof_plan *looked_plan;
	int n_tests; /* of the round's functions: whether they can be closed */
	double begun_s, told_s;
	int has_told_short_load;
	double until_s;	   /* 0: without a limit, or nothing runs yet */
	int has_seen;	   /* a process with resident probes: where others are missing, they may come */
	size_t n_missing;  /* of the last plan's functions: not part of the build */
	size_t n_left_out; /* processes of which it was told that they are not measured */
	char *vprof_dir;
	struct vprof_live_channel *channel; /* NULL: nobody can ask for anything */
	struct vprof_text answer;	    /* to a request that the next plan answers; empty: none */
	double pinned_until_s;		    /* until then a person keeps rounds from ending; 0: nobody does */
};

static void pause_briefly(void)
{
	const struct timespec t = { 0, 20000000 };

	nanosleep(&t, NULL);
}

static int build(struct vprof_workspace *w, struct vprof_plan *plan, struct vprof_error *err)
{
	char *log = vprof_path_join(w->project.vprof_dir, "live-build.log");
	int rc = log ? vprof_step_build(w, plan, 0, log, err) : vprof_error_no_memory(err);

	free(log);
	return rc;
}

/* Codes are numbers of one scan: each must mean what it meant when the program was built. */
static int check_codes(const struct vprof_workspace *w, const struct vprof_plan *plan, struct vprof_error *err)
{
	struct vprof_plan *built = NULL;
	int rc = vprof_plan_read(&built, w->project.plan, err), is_same = 1;

	if (rc == VPROF_ERR_MISSING || (!rc && !built->live))
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "the project has no resident build now: vprof build --live --link makes one; then "
				     "start the program again");
	for (size_t i = 0; !rc && is_same && i < plan->n_probes; i++) {
		const struct vprof_probe *probe = &plan->probes[i], *was = vprof_plan_probe(built, probe->code);

		is_same = was && !strcmp(was->name, probe->name) && !strcmp(was->file, probe->file);
	}
	vprof_plan_free(built);
	if (rc || is_same)
		return rc;
	return vprof_error_set(
		err, VPROF_ERR_INPUT,
		"the plan is not one of the build that runs: the sources or vprof.json have changed since, or "
		"it is another build's. vprof build --live --link, and start the program again");
}

int vprof_live_rounds_new(struct vprof_live_rounds **out, struct vprof_workspace *w,
			  const struct vprof_live_rounds_options *o, struct vprof_error *err)
{
	struct vprof_live_rounds *r = calloc(1, sizeof *r);
	struct vprof_decisions decisions = { .all = 1, .live = 1 };
	struct vprof_plan *plan = NULL;
	int rc = r ? vprof_step_plan(w, &decisions, &plan, err) : vprof_error_no_memory(err);

	*out = NULL;
	if (!rc)
		rc = o->attachment ? check_codes(w, plan, err) : build(w, plan, err);
	if (!rc)
		rc = vprof_resident_probes_read(&r->probes, w->project.vprof_dir, err);
	vprof_plan_free(plan);
	if (rc) {
		free(r);
		return rc;
	}
	r->options = *o;
	r->begun_s = vprof_clock_s();
	r->vprof_dir = strdup(w->project.vprof_dir);
	if (!r->vprof_dir) {
		vprof_resident_probes_free(r->probes);
		free(r);
		return vprof_error_no_memory(err);
	}
	if (vprof_live_channel_open(&r->channel, r->vprof_dir, err))
		vprof_tell("vprof top can only look on: %s", err ? err->message : "it cannot be reached");
	*out = r;
	return VPROF_OK;
}

int vprof_live_rounds_is_time_over(const struct vprof_live_rounds *r)
{
	return r->until_s > 0 && vprof_clock_s() >= r->until_s;
}

static int has_time(const struct vprof_live_rounds *r, double seconds)
{
	return !(r->until_s > 0) || vprof_clock_s() + seconds < r->until_s;
}

/* VPROF_LIVE_TURN_MS: how long a turn takes on average. What is no time, or more than a minute, does not count. */
static uint64_t turn_ns(void)
{
	const char *text = getenv("VPROF_LIVE_TURN_MS");
	unsigned long ms = text ? strtoul(text, NULL, 10) : 0;

	return ms <= 60000 ? ms * UINT64_C(1000000) : 0;
}

/* VPROF_LIVE_WAIT_S: how long one is waited for that may come. */
static double wait_s(void)
{
	const char *text = getenv("VPROF_LIVE_WAIT_S");
	unsigned long seconds = text ? strtoul(text, NULL, 10) : 0;

	return seconds ? (double)seconds : WAIT_S;
}

/* How many are drawn for a look where an interval has so many records, 0: not known yet; VPROF_LIVE_LOOK_INTERVALS says
 * otherwise. */
static size_t look_intervals(double records)
{
	const char *text = getenv("VPROF_LIVE_LOOK_INTERVALS");
	unsigned long asked = text ? strtoul(text, NULL, 10) : 0;
	size_t n = LOOK_INTERVALS;

	if (asked)
		return asked;
	if (records * LOOK_INTERVALS > LOOK_RECORDS)
		n = (size_t)(LOOK_RECORDS / records);
	return n < LOOK_INTERVALS_MIN ? LOOK_INTERVALS_MIN : n;
}

static int start(struct vprof_live_rounds *r, struct vprof_workspace *w, const char *run,
		 const struct vprof_step_run_options *how, struct vprof_error *err)
{
	const struct vprof_live_options options = { .seed = r->options.seed,
						    .turn_ns = turn_ns(),
						    .baseline_share = VPROF_LIVE_BASELINES,
						    .user = r->options.attachment ?
								    vprof_attachment_user(r->options.attachment) :
								    0 };

	free(r->log);
	free(r->discarded);
	r->log = vprof_project_run_path(&w->project, run, "run.log");
	r->discarded = vprof_project_run_path(&w->project, run, "before");
	if (!r->log || !r->discarded)
		return vprof_error_no_memory(err);
	r->request = (struct vprof_run_request){ .command = how->command ? how->command : w->annotations->run,
						 .directory = w->annotations->directory,
						 .trace_dir = r->discarded,
						 .log_path = r->log,
						 .library = w->project.library,
						 .memory_bytes = how->memory_bytes,
						 .sample_after = how->every_call ? 0 : VPROF_SAMPLE_AFTER,
						 .switches = how->switches,
						 .compress = how->compress,
						 .grace_s = r->options.grace_s,
						 .verbose = how->verbose };
	vprof_live_contexts_forget(&r->contexts);
	r->n_starts++;
	return vprof_live_run_start(&r->run, &r->request, r->options.attachment, vprof_resident_probes_map(r->probes),
				    &options, err);
}

/* Processes that were asked, and do not take part, and those whose probes cannot be switched: told when there are more
 * than before. */
static void tell_left_out(struct vprof_live_rounds *r, const struct vprof_live_state *state)
{
	struct vprof_attachment_state a = { 0 };
	size_t n;

	if (r->options.attachment)
		vprof_attachment_look(r->options.attachment, &a);
	n = a.n_refused + state->n_refused + state->n_elsewhere;
	if (n > r->n_left_out && a.n_refused)
		vprof_tell("%zu process%s not take part: %s", a.n_refused, a.n_refused == 1 ? " does" : "es do",
			   a.refusal);
	if (n > r->n_left_out && state->n_refused)
		vprof_tell("%zu process%s not measured: %s", state->n_refused, state->n_refused == 1 ? " is" : "es are",
			   state->refusal);
	if (n > r->n_left_out && state->n_elsewhere)
		vprof_tell("%zu process%s in a container of their own cannot be measured from here; run vprof in it",
			   state->n_elsewhere, state->n_elsewhere == 1 ? "" : "es");
	r->n_left_out = n > r->n_left_out ? n : r->n_left_out;
}

/* The command has ended, or is to: MISSING, FAILED with what it printed last, or OK. */
static int stop(struct vprof_live_rounds *r, struct vprof_error *err)
{
	struct vprof_run_outcome outcome;
	int was_ended, rc;

	if (!r->run)
		return VPROF_OK;
	rc = vprof_live_run_stop(r->run, &outcome, &was_ended, err);
	r->run = NULL;
	vprof_dir_remove(r->discarded, NULL);
	if (outcome.was_killed)
		vprof_tell("the run command did not end within %g s of SIGTERM: its processes were killed (SIGKILL); "
			   "--grace gives it longer",
			   r->options.grace_s);
	if (rc)
		return rc;
	if (outcome.interrupted)
		return vprof_error_because(
			err, VPROF_ERR_FAILED, VPROF_REASON_INTERRUPTED,
			r->options.attachment ?
				"interrupted; the probes are closed, and the program goes on without. The session is "
				"kept: vprof live goes on with it" :
				"interrupted; the probes are closed and the program was ended. The session is "
				"kept: vprof iterate --live goes on with a new start");
	tell_left_out(r, &(struct vprof_live_state){ 0 });
	if (r->options.attachment && outcome.n_left_behind)
		vprof_tell("%d process%s will give the shared memory back when they next do something: they are idle",
			   outcome.n_left_behind, outcome.n_left_behind == 1 ? "" : "es");
	if (!was_ended && outcome.status)
		return vprof_run_blame(&r->request, &outcome, err);
	return VPROF_OK;
}

/* What a broken-down root calls is measured where no measured frame is around it, too: the root may have been entered
 * before it was opened, and never return. */
static void open_beneath_roots(struct vprof_plan *plan)
{
	uint64_t roots = 0;

	for (size_t i = 0; i < plan->n_probes; i++)
		if (plan->probes[i].is_root && plan->probes[i].broken_down)
			roots |= UINT64_C(1) << (plan->probes[i].context & 63);
	for (size_t i = 0; i < plan->n_probes; i++)
		if (plan->probes[i].mask & roots)
			plan->probes[i].mask |= UINT64_C(1) << VPROF_CONTEXT_TOP;
}

/* What the decisions ask for stays beside what was opened, for the next round's comparison. */
static int keep_asked(const struct vprof_workspace *w, const char *run, const char *path, struct vprof_error *err)
{
	char *asked = vprof_project_run_path(&w->project, run, "plan-asked.json");
	int rc = asked ? vprof_file_copy(path, asked, err) : vprof_error_no_memory(err);

	free(asked);
	return rc;
}

/* Numbers the plan, and gives its probes the context bits that they have in these processes. */
static int prepare(struct vprof_live_rounds *r, const struct vprof_workspace *w, const char *path,
		   struct vprof_plan **plan, struct vprof_error *err)
{
	int rc = vprof_plan_read(plan, path, err);

	if (!rc && r->options.attachment)
		rc = check_codes(w, *plan, err);
	if (rc)
		return rc;
	(*plan)->number = ++r->n_plans;
	open_beneath_roots(*plan);
	if (vprof_live_contexts_assign(&r->contexts, *plan) ||
	    vprof_live_hosts_mark(*plan, vprof_resident_probes_map(r->probes)))
		return vprof_error_no_memory(err);
	return vprof_plan_write(*plan, path, err);
}

/* Why nothing of a process that was attached to is seen. */
static int tell_not_seen(const struct vprof_live_rounds *r, const struct vprof_live_state *state,
			 struct vprof_error *err)
{
	struct vprof_attachment_state a;

	vprof_live_run_attached(r->run, &a);
	if (state->refusal[0] || a.refusal[0])
		return vprof_error_set(err, VPROF_ERR_FAILED, "%s", state->refusal[0] ? state->refusal : a.refusal);
	if (state->n_elsewhere)
		return vprof_error_set(err, VPROF_ERR_MISSING,
				       "the processes run in a container of their own; run vprof in it");
	return vprof_error_set(
		err, VPROF_ERR_MISSING,
		"%zu process%s linked with libvprof.so, and none has taken part within %g s: a process does "
		"when its next interval begins, so put load on it; and it must be the program that vprof "
		"build --live --link built in this folder",
		a.n_doors, a.n_doors == 1 ? " is" : "es are", wait_s());
}

/* 1: of each process it is known that it cannot be measured. None that may still take part, execute another program or
 * start one is waited for; an end, a new process and an answer change what is known. */
static int is_hopeless(const struct vprof_live_rounds *r, const struct vprof_live_state *state)
{
	struct vprof_attachment_state a;
	size_t n_left_out = state->n_refused + state->n_elsewhere;

	if (r->has_seen || state->n_processes)
		return 0;
	if (!r->options.attachment)
		return n_left_out && !state->n_others;
	vprof_live_run_attached(r->run, &a);
	return a.n_refused + n_left_out && !a.n_others && a.n_joined == a.n_doors && a.n_joined <= n_left_out;
}

/* Waits for processes with resident probes: without any, nothing would ever be recorded. */
static int wait_for_processes(struct vprof_live_rounds *r, struct vprof_error *err)
{
	double begun_s = vprof_clock_s();
	struct vprof_live_state state;
	int rc;

	while (vprof_live_run_look(r->run, &state) && !state.n_processes && !is_hopeless(r, &state) &&
	       vprof_clock_s() - begun_s < wait_s())
		pause_briefly();
	if (state.n_processes) {
		tell_left_out(r, &state);
		r->has_seen = 1;
		if (r->options.for_s > 0 && !(r->until_s > 0))
			r->until_s = vprof_clock_s() + r->options.for_s;
		return VPROF_OK;
	}
	if (!vprof_live_run_look(r->run, &state)) {
		rc = stop(r, err);
		return rc ? rc :
			    vprof_error_set(
				    err, VPROF_ERR_MISSING,
				    r->options.attachment ?
					    "the processes ended before any of them took part" :
					    "the run command ended before any process of the resident build was seen; it "
					    "must start the program that vprof build --live built");
	}
	if (r->options.attachment)
		return tell_not_seen(r, &state, err);
	if (state.n_refused)
		return vprof_error_set(err, VPROF_ERR_FAILED, "none of the run command's processes can be measured: %s",
				       state.refusal);
	return vprof_error_set(
		err, VPROF_ERR_MISSING,
		"no process of the resident build was seen within %g s%s%s. Does the run command start the program "
		"that was built (vprof build --live), and not another copy of it?",
		wait_s(), state.refusal[0] ? ": " : "", state.refusal);
}

/* The round is recorded on, or again. */
static void forget_look(struct vprof_live_rounds *r)
{
	vprof_results_free(r->looked);
	vprof_plan_free(r->looked_plan);
	r->looked = NULL;
	r->looked_plan = NULL;
}

/* Analyses what was recorded so far, at most `most` intervals of it (0: all), and judges. *n_left: how many were not
 * drawn. */
static int analyse(struct vprof_live_rounds *r, struct vprof_workspace *w, struct vprof_session *s, const char *run,
		   size_t most, struct vprof_looks *looks, int *is_enough, uint64_t *n_left, struct vprof_error *err)
{
	const struct vprof_step_analyse_options how = { .most_intervals = most };
	int rc;

	forget_look(r);
	rc = vprof_step_analyse(&w->project, run, s, &how, &r->looked, &r->looked_plan, err);
	r->n_analyses++;
	if (!rc && vprof_looks_judge(looks, &(struct vprof_ask){ w, s, r->looked, r->looked_plan, 1, 1 }, is_enough))
		rc = vprof_error_no_memory(err);
	*n_left = rc ? 0 : r->looked->n_not_drawn;
	if (!rc && vprof_results_n_all(r->looked))
		looks->records = (double)r->looked->n_records / (double)vprof_results_n_all(r->looked);
	return rc;
}

/* At a look that can tell what need not be measured, this is closed at once, and the round begins again without it:
 * that costs what was recorded by then, and not a round of its own. Where there is time for as much again, and more.
 * One test is left for the round's end. *again: something was closed. */
static int close_costly(struct vprof_live_rounds *r, struct vprof_workspace *w, struct vprof_session *s, int *again,
			struct vprof_error *err)
{
	struct vprof_text closed = VPROF_TEXT_INIT;
	struct vprof_close_choice choice;
	size_t n;

	if (r->n_tests == VPROF_CLOSE_TESTS - 1 || !r->looked || r->looked->inconclusive ||
	    !(r->looked->effect >= s->effect))
		return VPROF_OK;
	r->n_tests++;
	if (vprof_close_choose(r->looked, r->looked_plan, s, &choice))
		return vprof_error_no_memory(err);
	n = choice.n_closed + choice.n_narrowed;
	*again = n > 0;
	if (!n)
		return VPROF_OK;
	if (!r->options.is_brief)
		vprof_close_tell(s, &choice, r->looked->effect);
	if (choice.n_closed)
		vprof_text_addf(&closed, "%zu function%s that cannot matter%s", choice.n_closed,
				choice.n_closed == 1 ? "" : "s", choice.n_narrowed ? ", and " : "");
	if (choice.n_narrowed)
		vprof_text_addf(&closed, "%zu outside of what is broken down", choice.n_narrowed);
	vprof_say("  closed   %s: recording slowed the intervals by %s; the round begins again without %s", closed.s,
		  vprof_format_percent(r->looked->effect).s, n == 1 ? "it" : "them");
	vprof_text_release(&closed);
	return vprof_session_save(s, w->project.session, err);
}

/* One look. Nothing is measured meanwhile: the analysis needs the CPUs that the program runs on. */
static int look(struct vprof_live_rounds *r, struct vprof_workspace *w, struct vprof_session *s, const char *run,
		struct vprof_looks *looks, int *is_enough, struct vprof_error *err)
{
	int rc = vprof_live_run_pause(r->run, err);
	uint64_t n_left = 0;

	*is_enough = 0;
	if (rc == VPROF_ERR_MISSING)
		return VPROF_OK; /* the command ended; the round is as it is */
	vprof_session_reread_verdicts(s, &w->project);
	if (!rc)
		rc = analyse(r, w, s, run, look_intervals(looks->records), looks, is_enough, &n_left, err);
	if (!rc && *is_enough && n_left) {
		vprof_looks_take_back(looks);
		rc = analyse(r, w, s, run, 0, looks, is_enough, &n_left, err);
	}
	r->n_looks++;
	return rc;
}

/* OK also where the command has ended: the round is then as it was in the pause. */
static int go_on(struct vprof_live_rounds *r, struct vprof_error *err)
{
	int rc = vprof_live_run_resume(r->run, err);

	if (rc != VPROF_ERR_MISSING)
		forget_look(r);
	return rc == VPROF_ERR_MISSING ? VPROF_OK : rc;
}

static int is_pinned(const struct vprof_live_rounds *r, const struct vprof_session *s)
{
	return s->n_rounds > 1 && vprof_clock_s() < r->pinned_until_s;
}

/* For vprof top. That it cannot be told is no reason to end. */
static void tell_status(struct vprof_live_rounds *r, const char *run, const struct vprof_plan *plan,
			const struct vprof_live_state *state)
{
	struct vprof_live_status status = { .pid = getpid(),
					    .round = r->n_rounds,
					    .is_pinned = vprof_clock_s() < r->pinned_until_s,
					    .recorded_s = r->recorded_s +
							  (double)(state->measured_ns + state->baseline_ns) * 1e-9,
					    .elapsed_s = vprof_clock_s() - r->begun_s,
					    .state = *state };

	if (vprof_clock_s() - r->told_s < STATUS_S)
		return;
	r->told_s = vprof_clock_s();
	snprintf(status.run, sizeof status.run, "%s", run);
	vprof_live_status_write(r->vprof_dir, &status, plan, NULL);
}

/* The round is over with the run command, whatever it has told by then: said once. */
static void tell_short_load(struct vprof_live_rounds *r, const struct vprof_live_state *state)
{
	if (r->has_told_short_load || r->options.attachment)
		return;
	r->has_told_short_load = 1;
	vprof_tell(
		"the run command ended after %.1f s of recording under the round's plan, before the round was settled; a "
		"round may take up to %.0f s (--round). A load that goes on for longer gives it that",
		(double)state->measured_ns * 1e-9, r->options.longest_s);
}

/* A copy of the round so far. */
static void save(struct vprof_live_rounds *r, const struct vprof_live_requested *to, struct vprof_text *answer)
{
	struct vprof_error err = { "" };
	struct vprof_run_name saved;
	int rc = vprof_live_run_pause(r->run, &err);

	if (!rc)
		rc = vprof_live_request_save(to, &saved, &err);
	vprof_live_run_resume(r->run, NULL);
	if (rc)
		vprof_text_addf(answer, "not saved: %s", err.message);
	else
		vprof_text_addf(answer, "saved as run %s: vprof report %s", saved.s, saved.s);
}

/* Carries out what a person asks, and answers; a change of plan is answered once the plan is open. *again: the round
 * begins again with the session's plan. */
static int serve(struct vprof_live_rounds *r, const struct vprof_live_requested *to, int *again)
{
	struct vprof_text answer = VPROF_TEXT_INIT;
	char text[VPROF_REQUEST_BYTES];
	int what;

	if (!r->channel || !vprof_live_channel_take(r->channel, text))
		return VPROF_OK;
	if (r->options.is_one_plan) {
		vprof_live_channel_answer(r->channel, "one plan is recorded here: there is nothing to change or save");
		return VPROF_OK;
	}
	what = vprof_live_request_apply(to, text, &answer);
	if (what == VPROF_LIVE_REQUEST_SAVE)
		save(r, to, &answer);
	if (what == VPROF_LIVE_REQUEST_HOLD || what == VPROF_LIVE_REQUEST_RELEASE)
		r->pinned_until_s = what == VPROF_LIVE_REQUEST_HOLD ? vprof_clock_s() + HOLD_S : 0;
	if (what == VPROF_LIVE_REQUEST_HOLD)
		vprof_text_addf(&answer, "held: no round ends by itself for %.0f minutes", HOLD_S / 60);
	if (what == VPROF_LIVE_REQUEST_RELEASE)
		vprof_text_add(&answer, "rounds end by themselves again");
	r->told_s = 0;
	if (what == VPROF_LIVE_REQUEST_REPLAN && !answer.failed) {
		*again = 1;
		r->answer = answer;
		return VPROF_OK;
	}
	vprof_live_channel_answer(r->channel, answer.s ? answer.s : "out of memory");
	vprof_text_release(&answer);
	return what < 0 ? what : VPROF_OK;
}

/* Until the round may end. *again: it is to begin again, with another plan. */
static int record(struct vprof_live_rounds *r, struct vprof_workspace *w, struct vprof_session *s, const char *run,
		  const struct vprof_plan *plan, struct vprof_live_state *state, int *again, struct vprof_error *err)
{
	const struct vprof_live_requested to = { w, s, run, plan };
	double longest_s = r->options.longest_s;
	struct vprof_looks looks = { .next_s = r->options.first_s,
				     .is_told = !r->options.is_automatic ||
						s->n_rounds > (size_t)r->options.rounds_max };
	int rc = VPROF_OK, is_enough = 0, n_looks = 0, goes_on = 1, was_pinned = 0;

	*again = 0;
	while (!rc && !is_enough && (goes_on = vprof_live_run_look(r->run, state))) {
		double seconds = (double)state->measured_ns * 1e-9;
		int pinned = is_pinned(r, s);

		pause_briefly();
		tell_status(r, run, plan, state);
		rc = serve(r, &to, again) ? vprof_error_no_memory(err) : VPROF_OK;
		if (rc || *again || vprof_live_rounds_is_time_over(r))
			break;
		if (was_pinned && !pinned) /* it may be settled by now */
			looks.next_s = 0;
		was_pinned = pinned;
		if (r->options.is_one_plan || seconds < looks.next_s || !state->baseline_ns)
			continue;
		if (!pinned && (seconds >= longest_s || n_looks++ == LOOKS_MAX))
			break;
		state->is_paused = 1;
		r->told_s = 0;
		tell_status(r, run, plan, state);
		rc = look(r, w, s, run, &looks, &is_enough, err);
		is_enough &= !pinned;
		if (!rc && !is_enough && !pinned && has_time(r, 2 * seconds))
			rc = close_costly(r, w, s, again, err);
		if (rc || *again)
			break;
		if (!rc && !is_enough && !vprof_live_rounds_is_time_over(r))
			rc = go_on(r, err);
		looks.next_s = pinned || 2 * seconds < longest_s ? fmax(2 * seconds, r->options.first_s) : longest_s;
	}
	if (!rc && !is_enough && !*again && !goes_on)
		tell_short_load(r, state);
	vprof_looks_release(&looks);
	return rc;
}

/* The program runs, and the round's plan is open in it. */
static int begin(struct vprof_live_rounds *r, struct vprof_workspace *w, const char *run,
		 const struct vprof_step_run_options *how, struct vprof_plan **plan, struct vprof_error *err)
{
	char *path = vprof_project_run_path(&w->project, run, "plan.json");
	char *trace = vprof_project_run_path(&w->project, run, "trace");
	struct vprof_live_state state;
	size_t n_missing = 0;
	int rc = path && trace ? VPROF_OK : vprof_error_no_memory(err);

	if (!rc && r->run && !vprof_live_run_look(r->run, &state))
		rc = stop(r, err);
	if (!rc && !r->run && r->options.attachment && r->n_starts)
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "the processes have ended. The session is kept: attach to the program when it "
				     "runs again");
	if (!rc && !r->run)
		rc = start(r, w, run, how, err);
	if (!rc)
		rc = wait_for_processes(r, err);
	if (!rc)
		rc = keep_asked(w, run, path, err);
	if (!rc)
		rc = prepare(r, w, path, plan, err);
	if (!rc)
		rc = vprof_live_run_begin(r->run, *plan, trace, &n_missing, err);
	if (!rc && n_missing && n_missing != r->n_missing)
		vprof_tell("%zu of the plan's %zu functions and calls are not part of the resident build "
			   "(vprof doctor --facts says why); their time counts in their callers",
			   n_missing, (*plan)->n_probes);
	r->n_missing = rc ? r->n_missing : n_missing;
	if (r->answer.len) {
		vprof_say("  asked    %s", r->answer.s);
		vprof_live_channel_answer(r->channel, rc ? "the program has ended meanwhile" : r->answer.s);
	}
	vprof_text_release(&r->answer);
	free(path);
	free(trace);
	return rc;
}

static void count(struct vprof_live_rounds *r, const struct vprof_live_state *state)
{
	r->recorded_s += (double)(state->measured_ns + state->baseline_ns) * 1e-9;
	r->n_windows += state->n_turns;
}

/* What was recorded under the plan before is not the round's. */
static int begin_again(struct vprof_live_rounds *r, struct vprof_workspace *w, const struct vprof_session *s,
		       const char *run, struct vprof_plan **plan, struct vprof_error *err)
{
	static const char *const files[] = { "trace", "results.json", "report.txt" };
	struct vprof_live_state state;
	int rc = vprof_live_run_look(r->run, &state) ? vprof_live_run_end(r->run, err) : VPROF_OK;

	rc = rc == VPROF_ERR_MISSING ? VPROF_OK : rc; /* it has ended meanwhile, and is started again */
	count(r, &state);
	forget_look(r);
	vprof_plan_free(*plan);
	*plan = NULL;
	for (size_t i = 0; !rc && i < sizeof files / sizeof *files; i++) {
		char *path = vprof_project_run_path(&w->project, run, files[i]);

		rc = path ? vprof_dir_remove(path, err) : vprof_error_no_memory(err);
		free(path);
	}
	return rc ? rc : vprof_step_write_plan(w, s, run, err);
}

int vprof_live_rounds_record(struct vprof_live_rounds *r, struct vprof_workspace *w, struct vprof_session *s,
			     const char *run, const struct vprof_step_run_options *how, struct vprof_results **results,
			     struct vprof_plan **analysed, struct vprof_error *err)
{
	struct vprof_live_state state = { 0 };
	struct vprof_plan *plan = NULL;
	int again = 0, rc = begin(r, w, run, how, &plan, err), ended;

	forget_look(r);
	r->n_tests = 0;
	if (!rc)
		rc = record(r, w, s, run, plan, &state, &again, err);
	while (!rc && again) {
		rc = begin_again(r, w, s, run, &plan, err);
		if (!rc)
			rc = begin(r, w, run, how, &plan, err);
		if (!rc)
			rc = record(r, w, s, run, plan, &state, &again, err);
	}
	if (rc == VPROF_ERR_MISSING && r->run && !vprof_live_run_look(r->run, &state)) {
		struct vprof_error why;

		rc = stop(r, &why); /* an interrupt, perhaps */
		if (rc && err)
			*err = why;
		rc = rc ? rc : VPROF_ERR_MISSING;
	}
	if (r->run && vprof_live_run_look(r->run, &state)) {
		ended = vprof_live_run_end(r->run, rc ? NULL : err);
		rc = rc ? rc : ended == VPROF_ERR_MISSING ? VPROF_OK : ended;
	}
	if (!rc && !vprof_live_run_look(r->run, &state))
		rc = stop(r, err); /* it ended by itself: the next round starts it again */
	tell_left_out(r, &state);
	count(r, &state);
	r->n_rounds++;
	vprof_plan_free(plan);
	if (rc || !r->looked || r->looked->n_not_drawn)
		forget_look(r);
	r->n_analyses += !rc && !r->looked; /* which is the caller's */
	*results = r->looked;
	*analysed = r->looked_plan;
	r->looked = NULL;
	r->looked_plan = NULL;
	return rc;
}

int vprof_live_rounds_free(struct vprof_live_rounds *r, struct vprof_error *err)
{
	int rc;

	if (!r)
		return VPROF_OK;
	rc = stop(r, err);
	if (r->n_rounds)
		vprof_say(
			"live: %zu round%s, %.0f s of recording in %zu windows, %zu look%s, %zu analys%cs, %zu %s%s%s",
			r->n_rounds, r->n_rounds == 1 ? "" : "s", r->recorded_s, r->n_windows, r->n_looks,
			r->n_looks == 1 ? "" : "s", r->n_analyses, r->n_analyses == 1 ? 'i' : 'e', r->n_starts,
			r->options.attachment ? "attachment" : "start", r->n_starts == 1 ? "" : "s",
			r->options.attachment ? "" : " of the program");
	vprof_resident_probes_free(r->probes);
	vprof_live_contexts_release(&r->contexts);
	vprof_live_channel_close(r->channel);
	forget_look(r);
	vprof_text_release(&r->answer);
	vprof_live_status_remove(r->vprof_dir);
	free(r->vprof_dir);
	free(r->log);
	free(r->discarded);
	free(r);
	return rc;
}
