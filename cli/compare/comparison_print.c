/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/results/results_json.h"
#include "cli/compare/comparison.h"
#include "cli/compare/compared_causes.h"
#include "cli/print.h"
#include "report/format_value.h"

/* From ten times on as a factor. Bounds of an estimate from few runs may be astronomical: these say only "far more". */
void vprof_compared_percent(char *text, size_t size, double share)
{
	if (!isfinite(share))
		snprintf(text, size, "-");
	else if (share > 999)
		snprintf(text, size, "> x 1000");
	else if (share >= 9)
		snprintf(text, size, "x %.3g", share + 1);
	else
		snprintf(text, size, "%+.*f %%", fabs(share) < 0.0995 ? 1 : 0, share * 100);
}

void vprof_compared_bounds(char *text, size_t size, double low, double high)
{
	char a[32], b[32];

	vprof_compared_percent(a, sizeof a, low);
	vprof_compared_percent(b, sizeof b, high);
	snprintf(text, size, "%s .. %s", a, b);
}

static const char *words_of(const struct vprof_comparison *c, const struct vprof_change *x)
{
	int decides = vprof_comparison_has_runs(c);

	if (!isfinite(x->low))
		return "unknown";
	if (x->low > 0)
		return decides ? "higher" : "higher in this run";
	if (x->high < 0)
		return decides ? "lower" : "lower in this run";
	return decides ? "no change found" : "no significant change";
}

static void print_figures(const struct vprof_comparison *c)
{
	char title[64];

	if (vprof_comparison_has_runs(c))
		snprintf(title, sizeof title, "bounds (%.4g %%, all at once)", 100 * (1 - c->error));
	else
		snprintf(title, sizeof title, "95 %% confidence interval");
	printf("%-12s%12s%12s%12s  %s\n", "", "base", "new", "change", title);
	for (size_t i = 0; i < VPROF_FIGURE_COUNT; i++) {
		const struct vprof_change *x = &c->changes[i];
		char change[32], bounds[72];
		int is_shown = i != VPROF_FIGURE_VARIANCE; /* ns^2 tell a person nothing: sd stands below */

		vprof_compared_percent(change, sizeof change, x->change);
		vprof_compared_bounds(bounds, sizeof bounds, x->low, x->high);
		printf("%-12s%12s%12s%12s  %-22s%s\n", vprof_figure_names[i],
		       is_shown ? vprof_format_duration(x->base).s : "",
		       is_shown ? vprof_format_duration(x->new).s : "", change, bounds, words_of(c, x));
	}
}

/* Of the variance of BASE: what a change or an unmeasured factor must have to be shown. */
static int is_worth_showing(const struct vprof_factor_change *f, double var_ns2)
{
	double sd = isnan(f->base_ns) ? f->new_ns : f->base_ns;

	return isnan(f->change) ? sd * sd >= 0.005 * var_ns2 : fabs(f->change) >= 0.0005;
}

static void print_factor(const struct vprof_comparison *c, const struct vprof_factor_change *f)
{
	int has_runs = vprof_comparison_has_runs(c);
	size_t width = has_runs ? 30 : 40;
	struct vprof_text line = VPROF_TEXT_INIT;
	char change[32], bounds[72] = "";

	vprof_compared_percent(change, sizeof change, f->change);
	if (has_runs && isfinite(f->low))
		vprof_compared_bounds(bounds, sizeof bounds, f->low, f->high);
	vprof_format_cut(&line, f->name, f->is_blame ? width - 16 : width - 2, 1, 0);
	if (f->is_blame)
		vprof_text_add(&line, ", others' work");
	for (size_t columns = vprof_format_columns(line.s); columns < width; columns++)
		vprof_text_add(&line, " ");
	printf("%10s  %-*s%s%14s%14s\n", isnan(f->change) ? "-" : change, has_runs ? 20 : 8, bounds, line.s,
	       isnan(f->base_ns) ? "not measured" : vprof_format_duration(f->base_ns).s,
	       isnan(f->new_ns) ? "not measured" : vprof_format_duration(f->new_ns).s);
	vprof_text_release(&line);
}

static void print_factors(const struct vprof_comparison *c, size_t top)
{
	size_t shown = 0;

	for (size_t i = 0; i < c->n_factors && shown < top; i++) {
		if (!is_worth_showing(&c->factors[i], vprof_compared_side_variance(&c->sides[0])))
			continue;
		if (!shown++ && vprof_comparison_has_runs(c))
			printf("\n%-12s%-20s%-30s%14s%14s\n", "variance", "of base, 95 %", "factor", "sd base",
			       "sd new");
		else if (shown == 1)
			printf("\n%-20s%-40s%14s%14s\n", "variance of base", "factor", "sd base", "sd new");
		print_factor(c, &c->factors[i]);
	}
}

