/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every statistic is a function of weighted sums over blocks (block_sums.h). The threshold of the slowest intervals,
 * the specificities and the scales of the work's columns stay what they are in the data. */
#include "analysis/variance/confidence.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "analysis/stats/bootstrap.h"
#include "analysis/results/warning_list.h"

#define SEED UINT64_C(0x7670726f66)
#define SETTLED 0.95 /* of the replicates in which a factor scores more than the next */
#define SETTLE_MAX 1e15
/* a first factor that keeps its place more rarely has none; of three equal ones each has a third */
#define CHANCE (1.0 / 3)

struct confidence {
	struct vprof_results *r;
	const struct vprof_block_sums *s;
};

/* Statistics in the order in which evaluate() writes them. */
static size_t at_mean(const struct confidence *c)
{
	return c->s->n_factors;
}

static size_t at_between(const struct confidence *c)
{
	return at_mean(c) + 1;
}

static size_t at_spent(const struct confidence *c)
{
	return at_between(c) + 1;
}

static size_t at_gap(const struct confidence *c)
{
	return at_spent(c) + c->s->n_groups;
}

static size_t at_work(const struct confidence *c)
{
	return at_gap(c) + c->s->n_groups;
}

static size_t at_slopes(const struct confidence *c)
{
	return at_work(c) + 1;
}

/* of the quantities that are resampled: shares, then what would go if they were constant */
static size_t at_shares(const struct confidence *c)
{
	return at_slopes(c) + c->s->n_columns;
}

static size_t at_constants(const struct confidence *c)
{
	return at_shares(c) + c->s->reported.n_bounded;
}

static size_t n_statistics(const struct confidence *c)
{
	return at_constants(c) + c->s->reported.n_bounded;
}

static void evaluate_shares(const struct confidence *c, const double *sums, double n, double total, double *values)
{
	const struct vprof_block_sums *s = c->s;
	const double *deviation = sums + s->at_deviation;

	for (size_t f = 0; f < s->n_factors; f++)
		values[f] = sums[s->at_product + f];
	for (size_t i = 0; i < s->terms.n; i++) {
		const struct vprof_sum_term *t = &s->terms.v[i];

		values[t->factor] -= t->times * deviation[t->slot_a] * deviation[t->slot_b] / n;
	}
	for (size_t f = 0; f < s->n_factors; f++) {
		values[f] = total > 0 ? values[f] / total + s->fixed[f] : NAN;
		if (c->r->factors[f].kind == VPROF_FACTOR_VARIANCE && values[f] < 0)
			values[f] = 0; /* sampling noise was more than there is */
	}
}

static void evaluate_spent(const struct confidence *c, const double *sums, double n, double *values)
{
	const struct vprof_block_sums *s = c->s;
	const double *spent = sums + s->at_spent, *spent_slow = sums + s->at_spent_slow;
	double slow = sums[s->at_slow];

	for (size_t g = 0; g < s->n_groups; g++) {
		values[at_spent(c) + g] = spent[g] / n;
		values[at_gap(c) + g] =
			slow > 0 && slow < n ? spent_slow[g] / slow - (spent[g] - spent_slow[g]) / (n - slow) : NAN;
	}
}

static double evaluate_between(const struct confidence *c, const double *sums, double n, double total)
{
	const struct vprof_block_sums *s = c->s;
	const double *count = sums + s->at_type_count, *of_type = sums + s->at_type_deviation;
	double between = 0, deviation = 0;

	for (size_t t = 0; t < s->n_types; t++) {
		deviation += of_type[t];
		if (count[t] > 0)
			between += of_type[t] * of_type[t] / count[t];
	}
	between -= deviation * deviation / n;
	return total > 0 ? between / total : NAN;
}

