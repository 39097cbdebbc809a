/* Weights are counts of blocks drawn with replacement. NaN replicates are few or the bounds are not given at all. */
#include "analysis/bootstrap.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdlib.h>

#include "common/error.h"

#define LEVEL 0.025
#define VALID_SHARE_MIN 0.9

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

int vprof_bootstrap_run(const struct vprof_bootstrap *b, struct vprof_bootstrap_values *v)
{
	double *weights = malloc(b->n_blocks * sizeof *weights);
	double *values = malloc((b->n_statistics + 1) * sizeof *values);
	uint64_t random = b->seed;
	int ret = VPROF_ERR_NOMEM;

	*v = (struct vprof_bootstrap_values){ b->n_blocks, b->n_statistics, VPROF_BOOTSTRAP_REPLICATES, NULL, NULL };
	v->point = malloc((b->n_statistics + 1) * sizeof *v->point);
	v->replicates = malloc((b->n_statistics + 1) * v->n_replicates * sizeof *v->replicates);
	if (!weights || !values || !v->point || !v->replicates)
		goto out;
	for (size_t k = 0; k < b->n_blocks; k++)
		weights[k] = 1;
	b->evaluate(b->arg, weights, v->point);
	for (size_t i = 0; i < v->n_replicates; i++) {
		for (size_t k = 0; k < b->n_blocks; k++)
			weights[k] = 0;
		for (size_t k = 0; k < b->n_blocks; k++)
			weights[(size_t)(((draw(&random) >> 32) * b->n_blocks) >> 32)]++;
		b->evaluate(b->arg, weights, values);
		for (size_t s = 0; s < b->n_statistics; s++)
			v->replicates[s * v->n_replicates + i] = values[s];
	}
	ret = 0;
out:
	free(weights);
	free(values);
	return ret;
}

void vprof_bootstrap_release(struct vprof_bootstrap_values *v)
{
	free(v->point);
	free(v->replicates);
	*v = (struct vprof_bootstrap_values){ 0 };
}

/* Linear between order statistics; `x` is sorted. */
static double quantile(const double *x, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t k = (size_t)at;

	return k + 1 >= n ? x[n - 1] : x[k] + (at - (double)k) * (x[k + 1] - x[k]);
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
	gsl_sort(x, 1, n);
	z = gsl_cdf_tdist_Pinv(1 - LEVEL, (double)v->n_blocks - 1) *
	    sqrt((double)v->n_blocks / ((double)v->n_blocks - 1));
	level = gsl_cdf_ugaussian_P(-z);
	*low = fmin(point, quantile(x, n, level));
	*high = fmax(point, quantile(x, n, 1 - level));
}
