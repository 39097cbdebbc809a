/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tier_work.c found, as results. A node is its function's: of a wait, the one in which it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/join/tier_work.h"

#define MOSTLY 0.9
#define MEAN_MIN 0.0001 /* of the intervals' mean: tiers that took less are left out */

/* The innermost measured function that the node is or lies in, of the same side of a wait; 0: none. */
static uint32_t code_of(const struct vprof_results *r, uint32_t node)
{
	int is_blame = r->nodes[node].is_blame;

	while (node && r->nodes[node].is_blame == is_blame && !r->nodes[node].code)
		node = r->nodes[node].parent;
	return node && r->nodes[node].is_blame == is_blame ? r->nodes[node].code : 0;
}

/* The tier without probes that the node stands for, or lies in; VPROF_NONE: none. */
static uint32_t tier_named(const struct vprof_results *r, const struct vprof_tier_work *work, const char *const *names,
			   uint32_t node)
{
	while (node && !vprof_node_is_unit(&r->nodes[node]))
		node = r->nodes[node].parent;
	for (uint32_t k = 0; node && r->nodes[node].kind == VPROF_NODE_WAIT && k < work->n_tiers; k++)
		if (!strcmp(r->nodes[node].name + strlen(VPROF_TIER_PREFIX), names[k]))
			return k;
	return VPROF_NONE;
}

/* The tier that nine tenths of the nodes' functions ran in; VPROF_NONE: none, or not known. sums[n_tiers] is scratch.
 */
static uint32_t tier_of_nodes(const struct vprof_results *r, const struct vprof_tier_work *work,
			      const char *const *names, const uint32_t *nodes, size_t n, double *sums)
{
	double all = 0;

	memset(sums, 0, work->n_tiers * sizeof *sums);
	for (size_t i = 0; i < n; i++) {
		uint32_t named = tier_named(r, work, names, nodes[i]);
		uint32_t code = named == VPROF_NONE ? code_of(r, nodes[i]) : 0;
		double ticks = 0, mean = r->nodes[nodes[i]].mean_ns;

		for (size_t k = 0; k < work->parts.n; k++)
			if (code && work->parts.v[k].code == code &&
			    work->parts.v[k].is_blame == r->nodes[nodes[i]].is_blame)
				ticks += (double)work->parts.v[k].ticks;
		all += mean;
		if (named != VPROF_NONE)
			sums[named] += mean;
		for (size_t k = 0; k < work->parts.n && ticks > 0; k++)
			if (work->parts.v[k].code == code && work->parts.v[k].is_blame == r->nodes[nodes[i]].is_blame)
				sums[work->parts.v[k].tier] += mean * (double)work->parts.v[k].ticks / ticks;
	}
	for (uint32_t k = 0; k < work->n_tiers; k++)
		if (all > 0 && sums[k] >= MOSTLY * all)
			return k;
	return VPROF_NONE;
}

static int find_lists(struct vprof_results *r, const struct vprof_tier_work *work, const char *const *names,
		      struct vprof_tier *tiers, double *sums)
{
	uint32_t *of_factor = malloc((r->n_factors + 1) * sizeof *of_factor);
	uint32_t *of_cause = malloc((r->n_causes + 1) * sizeof *of_cause);
	int ret = of_factor && of_cause ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < r->n_factors && !ret; i++)
		of_factor[i] = r->factors[i].kind == VPROF_FACTOR_VARIANCE ?
				       tier_of_nodes(r, work, names, r->factors[i].nodes, r->factors[i].n_nodes, sums) :
				       VPROF_NONE;
	for (size_t i = 0; i < r->n_causes && !ret; i++)
		of_cause[i] = tier_of_nodes(r, work, names, r->causes[i].nodes, r->causes[i].n_nodes, sums);
	for (uint32_t k = 0; k < work->n_tiers && !ret; k++) {
		uint32_t *factors = calloc(r->n_factors + 1, sizeof *factors);
		uint32_t *causes = calloc(r->n_causes + 1, sizeof *causes);

		tiers[k].factors = factors;
		tiers[k].causes = causes;
		ret = factors && causes ? VPROF_OK : VPROF_ERR_NOMEM;
		for (uint32_t i = 0; i < r->n_factors && !ret; i++)
			if (of_factor[i] == k)
				factors[tiers[k].n_factors++] = i;
		for (uint32_t i = 0; i < r->n_causes && !ret; i++)
			if (of_cause[i] == k)
				causes[tiers[k].n_causes++] = i;
	}
	free(of_factor);
	free(of_cause);
	return ret;
}

/* Mean of the tier's time, and its covariance with all tiers' time by that one's variance. */
static void fill_moments(const struct vprof_tier_work *work, uint32_t tier, struct vprof_tier *t)
{
	double mean = 0, mean_all = 0, cov = 0, var = 0;
	size_t n = work->n_intervals;

	for (size_t i = 0; i < n; i++) {
		const double *own = work->own_ns + i * work->n_tiers;

		mean += own[tier];
		for (size_t k = 0; k < work->n_tiers; k++)
			mean_all += own[k];
	}
	mean /= (double)n;
	mean_all /= (double)n;
	for (size_t i = 0; i < n; i++) {
		const double *own = work->own_ns + i * work->n_tiers;
		double all = -mean_all;

		for (size_t k = 0; k < work->n_tiers; k++)
			all += own[k];
		cov += (own[tier] - mean) * all;
		var += all * all;
	}
	t->mean_ns = mean;
	t->share = var > 0 ? cov / var : NAN;
}

static int by_share(const void *a, const void *b)
{
	const struct vprof_tier *x = a, *y = b;
	int order = (x->share < y->share) - (x->share > y->share);

	return order ? order : strcmp(x->name, y->name);
}

int vprof_tier_work_tell(struct vprof_results *r, const struct vprof_tier_work *work, const char *const *names)
{
	struct vprof_tier *tiers = calloc(work->n_tiers + 1, sizeof *tiers);
	double *sums = calloc(work->n_tiers + 1, sizeof *sums), mean = 0;
	int ret = tiers && sums ? VPROF_OK : VPROF_ERR_NOMEM;
	size_t n = 0;

	r->tiers = tiers;
	if (!ret && work->n_intervals)
		ret = find_lists(r, work, names, tiers, sums);
	for (uint32_t k = 0; k < work->n_tiers && !ret && work->n_intervals; k++) {
		tiers[k].name = names[k];
		tiers[k].is_own = k == work->own;
		fill_moments(work, k, &tiers[k]);
		mean += tiers[k].mean_ns;
	}
	for (size_t k = 0; k < work->n_tiers && tiers; k++) {
		if (!ret && tiers[k].mean_ns >= MEAN_MIN * mean && mean > 0) {
			struct vprof_tier kept = tiers[k];

			tiers[k] = (struct vprof_tier){ 0 };
			tiers[n++] = kept;
			continue;
		}
		free((void *)tiers[k].factors);
		free((void *)tiers[k].causes);
		tiers[k] = (struct vprof_tier){ 0 };
	}
	r->n_tiers = n;
	if (!ret)
		qsort(tiers, n, sizeof *tiers, by_share);
	free(sums);
	return ret;
}