static void evaluate_work(const struct confidence *c, const double *gram, double n, double *values)
{
	size_t p = c->s->n_columns, width = p + 1;
	double a[VPROF_COUNTERS_MAX * VPROF_COUNTERS_MAX], with[VPROF_COUNTERS_MAX], total, r2;
	const double *sums = gram + width * width;

	if (!p)
		return;
	for (size_t i = 0; i < p; i++) {
		for (size_t k = 0; k < p; k++)
			a[i * p + k] = gram[i * width + k] - sums[i] * sums[k] / n;
		with[i] = gram[i * width + p] - sums[i] * sums[p] / n;
	}
	total = gram[p * width + p] - sums[p] * sums[p] / n;
	r2 = vprof_work_solve(a, with, p, values + at_slopes(c)) / total;
	values[at_work(c)] = total > 0 ? vprof_work_adjusted(r2, n, p) : NAN;
}

static void evaluate_quantities(const struct confidence *c, const double *sums, double *values)
{
	const struct vprof_block_sums *s = c->s;
	const struct vprof_quantity_total *totals = (const void *)(sums + s->at_quantity);

	for (size_t i = 0; i < s->reported.n_bounded; i++) {
		struct vprof_quantity_figures f = vprof_quantity_figures(&totals[i], sums[s->at_count],
									 sums[s->at_deviation], sums[s->at_square]);

		values[at_shares(c) + i] = f.share;
		values[at_constants(c) + i] = f.if_constant;
	}
}

static void evaluate(void *arg, const double *sums, double *values)
{
	const struct confidence *c = arg;
	const struct vprof_block_sums *s = c->s;
	double n = sums[s->at_count], total, deviation = sums[s->at_deviation];

	total = sums[s->at_square] - deviation * deviation / n;
	evaluate_shares(c, sums, n, total, values);
	values[at_mean(c)] = c->r->mean_ns + deviation / n;
	values[at_between(c)] = evaluate_between(c, sums, n, total);
	evaluate_spent(c, sums, n, values);
	values[at_work(c)] = NAN;
	evaluate_work(c, sums + s->at_gram, n, values);
	evaluate_quantities(c, sums, values);
}

static int is_ranked(const struct vprof_results *r, const struct vprof_factor *f)
{
	return f->share > r->threshold && !vprof_factor_is_unexplained(r, f);
}

static double score(const struct confidence *c, const struct vprof_bootstrap_values *v, size_t factor, size_t replicate)
{
	return c->r->factors[factor].specificity * v->replicates[factor * v->n_replicates + replicate];
}

/* Intervals that would tell factor i from the next one: a difference's error shrinks with the root of their number. */
static uint64_t to_settle(const struct confidence *c, const struct vprof_bootstrap_values *v, size_t i)
{
	double mean = 0, squares = 0, before = 0, n = (double)v->n_replicates, gap, needed;

	for (size_t k = 0; k < v->n_replicates; k++) {
		double d = score(c, v, i, k) - score(c, v, i + 1, k);

		before += d > 0 ? 1 : d == 0 ? 0.5 : 0;
		mean += d / n;
	}
	if (before >= SETTLED * n)
		return 0;
	for (size_t k = 0; k < v->n_replicates; k++) {
		double d = score(c, v, i, k) - score(c, v, i + 1, k) - mean;

		squares += d * d;
	}
	gap = c->r->factors[i].score - c->r->factors[i + 1].score;
	needed = gap > 0 ?
			 (double)c->r->n_complete * squares / (n - 1) * pow(gsl_cdf_ugaussian_Pinv(SETTLED) / gap, 2) :
			 SETTLE_MAX;
	if (needed <= (double)c->r->n_complete) /* skewed: the normal law is too kind */
		needed = 2 * (double)c->r->n_complete;
	return needed < SETTLE_MAX ? (uint64_t)needed : (uint64_t)SETTLE_MAX;
}

