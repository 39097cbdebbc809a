/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search along the waits, from all threads that are not foreign. Reasons are sorted by who waited, then for whom. */
#include "analysis/waits/foreign.h"

int vprof_waits_keep_relevant(unsigned char *is_kept, const struct vprof_waits_history *h,
			      const struct vprof_waits_reasons *reasons)
{
	double least_ns = VPROF_WAITS_FOREIGN_SHARE * (double)(h->end - h->begin);
	size_t n = h->entities.n, n_found = 0;
	uint32_t *found = malloc((n + 1) * sizeof *found);
	size_t *first = calloc(n + 2, sizeof *first);

	if (!found || !first) {
		free(found);
		free(first);
		return VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < reasons->v.n; i++)
		first[reasons->v.v[i].from + 1]++;
	for (uint32_t e = 0; e < n; e++) {
		first[e + 1] += first[e];
		is_kept[e] = !h->entities.v[e].is_foreign;
		if (is_kept[e])
			found[n_found++] = e;
	}
	for (size_t i = 0; i < n_found; i++) {
		double ns = 0;

		for (size_t k = first[found[i]]; k < first[found[i] + 1]; k++) {
			uint32_t to = reasons->v.v[k].to;

			ns = k > first[found[i]] && reasons->v.v[k - 1].to == to ? ns : 0;
			ns += (double)reasons->v.v[k].own_ns;
			if (ns < least_ns || is_kept[to])
				continue;
			is_kept[to] = 1;
			found[n_found++] = to;
		}
	}
	free(found);
	free(first);
	return VPROF_OK;
}
