/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof compare: did mean, variance and percentiles change between two runs, through which factors, and may CI pass? */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/results/results_json.h"
#include "analysis/results/results.h"
#include "cli/command.h"
#include "cli/commands/conditions.h"
#include "cli/options.h"
#include "cli/project.h"
#include "common/files.h"
#include "report/format_value.h"

#define DEFAULT_TOP 10

static const struct vprof_usage usage = {
	.synopsis = "compare BASE NEW [--fail-if CONDITIONS] [--top N] [--json]",
	.purpose =
		"Compares the latencies of two analysed runs: how mean, variance and percentiles changed, with 95 %\n"
		"confidence intervals, and in which factors. BASE and NEW are runs of this project, or folders of "
		"runs of any project.\n"
		"Exit status 1 when a condition of --fail-if holds, 3 when the data cannot decide it.",
	.max_operands = 2,
};

struct side {
	const char *given;
	struct vprof_results *results;
	struct vprof_latencies latencies;
	struct vprof_text plan; /* plan.json, empty when it is not there */
};

struct factor_change {
	const char *name, *key;
	int is_blame;
	double base_ns, new_ns; /* standard deviations; 0: did not occur, NaN: not measured in that run */
	double change;		/* of variance, as a share of BASE's; NaN when one is not measured */
};

struct comparison {
	struct side sides[2];
	struct vprof_change changes[VPROF_FIGURE_COUNT];
	struct vprof_condition conditions[VPROF_CONDITIONS_MAX];
	size_t n_conditions;
	struct factor_change *factors;
	size_t n_factors;
};

/* A folder, or a run's number in this project. */
static int load_side(struct side *side, struct vprof_error *err)
{
	char *folder = NULL, *path = NULL, *trace = NULL;
	struct vprof_project p = { 0 };
	struct vprof_run_name run;
	struct stat st;
	int rc = VPROF_OK;

	if (strspn(side->given, "0123456789") == strlen(side->given) || stat(side->given, &st)) {
		rc = vprof_project_open(&p, NULL, err);
		if (!rc)
			rc = vprof_project_find_run(&p, side->given, "results.json", "analyse it with: vprof analyze",
						    &run, err);
		folder = rc ? NULL : vprof_project_run_path(&p, run.s, "");
	} else {
		folder = strdup(side->given);
	}
	if (!rc) {
		path = folder ? vprof_path_join(folder, "results.json") : NULL;
		if (path && access(path, F_OK))
			rc = vprof_error_set(err, VPROF_ERR_MISSING,
					     "%s is not the folder of an analysed run: it has no results.json. "
					     "Name one such as .vprof/runs/0001, analysed with: vprof analyze",
					     side->given);
	}
	if (!rc) {
		trace = folder ? vprof_path_join(folder, "trace") : NULL;
		rc = path && trace ? vprof_results_read(&side->results, path, err) : vprof_error_no_memory(err);
	}
	if (!rc && !side->results->n_complete)
		rc = vprof_error_set(err, VPROF_ERR_INCONCLUSIVE,
				     "run %s has no complete interval to compare; see why: "
				     "vprof report %s",
				     side->results->run, side->results->run);
	if (!rc && access(trace, R_OK))
		rc = vprof_error_set(err, VPROF_ERR_MISSING,
				     "%s is missing: the latencies of run %s are compared one by one, "
				     "so its trace must be kept",
				     vprof_project_shown(trace), side->results->run);
	if (!rc)
		rc = vprof_latencies_read(&side->latencies, trace, side->results->interval, err);
	free(path);
	path = rc ? NULL : vprof_path_join(folder, "plan.json");
	if (path && vprof_file_read(path, &side->plan, NULL))
		vprof_text_clear(&side->plan);
	vprof_project_release(&p);
	free(folder);
	free(path);
	free(trace);
	return rc;
}

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const struct vprof_factor *const *)a)->key, (*(const struct vprof_factor *const *)b)->key);
}

/* Pointers to the variance factors, by key; NULL: no memory. */
static const struct vprof_factor **sorted_factors(const struct vprof_results *r, size_t *n)
{
	const struct vprof_factor **sorted = malloc((r->n_factors + 1) * sizeof *sorted);

	*n = 0;
	for (size_t i = 0; i < r->n_factors && sorted; i++)
		if (r->factors[i].kind == VPROF_FACTOR_VARIANCE)
			sorted[(*n)++] = &r->factors[i];
	if (*n)
		qsort(sorted, *n, sizeof *sorted, by_key);
	return sorted;
}