static void judge_ranking(const struct confidence *c, const struct vprof_bootstrap_values *v)
{
	struct vprof_results *r = c->r;
	size_t n = 0, kept_all = 0;

	while (n < c->s->n_factors && is_ranked(r, &r->factors[n]))
		n++;
	for (size_t i = 0; i < n; i++)
		r->factors[i].place_kept = 0;
	for (size_t k = 0; k < v->n_replicates; k++) {
		size_t n_kept = 0;

		for (size_t i = 0; i < n; i++) {
			double own = score(c, v, i, k);
			size_t place = 0;

			for (size_t j = 0; j < n; j++)
				place += score(c, v, j, k) > own || (j < i && score(c, v, j, k) == own);
			r->factors[i].place_kept += place == i;
			n_kept += place == i && i < r->n_selected;
		}
		kept_all += n_kept == (n < r->n_selected ? n : r->n_selected);
	}
	for (size_t i = 0; i < n; i++)
		r->factors[i].place_kept /= (double)v->n_replicates;
	if (n)
		r->order_kept = (double)kept_all / (double)v->n_replicates;
	for (size_t i = 0; i + 1 < n; i++) {
		r->factors[i].n_to_settle = to_settle(c, v, i);
		if (i < r->n_selected && r->factors[i].n_to_settle > r->n_to_settle)
			r->n_to_settle = r->factors[i].n_to_settle;
	}
}

/* How often each cause has its rank, and is among the first k, by what would go if it were constant. */
static void judge_causes(const struct confidence *c, const struct vprof_bootstrap_values *v)
{
	struct vprof_results *r = c->r;
	double per = 1.0 / (double)v->n_replicates;

	for (size_t i = 0; i < r->n_causes; i++)
		r->causes[i].place_kept = r->causes[i].first_kept = 0;
	for (size_t k = 0; k < v->n_replicates; k++) {
		for (size_t i = 0; i < r->n_causes; i++) {
			const double *all = v->replicates + at_constants(c) * v->n_replicates + k;
			double own = all[c->s->reported.of_cause[i] * v->n_replicates];
			size_t place = 0;

			for (size_t j = 0; j < r->n_causes; j++) {
				double other = all[c->s->reported.of_cause[j] * v->n_replicates];

				place += other > own || (j < i && other == own);
			}
			r->causes[i].place_kept += place == i ? per : 0;
			r->causes[i].first_kept += place < (size_t)r->k ? per : 0;
		}
	}
}

static struct vprof_quantity_figures figures_of(const struct confidence *c, uint32_t quantity)
{
	const struct vprof_block_sums *s = c->s;
	double n = (double)c->r->n_complete, latency = s->latency_residual;
	struct vprof_quantity_total t =
		vprof_quantity_total(&s->totals[quantity], s->reported.quantities.mean.v[quantity], n, latency);

	return vprof_quantity_figures(&t, n, latency, c->r->nodes[0].var_ns2 * (n - 1) + latency * latency / n);
}

/* What is not known, NaN, may be more than anything. */
static int is_more(double a, double than)
{
	return isnan(a) || a > than;
}

/* A function's own work, and that beneath waits, are of one function. */
static void share_with_counterpart(struct vprof_results *r, const struct vprof_factor *f)
{
	struct vprof_factor *other = f->counterpart ? &r->factors[f->counterpart - 1] : NULL;

	if (!other)
		return;
	other->code_share = f->code_share;
	other->code_share_high = f->code_share_high;
	other->code_constant = f->code_constant;
	other->code_constant_high = f->code_constant_high;
}

/* The upper ones of what decides whether a factor is worth recording. */
static void bound_costly(const struct confidence *c, struct vprof_bootstrap_values *v)
{
	const struct vprof_reported *of = &c->s->reported;

	for (size_t i = 0; i < of->n_costly; i++) {
		struct vprof_factor *f = &c->r->factors[of->costly[i].factor];
		uint32_t q = of->costly[i].quantity;

		for (uint32_t k = q; k < q + of->costly[i].n_quantities; k++) {
			struct vprof_quantity_figures figures = figures_of(c, k);
			double low, share, constant;

			vprof_bootstrap_bounds_within(v, at_shares(c) + k, 0, 1, &low, &share);
			vprof_bootstrap_bounds_within(v, at_constants(c) + k, -INFINITY, 1, &low, &constant);
			if (k == q || is_more(share, f->code_share_high)) {
				f->code_share_high = share;
				f->code_share = fmax(0, figures.share);
			}
			if (k == q || is_more(constant, f->code_constant_high)) {
				f->code_constant_high = constant;
				f->code_constant = figures.if_constant;
			}
		}
		share_with_counterpart(c->r, f);
	}
}

