/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/described/latency_figures.h"

#include <math.h>

#include "common/search.h"

int vprof_grouped_latency_add(vprof_grouped_latencies *all, uint32_t group, uint64_t ns)
{
	struct vprof_grouped_latency *added = VPROF_PUSH(all);

	if (added)
		*added = (struct vprof_grouped_latency){ ns, group };
	return added ? 0 : -1;
}

static int order(const void *a, const void *b)
{
	const struct vprof_grouped_latency *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return vprof_u64_order(x->ns, y->ns);
}

static double quantile(const struct vprof_grouped_latency *v, size_t n, double p)
{
	size_t rank = (size_t)ceil(p * (double)n);

	return (double)v[rank ? rank - 1 : 0].ns;
}

static void tell(const struct vprof_grouped_latency *v, size_t n, struct vprof_requests_latency *f)
{
	double squares = 0;

	*f = (struct vprof_requests_latency){ .n = n, .sd_ns = NAN };
	for (size_t i = 0; i < n; i++)
		f->mean_ns += (double)v[i].ns / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((double)v[i].ns - f->mean_ns) * ((double)v[i].ns - f->mean_ns);
	if (n > 1)
		f->sd_ns = sqrt(squares / (double)(n - 1));
	f->p50_ns = quantile(v, n, 0.5);
	f->p90_ns = quantile(v, n, 0.9);
	f->p99_ns = quantile(v, n, 0.99);
	f->max_ns = (double)v[n - 1].ns;
	for (size_t i = 0; i < VPROF_REQUESTS_CDF_POINTS; i++)
		f->cdf_ns[i] = quantile(v, n, (double)i / (VPROF_REQUESTS_CDF_POINTS - 1));
}

int vprof_grouped_latencies_tell(vprof_grouped_latencies *all, struct vprof_requests_latency *figures, size_t n_groups)
{
	for (size_t i = 0; i < n_groups; i++)
		figures[i] = (struct vprof_requests_latency){ 0, NAN, NAN, NAN, NAN, NAN, NAN, { 0 } };
	if (vprof_array_sort(all->v, all->n, sizeof *all->v, order))
		return -1;
	for (size_t from = 0, end; from < all->n; from = end) {
		for (end = from + 1; end < all->n && all->v[end].group == all->v[from].group;)
			end++;
		if (all->v[from].group < n_groups)
			tell(all->v + from, end - from, &figures[all->v[from].group]);
	}
	return 0;
}
