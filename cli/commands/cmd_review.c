/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof review: what the developer says of causes and ranked factors; kept in .vprof/verdicts.json, shown by every
 * report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/drilldown/decide.h"
#include "cli/options.h"
#include "cli/drilldown/review_walk.h"
#include "cli/drilldown/verdict_list.h"
#include "common/text.h"
#include "report/format_value.h"

#define DEFAULT_TOP 10
#define LISTED 6

static const struct vprof_usage usage = {
	.synopsis =
		"review [CAUSE] [--culprit | --inherent | --ignore | --fixed | --todo | --drop] [--note TEXT] [--list]",
	.purpose =
		"Says what a cause is. CAUSE is its rank in the report, its name, a part of the name, or its key; also of\n"
		"a factor, whose rank is meant with --factors.\n"
		"Without CAUSE the causes are shown one after the other, and a verdict is asked for each.\n"
		"Verdicts are kept in .vprof/verdicts.json, across runs and drill-downs; every report shows them, and\n"
		"iterate passes over what is inherent or ignored.",
	.max_operands = 1,
	.example = "  vprof review 1 --todo --note \"why is the lock held so long?\"",
};

struct review_options {
	int given[VPROF_VERDICT_TODO + 1];
	int drop, list, json, factors;
	const char *note, *run;
	long top;
};

struct review {
	struct vprof_project project;
	struct vprof_session session;
	struct vprof_results *results; /* NULL: only the list is wanted */
};

static int open_results(struct review *rv, const char *wanted, struct vprof_error *err)
{
	struct vprof_run_name run;
	char *path;
	int rc = vprof_project_find_run(&rv->project, wanted, "results.json",
					"analyse one with: vprof analyze (or let vprof iterate do everything)", &run,
					err);

	if (rc)
		return rc;
	path = vprof_project_run_path(&rv->project, run.s, "results.json");
	rc = path ? vprof_results_read(&rv->results, path, err) : vprof_error_no_memory(err);
	free(path);
	if (!rc)
		vprof_decide_verdicts(rv->results, &rv->session);
	return rc;
}

/* How a cause or factor fits: 0 key, 1 whole name, 2 part of the name, 3 of a pair's name; 4: not at all. */
static int fit_of(const struct vprof_results *r, struct vprof_judged j, const char *wanted)
{
	const char *name = vprof_judged_name(r, j);
	int is_pair = j.is_factor ? r->factors[j.index].kind == VPROF_FACTOR_COVARIANCE :
				    r->causes[j.index].kind == VPROF_CAUSE_TOGETHER;

	return !strcmp(vprof_judged_key(r, j), wanted) ? 0 :
	       !strcmp(name, wanted)		       ? 1 :
	       !strstr(name, wanted)		       ? 4 :
							 2 + is_pair;
}

/* Those that fit best, of causes before factors: a cause stands for the factors of its name. */
static size_t find_judged(const struct vprof_results *r, const char *wanted, int factors, struct vprof_judged *found)
{
	size_t n = 0;

	for (int fit = 0; fit < 4 && !n; fit++)
		for (int is_factor = factors; is_factor < 2 && !n; is_factor++)
			for (size_t i = 0; i < (is_factor ? r->n_factors : r->n_causes) && n < LISTED; i++)
				if (fit_of(r, (struct vprof_judged){ is_factor, i }, wanted) == fit)
					found[n++] = (struct vprof_judged){ is_factor, i };
	return n;
}

static void add_candidates(const struct vprof_results *r, const struct vprof_judged *found, size_t n,
			   struct vprof_text *text)
{
	for (size_t i = 0; i < n; i++) {
		vprof_text_addf(text, "%s%zu ", i ? ", " : "", found[i].index + 1);
		vprof_format_cut(text, vprof_judged_name(r, found[i]), 50, 1, 0);
		vprof_text_add(text, " (");
		vprof_format_cut(text, vprof_judged_key(r, found[i]), 60, 1, 0);
		vprof_text_add(text, ")");
	}
}

static int by_rank(const struct vprof_results *r, const char *wanted, int factors, struct vprof_judged *judged,
		   struct vprof_error *err)
{
	size_t n = factors ? r->n_factors : r->n_causes;

	*judged = (struct vprof_judged){ factors, (size_t)strtoul(wanted, NULL, 10) - 1 };
	if (judged->index < n)
		return VPROF_OK;
	return vprof_error_set(err, VPROF_ERR_INPUT, "run %s has no %s %s; it has %zu, see: vprof report %s%s", r->run,
			       factors ? "factor" : "cause", wanted, n, r->run, factors ? " --factors" : "");
}

