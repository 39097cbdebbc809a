/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/compare/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

const char *const vprof_change_verdict_words[] = { "passes", "fails", "inconclusive" };

int vprof_comparison_has_runs(const struct vprof_comparison *c)
{
	return c->sides[0].n_traces >= VPROF_COMPARE_RUNS_MIN && c->sides[1].n_traces >= VPROF_COMPARE_RUNS_MIN;
}

enum vprof_verdict_of_change vprof_comparison_verdict(const struct vprof_comparison *c, size_t i)
{
	const struct vprof_condition *x = &c->conditions[i];

	return vprof_comparison_has_runs(c) ? vprof_condition_judge(x, &c->changes[x->figure]) :
					      VPROF_CHANGE_INCONCLUSIVE;
}

int vprof_comparison_status(const struct vprof_comparison *c)
{
	int status = VPROF_EXIT_OK;

	for (size_t i = 0; i < c->n_conditions; i++) {
		enum vprof_verdict_of_change v = vprof_comparison_verdict(c, i);

		if (v == VPROF_CHANGE_FAILS)
			return VPROF_EXIT_FAILED;
		if (v == VPROF_CHANGE_INCONCLUSIVE)
			status = VPROF_EXIT_INCONCLUSIVE;
	}
	return status;
}

int vprof_comparison_is_known(const struct vprof_comparison *c, enum vprof_figure figure)
{
	const struct vprof_change *x = &c->changes[figure];

	return vprof_comparison_has_runs(c) &&
	       (x->low > 0 || x->high < 0 || (x->low >= -VPROF_COMPARE_PRECISE && x->high <= VPROF_COMPARE_PRECISE));
}

const enum vprof_figure vprof_compare_judged[VPROF_COMPARE_JUDGED] = { VPROF_FIGURE_MEAN, VPROF_FIGURE_P50,
								       VPROF_FIGURE_P90, VPROF_FIGURE_P99 };

int vprof_comparison_is_settled(const struct vprof_comparison *c)
{
	if (c->n_conditions)
		return vprof_comparison_status(c) != VPROF_EXIT_INCONCLUSIVE;
	for (size_t i = 0; i < VPROF_COMPARE_JUDGED; i++)
		if (!vprof_comparison_is_known(c, vprof_compare_judged[i]))
			return 0;
	return 1;
}

size_t vprof_comparison_runs_to_know(const struct vprof_comparison *c, enum vprof_figure figure)
{
	if (!vprof_comparison_has_runs(c) || vprof_comparison_is_known(c, figure))
		return 0;
	return vprof_compare_runs_needed(&c->changes[figure], c->sides[0].n_traces, c->sides[1].n_traces, c->error,
					 VPROF_COMPARE_PRECISE);
}

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const struct vprof_factor *const *)a)->key, (*(const struct vprof_factor *const *)b)->key);
}

/* The variance factors of one side's runs, each once, by key; [*n]. NULL: no memory. */
static const struct vprof_factor **sorted_factors(const struct vprof_compared_side *side, size_t *n)
{
	const struct vprof_factor **sorted;
	size_t most = 0, n_all = 0;

	for (size_t k = 0; k < side->n; k++)
		most += side->runs[k]->n_factors;
	sorted = malloc((most + 1) * sizeof *sorted);
	for (size_t k = 0; k < side->n && sorted; k++)
		for (size_t i = 0; i < side->runs[k]->n_factors; i++)
			if (side->runs[k]->factors[i].kind == VPROF_FACTOR_VARIANCE)
				sorted[n_all++] = &side->runs[k]->factors[i];
	if (n_all)
		qsort(sorted, n_all, sizeof *sorted, by_key);
	*n = 0;
	for (size_t i = 0; i < n_all; i++)
		if (!*n || strcmp(sorted[*n - 1]->key, sorted[i]->key))
			sorted[(*n)++] = sorted[i];
	return sorted;
}

static int by_change(const void *a, const void *b)
{
	const struct vprof_factor_change *x = a, *y = b;
	double dx = isnan(x->change) ? -1 : fabs(x->change), dy = isnan(y->change) ? -1 : fabs(y->change);

	return dx > dy ? -1 : dx < dy ? 1 : strcmp(x->key, y->key);
}

static int same_plan(const struct vprof_comparison *c)
{
	const struct vprof_text *base = &c->sides[0].plan, *new = &c->sides[1].plan;

	return base->len && base->len == new->len && !memcmp(base->s, new->s, base->len);
}

/* Of a factor that a side lacks: of variance 0 when it would have been recorded there, as waits always are. */
static double variance_of_missing(const struct vprof_factor *other, int measured_alike)
{
	return measured_alike || other->node_kind == VPROF_NODE_WAIT || other->node_kind == VPROF_NODE_QUEUED ? 0 : NAN;
}

/* The factor's variance in each run, ns2[side->n], and their mean; `missing`: where it did not occur on the side at
 * all.
 */
