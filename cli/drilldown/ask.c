/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invariant: questions and decisions go to stderr, answers come from stdin, one letter in each line. */
#include "cli/drilldown/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/drilldown/decide.h"
#include "common/files.h"
#include "report/format_value.h"
#include "report/report.h"

#define SOURCE_LINES 40

static int is_frame(const struct vprof_factor *f)
{
	return f->kind == VPROF_FACTOR_VARIANCE &&
	       (f->node_kind == VPROF_NODE_FUNCTION || f->node_kind == VPROF_NODE_POINTER);
}

/* The cause's rank and name, then the factor's where it is another one; without causes the factor's own rank. */
static void print_name(const struct vprof_ask *ask, size_t index)
{
	const struct vprof_results *r = ask->results;
	const char *factor = r->factors[index].name;
	size_t cause = vprof_results_cause_of(r, index);
	struct vprof_text name = VPROF_TEXT_INIT;

	if (!r->n_causes)
		vprof_text_addf(&name, "%zu ", index + 1);
	else if (cause < r->n_causes)
		vprof_text_addf(&name, "%zu ", cause + 1);
	else
		vprof_text_add(&name, "- ");
	if (cause < r->n_causes && strcmp(r->causes[cause].name, factor)) {
		vprof_format_cut(&name, r->causes[cause].name, 40, 1, 0);
		vprof_text_add(&name, ", ");
	}
	vprof_format_cut(&name, factor, 60, 1, 0);
	fputs(name.s, stderr);
	vprof_text_release(&name);
}

/* Adds the wakers of the factor's waits and of those that its cause goes through: the function in which their holder
 * begins may be none that was chosen. Returns how many are new, or NOMEM. */
static int add_wakers_of(const struct vprof_ask *ask, struct vprof_session *s, const struct vprof_factor *f)
{
	const struct vprof_results *r = ask->results;
	size_t cause = vprof_results_cause_of(r, (size_t)(f - r->factors));
	int added = vprof_decide_wakers(s, r, f, ask->workspace->facts);

	for (size_t i = 0; added >= 0 && cause < r->n_causes && i < r->causes[cause].n_factors; i++) {
		const struct vprof_factor *part = &r->factors[r->causes[cause].factors[i]];
		int rc = part == f ? 0 : vprof_decide_wakers(s, r, part, ask->workspace->facts);

		added = rc < 0 ? rc : added + rc;
	}
	return added;
}

int vprof_ask_break_down(const struct vprof_ask *ask, const struct vprof_factor *f)
{
	struct vprof_name_list targets = { 0 };
	int rc = vprof_decide_targets(ask->results, ask->plan, f, &targets), added = 0;

	for (size_t i = 0; i < targets.n && rc >= 0; i++) {
		rc = vprof_name_list_add(&ask->session->broken_down, targets.items[i].name, targets.items[i].file,
					 targets.items[i].caller);
		added += rc > 0;
		if (rc > 0 && !*targets.items[i].caller)
			rc = vprof_decide_look_ahead(ask->session, ask->workspace->facts, targets.items[i].name,
						     targets.items[i].file);
	}
	vprof_name_list_release(&targets);
	if (rc >= 0)
		rc = vprof_decide_every_call(ask->results, ask->plan, f, &ask->session->every_call);
	if (rc > 0)
		added += rc;
	if (rc >= 0)
		rc = add_wakers_of(ask, ask->session, f);
	if (rc >= 0 && added && is_frame(f) && vprof_session_judge(ask->session, f->key, VPROF_VERDICT_BROKEN_DOWN))
		rc = VPROF_ERR_NOMEM;
	return rc < 0 ? rc : added + rc;
}

static int is_settled(const struct vprof_results *r, size_t index)
{
	size_t cause = vprof_results_cause_of(r, index);

	return cause < r->n_causes && r->causes[cause].status == VPROF_CAUSE_SETTLED;
}

/* A decision by rule, after the factor's name. */
static void tell(const struct vprof_ask *ask, size_t index, const char *decision)
{
	if (ask->is_brief)
		return;
	print_name(ask, index);
	fprintf(stderr, ": %s\n", decision);
}

static int decide_by_rule(const struct vprof_ask *ask, size_t index)
{
	const struct vprof_factor *f = &ask->results->factors[index];
	int added = vprof_ask_break_down(ask, f);

	if (added < 0)
		return added;
	if (added) {
		tell(ask, index,
		     f->kind == VPROF_FACTOR_VARIANCE && f->node_kind == VPROF_NODE_UNDIVIDED ?
			     "every call of its hot functions will be recorded next" :
			     "broken down");
		return VPROF_OK;
	}
	if (vprof_factor_is_explained(ask->results, f)) {
		tell(ask, index, "caused by what is measured beneath it");
		return vprof_session_judge(ask->session, f->key, VPROF_VERDICT_BROKEN_DOWN);
	}
	tell(ask, index,
	     is_settled(ask->results, index) ? "culprit, as specific as it gets" : "candidate, as specific as it gets");
	return vprof_session_judge(ask->session, f->key, VPROF_VERDICT_CULPRIT);
}