static int find_one(const struct vprof_results *r, const char *wanted, int factors, struct vprof_judged *judged,
		    struct vprof_error *err)
{
	struct vprof_judged found[LISTED + 1];
	size_t n = 0, digits = strspn(wanted, "0123456789");
	struct vprof_text list = VPROF_TEXT_INIT, shown = VPROF_TEXT_INIT;
	const char *what = factors ? "factor" : "cause";
	int rc = VPROF_OK;

	if (*wanted && !wanted[digits] && digits < 9)
		return by_rank(r, wanted, factors, judged, err);
	vprof_format_cut(&shown, wanted, 80, 1, 0);
	if (*wanted)
		n = find_judged(r, wanted, factors, found);
	if (n == 1) {
		*judged = found[0];
	} else if (n > 1) {
		what = found[0].is_factor ? "factor" : "cause";
		add_candidates(r, found, n, &list);
		rc = vprof_error_set(
			err, VPROF_ERR_INPUT, "\"%s\" may be %s %ss of run %s%s: %s. Give its key, or its rank%s",
			shown.s, n == LISTED ? "one of many" : "several", what, r->run,
			n == LISTED ? ", among them" : "", list.s, found[0].is_factor ? " with --factors" : "");
	} else {
		for (size_t i = 0; i < (factors ? r->n_factors : r->n_causes) && i < 3; i++)
			found[n++] = (struct vprof_judged){ factors, i };
		add_candidates(r, found, n, &list);
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "no cause or factor of run %s is called \"%s\"%s%s. See them all: vprof report %s "
				     "--factors --top 1000",
				     r->run, shown.s, n ? "; the first are: " : "", n ? list.s : "", r->run);
	}
	vprof_text_release(&list);
	vprof_text_release(&shown);
	return rc;
}

static int review_one(struct review *rv, const char *wanted, const struct review_options *o, struct vprof_error *err)
{
	const struct vprof_review *old;
	enum vprof_verdict verdict = VPROF_VERDICT_NONE;
	struct vprof_judged judged;
	int rc = find_one(rv->results, wanted, o->factors || !rv->results->n_causes, &judged, err);

	if (rc)
		return rc;
	for (int i = VPROF_VERDICT_CULPRIT; i <= VPROF_VERDICT_TODO; i++)
		if (o->given[i])
			verdict = (enum vprof_verdict)i;
	old = vprof_reviews_find(&rv->session.reviews, rv->results->interval, vprof_judged_key(rv->results, judged));
	if (!verdict && o->note) /* a note alone is kept with what was said before */
		verdict = old ? old->verdict : VPROF_VERDICT_TODO;
	if (o->drop && !old)
		vprof_tell("there is no verdict of yours to withdraw; one by rule is overruled by giving another");
	if (verdict || o->drop)
		rc = vprof_review_judge(&rv->project, &rv->session, rv->results, judged, verdict, o->note, err);
	return rc ? rc : vprof_review_print(rv->results, judged, err);
}

/* What the drill-down closed is a verdict by rule, too. */
static void print_closed(const struct vprof_session *s)
{
	struct vprof_text line = VPROF_TEXT_INIT;

	for (size_t i = 0; i < s->n_closed; i++) {
		const struct vprof_closed *c = &s->closed[i];

		vprof_text_clear(&line);
		vprof_text_add(&line, "closed    ");
		vprof_format_cut(&line, c->display, 40, 1, 42);
		vprof_text_addf(&line, "at most %s of the variance, run ", vprof_format_at_most(c->bound).s);
		vprof_format_cut(&line, c->run, 8, 0, 0);
		printf("%s, by rule\n", line.s);
	}
	vprof_text_release(&line);
}

static void print_list(const struct vprof_verdict_list *list, const struct vprof_session *s)
{
	struct vprof_text line = VPROF_TEXT_INIT;

	if (!list->n && !s->n_closed)
		vprof_say("no verdict yet: vprof review asks for them");
	for (size_t i = 0; i < list->n; i++) {
		const struct vprof_listed_verdict *v = &list->items[i];

		vprof_text_clear(&line);
		vprof_format_cut(&line, vprof_verdict_names[v->verdict], 9, 0, 10);
		vprof_format_cut(&line, v->name, 40, 1, 42);
		vprof_format_cut(&line, v->interval, 20, 1, 0);
		if (*v->run)
			vprof_text_add(&line, ", run ");
		vprof_format_cut(&line, v->run, 8, 0, 0);
		vprof_text_add(&line, ", ");
		vprof_format_cut(&line, v->review ? v->review->date : "by rule", 20, 0, 0);
		puts(line.s);
		if (*v->note) {
			vprof_text_clear(&line);
			vprof_format_wrap(&line, v->note, 10, 10, 100);
			printf("%10s%s", "", line.s);
		}
	}
	vprof_text_release(&line);
	print_closed(s);
}

