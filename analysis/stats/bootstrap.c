/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights are counts of blocks drawn with replacement. With more than a few NaN replicates there are no bounds at all.
 */
#include "analysis/stats/bootstrap.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "common/parallel.h"
#include "common/error.h"

#define LEVEL 0.025
#define VALID_SHARE_MIN 0.9
#define BATCH 20 /* replicates that a thread makes in a row */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += GOLDEN;

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

struct run {
	const struct vprof_bootstrap *b;
	struct vprof_bootstrap_values *v;
};

static void weigh(const struct vprof_bootstrap *b, const double *weights, double *sums)
{
	for (size_t k = 0; k < b->n_sums; k++)
		sums[k] = 0;
	for (size_t i = 0; i < b->n_blocks; i++) {
		const double *row = b->rows + i * b->n_sums, weight = weights[i];

		for (size_t k = 0; weight > 0 && k < b->n_sums; k++)
			sums[k] += weight * row[k];
	}
}

/* A batch begins where the random numbers of the previous ones end. */
static int run_batch(void *arg, int worker, size_t item)
{
	const struct vprof_bootstrap *b = ((struct run *)arg)->b;
	struct vprof_bootstrap_values *v = ((struct run *)arg)->v;
	double *room = malloc((b->n_blocks + b->n_sums + b->n_statistics) * sizeof *room);
	double *weights = room, *sums = room + b->n_blocks, *values = sums + b->n_sums;
	uint64_t random = b->seed + GOLDEN * (uint64_t)(item * BATCH * b->n_blocks);

	(void)worker;
	if (!room)
		return VPROF_ERR_NOMEM;
	for (size_t i = item * BATCH; i < (item + 1) * BATCH && i < v->n_replicates; i++) {
		for (size_t k = 0; k < b->n_blocks; k++)
			weights[k] = 0;
		for (size_t k = 0; k < b->n_blocks; k++)
			weights[(size_t)(((draw(&random) >> 32) * b->n_blocks) >> 32)]++;
		weigh(b, weights, sums);
		b->evaluate(b->arg, b->rows ? sums : weights, values);
		for (size_t s = 0; s < b->n_statistics; s++)
			v->replicates[s * v->n_replicates + i] = values[s];
	}
	free(room);
	return 0;
}

int vprof_bootstrap_run(const struct vprof_bootstrap *b, struct vprof_bootstrap_values *v)
{
	double *room = malloc((b->n_blocks + b->n_sums) * sizeof *room);
	struct run run = { b, v };
	int ret = VPROF_ERR_NOMEM;

	*v = (struct vprof_bootstrap_values){ b->n_blocks, b->n_statistics, VPROF_BOOTSTRAP_REPLICATES, NULL, NULL };
	v->point = malloc((b->n_statistics + 1) * sizeof *v->point);
	v->replicates = malloc((b->n_statistics + 1) * v->n_replicates * sizeof *v->replicates);
	if (!room || !v->point || !v->replicates)
		goto out;
	for (size_t k = 0; k < b->n_blocks; k++)
		room[k] = 1;
	weigh(b, room, room + b->n_blocks);
	b->evaluate(b->arg, b->rows ? room + b->n_blocks : room, v->point);
	ret = vprof_parallel_run(vprof_parallel_count(b->n_threads), (v->n_replicates + BATCH - 1) / BATCH, run_batch,
				 &run);
out:
	free(room);
	return ret;
}

void vprof_bootstrap_release(struct vprof_bootstrap_values *v)
{
	free(v->point);
	free(v->replicates);
	*v = (struct vprof_bootstrap_values){ 0 };
}

/* Moves the k-th smallest to its place, no larger one before it (Hoare's selection). */
static void select_kth(double *x, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = x[low + (high - low) / 2], swap;
		size_t i = low, j = high;

		for (;;) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap = x[i];
			x[i++] = x[j];
			x[j--] = swap;
		}
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
}

/* Linear between order statistics. */
static double quantile(double *x, size_t n, double p)
{
	double at = p * (double)(n - 1), next;
	size_t k = (size_t)at;

	k = k < n ? k : n - 1;
	select_kth(x, n, k);
	if (k + 1 >= n)
		return x[n - 1];
	next = x[k + 1];
	for (size_t i = k + 2; i < n; i++)
		next = x[i] < next ? x[i] : next;
	return x[k] + (at - (double)k) * (next - x[k]);
}

void vprof_bootstrap_bounds(struct vprof_bootstrap_values *v, size_t statistic, double *low, double *high)
{
	double *x = v->replicates + statistic * v->n_replicates, point = v->point[statistic], z, level;
	size_t n = 0;

	*low = *high = NAN;
	for (size_t i = 0; i < v->n_replicates; i++)
		if (isfinite(x[i]))
			x[n++] = x[i];
	if (!isfinite(point) || (double)n < VALID_SHARE_MIN * (double)v->n_replicates)
		return;
	z = gsl_cdf_tdist_Pinv(1 - LEVEL, (double)v->n_blocks - 1) *
	    sqrt((double)v->n_blocks / ((double)v->n_blocks - 1));
	level = gsl_cdf_ugaussian_P(-z);
	*low = fmin(point, quantile(x, n, level));
	*high = fmax(point, quantile(x, n, 1 - level));
}
