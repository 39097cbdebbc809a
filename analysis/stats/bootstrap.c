/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights are counts of blocks drawn with replacement. With more than a few NaN replicates there are no bounds at all.
 *
 * Percentiles are those of a distribution that the blocks imitate well if many of them matter, about equally. The
 * jackknife (Efron and Tibshirani, "An Introduction to the Bootstrap", chapter 11) tells how far that is so, and bounds
 * are widened accordingly:
 *
 * - Few stalls hold the variance. The number of blocks that matter follows from the fourth powers of their errors, as
 *   degrees of freedom (Satterthwaite 1946): n / (kurtosis - 1), about k for k stalls in n blocks, at most n - 1.
 *   Student's t with these sets the level of the percentiles.
 * - Neighbouring blocks are still alike. Errors of pairs of blocks have, then, more than twice the variance of those of
 *   blocks; extrapolated to blocks of any length (Vats and Flegal, "Lugsail lag windows", Biometrika 109, 2022), 2
 * pairs
 *   - squares, which widens the bounds.
 * - Skewness: BCa's acceleration (Efron 1987), and both sides at least as far from the estimate as the farther of the
 *   two (Hall, "On symmetric bootstrap confidence intervals", J. R. Statist. Soc. B 50, 1988): runs that lack the tail
 *   err to one side, runs that have too much of it to the other.
 */
#include "analysis/stats/bootstrap.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "common/parallel.h"
#include "common/error.h"

#define LEVEL 0.025
#define FREEDOM_MIN 1.0
#define UNSEEN 2 /* fourth powers of a heavy tail are more than a run shows of them */
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

struct jackknife {
	const struct vprof_bootstrap *b;
	double *without; /* [n_blocks * n_statistics] */
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

static size_t draw_one(uint64_t *random, size_t n)
{
	return (size_t)(((draw(random) >> 32) * n) >> 32);
}

/* How many numbers a replicate draws at most: runs may differ in length. */
static size_t n_draws(const struct vprof_bootstrap *b)
{
	size_t most = 0;

	for (size_t k = 0; b->n_runs > 1 && k < b->n_runs; k++)
		if (b->run_first[k + 1] - b->run_first[k] > most)
			most = b->run_first[k + 1] - b->run_first[k];
	return b->n_runs > 1 ? b->n_runs * (1 + most) : b->n_blocks;
}

static void draw_weights(const struct vprof_bootstrap *b, uint64_t *random, double *weights)
{
	for (size_t k = 0; k < b->n_blocks; k++)
		weights[k] = 0;
	for (size_t k = 0; b->n_runs <= 1 && k < b->n_blocks; k++)
		weights[draw_one(random, b->n_blocks)]++;
	for (size_t k = 0; b->n_runs > 1 && k < b->n_runs; k++) {
		size_t run = draw_one(random, b->n_runs), from = b->run_first[run];
		size_t n = b->run_first[run + 1] - from;

		for (size_t i = 0; i < n; i++)
			weights[from + draw_one(random, n)]++;
	}
}

/* A batch begins where the random numbers of the previous ones end. */
static int run_batch(void *arg, int worker, size_t item)
{
	const struct vprof_bootstrap *b = ((struct run *)arg)->b;
	struct vprof_bootstrap_values *v = ((struct run *)arg)->v;
	double *room = malloc((b->n_blocks + b->n_sums + b->n_statistics) * sizeof *room);
	double *weights = room, *sums = room + b->n_blocks, *values = sums + b->n_sums;
	uint64_t random = b->seed + GOLDEN * (uint64_t)(item * BATCH * n_draws(b));

	(void)worker;
	if (!room)
		return VPROF_ERR_NOMEM;
	for (size_t i = item * BATCH; i < (item + 1) * BATCH && i < v->n_replicates; i++) {
		draw_weights(b, &random, weights);
		weigh(b, weights, sums);
		b->evaluate(b->arg, b->rows ? sums : weights, values);
		for (size_t s = 0; s < b->n_statistics; s++)
			v->replicates[s * v->n_replicates + i] = values[s];
	}
	free(room);
	return 0;
}

/* Statistics without one of the blocks, times n - 1: what the block adds. */
static int leave_out(void *arg, int worker, size_t block)
{
	const struct vprof_bootstrap *b = ((struct jackknife *)arg)->b;
	double *room = malloc((b->n_blocks + b->n_sums) * sizeof *room), *sums = room + b->n_blocks;

	(void)worker;
	if (!room)
		return VPROF_ERR_NOMEM;
	for (size_t k = 0; k < b->n_blocks; k++)
		room[k] = k != block;
	weigh(b, room, sums);
	b->evaluate(b->arg, b->rows ? sums : room, ((struct jackknife *)arg)->without + block * b->n_statistics);
	free(room);
	return 0;
}

static struct vprof_bootstrap_error take_error(const struct vprof_bootstrap *b, const double *without)
{
	struct vprof_bootstrap_error error = { 0 };
	double n = (double)b->n_blocks, mean = 0, before = 0, fourth = 0;