static void print_condition(const struct vprof_comparison *c, size_t i)
{
	const struct vprof_condition *x = &c->conditions[i];
	enum vprof_verdict_of_change verdict = vprof_comparison_verdict(c, i);

	printf("%s%-12s %s %s %+g %%", i ? "" : "\n", vprof_change_verdict_words[verdict],
	       vprof_figure_names[x->figure], x->is_above ? ">" : "<", x->limit * 100);
	if (verdict == VPROF_CHANGE_INCONCLUSIVE && !vprof_comparison_has_runs(c))
		printf(": one run does not tell how runs differ");
	else if (verdict == VPROF_CHANGE_INCONCLUSIVE && isnan(c->changes[x->figure].low))
		printf(": there are no bounds below %zu intervals, or without variance",
		       vprof_compare_needed(x->figure));
	else if (verdict == VPROF_CHANGE_INCONCLUSIVE)
		printf(": the limit lies within the bounds; make more runs, or longer ones");
	putchar('\n');
}

static size_t count_intervals(const struct vprof_compared_side *side)
{
	size_t sum = 0;

	for (size_t k = 0; k < side->n_traces; k++)
		sum += side->traces[k].figures.n;
	return sum;
}

static void print_side(const struct vprof_compared_side *side)
{
	if (side->n_traces == 1)
		printf("run %s (%s)", side->runs[0]->run, vprof_format_count(side->first.n).s);
	else if (side->n == 1)
		printf("run %s (%zu executions, %s)", side->runs[0]->run, side->n_traces,
		       vprof_format_count(count_intervals(side)).s);
	else
		printf("%zu runs (%s)", side->n_traces, vprof_format_count(count_intervals(side)).s);
}

/* What would settle it. */
static void print_advice(const struct vprof_comparison *c)
{
	puts("It is not known whether these have changed, or by less than 10 %:");
	for (size_t i = 0; i < VPROF_COMPARE_JUDGED; i++) {
		enum vprof_figure figure = vprof_compare_judged[i];
		size_t needed = vprof_comparison_runs_to_know(c, figure);

		if (vprof_comparison_is_known(c, figure))
			continue;
		printf("  %-6s", vprof_figure_names[figure]);
		if (needed)
			printf("some %zu runs of each side would tell, if it has changed as it seems\n", needed);
		else if (isfinite(c->changes[figure].low))
			printf("not even %d runs of each side would tell\n", VPROF_COMPARE_RUNS_MAX);
		else
			puts("there are no bounds: too few intervals, or a run in which it is 0");
	}
	puts("--repeat N makes more runs; longer ones differ less.");
}

static void print_outcome(const struct vprof_comparison *c)
{
	if (!vprof_comparison_has_runs(c)) {
		printf("\nOne run of each side: runs of one build differ by more than such intervals say, so nothing is "
		       "decided.\nCompare several: --base RUN... --new RUN..., or --repeat N.\n");
		return;
	}
	if (!c->has_made_runs)
		return;
	if (vprof_comparison_is_settled(c))
		printf("\nSettled after %zu runs of each side.\n", c->sides[0].n);
	else
		printf("\nNot settled after %zu runs of each side.\n", c->sides[0].n);
	if (!vprof_comparison_is_settled(c) && !c->n_conditions)
		print_advice(c);
}

void vprof_comparison_print(const struct vprof_comparison *c, size_t top, const char *touched)
{
	struct vprof_text name = VPROF_TEXT_INIT;

	vprof_format_cut(&name, c->sides[0].runs[0]->interval, 40, 1, 0);
	printf("%s: ", name.s);
	print_side(&c->sides[1]);
	printf(" against ");
	print_side(&c->sides[0]);
	printf("%s\n", c->is_in_turn ? ", in turn" : "");
	for (int i = 0; i < 2; i++)
		if (*c->sides[i].label)
			printf("%-5s %s\n", i ? "new" : "base", c->sides[i].label);
	putchar('\n');
	print_figures(c);
	vprof_compared_causes_print(c, top);
	print_factors(c, top);
	if (touched && *touched)
		printf("commits that changed these functions\n%s\n", touched);
	for (size_t i = 0; i < c->n_conditions; i++)
		print_condition(c, i);
	print_outcome(c);
	vprof_text_release(&name);
}

