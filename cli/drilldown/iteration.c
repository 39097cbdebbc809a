/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/iteration.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/drilldown/ask.h"
#include "cli/drilldown/close.h"
#include "cli/drilldown/decide.h"
#include "cli/drilldown/ending.h"
#include "cli/drilldown/live_rounds.h"
#include "analysis/results/repeat.h"
#include "cli/drilldown/round.h"
#include "common/files.h"

#define STARTS_SHOWN 4

static int save(struct vprof_iteration *it, struct vprof_error *err)
{
	return vprof_session_save(&it->session, it->workspace.project.session, err);
}

/* An old session stays beside the new one until it is replaced in turn. */
static int put_session_aside(const struct vprof_project *p, struct vprof_error *err)
{
	struct vprof_text kept = VPROF_TEXT_INIT;
	int rc = VPROF_OK;

	vprof_text_addf(&kept, "%s.before", p->session);
	if (rename(p->session, kept.s) && errno != ENOENT)
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot rename %s: %s", p->session, strerror(errno));
	vprof_text_release(&kept);
	return rc;
}

static int set_text(char **slot, const char *text, struct vprof_error *err)
{
	char *copy;

	if (!text)
		return VPROF_OK;
	copy = strdup(text);
	if (!copy)
		return vprof_error_no_memory(err);
	free(*slot);
	*slot = copy;
	return VPROF_OK;
}

/* A round that is not analysed yet is planned and built again when vprof.json changed: an inconclusive run is often
 * answered by a better interval. Rounds that were analysed stand; told once. */
static void take_annotations(struct vprof_session *s, const char *hash)
{
	struct vprof_round *last = s->n_rounds ? &s->rounds[s->n_rounds - 1] : NULL;

	if (last && strcmp(hash, s->annotations_hash)) {
		if (last->state < VPROF_ROUND_ANALYSED)
			last->state = VPROF_ROUND_OPEN;
		if (s->n_rounds > 1 || last->state >= VPROF_ROUND_ANALYSED)
			vprof_tell(
				"vprof.json changed since this drill-down began; if its intervals changed, begin again "
				"with: vprof iterate --restart");
	}
	strcpy(s->annotations_hash, hash);
}

/* What was not chosen before may be now: the last round's decisions are taken again. */
static void widen(struct vprof_session *s, const struct vprof_iteration_options *o)
{
	if (s->ending == VPROF_ENDING_CHOSEN && (o->k > s->k || (o->threshold >= 0 && o->threshold < s->threshold))) {
		s->ending = VPROF_ENDING_NONE;
		s->rounds[s->n_rounds - 1].state = VPROF_ROUND_ANALYSED;
	}
	if (o->k)
		s->k = o->k;
	if (o->threshold >= 0)
		s->threshold = o->threshold;
}

/* A drill-down that repeating did not settle goes on with more runs of its last round, or without repeating. */
static void repeat_more(struct vprof_session *s, const struct vprof_iteration_options *o)
{
	struct vprof_round *last = s->n_rounds ? &s->rounds[s->n_rounds - 1] : NULL;

	if (!o->repeat || (s->ending != VPROF_ENDING_UNSETTLED && s->ending != VPROF_ENDING_REPEATED))
		return;
	s->ending = VPROF_ENDING_NONE;
	if ((size_t)o->repeat > last->n_runs) {
		last->n_runs_wanted = (size_t)o->repeat;
		last->state = VPROF_ROUND_BUILT;
	} else {
		last->state = VPROF_ROUND_ANALYSED; /* decided on what these runs tell */
	}
}

/* What is opened again is measured in a round of its own. */
static int keep_open(struct vprof_session *s, const struct vprof_option_words *names, struct vprof_error *err)
{
	for (size_t i = 0; i < names->n; i++) {
		int n = vprof_close_keep_open(s, names->v[i]);

		if (n < 0)
			return vprof_error_no_memory(err);
		if (n)
			s->ending = VPROF_ENDING_NONE;
		else
			vprof_tell("%s is not closed; it will not be", names->v[i]);
	}
	return VPROF_OK;
}

