/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long blocks of neighbouring intervals must be to contain most of their correlation: Politis and White, "Automatic
 * block-length selection for the dependent bootstrap", Econometric Reviews 23 (2004), with the corrections of Patton,
 * Politis and White (2009). That length estimates a variance with the least squared error. Bounds that hold the truth
 * as often as they say need longer blocks, in which less of the correlation is lost, since few blocks can be made up
 * for by Student's t, and lost correlation cannot (Sun, Phillips, Jin, "Optimal bandwidth selection in
 * heteroskedasticity- autocorrelation robust testing", Econometrica 76, 2008): twice that length covers best here
 * (docs/design/statistics.md). Shares of variance depend on squares as well as on latencies: the larger of the two
 * lengths is used.
 *
 * Long series are first reduced to means of groups: the length is then at least that of a group. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats/bootstrap.h"

#define SERIES_MAX 20000
#define LAGS_MAX 500
#define LENGTHENED 2
#define QUIET 5 /* this many insignificant correlations in a row: the series has no longer memory */

static double autocovariance(const double *x, size_t n, double mean, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i + lag < n; i++)
		sum += (x[i] - mean) * (x[i + lag] - mean);
	return sum / (double)n;
}

/* The flat-top window: 1 up to a half, then falling to 0 at 1. */
static double window(double t)
{
	t = fabs(t);
	return t <= 0.5 ? 1 : t <= 1 ? 2 * (1 - t) : 0;
}

/* Items in a block; 1 where there is no correlation. */
static double wanted_length(const double *x, size_t n)
{
	double mean = gsl_stats_mean(x, 1, n), r[LAGS_MAX + 1], limit, g = 0, spectrum;
	size_t quiet = 0, last = 0, lags = n / 4;

	if (lags > LAGS_MAX)
		lags = LAGS_MAX;
	r[0] = autocovariance(x, n, mean, 0);
	if (!(r[0] > 0) || lags < QUIET)
		return 1;
	limit = 2 * sqrt(log10((double)n) / (double)n) * r[0];
	for (size_t k = 1; k <= lags && quiet < QUIET; k++) {
		r[k] = autocovariance(x, n, mean, k);
		quiet = fabs(r[k]) < limit ? quiet + 1 : 0;
		last = quiet ? last : k;
	}
	if (!last)
		return 1;
	if (2 * last < lags)
		lags = 2 * last;
	spectrum = r[0];
	for (size_t k = 1; k <= lags; k++) {
		double w = window((double)k / (double)lags);

		if (k > last) /* beyond those computed above */
			r[k] = autocovariance(x, n, mean, k);
		g += 2 * w * (double)k * r[k];
		spectrum += 2 * w * r[k];
	}
	if (!(spectrum > 0))
		return (double)last;
	/* G^2 / D with D = 2 g(0)^2 of blocks that do not overlap */
	return cbrt(g * g / (spectrum * spectrum) * (double)n);
}

size_t vprof_bootstrap_block_length(const double *x, size_t n)
{
	size_t group = (n + SERIES_MAX - 1) / SERIES_MAX, n_series, length, most;
	double *series, mean, wanted, of_squares;

	if (n < 2)
		return 1;
	n_series = n / group;
	series = malloc(n_series * sizeof *series);
	if (!series)
		return 0;
	for (size_t i = 0; i < n_series; i++)
		series[i] = gsl_stats_mean(x + i * group, 1, group);
	mean = gsl_stats_mean(x, 1, n);
	wanted = wanted_length(series, n_series);
	for (size_t i = 0; i < n_series; i++) {
		series[i] = 0;
		for (size_t k = 0; k < group; k++)
			series[i] += (x[i * group + k] - mean) * (x[i * group + k] - mean);
	}
	of_squares = wanted_length(series, n_series);
	free(series);
	wanted = (wanted > of_squares ? wanted : of_squares) * (double)group;
	if (wanted > (double)group)
		wanted *= LENGTHENED;
	if (wanted < cbrt((double)n))
		wanted = cbrt((double)n);
	most = n / VPROF_BOOTSTRAP_BLOCKS_MIN;
	length = wanted < (double)n ? (size_t)ceil(wanted) : n;
	if (length > most)
		length = most;
	if (length < (n + VPROF_BOOTSTRAP_BLOCKS_MAX - 1) / VPROF_BOOTSTRAP_BLOCKS_MAX)
		length = (n + VPROF_BOOTSTRAP_BLOCKS_MAX - 1) / VPROF_BOOTSTRAP_BLOCKS_MAX;
	return length ? length : 1;
}
