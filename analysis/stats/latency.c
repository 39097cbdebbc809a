/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between types, within types: the sums of squares of a one-way analysis of variance. */
#include "analysis/stats/latency.h"

#include <math.h>

#include "analysis/stats/moments.h"

#define TYPES_MAX 1000

/* the intervals of one type */
struct group {
	struct vprof_moment moment;
	double sum;
	const char *name;
	uint32_t index; /* in the attributes' types */
};

static int count_order(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->moment.n_present != y->moment.n_present)
		return x->moment.n_present > y->moment.n_present ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The law of total variance: the contributions of the types, between and within, sum to 1. */
static void share_out(struct vprof_results *r, size_t n)
{
	double squares = r->var_ns2 * (double)(n - 1);

	for (size_t i = 0; i < r->n_types; i++) {
		struct vprof_type *t = &r->types[i];
		double d = t->mean_ns - r->mean_ns;

		t->between_share = squares > 0 ? (double)t->n * d * d / squares : 0;
		t->within_share = squares > 0 ? (double)(t->n - 1) * t->sd_ns * t->sd_ns / squares : 0;
	}
}

static void add_groups(struct group *groups, const struct vprof_interval_attributes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		groups[t->type[i]].sum += t->ns[i];
		groups[t->type[i]].moment.n_present++;
	}
	for (uint32_t k = 0; k < t->types.n; k++) {
		groups[k].name = t->types.v[k].name;
		groups[k].index = k;
		if (groups[k].moment.n_present)
			groups[k].moment.mean = groups[k].sum / (double)groups[k].moment.n_present;
		groups[k].moment.n_present = 0;
	}
	for (size_t i = 0; i < t->n; i++)
		vprof_moment_add(&groups[t->type[i]].moment, t->ns[i]);
}

/* The most frequent types first; attributes->type follows. `place`: [n_groups]. */
static int show_groups(struct vprof_results *r, struct vprof_interval_attributes *t, const struct group *groups,
		       size_t n_groups, uint32_t *place)
{
	r->n_types = n_groups == 1 && t->types.v[groups[0].index].kind == 0 ? 0 :
		     n_groups < TYPES_MAX				    ? n_groups :
									      TYPES_MAX;
	r->types = calloc(r->n_types + 1, sizeof *r->types);
	if (!r->types)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < t->types.n; i++)
		place[i] = VPROF_NONE;
	for (size_t i = 0; i < r->n_types; i++) {
		size_t n = groups[i].moment.n_present;

		r->types[i].name = groups[i].name;
		r->types[i].n = n;
		r->types[i].mean_ns = groups[i].moment.mean;
		r->types[i].sd_ns = sqrt(vprof_moment_variance(&groups[i].moment, n));
		place[groups[i].index] = (uint32_t)i;
	}
	for (size_t i = 0; i < t->n; i++)
		t->type[i] = place[t->type[i]];
	share_out(r, t->n);
	return 0;
}

static int fill_types(struct vprof_results *r, struct vprof_interval_attributes *t)
{
	struct group *groups = calloc(t->types.n + 1, sizeof *groups);
	uint32_t *place = malloc((t->types.n + 1) * sizeof *place);
	size_t n_groups = 0;
	double between = 0;
	int ret = VPROF_ERR_NOMEM;

	if (!groups || !place)
		goto out;
	add_groups(groups, t);
	for (size_t i = 0; i < t->types.n; i++)
		if (groups[i].moment.n_present)
			groups[n_groups++] = groups[i];
	qsort(groups, n_groups, sizeof *groups, count_order);
	for (size_t i = 0; i < n_groups; i++) {
		double d = groups[i].moment.mean - r->mean_ns;

		between += (double)groups[i].moment.n_present * d * d;
	}
	if (n_groups > 1 && r->var_ns2 > 0)
		r->between_types = between / (r->var_ns2 * (double)(t->n - 1));
	ret = show_groups(r, t, groups, n_groups, place);
out:
	free(groups);
	free(place);
	return ret;
}

/* Linear between order statistics. */
static double quantile(const struct vprof_interval_attributes *t, double p)
{
	double at = p * (double)(t->n - 1);
	size_t low = (size_t)at, high = low + 1 < t->n ? low + 1 : low;
	double x = t->ns[t->slowest[t->n - 1 - low]], y = t->ns[t->slowest[t->n - 1 - high]];

	return (1 - (at - (double)low)) * x + (at - (double)low) * y;
}

int vprof_latency_fill(struct vprof_results *r, struct vprof_interval_attributes *t, struct vprof_error *err)
{
	struct vprof_moment all = { 0 };
	long double sum = 0;

	if (!t->n)
		return 0;
	r->min_ns = t->ns[t->slowest[t->n - 1]];
	r->max_ns = t->ns[t->slowest[0]];
	r->p50_ns = quantile(t, 0.5);
	r->p90_ns = quantile(t, 0.9);
	r->p99_ns = quantile(t, 0.99);
	r->p999_ns = quantile(t, 0.999);
	for (size_t i = 0; i < t->n; i++)
		sum += (long double)t->ns[i];
	all.mean = r->mean_ns = (double)(sum / (long double)t->n);
	for (size_t i = 0; i < t->n; i++)
		vprof_moment_add(&all, t->ns[i]);
	r->var_ns2 = vprof_moment_variance(&all, t->n);
	r->sd_ns = sqrt(r->var_ns2);
	if (r->var_ns2 > 0)
		r->slowest_share =
			(r->max_ns - r->mean_ns) * (r->max_ns - r->mean_ns) / (r->var_ns2 * (double)(t->n - 1));
	if (fill_types(r, t))
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the latencies of %zu intervals",
				       t->n);
	return 0;
}