/* Loads the session or begins one; options given now win over what was saved. */
static int open_session(struct vprof_iteration *it, struct vprof_error *err)
{
	const struct vprof_project *p = &it->workspace.project;
	const struct vprof_iteration_options *o = it->options;
	struct vprof_session *s = &it->session;
	char hash[17];
	int rc = o->restart ? put_session_aside(p, err) : VPROF_OK;

	if (!rc)
		rc = vprof_session_open(s, p, err);
	if (rc && rc != VPROF_ERR_MISSING)
		return rc;
	rc = vprof_file_hash(p->config, hash, err);
	if (rc)
		return rc;
	take_annotations(s, hash);
	if (s->n_rounds)
		vprof_say("resuming the drill-down in %s: %zu round%s", vprof_project_shown(p->session), s->n_rounds,
			  s->n_rounds == 1 ? "" : "s");
	widen(s, o);
	repeat_more(s, o);
	rc = keep_open(s, &o->keep_open, err);
	if (!rc)
		rc = set_text(&s->interval, o->interval, err);
	if (!rc)
		rc = set_text(&s->run_command, o->command, err);
	return rc ? rc : save(it, err);
}

static int need_commands(const struct vprof_iteration *it, struct vprof_error *err)
{
	const struct vprof_annotations *a = it->workspace.annotations;

	if (!it->options->attachment && !it->session.run_command && !(a->run && *a->run))
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"%s has no \"run\" command. Add one that starts the program, puts load on it and "
			"ends, for example \"run\": \"./bench.sh\", or give it after \"--\"",
			vprof_project_shown(it->workspace.project.config));
	return VPROF_OK;
}

static void tell_round(const struct vprof_session *s)
{
	if (s->n_rounds == 1)
		vprof_say("round 0: annotations only, run %s", s->rounds[0].run.s);
	else
		vprof_say("round %zu: %zu function%s broken down, run %s", s->n_rounds - 1, s->broken_down.n,
			  s->broken_down.n == 1 ? "" : "s", s->rounds[s->n_rounds - 1].run.s);
}

static void forget_results(struct vprof_iteration *it)
{
	vprof_results_free(it->results);
	vprof_plan_free(it->plan);
	it->results = NULL;
	it->plan = NULL;
}

static double seconds_since(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from->tv_sec) + (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

static int complete_round(struct vprof_iteration *it, struct vprof_error *err)
{
	const struct vprof_step_run_options how = { .command = it->session.run_command,
						    .verbose = it->options->verbose,
						    .memory_bytes = (uint64_t)it->options->memory << 20,
						    .every_call = it->options->every_call,
						    .budget = it->options->budget,
						    .switches = it->options->switches_mode,
						    .compress = it->options->compress_mode,
						    .live = it->live };

	int was_analysed = it->session.rounds[it->session.n_rounds - 1].state >= VPROF_ROUND_ANALYSED;
	struct timespec from;
	const struct vprof_round *round = &it->session.rounds[it->session.n_rounds - 1];
	int rc, is_confirmed = round->n_runs_wanted > 1 && (!it->options->repeat || round->n_runs >= VPROF_REPEATS_MIN);

	clock_gettime(CLOCK_MONOTONIC, &from);
	forget_results(it);
	if (!is_confirmed && !it->is_brief)
		tell_round(&it->session);
	rc = vprof_round_complete(&it->workspace, &it->session, &how, is_confirmed, &it->results, &it->plan, err);
	if (it->is_brief && it->results && !was_analysed)
		vprof_round_line(&it->session, it->results, &it->measured, seconds_since(&from));
	return rc;
}

/* The first of what is broken down, the innermost function around the interval; the others are ways down from there. */
static void tell_start(const struct vprof_session *s)
{
	size_t n = s->broken_down.n, shown = n < STARTS_SHOWN ? n : STARTS_SHOWN;
	struct vprof_text line = VPROF_TEXT_INIT;

	vprof_text_add(&line, "  start    ");
	for (size_t i = 0; i < shown; i++) {
		const struct vprof_name *f = &s->broken_down.items[i];
		int namesakes = 0;

		for (size_t k = 0; k < n; k++)
			namesakes += !strcmp(s->broken_down.items[k].name, f->name);
		vprof_text_addf(&line, "%s%s%s%s", i ? ", " : "", f->name, namesakes > 1 ? "@" : "",
				namesakes > 1 ? f->file : "");
	}
	if (n > shown)
		vprof_text_addf(&line, " and %zu more", n - shown);
	if (!line.failed)
		vprof_say("%s", line.s);
	vprof_text_release(&line);
}

/* After the baseline: where does the interval run? */
static int decide_start(struct vprof_iteration *it, struct vprof_error *err)
{
	struct vprof_session *s = &it->session;
	int from_stacks;

	if (vprof_decide_roots(s, it->results, it->workspace.facts, it->workspace.annotations, &from_stacks))
		return vprof_error_no_memory(err);
	if (!s->roots.n)
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"no function around the interval can be instrumented: the "
			"begin, resume and end annotations sit in none of the scanned sources. Name where "
			"to start in vprof.json: \"roots\": [\"function\"]");
	if (!from_stacks)
		vprof_tell("no sampled stack names a known function (is the binary stripped?); starting from the "
			   "functions of the annotations");
	if (!it->is_brief)
		tell_start(s);
	it->measured = (struct vprof_measured){ .is_known = 1 };
	s->rounds[0].state = VPROF_ROUND_DECIDED;
	return save(it, err);
}

