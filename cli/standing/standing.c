/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/standing/standing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/check/annotations.h"
#include "cli/drilldown/ending.h"
#include "cli/lock.h"
#include "cli/options.h"
#include "common/facts/facts.h"
#include "common/files.h"
#include "report/format_value.h"

#define MUCH_BYTES (1u << 30) /* of traces: worth a word */

const char *const vprof_stage_names[VPROF_STAGE_COUNT] = { "nothing",	"recorded",    "damaged",  "drafted",
							   "annotated", "interrupted", "drilling", "ended" };

struct reading {
	struct vprof_standing *out;
	const struct vprof_project *p;
	struct vprof_session session;
	struct vprof_annotations *annotations;
	struct vprof_results *results; /* of out->at */
};

__attribute__((format(printf, 2, 3))) static int say(char **to, const char *fmt, ...)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	va_list ap;

	va_start(ap, fmt);
	vprof_text_vaddf(&text, fmt, ap);
	va_end(ap);
	free(*to);
	*to = vprof_text_detach(&text);
	return *to ? VPROF_OK : VPROF_ERR_NOMEM;
}

__attribute__((format(printf, 3, 4))) static void advise(struct vprof_standing *s, const char *why, const char *fmt,
							 ...)
{
	struct vprof_next_step *step = &s->next[s->n_next];
	va_list ap;

	if (s->n_next == VPROF_NEXT_MAX)
		return;
	s->n_next++;
	step->why = why;
	va_start(ap, fmt);
	vsnprintf(step->command, sizeof step->command, fmt, ap);
	va_end(ap);
}

/* `vprof init -- BUILD` as a shell takes it. */
static void advise_init(struct vprof_standing *s, const char *build)
{
	char command[] = "vprof", init[] = "init", end[] = "--", *words[] = { command, init, end, (char *)build };
	const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_-+:,./ ";
	char *quoted = build[strspn(build, plain)] ? vprof_options_shell(words, 4) : NULL;
	int is_usable = strlen(quoted ? quoted : build) < sizeof s->next->command - sizeof "vprof init -- ";

	for (const char *c = build; *c; c++)
		is_usable &= (unsigned char)*c >= ' ' && *c != 127;
	if (!is_usable)
		advise(s, "observes one build: that of vprof.json", "vprof init -- COMMAND");
	else if (quoted)
		advise(s, "observes one build", "%s", quoted);
	else
		advise(s, "observes one build", "vprof init -- %s", build);
	free(quoted);
}

static int exists_in(const struct vprof_project *p, const char *name)
{
	char *path = vprof_path_join(p->vprof_dir, name);
	int there = path && !access(path, F_OK);

	free(path);
	return there;
}

/* The last run with what is asked for. */
static const struct vprof_run_entry *last_with(const struct vprof_run_list *runs, unsigned parts)
{
	for (size_t i = runs->n; i--;)
		if ((runs->items[i].parts & parts) == parts)
			return &runs->items[i];
	return NULL;
}

static int stand_without_config(struct reading *g)
{
	struct vprof_standing *s = g->out;
	const struct vprof_run_entry *last = last_with(&s->runs, VPROF_RUN_TRACE);

	if (!last) {
		s->stage = VPROF_STAGE_NOTHING;
		advise(s, "see what a program waits for; it need not be rebuilt", "vprof record -- COMMAND");
		advise(s, "find the functions that make its requests slow: observes one build", "vprof init -- make");
		return say(&s->sentence, "there is no project here: no vprof.json in this folder or above it");
	}
	s->stage = VPROF_STAGE_RECORDED;
	if (last->parts & VPROF_RUN_KERNEL)
		advise(s, "which waits limit throughput", "vprof report waits %s", last->name.s);
	if (last->parts & VPROF_RUN_STACKS)
		advise(s, "how long its functions take", "vprof report latency %s", last->name.s);
	if (last->parts & VPROF_RUN_PATHS)
		advise(s, "which way its requests take", "vprof report paths %s", last->name.s);
	advise(s, "find the functions that make its requests slow: observes one build", "vprof init -- make");
	return say(&s->sentence, "%s recording%s; nothing is annotated yet: there is no vprof.json",
		   vprof_format_count(s->runs.n).s, s->runs.n == 1 ? "" : "s");
}

