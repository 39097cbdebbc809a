/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The histogram is log-linear (as HdrHistogram's): 16 buckets for each power of two, so that each is at most 6 % wide. */
#include "analysis/latency_shape.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "analysis/latency.h"

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

/* Place of the instance's type among the first of r->types, plus one; 0: none of them. */
struct type_memo {
	uint64_t type;
	unsigned place;
	uint8_t kind, is_set;
};

static int type_place(struct type_memo *memo, struct vprof_results *r, const struct vprof_timeline *timeline,
		      const struct vprof_instance *inst, unsigned *place)
{
	struct type_memo *m = &memo[vprof_mix(inst->type + inst->type_kind) & 63];
	const char *name;

	if (!m->is_set || m->type != inst->type || m->kind != inst->type_kind) {
		name = vprof_latency_type_name(r, timeline, inst->type_kind, inst->type);
		if (!name)
			return VPROF_ERR_NOMEM;
		*m = (struct type_memo){ inst->type, 0, inst->type_kind, 1 };
		for (unsigned i = 0; i < r->n_types && i < TYPES_SHOWN; i++)
			if (r->types[i].name == name)
				m->place = i + 1;
	}
	*place = m->place;
	return 0;
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
	gsl_sort(ns, 1, n);
	p->n = n;
	p->mean_ns = gsl_stats_mean(ns, 1, n);
	p->p50_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.5);
	p->p99_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.99);
	p->max_ns = ns[n - 1];
}

/* Equal parts of the trace; those in which no interval began are left out. */
static int fill_periods(struct vprof_results *r, const struct vprof_timeline *timeline, const struct vprof_intervals *intervals,
			const uint32_t *chosen, size_t n, uint64_t start, double *ns)
{
	size_t n_parts = n / PERIOD_LEAST < 1 ? 1 : n / PERIOD_LEAST > PERIODS_MAX ? PERIODS_MAX : n / PERIOD_LEAST;
	double part = r->duration_ns / (double)n_parts;
	size_t from = 0;

	r->periods = calloc(n_parts, sizeof *r->periods);
	if (!r->periods)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n_parts; i++) {
		size_t k = from;

		for (; k < n; k++) {
			const struct vprof_instance *inst = &intervals->instances.v[chosen[k]];

			if (i + 1 < n_parts && (double)(inst->begin - start) * timeline->ns_per_tick >= part * (double)(i + 1))
				break;
			ns[k] = (double)(inst->end - inst->begin) * timeline->ns_per_tick;
		}
		if (k > from) {
			struct vprof_period *p = &r->periods[r->n_periods++];

			p->from_ns = part * (double)i;
			p->to_ns = part * (double)(i + 1);
			fill_period(p, ns + from, k - from);
		}
		from = k;
	}
	return 0;
}

int vprof_latency_shape_fill(struct vprof_results *r, const struct vprof_timeline *timeline,
			     const struct vprof_intervals *intervals, const uint32_t *chosen, size_t n, uint64_t start)
{
	struct counts *counts = calloc(1, sizeof *counts);
	struct type_memo memo[64] = { { 0 } };
	size_t cap = 0;
	double *ns = vprof_array_room(NULL, &cap, n + 1, sizeof *ns);
	int ret = counts && ns ? 0 : VPROF_ERR_NOMEM;

	for (size_t i = 0; !ret && i < n; i++) {
		const struct vprof_instance *inst = &intervals->instances.v[chosen[i]];
		double took = (double)(inst->end - inst->begin) * timeline->ns_per_tick; /* of a damaged trace: beyond 2^64 */
		unsigned place, bucket = bucket_of(took < 0x1p63 ? (uint64_t)took : UINT64_C(1) << 63);

		ret = type_place(memo, r, timeline, inst, &place);
		if (ret)
			break;
		counts->n[0][bucket]++;
		if (place)
			counts->n[place][bucket]++;
	}
	if (!ret)
		ret = fill_histogram(r, counts);
	if (!ret && n)
		ret = fill_periods(r, timeline, intervals, chosen, n, start, ns);
	free(counts);
	vprof_array_free(ns, cap, sizeof *ns);
	return ret;
}
