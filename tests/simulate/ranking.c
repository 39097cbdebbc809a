/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Algorithm 1 a second time: sums by name, specificity, score, order (docs/design/critical-path.md, "Factors"). No
 * function here has a name of the C library's or one of vprof's own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/figures.h"

#define KEY_BYTES 200
#define FEW_COVARIANCES                                                                                                \
	1000 /* of more, those below a thousandth of the variance that are not among the largest are left out */
#define SMALL_SHARE 0.001L

struct factor {
	char key[KEY_BYTES];
	bool is_covariance, is_never, is_wait;
	unsigned height;
	long double share, tolerance, mean, score;
	long double *ns; /* [n_intervals] of a variance: sum of its nodes */
};

struct ranking {
	const struct figure_table *t;
	struct factor *v;
	size_t n, cap, *of_node; /* of_node: [t->n] index */
	unsigned *height, highest;
	long double total, total_tolerance;
};

static size_t factor_of(struct ranking *k, const char *key)
{
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->v[i].key, key))
			return i;
	k->v = sim_grow(k->v, k->n, &k->cap, sizeof *k->v);
	k->v[k->n] = (struct factor){ .ns = calloc(k->t->n_intervals, sizeof(long double)) };
	snprintf(k->v[k->n].key, KEY_BYTES, "%s", key);
	return k->n++;
}

static bool is_function(const struct figure *n)
{
	return n->class == TRUTH_FRAME && !n->is_body;
}

static const struct vprof_probe *probe_of(const struct ranking *k, size_t i)
{
	return is_function(&k->t->v[i]) ? vprof_plan_probe(k->t->plan, k->t->v[i].code) : NULL;
}

/* "A recursive call counts as the outermost one that it is within." */
static size_t outermost(const struct figure *v, size_t i)
{
	size_t found = i;

	for (size_t at = i; at && is_function(&v[at]); at = v[at].parent)
		if (v[at].class == v[i].class && v[at].code == v[i].code)
			found = at;
	return found;
}

/* "Height: the plan's ...; a wait or queue delay one more than the highest function that explains it." */
static void take_heights(struct ranking *k)
{
	const struct figure *v = k->t->v;

	k->highest = k->t->plan->graph_height;
	for (size_t i = k->t->n; i-- > 1;) {
		const struct vprof_probe *probe = probe_of(k, i);

		if (v[i].is_body)
			continue;
		k->height[i] = probe && probe->height > k->height[i] ? probe->height : k->height[i];
		k->highest = k->height[i] > k->highest ? k->height[i] : k->highest;
		if (v[i].class == TRUTH_PREEMPTED && v[i].var < 0.5L * v[v[i].parent].var)
			continue;
		if (outermost(v, i) == i && k->height[i] + 1 > k->height[outermost(v, v[i].parent)])
			k->height[outermost(v, v[i].parent)] = k->height[i] + 1;
	}
	for (size_t i = 1; i < k->t->n; i++) {
		const struct vprof_probe *probe = probe_of(k, v[i].parent);

		if (!v[i].is_body)
			continue;
		k->height[i] = 0;
		if (!v[i].parent)
			k->height[i] = k->highest;
		else if (is_function(&v[v[i].parent]) && !(probe && probe->broken_down))
			k->height[i] = k->height[v[i].parent];
	}
}

/* "The body of a function beneath which nothing else was measured is that function." */
static bool is_all_of_parent(const struct ranking *k, size_t i)
{
	const struct figure *v = k->t->v, *parent = &v[v[i].parent];

	if (!v[i].is_body || (!is_function(parent) && parent->class != TRUTH_BLOCKED) || !v[i].parent)
		return false;
	for (size_t c = parent->first_child; c < parent->first_child + parent->n_children; c++)
		if (c != i && v[c].class != TRUTH_PREEMPTED)
			return false;
	return true;
}

static bool is_within_itself(const struct ranking *k, size_t i, size_t factor)
{
	for (i = k->t->v[i].parent; i; i = k->t->v[i].parent)
		if (k->of_node[i] == factor)
			return true;
	return false;
}

static void add_share(const struct ranking *k, struct factor *f, long double ns2, long double tolerance)
{
	if (k->total <= 0)
		return;
	f->share += ns2 / k->total;
	f->tolerance += (tolerance + fabsl(ns2 / k->total) * k->total_tolerance) / k->total + FIGURES_ROUNDING;
}

static void add_variances(struct ranking *k)
{
	const struct figure *v = k->t->v;
	char key[KEY_BYTES];

	for (size_t i = 1; i < k->t->n; i++) {
		struct factor *f;

		if (is_all_of_parent(k, i)) {
			k->of_node[i] = k->of_node[v[i].parent];
			continue;
		}
		snprintf(key, sizeof key, "v:%s%s", v[i].is_blame ? "beneath:" : "", v[i].name);
		k->of_node[i] = factor_of(k, key);
		f = &k->v[k->of_node[i]];
		f->height = k->height[i] > f->height ? k->height[i] : f->height;
		if (is_within_itself(k, i, k->of_node[i]))
			continue;
		f->is_never |= v[i].is_unexplained;
		f->mean += v[i].mean;
		add_share(k, f, v[i].var, v[i].tolerance);
		for (size_t n = 0; n < k->t->n_intervals; n++)
			f->ns[n] += v[i].ns[n];
	}
}

