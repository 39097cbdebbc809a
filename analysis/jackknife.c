/* Deviations are taken from the mean over all intervals, so leaving out a block is a subtraction of small numbers. */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/jackknife.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "analysis/moments.h"

#define N_BLOCKS 20
#define INTERVALS_MIN 60

struct sums {
	double a, b, ab; /* of deviations, absent nodes included */
};

struct jackknife {
	struct vprof_results *r;
	struct vprof_tree *tree;
	const struct vprof_factor_term **terms; /* of the selected factors, then the interval itself */
	size_t n_terms;
	struct sums *sums; /* [N_BLOCKS * n_terms] */
	size_t count[N_BLOCKS];
	double *value;	      /* [n_nodes] of the interval at hand */
	uint8_t *is_counted;  /* [n_nodes] the node is one of its factor's outermost */
	struct vprof_moment *moments; /* [n_factors] */
	double *factor_value;	      /* [n_factors] */
	double *factor_noise;	      /* [n_factors] sums over the intervals */
	uint32_t *by_pair;	      /* [n_terms] terms by (a, b) */
};

static int pair_order(const void *a, const void *b, void *arg)
{
	const struct vprof_factor_term *const *terms = arg;
	const struct vprof_factor_term *x = terms[*(const uint32_t *)a], *y = terms[*(const uint32_t *)b];

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* Index of the term of these two nodes, or VPROF_NONE. */
static uint32_t term_of(const struct jackknife *j, uint32_t a, uint32_t b)
{
	size_t low = 0, high = j->n_terms;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct vprof_factor_term *t = j->terms[j->by_pair[middle]];

		if (t->a == a && t->b == b)
			return j->by_pair[middle];
		if (t->a < a || (t->a == a && t->b < b))
			low = middle + 1;
		else
			high = middle;
	}
	return VPROF_NONE;
}

/* The errors of sampled times are no variance of the factors. */
static int take_out_noise(struct jackknife *j, size_t interval, size_t block)
{
	const struct vprof_node *nodes = j->r->nodes;
	size_t n;
	const struct vprof_sample_noise *item = vprof_tree_noise(j->tree, interval, &n);

	if (!item)
		return VPROF_ERR_NOMEM;
	for (size_t k = 0; k < n; k++) {
		uint32_t a = item[k].a, b = item[k].b, term = term_of(j, a, b);

		if (term != VPROF_NONE)
			j->sums[block * j->n_terms + term].ab -= item[k].ns2;
		if (nodes[a].factor && nodes[a].factor == nodes[b].factor && j->is_counted[a] && j->is_counted[b])
			j->factor_noise[nodes[a].factor - 1] += (a == b ? 1 : 2) * item[k].ns2;
	}
	return 0;
}

static void add_block(struct jackknife *j, size_t block)
{
	const struct vprof_node *nodes = j->r->nodes;

	j->count[block]++;
	for (size_t i = 0; i < j->n_terms; i++) {
		const struct vprof_factor_term *t = j->terms[i];
		struct sums *s = &j->sums[block * j->n_terms + i];
		double a = j->value[t->a] - nodes[t->a].mean_ns, b = j->value[t->b] - nodes[t->b].mean_ns;

		s->a += a;
		s->b += b;
		s->ab += a * b;
	}
}

static void add_factors(struct jackknife *j, const struct vprof_sample *s, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (j->is_counted[s[i].node])
			j->factor_value[j->r->nodes[s[i].node].factor - 1] += s[i].ns;
	for (size_t i = 1; i < n; i++) {
		uint32_t f = j->r->nodes[s[i].node].factor - 1;

		if (!j->is_counted[s[i].node] || j->factor_value[f] < 0)
			continue;
		vprof_moment_add(&j->moments[f], j->factor_value[f]);
		j->factor_value[f] = -1; /* taken */
	}
	for (size_t i = 1; i < n; i++)
		j->factor_value[j->r->nodes[s[i].node].factor - 1] = 0;
}