static size_t choose(const struct vprof_iteration *it, uint32_t *chosen)
{
	size_t k = (size_t)it->session.k;

	return vprof_decide_choose(it->results, &it->session, chosen, k);
}

static int end(struct vprof_iteration *it, enum vprof_ending why, struct vprof_error *err)
{
	it->session.ending = why;
	return save(it, err);
}

/* What the next round need not record. */
static int close_costly(struct vprof_iteration *it, struct vprof_error *err)
{
	struct vprof_close_choice choice;

	if (vprof_close_choose(it->results, it->plan, &it->session, &choice))
		return vprof_error_no_memory(err);
	if (!it->is_brief)
		vprof_close_tell(&it->session, &choice, it->results->effect);
	return VPROF_OK;
}

/* How many runs the first n rounds leave to others for being repeated. */
static size_t repeats_left(const struct vprof_session *s, size_t n)
{
	size_t n_left = VPROF_REPEATS_IN_ALL;

	for (size_t i = 0; i < n; i++)
		n_left -= s->rounds[i].n_runs < 2 ? 0 : s->rounds[i].n_runs < n_left ? s->rounds[i].n_runs : n_left;
	return n_left;
}

/* How often the last round may run. A person who chooses may choose as often as they like. */
static size_t repeats_max(const struct vprof_iteration *it)
{
	size_t n_left = repeats_left(&it->session, it->session.n_rounds - 1);

	return it->options->automatic && n_left < VPROF_REPEATS_MAX ? n_left : VPROF_REPEATS_MAX;
}

/* A rule is not to choose what to break down next from shares that repeated runs do not tell: that would be chance, and
 * a round more each time. */
static int is_unsettled(const struct vprof_iteration *it)
{
	enum vprof_repeat told = vprof_repeat_judge(it->results, repeats_max(it));

	return it->options->automatic && !it->options->live && !it->options->repeat &&
	       it->results->n_runs >= VPROF_REPEATS_MIN && (told == VPROF_REPEAT_FUTILE || told == VPROF_REPEAT_SPENT);
}

/* Reports the round and takes its decisions. *stopped: the input ended. */
static int decide_round(struct vprof_iteration *it, int *stopped, struct vprof_error *err)
{
	const struct vprof_ask ask = { &it->workspace, &it->session,	       it->results,
				       it->plan,       it->options->automatic, it->is_brief };
	struct vprof_round *round = &it->session.rounds[it->session.n_rounds - 1];
	uint32_t chosen[VPROF_K_MAX];
	size_t n;
	int rc = VPROF_OK;

	vprof_session_reread_verdicts(&it->session, &it->workspace.project);
	n = choose(it, chosen);
	vprof_decide_verdicts(it->results, &it->session);
	it->measured = vprof_measured_now(&it->session);
	if (!it->options->json && !it->is_brief) {
		putchar('\n');
		/* With --auto the rounds are on their way; the last report is whole. */
		rc = vprof_step_print_report(it->results, chosen, n, it->options->automatic ? (size_t)it->session.k : 0,
					     err);
		putchar('\n');
		fflush(stdout);
	}
	*stopped = 0;
	if (!rc && !is_unsettled(it))
		rc = vprof_ask_all(&ask, stopped, err);
	if (!rc && !*stopped && !is_unsettled(it))
		rc = close_costly(it, err);
	if (!rc && !*stopped)
		round->state = VPROF_ROUND_DECIDED;
	if (!rc)
		rc = save(it, err);
	if (!rc)
		rc = vprof_step_write_report(&it->workspace.project, round->run.s, &it->session, it->results, err);
	return rc;
}