/* The lines of a text file from `line` on. */
static void print_lines(const char *path, int line, int last)
{
	struct vprof_text text = VPROF_TEXT_INIT, clean = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	const char *at;

	if (vprof_file_read(path, &text, &err)) {
		fprintf(stderr, "%s\n", err.message);
		vprof_text_release(&text);
		return;
	}
	at = text.s;
	for (int n = 1; *at && n <= last; n++) {
		size_t length = strcspn(at, "\n");

		if (n >= line) {
			char *copy = strndup(at, length);

			vprof_text_clear(&clean);
			for (char *c = copy; c && *c; c++)
				if (*c == '\t')
					vprof_text_add(&clean, "    ");
				else
					vprof_text_append(&clean, c, 1);
			free(copy);
			fprintf(stderr, "%6d  ", n);
			copy = vprof_text_detach(&clean);
			vprof_format_clean(&clean, copy ? copy : "");
			free(copy);
			fprintf(stderr, "%s\n", clean.s);
		}
		at += length + (at[length] == '\n');
	}
	vprof_text_release(&text);
	vprof_text_release(&clean);
}

/* Where the factor weighs most: a function from its definition on, a call site with what stands around it. */
static void show_source(const struct vprof_ask *ask, const struct vprof_factor *f)
{
	const struct vprof_results *r = ask->results;
	const struct vprof_node *n;
	const struct vprof_probe *probe;
	char *path;
	int line, last;

	n = vprof_factor_node(r, f);
	if (!n)
		return;
	while (n->kind == VPROF_NODE_BODY || n->kind == VPROF_NODE_WAIT || n->kind == VPROF_NODE_QUEUED ||
	       n->kind == VPROF_NODE_PREEMPTED || n->kind == VPROF_NODE_UNDIVIDED)
		n = &r->nodes[n->parent];
	if (!n->file || !*n->file) {
		fprintf(stderr, "no source is known for it\n");
		return;
	}
	probe = vprof_plan_probe(ask->plan, n->code);
	line = n->line;
	last = line + SOURCE_LINES - 1;
	if (n->kind == VPROF_NODE_FUNCTION && probe) {
		const struct vprof_facts_function *fact = vprof_facts_function(ask->workspace->facts, probe->fact_id);

		if (fact && fact->end_line >= line && fact->end_line < last)
			last = fact->end_line;
	} else {
		line = line > 6 ? line - 6 : 1;
		last = line + 14;
	}
	path = vprof_path_absolute(ask->plan->root, n->file);
	fprintf(stderr, "%s:%d\n", n->file, n->line);
	if (path)
		print_lines(path, line, last);
	free(path);
}

/* One answer letter; 0 when the input ended. */
static int read_letter(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n = getline(&line, &size, stdin);
	int letter = 0;

	if (n > 0) {
		letter = line[strspn(line, " \t")];
		letter = letter == '\r' ? '\n' : letter;
	}
	free(line);
	return letter;
}

static void print_question(const struct vprof_ask *ask, size_t index, int can_break)
{
	const struct vprof_factor *f = &ask->results->factors[index];

	print_name(ask, index);
	if (can_break && f->n_unmeasured)
		fprintf(stderr,
			": [b]reak down (instruments %s callee%s)  [c]ulprit  [i]nherent  i[g]nore  [s]how source  "
			"[q]uit > ",
			vprof_format_count(f->n_unmeasured).s, f->n_unmeasured == 1 ? "" : "s");
	else if (can_break)
		fprintf(stderr, ": [b]reak down  [c]ulprit  [i]nherent  i[g]nore  [s]how source  [q]uit > ");
	else
		fprintf(stderr, " is %s. [c]ulprit  [i]nherent  i[g]nore  [s]how source  [q]uit > ",
			vprof_factor_is_explained(ask->results, f) ? "caused by what is measured beneath it" :
								     "as specific as it gets");
	fflush(stderr);
}

static int copy_names(struct vprof_name_list *to, const struct vprof_name_list *from)
{
	int rc = 0;

	for (size_t i = 0; i < from->n && rc >= 0; i++)
		rc = vprof_name_list_add(to, from->items[i].name, from->items[i].file, from->items[i].caller);
	return rc;
}