/* vprof's own nodes are neither the interval's work nor others'. */
static bool is_own(const struct figure *n)
{
	return n->is_unexplained || (!n->is_body && (n->class == TRUTH_DELAY || n->class == TRUTH_PREEMPTED));
}

static void pair_key(char key[KEY_BYTES], const struct figure *x, const struct figure *y)
{
	bool blame_x = x->is_blame, blame_y = is_own(x) || is_own(y) ? blame_x : y->is_blame;

	if (blame_x != blame_y)
		snprintf(key, KEY_BYTES, "c:%s|beneath:%s", blame_x ? y->name : x->name, blame_x ? x->name : y->name);
	else if (strcmp(x->name, y->name) > 0)
		snprintf(key, KEY_BYTES, "c:%s%s|%s", blame_x ? "beneath:" : "", y->name, x->name);
	else
		snprintf(key, KEY_BYTES, "c:%s%s|%s", blame_x ? "beneath:" : "", x->name, y->name);
}

static void add_covariance(struct ranking *k, size_t a, size_t b, long double ns2, long double tolerance)
{
	const struct figure *x = &k->t->v[a], *y = &k->t->v[b];
	unsigned height = k->height[a] > k->height[b] ? k->height[a] : k->height[b];
	char key[KEY_BYTES];
	struct factor *f;
	size_t at;

	if (k->of_node[a] == k->of_node[b]) {
		if (!is_within_itself(k, a, k->of_node[a]))
			add_share(k, &k->v[k->of_node[a]], 2 * ns2, 2 * tolerance);
		return;
	}
	pair_key(key, x, y);
	at = factor_of(k, key); /* may move them */
	f = &k->v[at];
	f->is_covariance = true;
	f->is_never |= x->is_unexplained || y->is_unexplained;
	f->height = height > f->height ? height : f->height;
	f->mean += x->mean + y->mean;
	add_share(k, f, 2 * ns2, 2 * tolerance);
}

static int size_order(const void *a, const void *b)
{
	long double x = *(const long double *)a, y = *(const long double *)b;

	return x > y ? -1 : x < y;
}

/* The share below which a covariance of two factors is not listed; 0: all are. */
static long double least_share(const struct ranking *k, const long double *ns2, size_t n)
{
	long double *sizes, least;

	if (n <= FEW_COVARIANCES || k->total <= 0)
		return 0;
	sizes = calloc(n, sizeof *sizes);
	for (size_t i = 0; i < n; i++)
		sizes[i] = fabsl(2 * ns2[i] / k->total);
	qsort(sizes, n, sizeof *sizes, size_order);
	least = sizes[FEW_COVARIANCES];
	free(sizes);
	return least < SMALL_SHARE ? least : SMALL_SHARE;
}

static void add_covariances(struct ranking *k)
{
	const struct figure_table *t = k->t;
	size_t n_all = t->r->n_covariances;
	long double *ns2 = calloc(n_all + 1, sizeof *ns2), *tolerance = calloc(n_all + 1, sizeof *tolerance), least;

	for (size_t i = 0; i < n_all; i++)
		ns2[i] = t->covariance(t->figures, t->r->covariances[i].a, t->r->covariances[i].b, &tolerance[i]);
	least = least_share(k, ns2, n_all);
	for (size_t i = 0; i < n_all && k->total > 0; i++) {
		const struct vprof_covariance *found = &t->r->covariances[i];
		long double size = fabsl(2 * ns2[i] / k->total);
		bool is_listed = size >= least;

		if (fabsl(size - least) <= 2 * tolerance[i] / k->total + FIGURES_ROUNDING) /* rounding decides */
			is_listed = found->factor != 0;
		if (is_listed || k->of_node[found->a] == k->of_node[found->b])
			add_covariance(k, found->a, found->b, ns2[i], tolerance[i]);
	}
	free(ns2);
	free(tolerance);
}

static void differ(const struct ranking *k, const char *what, const struct factor *f, long double is, long double found)
{
	k->t->say(k->t->arg, "%s of factor %s is %.18Lg, %.18Lg in the results", what, f->key, is, found);
}

static void compare_deviation(const struct ranking *k, const struct factor *f, const struct vprof_factor *found)
{
	long double n = (long double)k->t->n_intervals, mean = 0, var = 0;

	if (f->is_covariance || k->t->has_noise || n < 2)
		return;
	for (size_t i = 0; i < k->t->n_intervals; i++)
		mean += f->ns[i] / n;
	for (size_t i = 0; i < k->t->n_intervals; i++)
		var += (f->ns[i] - mean) * (f->ns[i] - mean) / (n - 1);
	if (fabsl(var - (long double)found->sd_ns * found->sd_ns) > 4 * FIGURES_ROUNDING * (var + mean * mean))
		differ(k, "standard deviation", f, sqrtl(var), found->sd_ns);
}

