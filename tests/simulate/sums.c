/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times that are summed over several places: what would go if a factor were constant, and the causes. What a cause is
 * made of is the analysis' choice; that no two have a node in common, and their figures, are not. */
#include <math.h>
#include <stdlib.h>

#include "tests/simulate/figures.h"

#define SUMMED_MAX 40 /* nodes of a sum with sampling errors: their products are many */

struct sums {
	const struct figure_table *t;
	size_t *cause; /* [t->n] index + 1 of the cause that has the node */
};

/* of a sum of nodes */
struct sum {
	long double mean, var, with_total, tolerance;
	int is_known;
};

static bool lies_beneath(const struct figure_table *t, size_t node, const size_t *nodes, size_t n)
{
	for (size_t i = node; i;) {
		i = t->v[i].parent;
		for (size_t k = 0; k < n; k++)
			if (nodes[k] == i)
				return true;
	}
	return false;
}

/* Each once, without those beneath others. */
static size_t outermost(const struct figure_table *t, size_t *nodes, size_t n)
{
	size_t n_kept = 0, n_once = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < n_once && nodes[k] != nodes[i])
			k++;
		if (k == n_once)
			nodes[n_once++] = nodes[i];
	}
	size_t *all = calloc(n_once + 1, sizeof *all);

	for (size_t i = 0; i < n_once; i++)
		all[i] = nodes[i];
	for (size_t i = 0; i < n_once; i++)
		if (!lies_beneath(t, all[i], all, n_once))
			nodes[n_kept++] = all[i];
	free(all);
	return n_kept;
}

/* Two passes over the sum itself; what sampling adds is subtracted by pairs of nodes. */
static struct sum take_sum(const struct figure_table *t, const size_t *nodes, size_t n)
{
	struct sum s = { .is_known = t->n_intervals > 1 && (!t->has_noise || n <= SUMMED_MAX) };
	const struct figure *total = &t->v[0];
	long double size = 0, by_pairs = 0, plain = 0, mean_total = 0;

	for (size_t k = 0; k < n; k++) {
		s.mean += t->v[nodes[k]].mean;
		size += fabsl(t->v[nodes[k]].mean);
	}
	for (size_t i = 0; i < t->n_intervals; i++)
		mean_total += total->ns[i] / (long double)t->n_intervals;
	for (size_t i = 0; i < t->n_intervals; i++) {
		long double d = -s.mean;

		for (size_t k = 0; k < n; k++)
			d += t->v[nodes[k]].ns[i];
		s.var += d * d / (long double)(t->n_intervals - 1);
		s.with_total += d * (total->ns[i] - mean_total) / (long double)(t->n_intervals - 1);
	}
	s.tolerance = 4 * FIGURES_ROUNDING * (size * size + s.var + fabsl(s.with_total) + size * total->mean);
	if (!t->has_noise || !s.is_known)
		return s;
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b < n; b++) {
			const long double *x = t->v[nodes[a]].ns, *y = t->v[nodes[b]].ns;
			long double sum = 0, tolerance;

			for (size_t i = 0; i < t->n_intervals; i++)
				sum += (x[i] - t->v[nodes[a]].mean) * (y[i] - t->v[nodes[b]].mean);
			plain += sum / (long double)(t->n_intervals - 1);
			by_pairs += nodes[a] <= nodes[b] ? t->covariance(t->figures, nodes[a], nodes[b], &tolerance) :
							   t->covariance(t->figures, nodes[b], nodes[a], &tolerance);
			s.tolerance += 4 * tolerance;
		}
	s.var += by_pairs - plain;
	return s;
}

static void compare_part(const struct sums *k, const char *what, const char *name, long double is, long double found,
			 long double tolerance_ns2)
{
	const struct figure *total = &k->t->v[0];
	long double tolerance = (tolerance_ns2 + fabsl(is) * total->tolerance) / total->var + FIGURES_ROUNDING;

	if (!(fabsl(is - found) <= tolerance))
		k->t->say(k->t->arg, "%s of %s is %.18Lg, %.18Lg in the results", what, name, is, found);
}

