/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live/live_hosts.h"

#include <stdlib.h>

#include "common/array.h"

struct opened { /* by this entry */
	uint64_t address;
	uint32_t module, code;
};

typedef VPROF_ARRAY(struct opened) opened_array;

static int entry_order(const void *a, const void *b)
{
	const struct opened *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->code > y->code) - (x->code < y->code);
}

static int gather(opened_array *all, const struct vprof_plan *plan, const struct vprof_probe_map *map)
{
	for (size_t i = 0; i < map->n_copies; i++) {
		const struct vprof_probe_copy *copy = &map->copies[i];
		const struct vprof_probe *probe = vprof_plan_probe(plan, copy->code);

		for (size_t k = 0; probe && probe->mask && k < copy->n_entries; k++) {
			struct opened *slot = VPROF_PUSH(all);

			if (!slot)
				return VPROF_ERR_NOMEM;
			*slot = (struct opened){ copy->entries[k], copy->module, copy->code };
		}
	}
	if (all->n)
		qsort(all->v, all->n, sizeof *all->v, entry_order);
	return VPROF_OK;
}

/* By falling height; the lowest goes where there is no more room. */
static void add_host(const struct vprof_plan *plan, struct vprof_probe *probe, const struct vprof_probe *host)
{
	uint32_t code = host->code;

	if (host->kind != VPROF_PROBE_FUNCTION || host == probe)
		return;
	for (size_t i = 0; i < VPROF_HOSTS_MAX && code; i++) {
		const struct vprof_probe *there = vprof_plan_probe(plan, probe->hosts[i]);
		uint32_t lower = probe->hosts[i];

		if (lower == code)
			return;
		if (there && there->height >= vprof_plan_probe(plan, code)->height)
			continue;
		probe->hosts[i] = code;
		code = lower;
	}
}

int vprof_live_hosts_mark(struct vprof_plan *plan, const struct vprof_probe_map *map)
{
	opened_array all = { 0 };
	int rc = gather(&all, plan, map);

	for (size_t i = 0, end; i < all.n && !rc; i = end) {
		for (end = i;
		     end < all.n && all.v[end].module == all.v[i].module && all.v[end].address == all.v[i].address;)
			end++;
		for (size_t k = i; k < end; k++)
			for (size_t h = i; h < end; h++)
				add_host(plan, (struct vprof_probe *)vprof_plan_probe(plan, all.v[k].code),
					 vprof_plan_probe(plan, all.v[h].code));
	}
	VPROF_ARRAY_RELEASE(&all);
	return rc;
}