static int pass(struct jackknife *j)
{
	size_t n = j->tree->n_intervals;

	for (size_t i = 0; i < n; i++) {
		size_t n_sample;
		const struct vprof_sample *s = vprof_tree_sample(j->tree, i, &n_sample);

		if (!s)
			return VPROF_ERR_NOMEM;
		add_factors(j, s, n_sample);
		for (size_t k = 0; k < n_sample; k++)
			j->value[s[k].node] = s[k].ns;
		add_block(j, i * N_BLOCKS / n);
		for (size_t k = 0; k < n_sample; k++)
			j->value[s[k].node] = 0;
		if (take_out_noise(j, i, i * N_BLOCKS / n))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

/* (Co)variance times (n - 1) of term i without one block (N_BLOCKS: without none). */
static double squares_without(const struct jackknife *j, size_t i, size_t block)
{
	struct sums all = { 0, 0, 0 };
	double n = 0;

	for (size_t b = 0; b < N_BLOCKS; b++) {
		const struct sums *s = &j->sums[b * j->n_terms + i];

		if (b == block)
			continue;
		all.a += s->a;
		all.b += s->b;
		all.ab += s->ab;
		n += (double)j->count[b];
	}
	return n > 0 ? all.ab - all.a * all.b / n : 0;
}

static void bounds(struct jackknife *j)
{
	double share[N_BLOCKS], quantile = gsl_cdf_tdist_Pinv(0.975, N_BLOCKS - 1);

	for (size_t f = 0; f < j->r->n_selected; f++) {
		struct vprof_factor *factor = &j->r->factors[f];
		double mean = 0, spread = 0;

		for (size_t b = 0; b < N_BLOCKS; b++) {
			double total = squares_without(j, j->n_terms - 1, b);

			share[b] = 0;
			for (size_t i = 0; i + 1 < j->n_terms; i++)
				if (j->terms[i]->factor == f)
					share[b] += (j->terms[i]->a == j->terms[i]->b ? 1 : 2) *
						    squares_without(j, i, b);
			share[b] = total > 0 ? share[b] / total : 0;
			mean += share[b] / N_BLOCKS;
		}
		for (size_t b = 0; b < N_BLOCKS; b++)
			spread += (share[b] - mean) * (share[b] - mean);
		spread = quantile * sqrt(spread * (N_BLOCKS - 1) / N_BLOCKS);
		factor->share_low = factor->share - spread;
		factor->share_high = factor->share + spread;
		if (factor->kind == VPROF_FACTOR_VARIANCE && factor->share_low < 0)
			factor->share_low = 0;
	}
}

int vprof_jackknife(struct vprof_results *r, struct vprof_tree *tree, const struct vprof_factor_term *terms, size_t n_terms)
{
	static const struct vprof_factor_term interval = { VPROF_NONE, 0, 0 };
	struct jackknife j = { .r = r, .tree = tree };
	int ret = VPROF_ERR_NOMEM;

	j.terms = malloc((n_terms + 1) * sizeof *j.terms);
	j.value = calloc(r->n_nodes + 1, sizeof *j.value);
	j.is_counted = calloc(r->n_nodes + 1, 1);
	j.moments = calloc(r->n_factors + 1, sizeof *j.moments);
	j.factor_value = calloc(r->n_factors + 1, sizeof *j.factor_value);
	j.factor_noise = calloc(r->n_factors + 1, sizeof *j.factor_noise);
	j.by_pair = malloc((n_terms + 1) * sizeof *j.by_pair);
	if (!j.terms || !j.value || !j.is_counted || !j.moments || !j.factor_value || !j.factor_noise || !j.by_pair)
		goto out;
	for (size_t i = 0; i < n_terms; i++) {
		if (terms[i].factor < r->n_selected)
			j.terms[j.n_terms++] = &terms[i];
		if (terms[i].a == terms[i].b)
			j.is_counted[terms[i].a] = 1;
	}
	j.terms[j.n_terms++] = &interval;
	for (uint32_t i = 0; i < j.n_terms; i++)
		j.by_pair[i] = i;
	qsort_r(j.by_pair, j.n_terms, sizeof *j.by_pair, pair_order, j.terms);
	j.sums = calloc(N_BLOCKS * j.n_terms, sizeof *j.sums);
	if (!j.sums)
		goto out;
	for (size_t i = 0; i < r->n_factors; i++)
		if (r->factors[i].kind == VPROF_FACTOR_VARIANCE)
			j.moments[i].mean = r->factors[i].mean_ns;
	if (pass(&j))
		goto out;
	for (size_t i = 0; i < r->n_factors; i++) {
		double n = (double)tree->n_intervals, noise = n > 0 ? j.factor_noise[i] / n : 0;
		double variance = vprof_moment_variance(&j.moments[i], tree->n_intervals);

		if (r->factors[i].kind == VPROF_FACTOR_VARIANCE)
			r->factors[i].sd_ns = variance > noise ? sqrt(variance - noise) : 0;
	}
	if (tree->n_intervals >= INTERVALS_MIN)
		bounds(&j);
	ret = 0;
out:
	free(j.terms);
	free(j.value);
	free(j.is_counted);
	free(j.moments);
	free(j.factor_value);
	free(j.factor_noise);
	free(j.by_pair);
	free(j.sums);
	return ret;
}
