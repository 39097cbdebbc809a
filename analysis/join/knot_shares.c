/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/knot_shares.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats/bootstrap.h"
#include "analysis/stats/latency.h"

#define SEED 0x6b6e6f7473 /* any: the same bounds every time */
#define OF_LATENCY 3	  /* sums: intervals, latency, its square */
#define OF_KNOT 3	  /* ... and of each knot: what passes, its square, its product with the latency */
#define STATISTICS 2	  /* of each knot: share, if constant */
#define SUMS_MAX (OF_LATENCY + OF_KNOT * VPROF_KNOT_TIMES_MAX)
#define ANY_TYPE UINT32_MAX

struct sums {
	size_t n_knots, n_block;			  /* n_block: intervals of a block */
	double mean_ns, through_ns[VPROF_KNOT_TIMES_MAX]; /* over all intervals: all are measured from there */
};

/* (n - 1) times a variance or covariance. */
static double spread(double n, double a, double b, double ab)
{
	return ab - a * b / n;
}

static void evaluate(void *arg, const double *v, double *values)
{
	const struct sums *s = arg;
	double n = v[0], all = n > 1 ? spread(n, v[1], v[1], v[2]) : 0;

	for (size_t k = 0; k < s->n_knots; k++) {
		const double *x = v + OF_LATENCY + OF_KNOT * k;
		double own = all > 0 ? spread(n, x[0], x[0], x[1]) : 0;
		double both = all > 0 ? spread(n, x[0], v[1], x[2]) : 0;

		values[STATISTICS * k] = all > 0 ? own / all : NAN;
		values[STATISTICS * k + 1] = all > 0 ? (2 * both - own) / all : NAN;
	}
}

static void add_interval(const struct sums *s, const struct vprof_knot_times *times, size_t i, double latency_ns,
			 double *row)
{
	double t = latency_ns - s->mean_ns;

	row[0]++;
	row[1] += t;
	row[2] += t * t;
	for (size_t k = 0; k < s->n_knots; k++) {
		double x = times->through_ns[i * s->n_knots + k] - s->through_ns[k];

		row[OF_LATENCY + OF_KNOT * k] += x;
		row[OF_LATENCY + OF_KNOT * k + 1] += x * x;
		row[OF_LATENCY + OF_KNOT * k + 2] += x * t;
	}
}

/* What is known without chance. */
static void fill_point(struct vprof_waits_through *out, const struct sums *s, size_t knot, const double *total,
		       double own_ns, const double *values)
{
	double n = total[0];

	out->n = (uint64_t)n;
	out->mean_ns = n > 0 ? s->mean_ns + total[1] / n : NAN;
	out->sd_ns = n > 1 ? sqrt(fmax(0, spread(n, total[1], total[1], total[2]) / (n - 1))) : NAN;
	out->through_ns = n > 0 ? s->through_ns[knot] + total[OF_LATENCY + OF_KNOT * knot] / n : NAN;
	out->own_ns = n > 0 ? own_ns / n : NAN;
	out->share = values[STATISTICS * knot];
	out->if_constant = values[STATISTICS * knot + 1];
	out->share_low = out->share_high = out->if_constant_low = out->if_constant_high = NAN;
}

/* One type, or all: every knot's entry `at`. */
static int fill_type(struct vprof_waits_results *r, const struct vprof_knot_times *times,
		     const struct vprof_interval_attributes *attributes, struct sums *s, uint32_t type, size_t at,
		     int n_threads)
{
	size_t n_sums = OF_LATENCY + OF_KNOT * s->n_knots,
	       n_blocks = (times->n_intervals + s->n_block - 1) / s->n_block;
	double total[SUMS_MAX] = { 0 }, own[VPROF_KNOT_TIMES_MAX] = { 0 }, values[STATISTICS * VPROF_KNOT_TIMES_MAX];
	struct vprof_bootstrap_values drawn = { 0 };
	double *rows = calloc(n_blocks * n_sums + 1, sizeof *rows);
	struct vprof_bootstrap b = { .n_blocks = n_blocks,
				     .n_sums = n_sums,
				     .n_statistics = STATISTICS * s->n_knots,
				     .seed = SEED,
				     .rows = rows,
				     .evaluate = evaluate,
				     .arg = s,
				     .n_threads = n_threads };
	int ret = VPROF_OK;

	if (!rows)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < times->n_intervals; i++) {
		if (type != ANY_TYPE && attributes->type[i] != type)
			continue;
		add_interval(s, times, i, attributes->ns[i], rows + i / s->n_block * n_sums);
		for (size_t k = 0; k < s->n_knots; k++)
			own[k] += times->own_ns[i * s->n_knots + k];
	}
	for (size_t i = 0; i < n_blocks * n_sums; i++)
		total[i % n_sums] += rows[i];
	evaluate(s, total, values);
	for (size_t k = 0; k < s->n_knots; k++)
		fill_point(&r->groups[k].through[at], s, k, total, own[k], values);
	if (total[0] >= VPROF_BOUNDS_MIN && n_blocks >= 2) {
		ret = vprof_bootstrap_run(&b, &drawn);
		for (size_t k = 0; k < s->n_knots && !ret; k++) {
			struct vprof_waits_through *x = &r->groups[k].through[at];

			vprof_bootstrap_bounds_within(&drawn, STATISTICS * k, 0, INFINITY, &x->share_low,
						      &x->share_high);
			vprof_bootstrap_bounds_within(&drawn, STATISTICS * k + 1, -INFINITY, 1, &x->if_constant_low,
						      &x->if_constant_high);
		}
		vprof_bootstrap_release(&drawn);
	}
	free(rows);
	return ret;
}

