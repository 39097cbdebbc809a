/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stats/compare_runs.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_DISTINCT (VPROF_FIGURE_COUNT - 1)

const size_t vprof_compare_looks[VPROF_COMPARE_LOOKS] = { 6, 12, 24, 48, 96 };

double vprof_compare_look_error(size_t look, int is_last)
{
	static const double parts[VPROF_COMPARE_LOOKS] = { 0.15, 0.2, 0.25, 0.2, 0.2 };
	double left = 1;

	for (size_t i = 0; i < look; i++)
		left -= parts[i];
	return VPROF_COMPARE_ERROR * (is_last ? left : parts[look]);
}

int vprof_run_figures_take(struct vprof_run_figures *f, const struct vprof_latencies *run)
{
	double *sorted = malloc((run->n + 1) * sizeof *sorted);

	if (!sorted)
		return VPROF_ERR_NOMEM;
	memcpy(sorted, run->ns, run->n * sizeof *sorted);
	gsl_sort(sorted, 1, run->n);
	f->n = run->n;
	f->of[VPROF_FIGURE_MEAN] = gsl_stats_mean(sorted, 1, run->n);
	f->of[VPROF_FIGURE_VARIANCE] = gsl_stats_variance(sorted, 1, run->n);
	f->of[VPROF_FIGURE_SD] = sqrt(f->of[VPROF_FIGURE_VARIANCE]);
	f->of[VPROF_FIGURE_P50] = gsl_stats_quantile_from_sorted_data(sorted, 1, run->n, 0.5);
	f->of[VPROF_FIGURE_P90] = gsl_stats_quantile_from_sorted_data(sorted, 1, run->n, 0.9);
	f->of[VPROF_FIGURE_P99] = gsl_stats_quantile_from_sorted_data(sorted, 1, run->n, 0.99);
	free(sorted);
	return VPROF_OK;
}

/* of the values that n runs gave */
struct spread {
	double n, mean, squares;
};

static void add(struct spread *s, double x)
{
	double d = x - s->mean;

	s->mean += d / ++s->n;
	s->squares += d * (x - s->mean);
}

/* variance of the mean */
static double of_mean(const struct spread *s)
{
	return s->squares / (s->n - 1) / s->n;
}

static double t_quantile(double error, double freedom)
{
	return gsl_cdf_tdist_Pinv(1 - error / 2, freedom);
}

double vprof_runs_half_width(const double *base, size_t n_base, const double *new, size_t n_new, int is_paired,
			     double error)
{
	struct spread a = { 0 }, b = { 0 };

	if (n_base < VPROF_COMPARE_RUNS_MIN || n_new < VPROF_COMPARE_RUNS_MIN)
		return NAN;
	for (size_t i = 0; i < n_base; i++)
		add(&a, is_paired ? new[i] - base[i] : base[i]);
	if (is_paired)
		return t_quantile(error, a.n - 1) * sqrt(of_mean(&a));
	for (size_t i = 0; i < n_new; i++)
		add(&b, new[i]);
	return t_quantile(error, fmin(a.n, b.n) - 1) * sqrt(of_mean(&a) + of_mean(&b));
}

size_t vprof_compare_runs_needed(const struct vprof_change *change, size_t n_base, size_t n_new, double error,
				 double within)
{
	double seen = fabs(log1p(change->change)), wanted = fmax(seen, log1p(within) - seen);
	double half = (log1p(change->high) - log1p(change->low)) / 2;
	size_t least = n_base < n_new ? n_base : n_new, most = n_base < n_new ? n_new : n_base;
	double n = 2 / (1 / (double)n_base + 1 / (double)n_new);
	double of_one = half * sqrt(n) / t_quantile(error / N_DISTINCT, (double)least - 1);

	for (size_t more = most + 1; isfinite(of_one) && more <= VPROF_COMPARE_RUNS_MAX; more++)
		if (t_quantile(error / N_DISTINCT, (double)more - 1) * of_one <= wanted * sqrt((double)more))
			return more;
	return 0;
}

/* Logarithms of a figure; their mean. */
static double take_logs(double *logs, const struct vprof_run_figures *runs, size_t n, int figure)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += logs[i] = log(runs[i].of[figure]);
	return sum / (double)n;
}

static size_t count_intervals(const struct vprof_run_figures *runs, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += runs[i].n;
	return sum;
}

int vprof_compare_runs(const struct vprof_run_figures *base, size_t n_base, const struct vprof_run_figures *new,
		       size_t n_new, int is_paired, double error, struct vprof_change changes[VPROF_FIGURE_COUNT])
{
	size_t least = count_intervals(base, n_base), least_new = count_intervals(new, n_new);
	double *a = malloc((n_base + n_new) * sizeof *a), *b = a + n_base;

	if (!a)
		return VPROF_ERR_NOMEM;
	least = least < least_new ? least : least_new;
	for (int f = 0; f < VPROF_FIGURE_COUNT; f++) {
		struct vprof_change *c = &changes[f];
		double from = take_logs(a, base, n_base, f), to = take_logs(b, new, n_new, f);
		double half = vprof_runs_half_width(a, n_base, b, n_new, is_paired, error / N_DISTINCT);

		*c = (struct vprof_change){ exp(from), exp(to), expm1(to - from), NAN, NAN };
		if (isfinite(c->change) && isfinite(half) && least >= vprof_compare_needed((enum vprof_figure)f)) {
			c->low = expm1(to - from - half);
			c->high = expm1(to - from + half);
		}
	}
	free(a);
	return VPROF_OK;
}