static int load_results(struct vprof_iteration *it, const char *run, struct vprof_error *err)
{
	char *path = vprof_project_run_path(&it->workspace.project, run, "results.json");
	int rc = path ? vprof_results_read(&it->results, path, err) : vprof_error_no_memory(err);

	free(path);
	return rc;
}

static int load_last(struct vprof_iteration *it, struct vprof_error *err)
{
	return load_results(it, it->session.rounds[it->session.n_rounds - 1].run.s, err);
}

/* The time was over before the last round had enough data: what the round before it found stands. */
static int fall_back(struct vprof_iteration *it, struct vprof_error *err)
{
	const struct vprof_session *s = &it->session;

	vprof_say("the time was over before round %zu had enough data; this is what round %zu found", s->n_rounds - 1,
		  s->n_rounds - 2);
	it->is_time_over = 1;
	it->told = s->rounds[s->n_rounds - 2].run;
	forget_results(it);
	return load_results(it, it->told.s, err);
}

/* Runs differ by more than one of them tells: before the drill-down ends, the last round's workload is run again with
 * the same build until all of its runs together settle what was chosen, or cannot (repeat.h). The round is then decided
 * again, on all of them. *is_due: it was not yet. */
static int confirm(struct vprof_iteration *it, int *is_due, struct vprof_error *err)
{
	struct vprof_round *round = &it->session.rounds[it->session.n_rounds - 1];
	size_t most = repeats_max(it);
	int rc = VPROF_OK;

	*is_due = 0;
	if (it->options->live || it->options->repeat || it->session.n_rounds < 2)
		return VPROF_OK;
	if (!it->results)
		rc = load_last(it, err);
	while (!rc && vprof_repeat_judge(it->results, most) == VPROF_REPEAT_MORE) {
		*is_due = 1;
		it->measured = vprof_measured_now(&it->session); /* what --max kept from being opened is not */
		round->n_runs_wanted = vprof_repeat_next(round->n_runs, most);
		round->state = VPROF_ROUND_BUILT;
		if (!it->is_brief)
			vprof_say("round %zu again: do its shares hold from run to run?", it->session.n_rounds - 1);
		rc = complete_round(it, err);
	}
	return rc;
}

/* Why a round that was repeated is the last one, by rule. */
static enum vprof_ending repeated_ending(const struct vprof_iteration *it)
{
	const struct vprof_iteration_options *o = it->options;

	if (is_unsettled(it))
		return VPROF_ENDING_UNSETTLED;
	return o->automatic && !o->live && !o->repeat && it->results->n_runs >= VPROF_REPEATS_MIN &&
			       repeats_left(&it->session, it->session.n_rounds) < VPROF_REPEATS_MIN ?
		       VPROF_ENDING_REPEATED :
		       VPROF_ENDING_NONE;
}

static int open_round(struct vprof_iteration *it, int *changed, struct vprof_error *err)
{
	struct vprof_session *s = &it->session;
	int rc = vprof_round_open(&it->workspace, s, changed, err);

	if (!rc && *changed && it->options->repeat) {
		s->rounds[s->n_rounds - 1].n_runs_wanted = (size_t)it->options->repeat;
		rc = save(it, err);
	}
	return rc;
}