int vprof_knot_shares_fill(struct vprof_waits_results *r, const struct vprof_knot_times *times,
			   const struct vprof_interval_attributes *attributes, const struct vprof_results *of_latency,
			   int n_threads)
{
	struct sums s = { .n_knots = times->n_knots };
	size_t n = times->n_intervals, n_types = of_latency->n_types;
	int ret = VPROF_OK;

	if (!n || !s.n_knots || attributes->n != n)
		return VPROF_OK;
	for (size_t i = 0; i < n; i++) {
		s.mean_ns += attributes->ns[i] / (double)n;
		for (size_t k = 0; k < s.n_knots; k++)
			s.through_ns[k] += times->through_ns[i * s.n_knots + k] / (double)n;
	}
	s.n_block = vprof_bootstrap_block_length(attributes->ns, n);
	r->interval = vprof_strings_keep(&r->strings, of_latency->interval ? of_latency->interval : "");
	if (!r->interval || !s.n_block)
		return VPROF_ERR_NOMEM;
	for (size_t k = 0; k < s.n_knots; k++) {
		struct vprof_waits_group *g = &r->groups[k];

		g->through = calloc(n_types + 1, sizeof *g->through);
		if (!g->through)
			return VPROF_ERR_NOMEM;
		g->n_through = n_types + 1;
		for (size_t t = 0; t <= n_types; t++)
			if (!(g->through[t].type =
				      vprof_strings_keep(&r->strings, t ? of_latency->types[t - 1].name : "")))
				return VPROF_ERR_NOMEM;
	}
	for (size_t t = 0; t <= n_types && !ret; t++)
		ret = fill_type(r, times, attributes, &s, t ? (uint32_t)t - 1 : ANY_TYPE, t, n_threads);
	return ret;
}

/* The interval with the most complete instances; NULL: there is none. */
static const struct vprof_interval_name *choose(const struct vprof_source *source)
{
	const struct vprof_interval_name *best = NULL;

	for (size_t i = 0; i < source->intervals->names.n; i++)
		if (!best || source->intervals->names.v[i].n_complete > best->n_complete)
			best = &source->intervals->names.v[i];
	return best && best->n_complete ? best : NULL;
}

static int fill_of_source(struct vprof_waits_results *r, const struct vprof_waits *waits, struct vprof_source *source,
			  struct vprof_results *latency, int is_kernel, int n_threads)
{
	struct vprof_interval_attributes attributes = { 0 };
	struct vprof_knot_times times = { 0 };
	uint64_t name = choose(source)->name;
	const char *text = vprof_timeline_string(source->timeline, name);
	int ret;

	latency->interval = vprof_results_string(latency, text ? text : "interval");
	ret = latency->interval ? vprof_source_choose(source, name, 1, 0, 0, 0) : VPROF_ERR_NOMEM;
	ret = ret ? ret : vprof_source_connect(source, NULL);
	ret = ret ? ret : vprof_interval_attributes_gather(&attributes, source, 1, latency);
	if (!ret && source->chosen.n) {
		ret = vprof_latency_fill(latency, &attributes, NULL);
		ret = ret ? ret : vprof_knot_times_fill(&times, r, waits, source, is_kernel, n_threads);
		ret = ret ? ret : vprof_knot_shares_fill(r, &times, &attributes, latency, n_threads);
	}
	vprof_knot_times_release(&times);
	vprof_interval_attributes_release(&attributes);
	return ret;
}

int vprof_knot_shares_of_trace(struct vprof_waits_results *r, const struct vprof_waits *waits, const char *trace_dir,
			       int is_kernel, int n_threads, struct vprof_error *err)
{
	struct vprof_results *latency = vprof_results_new();
	struct vprof_source source = { 0 };
	int ret = latency ? VPROF_OK : VPROF_ERR_NOMEM;

	if (!r->n_groups || r->groups[0].verdict == VPROF_WAITS_ASIDE) {
		vprof_results_free(latency);
		return VPROF_OK;
	}
	if (!ret) {
		ret = vprof_source_open(&source, trace_dir, n_threads, NULL, NULL, err);
		if (!ret && choose(&source)) {
			ret = fill_of_source(r, waits, &source, latency, is_kernel, n_threads);
			if (ret)
				vprof_error_set(err, ret, "not enough memory for the intervals: record a shorter run");
		}
		vprof_source_release(&source);
	}
	vprof_results_free(latency);
	return ret;
}
