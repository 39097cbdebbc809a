/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The histogram is log-linear (as HdrHistogram's): 16 buckets for each power of two, so that each is at most 6 % wide.
 */
#include "analysis/stats/latency_shape.h"

#include <gsl/gsl_statistics_double.h>

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
				r->histogram[r->n_histogram++] =
					(struct vprof_bucket){ bucket_from(b), bucket_from(b + 1), c->n[t][b], t };
	return 0;
}

static void fill_period(struct vprof_period *p, const double *ns, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (long double)ns[i];
	p->n = n;
	p->mean_ns = (double)(sum / (long double)n);
	p->p50_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.5);
	p->p99_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.99);
	p->max_ns = ns[n - 1];
}

struct periods {
	/* places at which they begin; those in which no interval began are left out */
	size_t n, first[PERIODS_MAX + 1];
	double *ns;	/* [of all intervals] latencies by period, ascending within each */
	uint8_t *which; /* [the same] an interval's period */
	size_t cap_ns, cap_which;
};

/* Equal parts of the trace. */
static void divide(struct periods *p, struct vprof_results *r, const struct vprof_interval_attributes *t,
		   size_t n_parts)
{
	double part = r->duration_ns / (double)n_parts;
	size_t from = 0;

	for (size_t i = 0; i < n_parts; i++) {
		size_t k = i + 1 < n_parts ? from : t->n;

		while (k < t->n && t->at_ns[k] < part * (double)(i + 1))
			k++;
		if (k > from) {
			memset(p->which + from, (int)p->n, k - from);
			r->periods[p->n].from_ns = part * (double)i;
			r->periods[p->n].to_ns = part * (double)(i + 1);
			p->first[++p->n] = k;
		}
		from = k;
	}
}

/* Taken from the fastest to the slowest of all, so those of each period are in order, too. */
static void distribute(struct periods *p, const struct vprof_interval_attributes *t)
{
	size_t end[PERIODS_MAX];

	memcpy(end, p->first, sizeof end);
	for (size_t i = t->n; i-- > 0;)
		p->ns[end[p->which[t->slowest[i]]]++] = t->ns[t->slowest[i]];
}

static int fill_periods(struct vprof_results *r, const struct vprof_interval_attributes *t)
{
	size_t n_parts = t->n / PERIOD_LEAST < 1	   ? 1 :
			 t->n / PERIOD_LEAST > PERIODS_MAX ? PERIODS_MAX :
							     t->n / PERIOD_LEAST;
	struct periods p = { 0 };
	int ret = VPROF_ERR_NOMEM;

	_Static_assert(PERIODS_MAX <= UINT8_MAX + 1, "a period's number is one byte");
	r->periods = calloc(n_parts, sizeof *r->periods);
	p.ns = vprof_array_room(NULL, &p.cap_ns, t->n + 1, sizeof *p.ns);
	p.which = vprof_array_room(NULL, &p.cap_which, t->n + 1, sizeof *p.which);
	if (r->periods && p.ns && p.which) {
		divide(&p, r, t, n_parts);
		distribute(&p, t);
		for (r->n_periods = 0; r->n_periods < p.n; r->n_periods++)
			fill_period(&r->periods[r->n_periods], p.ns + p.first[r->n_periods],
				    p.first[r->n_periods + 1] - p.first[r->n_periods]);
		ret = 0;
	}
	vprof_array_free(p.ns, p.cap_ns, sizeof *p.ns);
	vprof_array_free(p.which, p.cap_which, sizeof *p.which);
	return ret;
}

int vprof_latency_shape_fill(struct vprof_results *r, const struct vprof_interval_attributes *t)
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
		ret = fill_periods(r, t);
	free(counts);
	return ret;
}