static int has_new_wakers(const struct vprof_ask *ask, const struct vprof_factor *f)
{
	struct vprof_session copy;
	int rc;

	vprof_session_init(&copy);
	rc = copy_names(&copy.roots, &ask->session->roots);
	if (rc >= 0)
		rc = copy_names(&copy.broken_down, &ask->session->broken_down);
	if (rc >= 0)
		rc = add_wakers_of(ask, &copy, f);
	vprof_session_release(&copy);
	return rc;
}

enum prospect { NOTHING_BENEATH, CAN_BREAK_DOWN, BROKEN_DOWN_ALREADY };

/* What breaking down would do; decided on copies, so that a question changes nothing. BROKEN_DOWN_ALREADY: another
 * answer of this round, perhaps given before an interruption, did it. */
static int prospect_of(const struct vprof_ask *ask, const struct vprof_factor *f)
{
	struct vprof_name_list targets = { 0 };
	int rc = vprof_decide_targets(ask->results, ask->plan, f, &targets), prospect = NOTHING_BENEATH;

	if (targets.n)
		prospect = BROKEN_DOWN_ALREADY;
	for (size_t i = 0; i < targets.n; i++)
		if (!vprof_name_list_has(&ask->session->broken_down, targets.items[i].name, targets.items[i].file,
					 targets.items[i].caller))
			prospect = CAN_BREAK_DOWN;
	vprof_name_list_release(&targets);
	if (rc >= 0)
		rc = vprof_decide_every_call(ask->results, ask->plan, f, &targets);
	for (size_t i = 0; i < targets.n; i++) {
		const struct vprof_name *t = &targets.items[i];

		if (!vprof_name_list_has(&ask->session->every_call, t->name, t->file, t->caller))
			prospect = CAN_BREAK_DOWN;
		else if (prospect == NOTHING_BENEATH)
			prospect = BROKEN_DOWN_ALREADY;
	}
	vprof_name_list_release(&targets);
	if (rc >= 0 && prospect == NOTHING_BENEATH) {
		rc = has_new_wakers(ask, f);
		prospect = rc > 0 ? CAN_BREAK_DOWN : prospect;
	}
	return rc < 0 ? rc : prospect;
}

/* A person's answer is of the cause, and kept beyond the drill-down; where that fails it holds for the factor in this
 * one. */
static int judge(const struct vprof_ask *ask, size_t index, enum vprof_verdict verdict)
{
	const struct vprof_results *r = ask->results;
	const struct vprof_factor *f = &r->factors[index];
	size_t at = vprof_results_cause_of(r, index);
	const struct vprof_cause *cause = at < r->n_causes ? &r->causes[at] : NULL;
	struct vprof_review review = { .interval = (char *)r->interval,
				       .key = (char *)(cause ? cause->key : f->key),
				       .name = (char *)(cause ? cause->name : f->name),
				       .verdict = verdict,
				       .run = (char *)r->run };
	struct vprof_error err = { "" };

	if (!vprof_reviews_set(&ask->session->reviews, ask->workspace->project.verdicts, &review, &err))
		return VPROF_OK;
	vprof_tell("%s", err.message);
	return vprof_session_judge(ask->session, f->key, verdict);
}

static int ask_one(const struct vprof_ask *ask, size_t index, int *stopped)
{
	const struct vprof_factor *f = &ask->results->factors[index];
	int can_break = prospect_of(ask, f) == CAN_BREAK_DOWN, rc;

	for (;;) {
		print_question(ask, index, can_break);
		switch (read_letter()) {
		case 0:
		case 'q':
			fputc('\n', stderr);
			*stopped = 1;
			return VPROF_OK;
		case 'b':
			rc = vprof_ask_break_down(ask, f);
			if (rc)
				return rc < 0 ? rc : VPROF_OK;
			fprintf(stderr, "nothing beneath it can be measured\n");
			can_break = 0;
			break;
		case 'c':
			return judge(ask, index, VPROF_VERDICT_CULPRIT);
		case 'i':
			return judge(ask, index, VPROF_VERDICT_INHERENT);
		case 'g':
			return judge(ask, index, VPROF_VERDICT_IGNORE);
		case 's':
			show_source(ask, f);
			break;
		default:
			fprintf(stderr, "answer with one of the letters in brackets\n");
		}
	}
}

/* Would a rule break it down? 1, 0 or NOMEM. */
static int leads_on(const struct vprof_ask *ask, size_t index)
{
	const struct vprof_factor *f = &ask->results->factors[index];
	enum vprof_verdict verdict = vprof_decide_verdict(ask->results, ask->session, f);
	int prospect = prospect_of(ask, f);

	if (prospect < 0)
		return prospect;
	return prospect == CAN_BREAK_DOWN && (!verdict || verdict == VPROF_VERDICT_BROKEN_DOWN);
}

