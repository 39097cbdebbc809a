/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/chosen_requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"

struct candidate {
	double latency_ns;
	uint32_t number;
};

static int slowest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->latency_ns != y->latency_ns)
		return x->latency_ns > y->latency_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

int vprof_chosen_requests_find(struct vprof_chosen_requests *c, struct vprof_export *e)
{
	const struct vprof_requests_results *r = e->requests;
	struct candidate *all = malloc((r->n_listed + 1) * sizeof *all);
	size_t n = 0;
	int ret = VPROF_ERR_NOMEM;

	memset(c, 0, sizeof *c);
	for (uint32_t i = 0; all && i < r->n_listed; i++)
		if (r->requests[i].is_whole && r->requests[i].state != VPROF_REQUEST_AMBIGUOUS)
			all[n++] = (struct candidate){ r->requests[i].latency_ns, i };
	if (!all || vprof_array_sort(all, n, sizeof *all, slowest_first))
		goto out;
	n = e->limit && n > e->limit ? e->limit : n;
	if (VPROF_RESERVE(&c->v, n + 1))
		goto out;
	for (size_t i = 0; i < n; i++)
		c->v.v[c->v.n++] = all[i].number;
	if (vprof_array_sort(c->v.v, c->v.n, sizeof *c->v.v, vprof_compare_u32))
		goto out;
	e->n_left_out = r->n_listed - n;
	ret = VPROF_OK;
out:
	free(all);
	return ret;
}

void vprof_chosen_requests_release(struct vprof_chosen_requests *c)
{
	VPROF_ARRAY_RELEASE(&c->v);
}

static uint64_t unix_ns(const struct vprof_requests_results *r, double ns)
{
	double most = 9e18 - (double)r->begin_unix_ns;

	if (!(ns > -(double)r->begin_unix_ns)) /* NaN, too */
		return 0;
	return r->begin_unix_ns + (uint64_t)(int64_t)(ns < most ? ns : most);
}

uint64_t vprof_call_begin(const struct vprof_requests_results *r, const struct vprof_requests_visit *v)
{
	return unix_ns(r, v->from_ns);
}

uint64_t vprof_call_end(const struct vprof_requests_results *r, const struct vprof_requests_visit *v)
{
	return unix_ns(r, v->from_ns + (v->latency_ns > 0 ? v->latency_ns : 0));
}

uint64_t vprof_visit_begin(const struct vprof_requests_results *r, const struct vprof_requests_visit *v)
{
	return isfinite(v->served_from_ns) ? unix_ns(r, v->served_from_ns) : vprof_call_begin(r, v);
}

uint64_t vprof_visit_end(const struct vprof_requests_results *r, const struct vprof_requests_visit *v)
{
	return isfinite(v->served_from_ns) ? unix_ns(r, v->served_from_ns + (v->served_ns > 0 ? v->served_ns : 0)) :
					     vprof_call_end(r, v);
}