static int by_change(const void *a, const void *b)
{
	const struct factor_change *x = a, *y = b;
	double dx = isnan(x->change) ? -1 : fabs(x->change), dy = isnan(y->change) ? -1 : fabs(y->change);

	return dx > dy ? -1 : dx < dy ? 1 : strcmp(x->key, y->key);
}

static int same_plan(const struct comparison *c)
{
	const struct vprof_text *base = &c->sides[0].plan, *new = &c->sides[1].plan;

	return base->len && base->len == new->len && !memcmp(base->s, new->s, base->len);
}

/* A factor that one run lacks: of variance 0 when it would have been recorded there, as waits always are. */
static double sd_of_missing(const struct vprof_factor *other, int measured_alike)
{
	return measured_alike || other->node_kind == VPROF_NODE_WAIT || other->node_kind == VPROF_NODE_QUEUED ? 0 : NAN;
}

/* Variance factors of either run; a function's variance is comparable whatever else was measured. */
static int change_factors(struct comparison *c)
{
	int alike = same_plan(c);
	double var_ns2 = c->sides[0].results->var_ns2;
	size_t n_base, n_new, i = 0, k = 0;
	const struct vprof_factor **base = sorted_factors(c->sides[0].results, &n_base);
	const struct vprof_factor **new = sorted_factors(c->sides[1].results, &n_new);

	c->factors = calloc(n_base + n_new + 1, sizeof *c->factors);
	while (base && new && c->factors && (i < n_base || k < n_new)) {
		int order = i == n_base ? 1 : k == n_new ? -1 : by_key(&base[i], &new[k]);
		const struct vprof_factor *b = order <= 0 ? base[i++] : NULL, *n = order >= 0 ? new[k++] : NULL;
		struct factor_change *f = &c->factors[c->n_factors++];

		*f = (struct factor_change){ .name = b ? b->name : n->name,
					     .key = b ? b->key : n->key,
					     .is_blame = b ? b->is_blame : n->is_blame,
					     .base_ns = b ? b->sd_ns : sd_of_missing(n, alike),
					     .new_ns = n ? n->sd_ns : sd_of_missing(b, alike) };
		f->change = var_ns2 > 0 ? (f->new_ns * f->new_ns - f->base_ns * f->base_ns) / var_ns2 : NAN;
	}
	if (c->n_factors)
		qsort(c->factors, c->n_factors, sizeof *c->factors, by_change);
	i = base && new && c->factors;
	free(base);
	free(new);
	return i ? VPROF_OK : VPROF_ERR_NOMEM;
}

static void print_signed_percent(char *text, size_t size, double share)
{
	if (!isfinite(share))
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%+.*f %%", fabs(share) < 0.0995 ? 1 : 0, share * 100);
}

static const char *words_of(const struct vprof_change *c)
{
	if (!isfinite(c->low))
		return "unknown";
	return c->low > 0 ? "higher" : c->high < 0 ? "lower" : "no significant change";
}

static void print_figures(const struct comparison *c)
{
	printf("%-12s%12s%12s%12s  %s\n", "", "base", "new", "change", "95 % confidence interval");
	for (size_t i = 0; i < VPROF_FIGURE_COUNT; i++) {
		const struct vprof_change *x = &c->changes[i];
		char change[32], low[32], high[32], bounds[72];

		print_signed_percent(change, sizeof change, x->change);
		print_signed_percent(low, sizeof low, x->low);
		print_signed_percent(high, sizeof high, x->high);
		snprintf(bounds, sizeof bounds, "%s .. %s", low, high);
		if (i == VPROF_FIGURE_VARIANCE) /* ns^2 tell a person nothing: sd stands below */
			printf("%-12s%12s%12s%12s  %-22s%s\n", vprof_figure_names[i], "", "", change, bounds,
			       words_of(x));
		else
			printf("%-12s%12s%12s%12s  %-22s%s\n", vprof_figure_names[i], vprof_format_duration(x->base).s,
			       vprof_format_duration(x->new).s, change, bounds, words_of(x));
	}
}

/* Of the variance of BASE: what a change or an unmeasured factor must have to be shown. */
static int is_worth_showing(const struct factor_change *f, double var_ns2)
{
	double sd = isnan(f->base_ns) ? f->new_ns : f->base_ns;

	return isnan(f->change) ? sd * sd >= 0.005 * var_ns2 : fabs(f->change) >= 0.0005;
}