static int next_round(struct vprof_iteration *it, struct vprof_error *err)
{
	struct vprof_session *s = &it->session;
	enum vprof_ending why = VPROF_ENDING_NONE;
	int changed = 0, is_due, rc = VPROF_OK;

	if (s->n_rounds && !it->results)
		rc = load_last(it, err);
	if (!rc && s->n_rounds)
		why = repeated_ending(it);
	if (rc || why)
		return rc ? rc : end(it, why, err);
	if (s->n_rounds <= (size_t)it->options->max)
		rc = open_round(it, &changed, err);
	if (rc || changed)
		return rc;
	rc = confirm(it, &is_due, err);
	if (rc || is_due)
		return rc;
	if (s->n_rounds > (size_t)it->options->max)
		return end(it, VPROF_ENDING_MAX, err);
	why = vprof_ending_of(it->results, s);
	return why ? end(it, why, err) : vprof_error_no_memory(err);
}

static int drill_down(struct vprof_iteration *it, int *stopped, struct vprof_error *err)
{
	struct vprof_session *s = &it->session;
	int rc = VPROF_OK;

	*stopped = 0;
	if (s->ending && it->options->max >= (long)s->n_rounds && s->ending != VPROF_ENDING_MAX)
		return VPROF_OK;
	s->ending = VPROF_ENDING_NONE; /* more rounds are allowed now */
	while (!rc && !*stopped && !s->ending) {
		if (it->live && vprof_live_rounds_is_time_over(it->live) && s->n_rounds &&
		    s->rounds[s->n_rounds - 1].state >= VPROF_ROUND_ANALYSED) {
			it->is_time_over = 1;
			return VPROF_OK;
		}
		if (!s->n_rounds || s->rounds[s->n_rounds - 1].state == VPROF_ROUND_DECIDED) {
			rc = next_round(it, err);
			continue;
		}
		rc = complete_round(it, err);
		if (!rc && s->n_rounds == 1)
			rc = decide_start(it, err);
		else if (!rc)
			rc = decide_round(it, stopped, err);
	}
	return rc;
}

/* Whole percents, never "-0". */
static double percent(double share)
{
	return round(100 * share) + 0.0;
}

/* How often the last round ran, and what that told. "Settled" is said of causes. */
static void tell_repeats(const struct vprof_iteration *it)
{
	const struct vprof_results *r = it->results;
	const struct vprof_factor *widest = vprof_repeat_widest(r);
	unsigned long long n = r->n_runs;
	enum vprof_repeat told;

	if (n < 2)
		return;
	if (n < VPROF_REPEATS_MIN) {
		printf("Its last round ran %llu times; how runs differ is known from %d on (--repeat).\n\n", n,
		       VPROF_REPEATS_MIN);
		return;
	}
	told = vprof_repeat_judge(r, n < VPROF_REPEATS_MAX ? VPROF_REPEATS_MAX : n);
	if (told == VPROF_REPEAT_KNOWN && vprof_repeat_is_narrow(r))
		printf("Its last round ran %llu times: the shares of the chosen factors are known to within 20 points.\n\n",
		       n);
	else if (!widest || !isfinite(widest->share_high))
		printf("Its last round ran %llu times.\n\n", n);
	else if (told == VPROF_REPEAT_KNOWN)
		printf("Its last round ran %llu times, which settles the causes of the chosen factors, but not each share to "
		       "within 20 points: %s, %.0f .. %.0f %% of the variance.\n\n",
		       n, widest->name, percent(widest->share_low), percent(widest->share_high));
	else
		printf("Its last round ran %llu times. Runs differ, so that one share is still not known to within 20 points: "
		       "%s, %.0f .. %.0f %% of the variance.%s Longer runs (more requests in each) or a quieter "
		       "machine tell more, or more runs of the same build: vprof iterate --repeat %llu.\n\n",
		       n, widest->name, percent(widest->share_low), percent(widest->share_high),
		       told == VPROF_REPEAT_FUTILE ? " A few runs more would not change that." : "", 2 * n);
}