static void fill_quantity_bounds(const struct confidence *c, struct vprof_bootstrap_values *v)
{
	struct vprof_results *r = c->r;

	for (size_t i = 0; i < c->s->n_factors; i++) {
		struct vprof_factor *f = &r->factors[i];

		vprof_bootstrap_bounds_within(v, at_constants(c) + i, -INFINITY, 1, &f->if_constant_low,
					      &f->if_constant_high);
	}
	for (size_t i = 0; i < c->s->n_factors; i++) {
		struct vprof_factor *f = &r->factors[i];
		size_t q = c->s->reported.together[i];

		if (q == VPROF_NONE)
			continue;
		vprof_bootstrap_bounds_within(v, at_shares(c) + q, 0, 1, &f->together_low, &f->together_high);
		vprof_bootstrap_bounds_within(v, at_constants(c) + q, -INFINITY, 1, &f->together_constant_low,
					      &f->together_constant_high);
	}
	for (size_t i = 0; i < r->n_causes; i++) {
		struct vprof_cause *cause = &r->causes[i];
		size_t q = c->s->reported.of_cause[i];

		vprof_bootstrap_bounds_within(v, at_shares(c) + q, 0, 1, &cause->share_low, &cause->share_high);
		vprof_bootstrap_bounds_within(v, at_constants(c) + q, -INFINITY, 1, &cause->if_constant_low,
					      &cause->if_constant_high);
	}
}

static void fill_bounds(const struct confidence *c, struct vprof_bootstrap_values *v)
{
	struct vprof_results *r = c->r;

	for (size_t f = 0; f < c->s->n_factors; f++) {
		int is_variance = r->factors[f].kind == VPROF_FACTOR_VARIANCE;

		vprof_bootstrap_bounds_within(v, f, is_variance ? 0 : -INFINITY, is_variance ? 1 : INFINITY,
					      &r->factors[f].share_low, &r->factors[f].share_high);
	}
	vprof_bootstrap_bounds_within(v, at_mean(c), 0, INFINITY, &r->mean_low, &r->mean_high);
	if (r->n_types > 1)
		vprof_bootstrap_bounds_within(v, at_between(c), 0, 1, &r->between_low, &r->between_high);
	for (size_t g = 0; g < c->s->n_groups; g++) {
		struct vprof_contribution *of = &r->contributions[c->s->group[g]];

		vprof_bootstrap_bounds_within(v, at_spent(c) + g, 0, INFINITY, &of->mean_low, &of->mean_high);
		vprof_bootstrap_bounds(v, at_gap(c) + g, &of->gap_low, &of->gap_high);
	}
	vprof_bootstrap_bounds_within(v, at_work(c), 0, 1, &r->work_low, &r->work_high);
}

/* Does the run say which factors matter? Factors of equal shares may change places for ever: that is a finding, when
 * their shares are known. */