static void print_factors(const struct comparison *c, size_t top)
{
	struct vprof_text line = VPROF_TEXT_INIT;
	size_t shown = 0;

	for (size_t i = 0; i < c->n_factors && shown < top; i++) {
		const struct factor_change *f = &c->factors[i];
		char change[32];

		if (!is_worth_showing(f, c->sides[0].results->var_ns2))
			continue;
		if (!shown++)
			printf("\n%-20s%-40s%14s%14s\n", "variance of base", "factor", "sd base", "sd new");
		print_signed_percent(change, sizeof change, f->change);
		vprof_text_clear(&line);
		vprof_format_cut(&line, f->name, f->is_blame ? 24 : 38, 1, 0);
		if (f->is_blame)
			vprof_text_add(&line, ", others' work");
		for (size_t columns = vprof_format_columns(line.s); columns < 40; columns++)
			vprof_text_add(&line, " ");
		printf("%10s%10s%s%14s%14s\n", isnan(f->change) ? "-" : change, "", line.s,
		       isnan(f->base_ns) ? "not measured" : vprof_format_duration(f->base_ns).s,
		       isnan(f->new_ns) ? "not measured" : vprof_format_duration(f->new_ns).s);
	}
	vprof_text_release(&line);
}

static const char *const verdict_words[] = { "passes", "fails", "inconclusive" };

static void print_condition(const struct comparison *c, size_t i)
{
	const struct vprof_condition *x = &c->conditions[i];
	const struct vprof_change *change = &c->changes[x->figure];
	enum vprof_verdict_of_change verdict = vprof_condition_judge(x, change);
	double furthest = x->is_above ? change->high - x->limit : x->limit - change->low;

	printf("%s%-12s %s %s %+g %%", i ? "" : "\n", verdict_words[verdict], vprof_figure_names[x->figure],
	       x->is_above ? ">" : "<", x->limit * 100);
	if (verdict == VPROF_CHANGE_INCONCLUSIVE && isnan(change->low))
		printf(": there is no confidence interval below %zu intervals, or without variance",
		       vprof_compare_needed(x->figure));
	else if (verdict == VPROF_CHANGE_INCONCLUSIVE)
		printf(": its confidence interval straddles the limit; record longer runs");
	else if (verdict == VPROF_CHANGE_PASSES && furthest > 0)
		printf(": not significant, but the confidence interval reaches beyond the limit");
	putchar('\n');
}

static void print_text(const struct comparison *c, size_t top)
{
	struct vprof_text name = VPROF_TEXT_INIT;

	vprof_format_cut(&name, c->sides[0].results->interval, 40, 1, 0);
	printf("%s: run %s (%s) against run %s (%s)\n\n", name.s, c->sides[1].results->run,
	       vprof_format_count(c->sides[1].latencies.n).s, c->sides[0].results->run,
	       vprof_format_count(c->sides[0].latencies.n).s);
	print_figures(c);
	print_factors(c, top);
	for (size_t i = 0; i < c->n_conditions; i++)
		print_condition(c, i);
	vprof_text_release(&name);
}

static void add_side(cJSON *root, const char *key, const struct side *side)
{
	cJSON *o = cJSON_AddObjectToObject(root, key);

	cJSON_AddStringToObject(o, "run", side->results->run);
	cJSON_AddNumberToObject(o, "n", (double)side->latencies.n);
}

