/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The histogram is log-linear (as HdrHistogram's): 16 buckets for each power of two, so that each is at most 6 % wide. */
#include "analysis/latency_shape.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "analysis/parallel.h"

#define SUB_BITS 4
#define N_SUB (1u << SUB_BITS)
#define N_BUCKETS ((64 - SUB_BITS + 1) * N_SUB)
#define TYPES_SHOWN 6
#define PERIODS_MAX 200
#define PERIOD_LEAST 25 /* intervals of a period, on average */

struct counts {
	uint64_t n[1 + TYPES_SHOWN][N_BUCKETS]; /* [0]: of all types */
};

static unsigned bucket_of(uint64_t ns)
{
	unsigned top;

	if (ns < N_SUB)
		return (unsigned)ns;
	top = 63u - (unsigned)__builtin_clzll(ns);
	return (top - SUB_BITS + 1) * N_SUB + (unsigned)(ns >> (top - SUB_BITS) & (N_SUB - 1));
}

static double bucket_from(unsigned bucket)
{
	unsigned power = bucket / N_SUB, sub = bucket % N_SUB;
	double from = sub;

	if (!power)
		return from;
	from += N_SUB;
	while (--power)
		from *= 2;
	return from;
}

static int fill_histogram(struct vprof_results *r, const struct counts *c)
{
	size_t n_rows = 0;

	for (unsigned t = 0; t <= TYPES_SHOWN; t++)
		for (unsigned b = 0; b < N_BUCKETS; b++)
			n_rows += c->n[t][b] != 0;
	r->histogram = calloc(n_rows + 1, sizeof *r->histogram);
	if (!r->histogram)
		return VPROF_ERR_NOMEM;
	for (unsigned t = 0; t <= TYPES_SHOWN; t++)
		for (unsigned b = 0; b < N_BUCKETS; b++)
			if (c->n[t][b])
				r->histogram[r->n_histogram++] = (struct vprof_bucket){ bucket_from(b), bucket_from(b + 1), c->n[t][b], t };
	return 0;
}

static void fill_period(struct vprof_period *p, double *ns, size_t n)
{
	long double sum = 0;

	gsl_sort(ns, 1, n);
	for (size_t i = 0; i < n; i++)
		sum += (long double)ns[i];
	p->n = n;
	p->mean_ns = (double)(sum / (long double)n);
	p->p50_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.5);
	p->p99_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.99);
	p->max_ns = ns[n - 1];
}

struct periods {
	struct vprof_results *r;
	double *ns; /* [n] copy of the latencies */
	size_t first[PERIODS_MAX + 1]; /* into ns; those in which no interval began are left out */
};

static int sort_period(void *arg, int worker, size_t item)
{
	struct periods *p = arg;

	(void)worker;
	fill_period(&p->r->periods[item], p->ns + p->first[item], p->first[item + 1] - p->first[item]);
	return 0;
}

/* Equal parts of the trace. */
static int fill_periods(struct vprof_results *r, const struct vprof_traits *t, int n_threads)
{
	size_t n_parts = t->n / PERIOD_LEAST < 1 ? 1 : t->n / PERIOD_LEAST > PERIODS_MAX ? PERIODS_MAX : t->n / PERIOD_LEAST;
	double part = r->duration_ns / (double)n_parts;
	struct periods p = { .r = r };
	size_t from = 0, cap = 0;

	r->periods = calloc(n_parts, sizeof *r->periods);
	p.ns = vprof_array_room(NULL, &cap, t->n + 1, sizeof *p.ns);
	if (!r->periods || !p.ns) {
		vprof_array_free(p.ns, cap, sizeof *p.ns);
		return VPROF_ERR_NOMEM;
	}
	memcpy(p.ns, t->ns, t->n * sizeof *p.ns);
	for (size_t i = 0; i < n_parts; i++) {
		size_t k = i + 1 < n_parts ? from : t->n;

		while (k < t->n && t->at_ns[k] < part * (double)(i + 1))
			k++;
		if (k > from) {
			r->periods[r->n_periods].from_ns = part * (double)i;
			r->periods[r->n_periods].to_ns = part * (double)(i + 1);
			p.first[++r->n_periods] = k;
		}
		from = k;
	}
	vprof_parallel_run(vprof_parallel_count(n_threads), r->n_periods, sort_period, &p);
	vprof_array_free(p.ns, cap, sizeof *p.ns);
	return 0;
}

int vprof_latency_shape_fill(struct vprof_results *r, const struct vprof_traits *t, int n_threads)
{
	struct counts *counts = calloc(1, sizeof *counts);
	int ret = counts ? 0 : VPROF_ERR_NOMEM;

	for (size_t i = 0; !ret && i < t->n; i++) {
		double took = t->ns[i]; /* of a damaged trace: beyond 2^64 */
		unsigned bucket = bucket_of(took < 0x1p63 ? (uint64_t)took : UINT64_C(1) << 63);

		counts->n[0][bucket]++;
		if (t->type[i] < TYPES_SHOWN)
			counts->n[1 + t->type[i]][bucket]++;
	}
	if (!ret)
		ret = fill_histogram(r, counts);
	if (!ret && t->n)
		ret = fill_periods(r, t, n_threads);
	free(counts);
	return ret;
}