static int judge_conclusion(const struct confidence *c)
{
	struct vprof_results *r = c->r;
	const struct vprof_factor *first = r->factors;
	size_t n = 0, n_sure = 0;

	while (n < c->s->n_factors && n < r->n_selected && is_ranked(r, &r->factors[n]))
		n_sure += !(r->factors[n++].share_low <= 0); /* NaN: not known, for want of other intervals that vary */
	if (n && !n_sure) {
		r->inconclusive = 1;
		return vprof_warning_add(
			r,
			"no factor's share is significantly above 0: the first is %s, with a 95 %% confidence "
			"interval of %.1f .. %.1f %%. Record a longer run",
			vprof_warned_factor(r, first).s, 100 * first->share_low, 100 * first->share_high);
	}
	if (n && first->place_kept < CHANCE && first->share_low < first->share / 2) {
		r->inconclusive = 1;
		return vprof_warning_add(
			r,
			"the ranking may be due to chance: the first factor, %s, keeps its rank in %.0f %% of resampled "
			"runs, and the 95 %% confidence interval of its share is %.1f .. %.1f %%. Record a longer run",
			vprof_warned_factor(r, first).s, 100 * first->place_kept, 100 * first->share_low,
			100 * first->share_high);
	}
	for (size_t i = 0; i < n; i++)
		if (r->factors[i].share_low <= 0 &&
		    vprof_warning_add(
			    r,
			    "factor %zu (%s) may be due to chance: the 95 %% confidence interval of its share is %.1f .. %.1f %%",
			    i + 1, vprof_warned_factor(r, &r->factors[i]).s, 100 * r->factors[i].share_low,
			    100 * r->factors[i].share_high))
			return VPROF_ERR_NOMEM;
	return 0;
}

static void fill_slopes(const struct confidence *c, const struct vprof_work_model *m, struct vprof_bootstrap_values *v)
{
	for (size_t k = 0; k < m->n_columns; k++) {
		struct vprof_work *w = &c->r->work[m->counter[k]];

		vprof_bootstrap_bounds(v, at_slopes(c) + k, &w->low, &w->high);
		w->low /= m->sd[k];
		w->high /= m->sd[k];
	}
}

/* How much of each reported factor's variance lies between types, and is explained by work. */
static void fill_own_shares(const struct confidence *c)
{
	const struct vprof_block_sums *s = c->s;
	struct vprof_results *r = c->r;
	double n = 0, gram[VPROF_GRAM_SIZE(VPROF_COUNTERS_MAX)] = { 0 }, a[VPROF_COUNTERS_MAX * VPROF_COUNTERS_MAX];
	double slopes[VPROF_COUNTERS_MAX];
	size_t p = s->n_columns;

	for (size_t t = 0; t < s->n_types; t++)
		n += s->type_n[t];
	for (size_t b = 0; b < s->n_blocks && p; b++)
		for (size_t k = 0; k < VPROF_GRAM_SIZE(p); k++)
			gram[k] += s->rows[b * s->width + s->at_gram + k];
	for (size_t i = 0; i < p; i++)
		for (size_t k = 0; k < p; k++)
			a[i * p + k] = gram[i * (p + 1) + k];
	for (size_t f = 0; f < s->n_factors; f++) {
		struct vprof_factor *factor = &r->factors[f];
		double squares = factor->sd_ns * factor->sd_ns * (n - 1), between = 0;

		if (factor->kind != VPROF_FACTOR_VARIANCE || !(squares > 0))
			continue;
		for (size_t t = 0; t < s->n_types; t++) {
			double d = s->type_n[t] > 0 ?
					   s->type_factor[t * s->n_factors + f] / s->type_n[t] - factor->mean_ns :
					   0;

			between += s->type_n[t] * d * d;
		}
		if (r->n_types > 1)
			factor->between_share = between < squares ? between / squares : 1;
		if (p)
			factor->work_share = vprof_work_adjusted(
				fmin(1, vprof_work_solve(a, s->factor_work + f * p, p, slopes) / squares), n, p);
	}
}

