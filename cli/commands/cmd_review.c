/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof review: what the developer says of the ranked factors; kept in .vprof/verdicts.json, shown by every report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/drilldown/decide.h"
#include "cli/options.h"
#include "cli/drilldown/review_walk.h"
#include "common/text.h"
#include "report/format_value.h"

#define DEFAULT_TOP 10
#define LISTED 6

static const struct vprof_usage usage = {
	.synopsis =
		"review [FACTOR] [--culprit | --inherent | --ignore | --fixed | --todo | --drop] [--note TEXT] [--list]",
	.purpose =
		"Says what a factor is. FACTOR is its rank in the report, its name, a part of the name, or its key.\n"
		"Without FACTOR the ranked factors are shown one after the other, and a verdict is asked for each.\n"
		"Verdicts are kept in .vprof/verdicts.json, across runs and drill-downs; every report shows them, and\n"
		"iterate passes over what is inherent or ignored.",
	.max_operands = 1,
};

struct review_options {
	int given[VPROF_VERDICT_TODO + 1];
	int drop, list, json;
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

/* The factors whose name or key fits, best kind of fit only: key, whole name, part of the name, of a pair's name. */
static size_t find_factors(const struct vprof_results *r, const char *wanted, size_t *found)
{
	size_t n = 0;

	for (int fit = 0; fit < 4 && !n; fit++)
		for (size_t i = 0; i < r->n_factors && n < LISTED; i++) {
			const struct vprof_factor *f = &r->factors[i];

			if (fit == 0 ? !strcmp(f->key, wanted) :
			    fit == 1 ? !strcmp(f->name, wanted) :
				       strstr(f->name, wanted) && (fit == 3 || f->kind == VPROF_FACTOR_VARIANCE))
				found[n++] = i;
		}
	return n;
}

static void add_candidates(const struct vprof_results *r, const size_t *found, size_t n, struct vprof_text *text)
{
	for (size_t i = 0; i < n; i++) {
		vprof_text_addf(text, "%s%zu ", i ? ", " : "", found[i] + 1);
		vprof_format_cut(text, r->factors[found[i]].name, 50, 1, 0);
		vprof_text_add(text, " (");
		vprof_format_cut(text, r->factors[found[i]].key, 60, 1, 0);
		vprof_text_add(text, ")");
	}
}

static int find_factor(const struct vprof_results *r, const char *wanted, size_t *index, struct vprof_error *err)
{
	size_t found[LISTED + 1], n = 0, digits = strspn(wanted, "0123456789");
	struct vprof_text list = VPROF_TEXT_INIT, shown = VPROF_TEXT_INIT;
	int rc = VPROF_OK;

	vprof_format_cut(&shown, wanted, 80, 1, 0);
	if (*wanted && !wanted[digits] && digits < 9) {
		*index = (size_t)strtoul(wanted, NULL, 10) - 1;
		if (*index >= r->n_factors)
			rc = vprof_error_set(err, VPROF_ERR_INPUT,
					     "run %s has no factor %s; it has %zu, see: vprof report %s", r->run,
					     shown.s, r->n_factors, r->run);
		goto out;
	}
	if (*wanted)
		n = find_factors(r, wanted, found);
	*index = n ? found[0] : 0;
	if (n > 1) {
		add_candidates(r, found, n, &list);
		rc = vprof_error_set(err, VPROF_ERR_INPUT, "\"%s\" may be %s of run %s%s: %s. Give its rank or its key",
				     shown.s, n == LISTED ? "one of many factors" : "several factors", r->run,
				     n == LISTED ? ", among them" : "", list.s);
	} else if (!n) {
		for (size_t i = 0; i < r->n_factors && i < 3; i++)
			found[n++] = i;
		add_candidates(r, found, n, &list);
		rc = vprof_error_set(err, VPROF_ERR_INPUT,
				     "no factor of run %s is called \"%s\"%s%s. See them all: vprof report "
				     "%s --top 1000",
				     r->run, shown.s, n ? "; the first are: " : "", n ? list.s : "", r->run);
	}
out:
	vprof_text_release(&list);
	vprof_text_release(&shown);
	return rc;
}

static int review_factor(struct review *rv, const char *wanted, const struct review_options *o, struct vprof_error *err)
{
	const struct vprof_review *old;
	enum vprof_verdict verdict = VPROF_VERDICT_NONE;
	size_t index;
	int rc = find_factor(rv->results, wanted, &index, err);

	if (rc)
		return rc;
	for (int i = VPROF_VERDICT_CULPRIT; i <= VPROF_VERDICT_TODO; i++)
		if (o->given[i])
			verdict = (enum vprof_verdict)i;
	old = vprof_reviews_find(&rv->session.reviews, rv->results->interval, rv->results->factors[index].key);
	if (!verdict && o->note) /* a note alone is kept with what was said before */
		verdict = old ? old->verdict : VPROF_VERDICT_TODO;
	if (verdict || o->drop)
		rc = vprof_review_judge(&rv->project, &rv->session, rv->results, index, verdict, o->note, err);
	return rc ? rc : vprof_review_print(rv->results, index, err);
}

static void print_list(const struct vprof_reviews *r)
{
	struct vprof_text line = VPROF_TEXT_INIT;

	if (!r->n)
		fputs("no verdict yet: vprof review asks for them\n", stderr);
	for (size_t i = 0; i < r->n; i++) {
		const struct vprof_review *v = &r->items[i];

		vprof_text_clear(&line);
		vprof_format_cut(&line, vprof_verdict_names[v->verdict], 9, 0, 10);
		vprof_format_cut(&line, v->name, 40, 1, 42);
		vprof_format_cut(&line, v->interval, 20, 1, 0);
		vprof_text_add(&line, ", run ");
		vprof_format_cut(&line, v->run, 8, 0, 0);
		vprof_text_add(&line, ", ");
		vprof_format_cut(&line, v->date, 20, 0, 0);
		puts(line.s);
		if (*v->note) {
			vprof_text_clear(&line);
			vprof_format_wrap(&line, v->note, 10, 10, 100);
			printf("%10s%s", "", line.s);
		}
	}
	vprof_text_release(&line);
}

static int print_list_json(const struct vprof_reviews *r, struct vprof_error *err)
{
	char *text = vprof_reviews_json(r);

	if (!text)
		return vprof_error_no_memory(err);
	puts(text);
	free(text);
	return VPROF_OK;
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
	if (o->json)
		return print_list_json(&rv->session.reviews, err);
	if (o->list) {
		print_list(&rv->session.reviews);
		return VPROF_OK;
	}
	rc = open_results(rv, o->run, err);
	if (rc)
		return rc;
	if (wanted)
		return review_factor(rv, wanted, o, err);
	if (!rv->results->n_factors)
		return vprof_error_set(err, VPROF_ERR_INCONCLUSIVE, "run %s has no factors: see vprof report %s",
				       rv->results->run, rv->results->run);
	return vprof_review_walk(&rv->project, &rv->session, rv->results, (size_t)o->top, err);
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
		return vprof_options_misused(&usage, "name the factor to judge");
	if (o->drop && o->note)
		return vprof_options_misused(
			&usage, "--drop withdraws the verdict with its note; it cannot be combined with --note");
	if ((o->list || o->json) && (n || o->note || operands->n_words))
		return vprof_options_misused(&usage, "--list and --json print all verdicts; they take no factor");
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
		  "the run whose factors are meant (default: the last analysed)" },
		{ "top", VPROF_OPTION_COUNT, &o.top, "N", "factors to ask about (default 10)" },
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