int vprof_ask_way_down(const struct vprof_ask *ask, size_t *first)
{
	size_t n_factors = ask->results->n_factors, n, i;
	char *seen = calloc(n_factors + 1, 1);
	uint32_t chosen[VPROF_K_MAX];
	int rc = seen ? 0 : VPROF_ERR_NOMEM;

	*first = n_factors;
	n = vprof_decide_choose(ask->results, ask->session, chosen, (size_t)ask->session->k);
	for (i = 0; i < n && !rc; i++) {
		seen[chosen[i]] = 1;
		rc = leads_on(ask, chosen[i]);
		if (rc > 0)
			*first = chosen[i];
	}
	while (!rc && (i = vprof_decide_heaviest_open(ask->results, ask->session, seen)) < n_factors) {
		seen[i] = 1;
		rc = leads_on(ask, i);
		if (rc > 0)
			*first = i;
	}
	free(seen);
	return rc < 0 ? rc : VPROF_OK;
}

/* One factor that may need a decision. */
static int decide(const struct vprof_ask *ask, size_t index, int *stopped)
{
	const struct vprof_factor *f = &ask->results->factors[index];
	enum vprof_verdict verdict = vprof_decide_verdict(ask->results, ask->session, f);
	int prospect = prospect_of(ask, f);

	if (prospect < 0)
		return prospect;
	if (prospect == BROKEN_DOWN_ALREADY) {
		tell(ask, index, "broken down");
		return is_frame(f) ? vprof_session_judge(ask->session, f->key, VPROF_VERDICT_BROKEN_DOWN) : VPROF_OK;
	}
	if (verdict && verdict != VPROF_VERDICT_BROKEN_DOWN)
		return VPROF_OK;
	return ask->automatic ? decide_by_rule(ask, index) : ask_one(ask, index, stopped);
}

/* A wait whose causes nobody measured yet looks less specific than it is, and may not be chosen for that: one that
 * weighs as much as the least of the chosen gets its wakers measured too. */
static int add_wakers(const struct vprof_ask *ask, const char *seen)
{
	const struct vprof_results *r = ask->results;
	double least = 1;
	int rc = 0;

	for (size_t i = 0; i < r->n_factors; i++)
		if (seen[i] && r->factors[i].share < least)
			least = r->factors[i].share;
	for (size_t i = 0; i < r->n_factors && rc >= 0; i++) {
		const struct vprof_factor *f = &r->factors[i];

		if (seen[i] || f->share < least || vprof_decide_verdict(r, ask->session, f) ||
		    !vprof_decide_wants_wakers(r, f))
			continue;
		rc = vprof_decide_wakers(ask->session, r, f, ask->workspace->facts);
		if (rc > 0)
			tell(ask, i, "its wakers will be measured next");
	}
	return rc < 0 ? rc : VPROF_OK;
}

/* While the chosen factors leave room for it, up to k new functions a round: what nothing measured explains. */
static int decide_open(const struct vprof_ask *ask, size_t n_before, char *seen, int *stopped)
{
	const struct vprof_session *s = ask->session;
	size_t i;
	int rc = VPROF_OK;

	while (!rc && !*stopped && s->broken_down.n < n_before + (size_t)s->k) {
		i = vprof_decide_heaviest_open(ask->results, s, seen);
		if (i == ask->results->n_factors)
			break;
		seen[i] = 1;
		rc = decide(ask, i, stopped);
	}
	return rc;
}

int vprof_ask_all(const struct vprof_ask *ask, int *stopped, struct vprof_error *err)
{
	size_t n_before = ask->session->broken_down.n;
	size_t n_factors = ask->results->n_factors, k = (size_t)ask->session->k;
	uint32_t *chosen = calloc(k + 1, sizeof *chosen);
	char *seen = calloc(n_factors + 1, 1);
	int rc = chosen && seen ? VPROF_OK : VPROF_ERR_NOMEM, again = 1;

	*stopped = 0;
	while (!rc && again && !*stopped) {
		size_t n = vprof_decide_choose(ask->results, ask->session, chosen, k);

		again = 0;
		for (size_t i = 0; i < n && !rc && !*stopped; i++) {
			if (seen[chosen[i]])
				continue;
			seen[chosen[i]] = again = 1;
			rc = decide(ask, chosen[i], stopped);
		}
	}
	if (!rc && !*stopped)
		rc = decide_open(ask, n_before, seen, stopped);
	if (!rc && ask->automatic)
		rc = add_wakers(ask, seen);
	free(chosen);
	free(seen);
	return rc ? vprof_error_set(err, rc, "out of memory") : VPROF_OK;
}