static void add_side(cJSON *root, const char *key, const struct vprof_compared_side *side)
{
	cJSON *o = cJSON_AddObjectToObject(root, key), *runs;

	cJSON_AddStringToObject(o, "run", side->runs[0]->run);
	if (*side->label)
		vprof_print_add_string(o, "commit", side->label);
	cJSON_AddNumberToObject(o, "n", (double)count_intervals(side));
	runs = cJSON_AddArrayToObject(o, "runs");
	for (size_t k = 0; k < side->n_traces; k++) {
		const struct vprof_compared_trace *trace = &side->traces[k];
		cJSON *run = cJSON_CreateObject();

		cJSON_AddStringToObject(run, "run", side->runs[trace->run]->run);
		cJSON_AddNumberToObject(run, "n", (double)trace->figures.n);
		for (size_t i = 0; i < VPROF_FIGURE_COUNT; i++)
			vprof_json_add_number(run, vprof_figure_names[i], trace->figures.of[i]);
		cJSON_AddItemToArray(runs, run);
	}
}

static void add_figures(cJSON *list, const struct vprof_comparison *c)
{
	for (size_t i = 0; i < VPROF_FIGURE_COUNT; i++) {
		const struct vprof_change *x = &c->changes[i];
		int is_known = vprof_comparison_is_known(c, (enum vprof_figure)i);
		size_t needed = vprof_comparison_runs_to_know(c, (enum vprof_figure)i);
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "figure", vprof_figure_names[i]);
		vprof_json_add_number(o, "base", x->base);
		vprof_json_add_number(o, "new", x->new);
		vprof_json_add_number(o, "change", x->change);
		vprof_json_add_number(o, "low", x->low);
		vprof_json_add_number(o, "high", x->high);
		cJSON_AddBoolToObject(o, "is_changed", vprof_comparison_has_runs(c) && (x->low > 0 || x->high < 0));
		cJSON_AddBoolToObject(o, "is_known", is_known);
		vprof_json_add_number(o, "runs_to_know", is_known ? 0 : needed ? (double)needed : NAN);
		cJSON_AddItemToArray(list, o);
	}
}

static void add_factors(cJSON *list, const struct vprof_comparison *c)
{
	for (size_t i = 0; i < c->n_factors; i++) {
		const struct vprof_factor_change *f = &c->factors[i];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "key", f->key);
		cJSON_AddStringToObject(o, "name", f->name);
		vprof_json_add_number(o, "base_sd_ns", f->base_ns);
		vprof_json_add_number(o, "new_sd_ns", f->new_ns);
		vprof_json_add_number(o, "change", f->change);
		vprof_json_add_number(o, "low", f->low);
		vprof_json_add_number(o, "high", f->high);
		cJSON_AddItemToArray(list, o);
	}
}

static cJSON *comparison_json(const struct vprof_comparison *c, const char *touched)
{
	cJSON *root = cJSON_CreateObject(), *list;

	cJSON_AddNumberToObject(root, "version", 2);
	cJSON_AddStringToObject(root, "interval", c->sides[0].runs[0]->interval);
	add_side(root, "base", &c->sides[0]);
	add_side(root, "new", &c->sides[1]);
	cJSON_AddBoolToObject(root, "in_turn", c->is_in_turn);
	cJSON_AddBoolToObject(root, "decides", vprof_comparison_has_runs(c));
	vprof_json_add_number(root, "confidence", vprof_comparison_has_runs(c) ? 1 - c->error : 0.95);
	cJSON_AddBoolToObject(root, "settled", vprof_comparison_is_settled(c));
	add_figures(cJSON_AddArrayToObject(root, "figures"), c);
	vprof_compared_causes_add(cJSON_AddArrayToObject(root, "causes"), c);
	add_factors(cJSON_AddArrayToObject(root, "factors"), c);
	list = cJSON_AddArrayToObject(root, "conditions");
	for (size_t i = 0; i < c->n_conditions; i++) {
		const struct vprof_condition *x = &c->conditions[i];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "figure", vprof_figure_names[x->figure]);
		cJSON_AddStringToObject(o, "fails_if", x->is_above ? "above" : "below");
		cJSON_AddNumberToObject(o, "limit", x->limit);
		cJSON_AddStringToObject(o, "verdict", vprof_change_verdict_words[vprof_comparison_verdict(c, i)]);
		cJSON_AddItemToArray(list, o);
	}
	if (touched)
		vprof_print_add_string(root, "touched_by", touched);
	cJSON_AddNumberToObject(root, "status", vprof_comparison_status(c));
	return root;
}

int vprof_comparison_print_json(const struct vprof_comparison *c, const char *touched, struct vprof_error *err)
{
	return vprof_print_json(comparison_json(c, touched), err);
}