static void compare_factor(const struct ranking *k, const struct factor *f, const struct vprof_factor *found)
{
	long double distance = (long double)(k->highest + 1) - f->height, mean_tolerance = 0;

	for (size_t i = 0; i < k->t->n; i++)
		mean_tolerance =
			fmaxl(mean_tolerance, FIGURES_ROUNDING * fabsl(k->t->v[i].mean) * (long double)k->t->n);
	k->t->coverage[COVER_FACTORS]++;
	if ((found->kind == VPROF_FACTOR_COVARIANCE) != f->is_covariance)
		differ(k, "kind", f, f->is_covariance, found->kind);
	if (fabsl(f->share - found->share) > f->tolerance)
		differ(k, "share", f, f->share, found->share);
	if (fabsl(f->mean - found->mean_ns) > mean_tolerance)
		differ(k, "mean", f, f->mean, found->mean_ns);
	if (f->height != found->height)
		differ(k, "height", f, f->height, found->height);
	if (distance * distance != found->specificity)
		differ(k, "specificity", f, distance * distance, found->specificity);
	if (fabsl(f->score - found->score) > distance * distance * f->tolerance + FIGURES_ROUNDING)
		differ(k, "score", f, f->score, found->score);
	compare_deviation(k, f, found);
}

static bool may_be_selected(const struct ranking *k, const struct factor *f)
{
	return !f->is_never && f->share > k->t->r->threshold;
}

/* The order of the results is that of the true scores, those that can be selected first. */
static void compare_order(const struct ranking *k, const size_t *of_result)
{
	const struct vprof_results *r = k->t->r;
	size_t n_selectable = 0;

	for (size_t i = 0; i < r->n_factors; i++) {
		const struct factor *f = &k->v[of_result[i]], *next;
		long double slack;

		if (fabsl(f->share - r->threshold) <= f->tolerance)
			return; /* rounding decides whether it is above the threshold */
		n_selectable += may_be_selected(k, f);
		if (i + 1 == r->n_factors)
			break;
		next = &k->v[of_result[i + 1]];
		slack = r->factors[i].specificity * f->tolerance + r->factors[i + 1].specificity * next->tolerance;
		k->t->coverage[COVER_RANKED]++;
		if (may_be_selected(k, f) != may_be_selected(k, next)) {
			if (!may_be_selected(k, f))
				differ(k, "place", next, (long double)i, (long double)(i + 1));
		} else if (f->score + slack < next->score) {
			differ(k, "place", next, (long double)i, (long double)(i + 1));
		} else if (r->factors[i].score == r->factors[i + 1].score && f->is_covariance && !next->is_covariance) {
			differ(k, "place (a variance goes before a covariance)", next, (long double)i,
			       (long double)(i + 1));
		}
	}
	n_selectable = n_selectable < (size_t)r->k ? n_selectable : (size_t)r->k;
	if (r->n_selected != n_selectable)
		k->t->say(k->t->arg, "%zu factors are to be selected, %zu are in the results", n_selectable,
			  r->n_selected);
}

static void compare(const struct ranking *k)
{
	const struct vprof_results *r = k->t->r;
	size_t *of_result = calloc(r->n_factors + 1, sizeof *of_result), n_found = 0;

	if (r->graph_height != k->highest + 1)
		k->t->say(k->t->arg, "the graph's height is %u, %u in the results", k->highest + 1, r->graph_height);
	for (size_t i = 0; i < r->n_factors; i++) {
		size_t f = 0;

		while (f < k->n && strcmp(k->v[f].key, r->factors[i].key))
			f++;
		if (f == k->n) {
			k->t->say(k->t->arg, "there is no factor %s", r->factors[i].key);
			continue;
		}
		of_result[n_found++] = f;
		compare_factor(k, &k->v[f], &r->factors[i]);
	}
	if (n_found != r->n_factors || n_found != k->n)
		k->t->say(k->t->arg, "there are %zu factors, %zu in the results", k->n, r->n_factors);
	else
		compare_order(k, of_result);
	free(of_result);
}

void ranking_compare(const struct figure_table *t)
{
	struct ranking k = { .t = t, .total = t->v[0].var, .total_tolerance = t->v[0].tolerance };

	k.of_node = calloc(t->n, sizeof *k.of_node);
	k.height = calloc(t->n, sizeof *k.height);
	for (size_t i = 0; i < t->n; i++)
		k.of_node[i] = SIZE_MAX;
	if (k.total <= k.total_tolerance)
		k.total = 0; /* all alike */
	take_heights(&k);
	add_variances(&k);
	add_covariances(&k);
	for (size_t i = 0; i < k.n; i++) {
		long double distance = (long double)(k.highest + 1) - k.v[i].height;

		k.v[i].score = distance * distance * k.v[i].share;
	}
	if (k.total > 0)
		compare(&k);
	for (size_t i = 0; i < k.n; i++)
		free(k.v[i].ns);
	free(k.v);
	free(k.of_node);
	free(k.height);
}
