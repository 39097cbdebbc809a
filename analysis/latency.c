/* Between types, within types: the sums of squares of a one-way analysis of variance. */
#include "analysis/latency.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>

#define TYPES_MAX 1000

struct typed {
	uint64_t type;
	double ns;
	uint8_t kind;
};

static int type_order(const void *a, const void *b)
{
	const struct typed *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static int count_order(const void *a, const void *b)
{
	const struct vprof_type *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->name, y->name);
}

const char *vprof_latency_type_name(struct vprof_results *r, const struct vprof_timeline *timeline, uint8_t kind,
				    uint64_t type)
{
	const char *text = kind == 2 ? vprof_timeline_string(timeline, type) : NULL;
	char number[32];

	if (kind == 0)
		return vprof_results_string(r, "(no type)");
	if (text)
		return vprof_results_string(r, text);
	snprintf(number, sizeof number, kind == 1 ? "%lld" : "type %llx", (long long)type);
	return vprof_results_string(r, number);
}

/* The law of total variance: what the types add, between and within, sums to 1. */
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

static int fill_types(struct vprof_results *r, const struct vprof_timeline *timeline, struct typed *typed, size_t n)
{
	VPROF_ARRAY(struct vprof_type) types = { NULL, 0, 0 };
	double between = 0;
	size_t from, to;

	if (vprof_array_sort(typed, n, sizeof *typed, type_order))
		return VPROF_ERR_NOMEM;
	for (from = 0; from < n; from = to) {
		struct vprof_type *t = VPROF_PUSH(&types);
		double d;

		for (to = from + 1; to < n && !type_order(&typed[from], &typed[to]); to++)
			;
		if (!t)
			goto nomem;
		t->n = to - from;
		t->mean_ns = gsl_stats_mean(&typed[from].ns, sizeof *typed / sizeof(double), to - from);
		t->sd_ns = t->n < 2 ? 0 :
				      sqrt(gsl_stats_variance_m(&typed[from].ns, sizeof *typed / sizeof(double),
								to - from, t->mean_ns));
		t->name = vprof_latency_type_name(r, timeline, typed[from].kind, typed[from].type);
		if (!t->name)
			goto nomem;
		d = t->mean_ns - r->mean_ns;
		between += (double)t->n * d * d;
	}
	if (types.n > 1 && r->var_ns2 > 0)
		r->between_types = between / (r->var_ns2 * (double)(n - 1));
	if (types.n == 1 && typed[0].kind == 0)
		types.n = 0;
	qsort(types.v, types.n, sizeof *types.v, count_order);
	r->n_types = types.n < TYPES_MAX ? types.n : TYPES_MAX;
	r->types = calloc(r->n_types ? r->n_types : 1, sizeof *r->types);
	if (!r->types)
		goto nomem;
	if (r->n_types)
		memcpy(r->types, types.v, r->n_types * sizeof *r->types);
	VPROF_ARRAY_RELEASE(&types);
	share_out(r, n);
	return 0;
nomem:
	r->n_types = 0;
	VPROF_ARRAY_RELEASE(&types);
	return VPROF_ERR_NOMEM;
}

int vprof_latency_fill(struct vprof_results *r, const struct vprof_timeline *timeline,
		       const struct vprof_intervals *intervals, const uint32_t *chosen, size_t n, struct vprof_error *err)
{
	size_t cap_ns = 0, cap_typed = 0;
	double *ns = vprof_array_room(NULL, &cap_ns, n + 1, sizeof *ns);
	struct typed *typed = vprof_array_room(NULL, &cap_typed, n + 1, sizeof *typed);
	int ret = 0;

	_Static_assert(sizeof(struct typed) % sizeof(double) == 0, "GSL's stride counts doubles");
	if (!ns || !typed) {
		ret = VPROF_ERR_NOMEM;
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		const struct vprof_instance *inst = &intervals->instances.v[chosen[i]];

		ns[i] = (double)(inst->end - inst->begin) * timeline->ns_per_tick;
		typed[i] = (struct typed){ inst->type, ns[i], inst->type_kind };
	}
	if (!n)
		goto out;
	gsl_sort(ns, 1, n);
	r->min_ns = ns[0];
	r->max_ns = ns[n - 1];
	r->p50_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.5);
	r->p90_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.9);
	r->p99_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.99);
	r->p999_ns = gsl_stats_quantile_from_sorted_data(ns, 1, n, 0.999);
	r->mean_ns = gsl_stats_mean(ns, 1, n);
	r->var_ns2 = n < 2 ? 0 : gsl_stats_variance_m(ns, 1, n, r->mean_ns);
	r->sd_ns = sqrt(r->var_ns2);
	if (r->var_ns2 > 0)
		r->slowest_share = (r->max_ns - r->mean_ns) * (r->max_ns - r->mean_ns) / (r->var_ns2 * (double)(n - 1));
	ret = fill_types(r, timeline, typed, n);
out:
	vprof_array_free(ns, cap_ns, sizeof *ns);
	vprof_array_free(typed, cap_typed, sizeof *typed);
	if (ret)
		vprof_error_set(err, ret, "not enough memory for the latencies of %zu intervals", n);
	return ret;
}