/* Verdicts by rule are looked up in the last results, where there are any. */
static int list_all(struct review *rv, int json, struct vprof_error *err)
{
	struct vprof_verdict_list list;
	char *text = NULL;
	int rc;

	open_results(rv, NULL, NULL);
	rc = vprof_verdict_list_make(&list, &rv->session, rv->results);
	if (!rc && json) {
		text = vprof_verdict_list_json(&list, &rv->session);
		rc = text ? VPROF_OK : VPROF_ERR_NOMEM;
	}
	if (!rc && json)
		puts(text);
	else if (!rc)
		print_list(&list, &rv->session);
	free(text);
	vprof_verdict_list_release(&list);
	return rc ? vprof_error_no_memory(err) : VPROF_OK;
}

static int review(struct review *rv, const char *wanted, const struct review_options *o, struct vprof_error *err)
{
	int rc;

	vprof_session_init(&rv->session);
	rc = vprof_project_open(&rv->project, NULL, err);
	if (!rc)
		rc = vprof_session_open(&rv->session, &rv->project, err);
	if (rc && rc != VPROF_ERR_MISSING) /* no drill-down: a run alone can be reviewed too */
		return rc;
	if (o->json || o->list)
		return list_all(rv, o->json, err);
	rc = open_results(rv, o->run, err);
	if (rc)
		return rc;
	if (wanted)
		return review_one(rv, wanted, o, err);
	if (!rv->results->n_factors)
		return vprof_error_set(err, VPROF_ERR_INCONCLUSIVE, "run %s has no factors: see vprof report %s",
				       rv->results->run, rv->results->run);
	return vprof_review_walk(&rv->project, &rv->session, rv->results, o->factors || !rv->results->n_causes,
				 (size_t)o->top, err);
}

/* A usage error is told and its status returned; negative when there is none. */
static int check_usage(const struct review_options *o, const struct vprof_operands *operands)
{
	int n = o->drop;

	for (int i = VPROF_VERDICT_CULPRIT; i <= VPROF_VERDICT_TODO; i++)
		n += o->given[i];
	if (n > 1)
		return vprof_options_misused(&usage, "give one verdict only");
	if ((n || o->note) && !operands->n_words)
		return vprof_options_misused(&usage, "name the cause to judge");
	if (o->drop && o->note)
		return vprof_options_misused(
			&usage, "--drop withdraws the verdict with its note; it cannot be combined with --note");
	if ((o->list || o->json) && (n || o->note || operands->n_words))
		return vprof_options_misused(&usage, "--list and --json print all verdicts; they take no cause");
	return -1;
}

int vprof_cmd_review(int argc, char **argv)
{
	struct review_options o = { .top = DEFAULT_TOP };
	const struct vprof_option options[] = {
		{ "culprit", VPROF_OPTION_FLAG, &o.given[VPROF_VERDICT_CULPRIT], NULL, "a cause that is worth fixing" },
		{ "inherent", VPROF_OPTION_FLAG, &o.given[VPROF_VERDICT_INHERENT], NULL,
		  "its variance is inherent in the work" },
		{ "ignore", VPROF_OPTION_FLAG, &o.given[VPROF_VERDICT_IGNORE], NULL,
		  "not of interest, for other reasons" },
		{ "fixed", VPROF_OPTION_FLAG, &o.given[VPROF_VERDICT_FIXED], NULL,
		  "fixed; iterate asks again if it comes back" },
		{ "todo", VPROF_OPTION_FLAG, &o.given[VPROF_VERDICT_TODO], NULL, "to be looked at" },
		{ "drop", VPROF_OPTION_FLAG, &o.drop, NULL, "withdraw the verdict" },
		{ "note", VPROF_OPTION_TEXT, &o.note, "TEXT", "a note, shown with the verdict (\"\" removes it)" },
		{ "run", VPROF_OPTION_TEXT, &o.run, "RUN",
		  "the run whose causes are meant (default: the last analysed)" },
		{ "factors", VPROF_OPTION_FLAG, &o.factors, NULL, "the ranked factors instead of the causes" },
		{ "top", VPROF_OPTION_COUNT, &o.top, "N", "causes to ask about (default 10)" },
		{ "list", VPROF_OPTION_FLAG, &o.list, NULL, "print all verdicts, also those of other runs" },
		{ "json", VPROF_OPTION_FLAG, &o.json, NULL, "print all verdicts as JSON" },
		{ NULL },
	};
	struct review rv = { .results = NULL };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status < 0)
		status = check_usage(&o, &operands);
	if (status >= 0)
		return status;
	rc = review(&rv, operands.n_words ? operands.words[0] : NULL, &o, &err);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	vprof_results_free(rv.results);
	vprof_session_release(&rv.session);
	vprof_project_release(&rv.project);
	return status;
}