/* Standard deviations, and what would go if something were constant. */
static void fill_quantities(const struct confidence *c)
{
	const struct vprof_block_sums *s = c->s;
	struct vprof_results *r = c->r;

	for (size_t i = 0; i < r->n_factors; i++) {
		struct vprof_factor *f = &r->factors[i];
		struct vprof_quantity_figures figures;

		if (s->reported.of_factor[i] == VPROF_NONE)
			continue;
		figures = figures_of(c, s->reported.of_factor[i]);
		f->if_constant = figures.if_constant;
		if (f->kind == VPROF_FACTOR_VARIANCE)
			f->sd_ns = figures.sd_ns;
		if (s->reported.together[i] == VPROF_NONE)
			continue;
		figures = figures_of(c, s->reported.together[i]);
		f->together = figures.share;
		f->together_constant = figures.if_constant;
	}
	for (size_t i = 0; i < r->n_causes; i++) {
		struct vprof_quantity_figures figures = figures_of(c, s->reported.of_cause[i]);

		r->causes[i].share = figures.share;
		r->causes[i].if_constant = figures.if_constant;
		r->causes[i].sd_ns = figures.sd_ns;
	}
}

static void set_unknown(struct vprof_results *r)
{
	r->mean_low = r->mean_high = r->between_low = r->between_high = r->order_kept = NAN;
	for (size_t f = 0; f < r->n_factors; f++) {
		struct vprof_factor *factor = &r->factors[f];

		factor->share_low = factor->share_high = factor->place_kept = NAN;
		factor->between_share = factor->work_share = NAN;
		factor->code_share = factor->code_share_high = NAN;
		factor->code_constant = factor->code_constant_high = NAN;
		factor->if_constant = factor->if_constant_low = factor->if_constant_high = NAN;
		factor->together = factor->together_low = factor->together_high = NAN;
		factor->together_constant = factor->together_constant_low = factor->together_constant_high = NAN;
	}
	for (size_t i = 0; i < r->n_causes; i++) {
		struct vprof_cause *cause = &r->causes[i];

		cause->share_low = cause->share_high = cause->if_constant_low = cause->if_constant_high = NAN;
		cause->place_kept = cause->first_kept = NAN;
	}
}

static int estimate(struct confidence *c, const struct vprof_run_blocks *blocks, const struct vprof_work_model *model,
		    int n_threads)
{
	const struct vprof_block_sums *s = c->s;
	struct vprof_bootstrap problem = { .n_blocks = s->n_blocks,
					   .n_sums = s->width,
					   .n_statistics = n_statistics(c),
					   .n_runs = blocks->run_first ? blocks->n_runs : 1,
					   .run_first = blocks->run_first,
					   .seed = SEED,
					   .rows = s->rows,
					   .evaluate = evaluate,
					   .arg = c,
					   .n_threads = n_threads };
	struct vprof_bootstrap_values values;
	int ret = vprof_bootstrap_run(&problem, &values);

	if (!ret) {
		judge_ranking(c, &values);
		judge_causes(c, &values);
		fill_bounds(c, &values);
		fill_quantity_bounds(c, &values);
		bound_costly(c, &values);
		fill_slopes(c, model, &values);
		c->r->n_blocks = s->n_blocks;
		ret = judge_conclusion(c);
	}
	vprof_bootstrap_release(&values);
	return ret;
}

int vprof_confidence_fill(struct vprof_results *r, struct vprof_tree *tree,
			  const struct vprof_interval_attributes *attributes, const uint8_t *is_slow,
			  const struct vprof_work_model *model, const struct vprof_term_list *terms)
{
	struct vprof_block_sums sums;
	struct confidence c = { .r = r, .s = &sums };
	struct vprof_run_blocks blocks;
	int ret = vprof_run_blocks_choose(&blocks, attributes);

	set_unknown(r);
	if (ret) {
		vprof_run_blocks_release(&blocks);
		return ret;
	}
	ret = vprof_block_sums_take(&sums, r, tree, attributes, is_slow, model, terms, &blocks);
	if (!ret) {
		fill_quantities(&c);
		fill_own_shares(&c);
	}
	if (!ret && blocks.n > 1 && r->var_ns2 > 0)
		ret = estimate(&c, &blocks, model, tree->team.n_threads);
	vprof_block_sums_release(&sums);
	vprof_run_blocks_release(&blocks);
	return ret;
}