/* The last report, with the verdicts, and where all of it lies. */
static int conclude(struct vprof_iteration *it, int stopped, struct vprof_error *err)
{
	const struct vprof_session *s = &it->session;
	const char *run = it->told.s;
	const struct vprof_project *p = &it->workspace.project;
	uint32_t chosen[VPROF_K_MAX];
	char *folder, *ending;
	int rc;

	if (!it->results) {
		rc = load_last(it, err);
		if (rc)
			return rc;
	}
	if (it->options->json)
		return VPROF_OK;
	if (stopped) {
		vprof_say("stopped; resume with: vprof iterate");
		return VPROF_OK;
	}
	vprof_decide_verdicts(it->results, s);
	folder = vprof_project_run_path(p, run, "");
	ending = vprof_ending_tell(it->results, s);
	if (it->is_time_over)
		printf("The time is over after %zu round%s; the drill-down can go on: %s.\n\n", s->n_rounds - 1,
		       s->n_rounds == 2 ? "" : "s",
		       it->options->attachment ? "vprof live with the same process" : "vprof iterate");
	else
		printf("The drill-down is over after %zu round%s: %s.\n\n", s->n_rounds - 1,
		       s->n_rounds == 2 ? "" : "s", ending ? ending : vprof_ending_texts[s->ending]);
	free(ending);
	tell_repeats(it);
	rc = vprof_step_print_report(it->results, chosen, choose(it, chosen), 0, err);
	if (!rc && folder)
		printf("\nFull report: %s/results.json and %s/report.txt\n"
		       "vprof restore puts the original objects back; vprof %s --restart begins again.\n",
		       vprof_project_shown(folder), vprof_project_shown(folder),
		       it->options->attachment ? "live" : "iterate");
	free(folder);
	return rc;
}

/* One build and one start of the program for all rounds. */
static int begin_live(struct vprof_iteration *it, struct vprof_error *err)
{
	double longest_s = it->options->round > 0 ? (double)it->options->round : VPROF_LIVE_LONGEST_S;
	long grace = it->options->grace;
	const struct vprof_live_rounds_options o = { .seed = (uint64_t)it->options->seed,
						     .first_s = fmin(VPROF_LIVE_FIRST_S, longest_s),
						     .longest_s = longest_s,
						     .is_automatic = it->options->automatic,
						     .rounds_max = it->options->max,
						     .grace_s = grace > 0 ? (double)grace : VPROF_LIVE_GRACE_S,
						     .attachment = it->options->attachment,
						     .is_brief = it->is_brief,
						     .for_s = it->options->for_s };

	it->session.is_live = 1;
	it->session.effect = it->options->effect >= 0 ? it->options->effect : VPROF_LIVE_EFFECT;
	return vprof_live_rounds_new(&it->live, &it->workspace, &o, err);
}

int vprof_iterate(struct vprof_iteration *it, struct vprof_error *err)
{
	int stopped = 0, rc;

	vprof_session_init(&it->session);
	rc = vprof_workspace_open(&it->workspace, "iterate", err);
	if (!rc)
		rc = open_session(it, err);
	if (!rc)
		rc = need_commands(it, err);
	if (!rc)
		rc = vprof_workspace_load_facts(&it->workspace, err);
	if (!rc)
		rc = vprof_workspace_check(&it->workspace, err);
	if (!rc && it->options->live)
		rc = begin_live(it, err);
	if (!rc)
		rc = drill_down(it, &stopped, err);
	if (rc == VPROF_ERR_INCONCLUSIVE && it->live && vprof_live_rounds_is_time_over(it->live) &&
	    it->session.n_rounds > 1)
		rc = fall_back(it, err);
	if (it->live) {
		int ended = vprof_live_rounds_free(it->live, rc ? NULL : err);

		rc = rc ? rc : ended;
	}
	if ((!rc || (rc == VPROF_ERR_INCONCLUSIVE && it->results)) && !it->told.s[0])
		it->told = it->session.rounds[it->session.n_rounds - 1].run;
	if (!rc)
		return conclude(it, stopped, err);
	/* An inconclusive run says why; that is what a person needs to see. */
	if (rc == VPROF_ERR_INCONCLUSIVE && it->results && !it->options->json) {
		putchar('\n');
		vprof_step_print_report(it->results, NULL, 0, 0, NULL);
		fflush(stdout);
	}
	return rc;
}

void vprof_iteration_release(struct vprof_iteration *it)
{
	forget_results(it);
	vprof_session_release(&it->session);
	vprof_workspace_release(&it->workspace);
}