static int stand_damaged(struct reading *g, const char *message)
{
	g->out->stage = VPROF_STAGE_DAMAGED;
	return say(&g->out->damage, "%s", vprof_project_shown(message)) ||
	       say(&g->out->sentence, "a file cannot be read");
}

/* vprof.json is there, no drill-down. */
static int stand_annotated(struct reading *g)
{
	struct vprof_standing *s = g->out;
	const struct vprof_annotations *a = g->annotations;

	if (!a->n_intervals || !a->run) {
		s->stage = VPROF_STAGE_DRAFTED;
		advise(s,
		       !a->run ? "give the command that runs the load (\"run\")" :
				 "say where a request begins and ends",
		       "$EDITOR vprof.json");
		advise(s, "checks it against the sources", "vprof annotations");
		return say(&s->sentence, "vprof.json is a draft: it has %s",
			   !a->n_intervals ? "no interval yet" : "no command to run yet");
	}
	s->stage = VPROF_STAGE_ANNOTATED;
	if (access(g->p->facts, F_OK) && !a->compile_commands && !exists_in(g->p, "compile_commands.json")) {
		advise_init(s, a->build ? a->build : "make");
		return say(&s->sentence,
			   "vprof.json marks %s interval%s; how the program is built was not observed yet",
			   vprof_format_count(a->n_intervals).s, a->n_intervals == 1 ? "" : "s");
	}
	advise(s, "builds, runs, analyses and drills down", "vprof iterate");
	advise(s, "checks vprof.json against the sources", "vprof annotations");
	return say(&s->sentence, "vprof.json marks %s interval%s; %s", vprof_format_count(a->n_intervals).s,
		   a->n_intervals == 1 ? "" : "s",
		   s->at ? "single runs were analysed, no drill-down has begun" : "nothing was measured yet");
}

static void advise_on_answer(struct vprof_standing *s)
{
	if (s->at && s->n_open)
		advise(s, "say what its causes are: culprit, inherent, fixed, ...", "vprof review");
	if (s->at)
		advise(s, "look at them in a browser", "vprof report --html");
}

static int stand_in_session(struct reading *g)
{
	static const char *const done[] = { [VPROF_ROUND_OPEN] = "before its build was done",
					    [VPROF_ROUND_BUILT] = "after its build",
					    [VPROF_ROUND_RAN] = "after its run",
					    [VPROF_ROUND_ANALYSED] = "before its decision" };
	struct vprof_standing *s = g->out;
	size_t n = g->session.n_rounds;
	const struct vprof_round *last = &g->session.rounds[n - 1];
	char *ending;
	int rc;

	if (last->state != VPROF_ROUND_DECIDED) {
		s->stage = VPROF_STAGE_INTERRUPTED;
		if (!s->is_busy)
			advise(s, "goes on where it stopped", "vprof iterate");
		return say(&s->sentence, "round %zu of the drill-down %s %s", n - 1,
			   s->is_busy ? "is at work," : "was interrupted", done[last->state]);
	}
	if (g->session.ending == VPROF_ENDING_NONE) {
		s->stage = VPROF_STAGE_DRILLING;
		advise(s, "the next round measures what is in them", "vprof iterate");
		advise_on_answer(s);
		return say(&s->sentence, "%zu round%s of the drill-down done; it is not over", n, n == 1 ? "" : "s");
	}
	s->stage = VPROF_STAGE_ENDED;
	advise_on_answer(s);
	if (g->session.ending == VPROF_ENDING_MAX)
		advise(s, "goes on with more rounds", "vprof iterate --max %zu", 2 * n);
	if (s->has_probes)
		advise(s, "puts the original objects and binaries back", "vprof restore");
	ending = vprof_ending_tell(g->results, &g->session);
	rc = ending ? say(&s->sentence, "the drill-down is over after %zu round%s: %s", n, n == 1 ? "" : "s", ending) :
		      VPROF_ERR_NOMEM;
	free(ending);
	return rc;
}