	for (size_t i = 0; i < b->n_blocks; i++)
		mean += without[i * b->n_statistics] / n;
	for (size_t i = 0; i < b->n_blocks; i++) {
		double e = (n - 1) / n * (mean - without[i * b->n_statistics]);

		error.squares += e * e;
		error.cubes += e * e * e;
		fourth += e * e * e * e;
		if (i % 2)
			error.pairs += (e + before) * (e + before);
		else if (i + 1 == b->n_blocks)
			error.pairs += e * e;
		before = e;
	}
	error.variance_of_squares = fourth - error.squares * error.squares / n;
	error.variance_if_normal = 2 * error.squares * error.squares / (n - 1);
	return error;
}

static int run_jackknife(const struct vprof_bootstrap *b, struct vprof_bootstrap_values *v)
{
	struct jackknife j = { b, malloc(b->n_blocks * (b->n_statistics + 1) * sizeof(double)) };
	int ret = VPROF_ERR_NOMEM;

	if (j.without)
		ret = vprof_parallel_run(vprof_parallel_count(b->n_threads), b->n_blocks, leave_out, &j);
	for (size_t s = 0; s < b->n_statistics && !ret; s++)
		v->errors[s] = take_error(b, j.without + s);
	free(j.without);
	return ret;
}

/* Half-widths of the bounds that runs give: the jackknife over runs. A statistic without a value when some run is left
 * out has none. */
static int bound_by_runs(const struct vprof_bootstrap *b, struct vprof_bootstrap_values *v)
{
	double *room = malloc((b->n_blocks + b->n_sums + (b->n_runs + 1) * b->n_statistics) * sizeof *room);
	double *sums = room + b->n_blocks, *without = sums + b->n_sums, n = (double)b->n_runs;
	double t = gsl_cdf_tdist_Pinv(1 - LEVEL, n - 1);

	v->of_runs = malloc((b->n_statistics + 1) * sizeof *v->of_runs);
	if (!room || !v->of_runs) {
		free(room);
		return VPROF_ERR_NOMEM;
	}
	for (size_t run = 0; run < b->n_runs; run++) {
		for (size_t k = 0; k < b->n_blocks; k++)
			room[k] = k < b->run_first[run] || k >= b->run_first[run + 1];
		weigh(b, room, sums);
		b->evaluate(b->arg, b->rows ? sums : room, without + run * b->n_statistics);
	}
	for (size_t s = 0; s < b->n_statistics; s++) {
		double mean = 0, squares = 0;

		for (size_t run = 0; run < b->n_runs; run++)
			mean += without[run * b->n_statistics + s] / n;
		for (size_t run = 0; run < b->n_runs; run++)
			squares += pow(without[run * b->n_statistics + s] - mean, 2);
		v->of_runs[s] = t * sqrt((n - 1) / n * squares);
	}
	free(room);
	return 0;
}

int vprof_bootstrap_run(const struct vprof_bootstrap *b, struct vprof_bootstrap_values *v)
{
	double *room = malloc((b->n_blocks + b->n_sums) * sizeof *room);
	struct run run = { b, v };
	int ret = VPROF_ERR_NOMEM;

	*v = (struct vprof_bootstrap_values){ .n_blocks = b->n_blocks,
					      .n_statistics = b->n_statistics,
					      .n_replicates = VPROF_BOOTSTRAP_REPLICATES };
	v->errors = malloc((b->n_statistics + 1) * sizeof *v->errors);
	v->point = malloc((b->n_statistics + 1) * sizeof *v->point);
	v->replicates = malloc((b->n_statistics + 1) * v->n_replicates * sizeof *v->replicates);
	if (!room || !v->point || !v->replicates || !v->errors)
		goto out;
	for (size_t k = 0; k < b->n_blocks; k++)
		room[k] = 1;
	weigh(b, room, room + b->n_blocks);
	b->evaluate(b->arg, b->rows ? room + b->n_blocks : room, v->point);
	ret = vprof_parallel_run(vprof_parallel_count(b->n_threads), (v->n_replicates + BATCH - 1) / BATCH, run_batch,
				 &run);
	if (!ret)
		ret = run_jackknife(b, v);
	if (!ret && b->n_runs > 1)
		ret = bound_by_runs(b, v);
out:
	free(room);
	return ret;
}

void vprof_bootstrap_release(struct vprof_bootstrap_values *v)
{
	free(v->point);
	free(v->replicates);
	free(v->errors);
	free(v->of_runs);
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

struct vprof_bootstrap_error vprof_bootstrap_error_of_difference(const struct vprof_bootstrap_error *a, double factor_a,
								 const struct vprof_bootstrap_error *b, double factor_b)
{
	double a2 = factor_a * factor_a, b2 = factor_b * factor_b;

	return (struct vprof_bootstrap_error){
		.squares = a2 * a->squares + b2 * b->squares,
		.cubes = a2 * factor_a * a->cubes - b2 * factor_b * b->cubes,
		.pairs = a2 * a->pairs + b2 * b->pairs,
		.variance_of_squares = a2 * a2 * a->variance_of_squares + b2 * b2 * b->variance_of_squares,
		.variance_if_normal = a2 * a2 * a->variance_if_normal + b2 * b2 * b->variance_if_normal,
	};
}

/* By how much percentiles are wrong: standard normal deviates of the bounds' levels, and a factor for their distance
 * from the estimate. */
struct widening {
	double z, acceleration, factor;
};

static struct widening widening_of(const struct vprof_bootstrap_values *v, const struct vprof_bootstrap_error *e)
{
	double n = (double)v->n_blocks, freedom = n - 1, squared = e->squares * e->squares;
	struct widening w = { .factor = 1 };

	if (!isfinite(e->squares)) { /* all depends on one block */
		freedom = FREEDOM_MIN;
	} else if (squared > 0) {
		freedom = 2 * squared / fmax(UNSEEN * e->variance_of_squares, e->variance_if_normal);
		w.acceleration = e->cubes / (6 * pow(e->squares, 1.5));
		w.factor = sqrt(fmax(1, 2 * e->pairs / e->squares - 1));
	}
	w.z = gsl_cdf_tdist_Pinv(1 - LEVEL, fmax(freedom, FREEDOM_MIN)) * sqrt(n / (n - 1));
	return w;
}

/* BCa's level for a normal deviate, without its correction for bias. */
static double level_of(double z, double acceleration)
{
	double scale = 1 - acceleration * z;

	return scale > 0 ? gsl_cdf_ugaussian_P(z / scale) : z > 0;
}

void vprof_bootstrap_bounds(struct vprof_bootstrap_values *v, size_t statistic, double *low, double *high)
{
	vprof_bootstrap_bounds_within(v, statistic, -INFINITY, INFINITY, low, high);
}

void vprof_bootstrap_bounds_within(struct vprof_bootstrap_values *v, size_t statistic, double least, double most,
				   double *low, double *high)
{
	double *x = v->replicates + statistic * v->n_replicates, point = v->point[statistic], below, above, level;
	struct widening w;
	size_t n = 0;

	*low = *high = NAN;
	for (size_t i = 0; i < v->n_replicates; i++)
		if (isfinite(x[i]))
			x[n++] = x[i];
	if (!isfinite(point) || (double)n < VALID_SHARE_MIN * (double)v->n_replicates)
		return;
	if (v->of_runs && !isfinite(v->of_runs[statistic]))
		return;
	w = widening_of(v, &v->errors[statistic]);
	level = gsl_cdf_ugaussian_P(-w.z);
	below = above = fmax(0, fmax(point - quantile(x, n, level), quantile(x, n, 1 - level) - point));
	below = w.factor * fmax(below, point - quantile(x, n, level_of(-w.z, w.acceleration)));
	above = w.factor * fmax(above, quantile(x, n, level_of(w.z, w.acceleration)) - point);
	for (size_t i = 0; i < n; i++) {
		least = fmin(least, x[i]);
		most = fmax(most, x[i]);
	}
	if (v->of_runs) {
		below = fmax(below, v->of_runs[statistic]);
		above = fmax(above, v->of_runs[statistic]);
	}
	*low = fmax(point - below, fmin(least, point));
	*high = fmin(point + above, fmax(most, point));
}