static double take_variances(double *ns2, const struct vprof_compared_side *side, const struct vprof_factor *found,
			     double missing)
{
	double sum = 0;

	for (size_t k = 0; k < side->n; k++) {
		const struct vprof_results *r = side->runs[k];

		ns2[k] = found ? 0 : missing;
		for (size_t i = 0; found && i < r->n_factors; i++)
			if (!strcmp(r->factors[i].key, found->key))
				ns2[k] = r->factors[i].sd_ns * r->factors[i].sd_ns;
		sum += ns2[k];
	}
	return sum / (double)side->n;
}

static struct vprof_factor_change change_of(const struct vprof_comparison *c, const struct vprof_factor *base,
					    const struct vprof_factor *new, double *room)
{
	const struct vprof_factor *any = base ? base : new;
	const struct vprof_compared_side *a = &c->sides[0], *b = &c->sides[1];
	double missing = variance_of_missing(any, same_plan(c)), total = vprof_compared_side_variance(a), half;
	double from = take_variances(room, a, base, missing), to = take_variances(room + a->n, b, new, missing);
	struct vprof_factor_change f = { .name = any->name, .key = any->key, .is_blame = any->is_blame };

	f.base_ns = sqrt(from);
	f.new_ns = sqrt(to);
	f.change = total > 0 ? (to - from) / total : NAN;
	half = vprof_runs_half_width(room, a->n, room + a->n, b->n, c->is_in_turn, VPROF_COMPARE_PART_ERROR) / total;
	f.low = f.change - half;
	f.high = f.change + half;
	return f;
}

/* Variance factors of either side; a function's variance is comparable whatever else was measured. */
static int change_factors(struct vprof_comparison *c)
{
	size_t n_base, n_new, i = 0, k = 0;
	const struct vprof_factor **base = sorted_factors(&c->sides[0], &n_base);
	const struct vprof_factor **new = sorted_factors(&c->sides[1], &n_new);
	double *room = malloc((c->sides[0].n + c->sides[1].n) * sizeof *room);

	free(c->factors);
	c->n_factors = 0;
	c->factors = calloc(n_base + n_new + 1, sizeof *c->factors);
	while (base && new && room && c->factors && (i < n_base || k < n_new)) {
		int order = i == n_base ? 1 : k == n_new ? -1 : by_key(&base[i], &new[k]);
		const struct vprof_factor *b = order <= 0 ? base[i++] : NULL, *n = order >= 0 ? new[k++] : NULL;

		c->factors[c->n_factors++] = change_of(c, b, n, room);
	}
	if (c->n_factors)
		qsort(c->factors, c->n_factors, sizeof *c->factors, by_change);
	i = base && new && room && c->factors;
	free(base);
	free(new);
	free(room);
	return i ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int check_intervals(const struct vprof_comparison *c, struct vprof_error *err)
{
	const char *first = c->sides[0].runs[0]->interval;

	for (int s = 0; s < 2; s++) {
		const struct vprof_compared_side *side = &c->sides[s];

		for (size_t k = 0; k < side->n; k++)
			if (strcmp(first, side->runs[k]->interval))
				return vprof_error_set(
					err, VPROF_ERR_INPUT,
					"these runs are of different intervals, \"%.60s\" and \"%.60s\"; "
					"analyse one again with: vprof analyze RUN --interval NAME",
					first, side->runs[k]->interval);
		for (size_t k = 0; k < side->n_traces; k++)
			if (side->traces[k].figures.n < 2)
				return vprof_error_set(err, VPROF_ERR_INCONCLUSIVE,
						       "run %s has %zu complete interval%s: too few to compare. Make "
						       "longer runs",
						       side->runs[side->traces[k].run]->run, side->traces[k].figures.n,
						       side->traces[k].figures.n == 1 ? "" : "s");
	}
	return VPROF_OK;
}

/* Takes the figures of all runs of a side together. */
static struct vprof_run_figures *gather(const struct vprof_compared_side *side)
{
	struct vprof_run_figures *all = malloc((side->n_traces + 1) * sizeof *all);

	for (size_t k = 0; k < side->n_traces && all; k++)
		all[k] = side->traces[k].figures;
	return all;
}

int vprof_comparison_make(struct vprof_comparison *c, struct vprof_error *err)
{
	struct vprof_run_figures *base, *new;
	int rc = check_intervals(c, err);

	if (rc)
		return rc;
	if (c->sides[0].n_traces == 1 && c->sides[1].n_traces == 1) {
		rc = vprof_compare(&c->sides[0].first, &c->sides[1].first, c->changes, err);
	} else {
		base = gather(&c->sides[0]);
		new = gather(&c->sides[1]);
		if (!base || !new ||
		    vprof_compare_runs(base, c->sides[0].n_traces, new, c->sides[1].n_traces, c->is_in_turn, c->error,
				       c->changes))
			rc = vprof_error_no_memory(err);
		free(base);
		free(new);
	}
	if (!rc && change_factors(c))
		rc = vprof_error_no_memory(err);
	return rc;
}