/* What is newer than what was measured. */
static int find_stale(struct reading *g)
{
	struct vprof_standing *s = g->out;
	struct vprof_error why = { "" };
	struct vprof_facts *facts = NULL;
	char hash[17] = "";
	int rc = VPROF_OK;

	if (g->session.n_rounds && !vprof_file_hash(g->p->config, hash, &why) &&
	    strcmp(hash, g->session.annotations_hash))
		rc = say(&s->stale,
			 "vprof.json changed since the drill-down began: vprof iterate --restart begins anew");
	if (!rc && !*s->stale && !vprof_facts_open(&facts, g->p->facts, &why) &&
	    vprof_facts_check_fresh(facts, &why) == VPROF_ERR_STALE)
		rc = say(&s->stale, "%s; the next build scans again", vprof_project_shown(why.message));
	vprof_facts_free(facts);
	return rc;
}

static int read_answer(struct reading *g)
{
	struct vprof_standing *s = g->out;
	struct vprof_error ignored = { "" };
	char *path;

	s->at = last_with(&s->runs, VPROF_RUN_RESULTS);
	path = s->at ? vprof_project_run_path(g->p, s->at->name.s, "results.json") : NULL;
	if (path && !vprof_results_read(&g->results, path, &ignored))
		for (size_t i = 0; i < g->results->n_causes; i++)
			s->n_open += g->results->causes[i].share >= g->session.threshold &&
				     !vprof_reviews_find(&g->session.reviews, g->results->interval,
							 g->results->causes[i].key);
	free(path);
	return s->at && !path ? VPROF_ERR_NOMEM : VPROF_OK;
}

static int stand(struct reading *g, int session, const struct vprof_error *session_error)
{
	struct vprof_standing *s = g->out;
	struct vprof_error err = { "" };

	if (!g->p->has_config)
		return stand_without_config(g);
	if (vprof_annotations_read(&g->annotations, g->p->config, &err))
		return stand_damaged(g, err.message);
	if (session && session != VPROF_ERR_MISSING)
		return stand_damaged(g, session_error->message);
	if (read_answer(g) || find_stale(g))
		return VPROF_ERR_NOMEM;
	if (g->session.n_rounds)
		return stand_in_session(g);
	return stand_annotated(g) || (s->at && (advise_on_answer(s), 0));
}

int vprof_standing_read(struct vprof_standing *out, const struct vprof_project *p, struct vprof_error *err)
{
	struct reading g = { .out = out, .p = p };
	struct vprof_error why = { "" };
	int rc, session;

	*out = (struct vprof_standing){ .sentence = strdup(""), .stale = strdup(""), .damage = strdup("") };
	vprof_session_init(&g.session);
	session = vprof_session_open(&g.session, p, &why);
	out->is_busy = vprof_project_busy(p, out->holder, sizeof out->holder);
	out->has_probes = exists_in(p, "original.json");
	rc = out->sentence && out->stale && out->damage ? VPROF_OK : vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_run_list_read(&out->runs, p, &g.session, err);
	if (!rc && stand(&g, session, &why))
		rc = vprof_error_no_memory(err);
	if (!rc && out->runs.trace_bytes > MUCH_BYTES)
		advise(out, "removes traces that are no longer needed", "vprof clean --dry-run");
	vprof_results_free(g.results);
	vprof_annotations_free(g.annotations);
	vprof_session_release(&g.session);
	return rc;
}

void vprof_standing_release(struct vprof_standing *s)
{
	free(s->sentence);
	free(s->stale);
	free(s->damage);
	vprof_run_list_release(&s->runs);
}
