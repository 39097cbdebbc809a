/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invariant: questions and decisions go to stderr, answers come from stdin, one letter in each line. */
#include "cli/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/decide.h"
#include "common/files.h"
#include "report/format_value.h"

#define SOURCE_LINES 40

static int is_frame(const struct vprof_factor *f)
{
	return f->kind == VPROF_FACTOR_VARIANCE &&
	       (f->node_kind == VPROF_NODE_FUNCTION || f->node_kind == VPROF_NODE_POINTER);
}

static void print_name(const struct vprof_ask *ask, size_t index)
{
	struct vprof_text name = VPROF_TEXT_INIT;

	vprof_format_cut(&name, ask->results->factors[index].name, 60, 1, 0);
	fprintf(stderr, "%zu %s", index + 1, name.s);
	vprof_text_release(&name);
}

/* Adds the targets to what is broken down. A target that encloses nothing measured yet is only reached through its
 * parents, which are. Returns how many are new, or NOMEM. */
static int break_down(const struct vprof_ask *ask, const struct vprof_factor *f)
{
	struct vprof_name_list targets = { 0 };
	int rc = vprof_decide_targets(ask->results, ask->plan, f, &targets), added = 0;
	int judged = targets.n && is_frame(f); /* also when another factor broke it down in this round */

	for (size_t i = 0; i < targets.n && rc >= 0; i++) {
		rc = vprof_name_list_add(&ask->session->broken_down, targets.items[i].name, targets.items[i].file,
					 targets.items[i].caller);
		added += rc > 0;
	}
	vprof_name_list_release(&targets);
	if (rc >= 0)
		rc = vprof_decide_wakers(ask->session, ask->results, f, ask->workspace->facts);
	if (rc >= 0 && judged && vprof_session_judge(ask->session, f->key, "broken down"))
		rc = VPROF_ERR_NOMEM;
	return rc < 0 ? rc : added + rc;
}

static int decide_by_rule(const struct vprof_ask *ask, size_t index, struct vprof_answers *answers)
{
	const struct vprof_factor *f = &ask->results->factors[index];
	int added = break_down(ask, f);

	if (added < 0)
		return added;
	print_name(ask, index);
	if (added || !strcmp(vprof_session_verdict(ask->session, f->key), "broken down")) {
		answers->n_broken_down += (size_t)added;
		fprintf(stderr, ": broken down\n");
		return VPROF_OK;
	}
	fprintf(stderr, ": culprit, as specific as it gets\n");
	return vprof_session_judge(ask->session, f->key, "culprit");
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

/* The first place of the factor: a function from its definition on, a call site with what stands around it. */
static void show_source(const struct vprof_ask *ask, const struct vprof_factor *f)
{
	const struct vprof_results *r = ask->results;
	const struct vprof_node *n;
	const struct vprof_probe *probe;
	char *path;
	int line, last;

	if (!f->n_nodes)
		return;
	n = &r->nodes[f->kind == VPROF_FACTOR_COVARIANCE ? r->covariances[f->nodes[0]].a : f->nodes[0]];
	while (n->kind == VPROF_NODE_BODY || n->kind == VPROF_NODE_WAIT || n->kind == VPROF_NODE_QUEUED)
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
		fprintf(stderr, ": [b]reak down (instruments %s callee%s)  [c]ulprit  [i]nherent  i[g]nore  [s]how source  "
			"[q]uit > ", vprof_format_count(f->n_unmeasured).s, f->n_unmeasured == 1 ? "" : "s");
	else if (can_break)
		fprintf(stderr, ": [b]reak down  [c]ulprit  [i]nherent  i[g]nore  [s]how source  [q]uit > ");
	else
		fprintf(stderr, " is as specific as it gets. [c]ulprit  [i]nherent  i[g]nore  [s]how source  [q]uit > ");
	fflush(stderr);
}

/* Whether breaking down would do anything; tried on copies, so that a question changes nothing. */
static int could_break_down(const struct vprof_ask *ask, const struct vprof_factor *f)
{
	struct vprof_name_list targets = { 0 };
	int rc = vprof_decide_targets(ask->results, ask->plan, f, &targets), fresh = 0;

	for (size_t i = 0; i < targets.n; i++)
		fresh |= !vprof_name_list_has(&ask->session->broken_down, targets.items[i].name, targets.items[i].file,
					      targets.items[i].caller);
	vprof_name_list_release(&targets);
	return rc < 0 ? rc : fresh || (f->node_kind == VPROF_NODE_WAIT && f->can_break_down);
}

static int ask_one(const struct vprof_ask *ask, size_t index, struct vprof_answers *answers)
{
	const struct vprof_factor *f = &ask->results->factors[index];
	int can_break = could_break_down(ask, f), rc;

	if (can_break < 0)
		return can_break;
	for (;;) {
		print_question(ask, index, can_break);
		switch (read_letter()) {
		case 0:
		case 'q':
			fputc('\n', stderr);
			answers->stopped = 1;
			return VPROF_OK;
		case 'b':
			rc = break_down(ask, f);
			if (rc < 0)
				return rc;
			if (rc > 0) {
				answers->n_broken_down += (size_t)rc;
				return VPROF_OK;
			}
			fprintf(stderr, "nothing beneath it can be measured\n");
			can_break = 0;
			break;
		case 'c':
			return vprof_session_judge(ask->session, f->key, "culprit");
		case 'i':
			answers->n_set_aside++;
			return vprof_session_judge(ask->session, f->key, "inherent");
		case 'g':
			answers->n_set_aside++;
			return vprof_session_judge(ask->session, f->key, "ignore");
		case 's':
			show_source(ask, f);
			break;
		default:
			fprintf(stderr, "answer with one of the letters in brackets\n");
		}
	}
}

static int is_decided(const char *verdict)
{
	return *verdict && strcmp(verdict, "broken down");
}

int vprof_ask_all(const struct vprof_ask *ask, struct vprof_answers *answers, struct vprof_error *err)
{
	int rc = VPROF_OK;

	memset(answers, 0, sizeof *answers);
	for (size_t i = 0; i < ask->n_chosen && !rc && !answers->stopped; i++) {
		const struct vprof_factor *f = &ask->results->factors[ask->chosen[i]];

		if (is_decided(vprof_session_verdict(ask->session, f->key)))
			continue;
		if (ask->automatic)
			rc = decide_by_rule(ask, ask->chosen[i], answers);
		else
			rc = ask_one(ask, ask->chosen[i], answers);
	}
	return rc ? vprof_error_set(err, rc, "out of memory") : VPROF_OK;
}