static cJSON *comparison_json(const struct comparison *c, int status)
{
	cJSON *root = cJSON_CreateObject(), *list;

	cJSON_AddNumberToObject(root, "version", 1);
	cJSON_AddStringToObject(root, "interval", c->sides[0].results->interval);
	add_side(root, "base", &c->sides[0]);
	add_side(root, "new", &c->sides[1]);
	list = cJSON_AddArrayToObject(root, "figures");
	for (size_t i = 0; i < VPROF_FIGURE_COUNT; i++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "figure", vprof_figure_names[i]);
		vprof_json_add_number(o, "base", c->changes[i].base);
		vprof_json_add_number(o, "new", c->changes[i].new);
		vprof_json_add_number(o, "change", c->changes[i].change);
		vprof_json_add_number(o, "low", c->changes[i].low);
		vprof_json_add_number(o, "high", c->changes[i].high);
		cJSON_AddItemToArray(list, o);
	}
	list = cJSON_AddArrayToObject(root, "factors");
	for (size_t i = 0; i < c->n_factors; i++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "key", c->factors[i].key);
		cJSON_AddStringToObject(o, "name", c->factors[i].name);
		vprof_json_add_number(o, "base_sd_ns", c->factors[i].base_ns);
		vprof_json_add_number(o, "new_sd_ns", c->factors[i].new_ns);
		vprof_json_add_number(o, "change", c->factors[i].change);
		cJSON_AddItemToArray(list, o);
	}
	list = cJSON_AddArrayToObject(root, "conditions");
	for (size_t i = 0; i < c->n_conditions; i++) {
		const struct vprof_condition *x = &c->conditions[i];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "figure", vprof_figure_names[x->figure]);
		cJSON_AddStringToObject(o, "fails_if", x->is_above ? "above" : "below");
		cJSON_AddNumberToObject(o, "limit", x->limit);
		cJSON_AddStringToObject(o, "verdict", verdict_words[vprof_condition_judge(x, &c->changes[x->figure])]);
		cJSON_AddItemToArray(list, o);
	}
	cJSON_AddNumberToObject(root, "status", status);
	return root;
}

static int print_json(const struct comparison *c, int status, struct vprof_error *err)
{
	cJSON *root = comparison_json(c, status);
	char *text = cJSON_Print(root);

	cJSON_Delete(root);
	if (!text)
		return vprof_error_no_memory(err);
	puts(text);
	cJSON_free(text);
	return VPROF_OK;
}

/* One that fails decides; else one that is inconclusive. */
static int status_of(const struct comparison *c)
{
	int status = VPROF_EXIT_OK;

	for (size_t i = 0; i < c->n_conditions; i++) {
		enum vprof_verdict_of_change v =
			vprof_condition_judge(&c->conditions[i], &c->changes[c->conditions[i].figure]);

		if (v == VPROF_CHANGE_FAILS)
			return VPROF_EXIT_FAILED;
		if (v == VPROF_CHANGE_INCONCLUSIVE)
			status = VPROF_EXIT_INCONCLUSIVE;
	}
	return status;
}

static int compare(struct comparison *c, struct vprof_error *err)
{
	int rc = VPROF_OK;

	for (int i = 0; i < 2 && !rc; i++)
		rc = load_side(&c->sides[i], err);
	if (rc)
		return rc;
	if (strcmp(c->sides[0].results->interval, c->sides[1].results->interval))
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "these runs are of different intervals, \"%.60s\" and \"%.60s\"; "
				       "analyse one again with: vprof analyze RUN --interval NAME",
				       c->sides[0].results->interval, c->sides[1].results->interval);
	rc = vprof_compare(&c->sides[0].latencies, &c->sides[1].latencies, c->changes, err);
	if (!rc && change_factors(c))
		rc = vprof_error_no_memory(err);
	return rc;
}

int vprof_cmd_compare(int argc, char **argv)
{
	const char *fail_if = NULL, *wrong = "";
	long top = DEFAULT_TOP;
	int json = 0;
	const struct vprof_option options[] = {
		{ "fail-if", VPROF_OPTION_TEXT, &fail_if, "CONDITIONS",
		  "such as 'p99 > +5%, variance > +20%'; mean, variance, sd, "
		  "p50, p90 or p99" },
		{ "top", VPROF_OPTION_COUNT, &top, "N", "factors to show (default 10)" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print JSON" },
		{ NULL },
	};
	struct comparison c = { .n_conditions = 0 };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (operands.n_words != 2)
		return vprof_options_misused(&usage, "name two runs");
	if (fail_if) {
		c.n_conditions = vprof_conditions_parse(fail_if, c.conditions, &wrong);
		if (!c.n_conditions)
			return vprof_options_misused(
				&usage, "--fail-if does not understand \"%s\"; write it like 'p99 > +5%%'", wrong);
	}
	c.sides[0].given = operands.words[0];
	c.sides[1].given = operands.words[1];
	rc = compare(&c, &err);
	status = status_of(&c);
	if (!rc && json)
		rc = print_json(&c, status, &err);
	else if (!rc)
		print_text(&c, (size_t)top);
	if (rc)
		status = vprof_complain(rc, &err);
	for (int i = 0; i < 2; i++) {
		vprof_results_free(c.sides[i].results);
		vprof_latencies_release(&c.sides[i].latencies);
		vprof_text_release(&c.sides[i].plan);
	}
	free(c.factors);
	return status;
}