static void compare_factor(const struct sums *k, const struct vprof_factor *f)
{
	const struct figure_table *t = k->t;
	size_t *nodes = calloc(2 * f->n_nodes + 1, sizeof *nodes), n = 0;
	struct sum s;

	for (size_t i = 0; i < f->n_nodes; i++) {
		const struct vprof_covariance *c = &t->r->covariances[f->nodes[i]];

		if (f->kind == VPROF_FACTOR_VARIANCE) {
			nodes[n++] = f->nodes[i];
		} else {
			nodes[n++] = c->a;
			nodes[n++] = c->b;
		}
	}
	s = take_sum(t, nodes, outermost(t, nodes, n));
	free(nodes);
	if (!s.is_known || isnan(f->if_constant))
		return;
	t->coverage[COVER_IF_CONSTANT]++;
	compare_part(k, "if constant", f->key, (2 * s.with_total - s.var) / t->v[0].var, f->if_constant,
		     3 * s.tolerance);
}

static void compare_together(const struct sums *k, const struct vprof_factor *f)
{
	const struct figure_table *t = k->t;
	const struct vprof_factor *other = f->counterpart ? &t->r->factors[f->counterpart - 1] : NULL;
	size_t *nodes, n = 0;
	struct sum s;

	if (!other || isnan(f->together))
		return;
	nodes = calloc(f->n_nodes + other->n_nodes + 1, sizeof *nodes);
	for (size_t i = 0; i < f->n_nodes; i++)
		nodes[n++] = f->nodes[i];
	for (size_t i = 0; i < other->n_nodes; i++)
		nodes[n++] = other->nodes[i];
	s = take_sum(t, nodes, outermost(t, nodes, n));
	free(nodes);
	if (!s.is_known)
		return;
	t->coverage[COVER_TOGETHER]++;
	compare_part(k, "together", f->key, s.var / t->v[0].var, f->together, s.tolerance);
	compare_part(k, "together, if constant", f->key, (2 * s.with_total - s.var) / t->v[0].var, f->together_constant,
		     3 * s.tolerance);
}

static void claim_nodes(struct sums *k, size_t index)
{
	const struct figure_table *t = k->t;
	const struct vprof_cause *c = &t->r->causes[index];

	for (size_t i = 0; i < c->n_nodes; i++) {
		if (k->cause[c->nodes[i]])
			t->say(t->arg, "node %u belongs to the causes %zu and %zu", c->nodes[i], k->cause[c->nodes[i]],
			       index + 1);
		k->cause[c->nodes[i]] = index + 1;
	}
}

static void compare_cause(const struct sums *k, const struct vprof_cause *c)
{
	const struct figure_table *t = k->t;
	size_t *nodes = calloc(c->n_nodes + 1, sizeof *nodes);
	long double parts = 0;
	struct sum s;

	for (size_t i = 0; i < c->n_nodes; i++) {
		nodes[i] = c->nodes[i];
		for (size_t above = nodes[i]; above;) {
			above = t->v[above].parent;
			if (k->cause[above])
				t->say(t->arg, "node %zu of cause %s lies beneath another's", nodes[i], c->key);
		}
	}
	s = take_sum(t, nodes, c->n_nodes);
	free(nodes);
	t->coverage[COVER_CAUSES]++;
	for (size_t i = 0; i < c->n_splits; i++)
		parts += c->splits[i].part;
	if (c->n_splits && fabsl(parts - 1) > 0.01L)
		t->say(t->arg, "the splits of cause %s sum to %Lg", c->key, parts);
	parts = (long double)c->own_part + c->waiting_part + c->queued_part;
	if (!t->has_noise && fabsl(parts - 1) > 1e-6L) /* errors of siblings in several places are not known */
		t->say(t->arg, "the parts of cause %s sum to %Lg", c->key, parts);
	if (!s.is_known)
		return;
	compare_part(k, "share", c->key, s.var / t->v[0].var, c->share, s.tolerance);
	compare_part(k, "if constant", c->key, (2 * s.with_total - s.var) / t->v[0].var, c->if_constant,
		     3 * s.tolerance);
}

void sums_compare(const struct figure_table *t)
{
	const struct vprof_results *r = t->r;
	struct sums k = { .t = t, .cause = calloc(t->n, sizeof *k.cause) };

	for (size_t i = 0; i < r->n_causes; i++)
		claim_nodes(&k, i);
	for (size_t i = 0; i < r->n_causes; i++) {
		compare_cause(&k, &r->causes[i]);
		if (i && r->causes[i].if_constant > r->causes[i - 1].if_constant + 1e-9)
			t->say(t->arg, "cause %zu is larger than the one before it", i + 1);
	}
	for (size_t i = 0; i < r->n_factors; i++) {
		compare_factor(&k, &r->factors[i]);
		compare_together(&k, &r->factors[i]);
	}
	free(k.cause);
}
