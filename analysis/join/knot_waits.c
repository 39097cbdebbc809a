/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/knot_waits.h"

#include <stdlib.h>
#include <string.h>

static void add(struct vprof_knot_wait_sums *to, const struct vprof_knot_wait_sums *sums)
{
	to->ticks += sums->ticks;
	for (size_t k = 0; k < VPROF_KNOT_TIMES_MAX; k++)
		to->through_ticks[k] += sums->through_ticks[k];
}

static struct vprof_knot_wait_sums sums_of(const struct vprof_knot_wait *w, size_t n_knots)
{
	struct vprof_knot_wait_sums sums = { .ticks = (double)w->ticks };

	for (size_t k = 0; k < n_knots; k++)
		sums.through_ticks[k] = (double)w->through_ticks[k];
	return sums;
}

static int push(struct vprof_knot_wait_index *index, const char *name, int is_any, uint64_t object,
		const struct vprof_knot_wait_sums *sums)
{
	struct vprof_knot_wait_group *group = VPROF_PUSH(&index->groups);

	if (!group)
		return VPROF_ERR_NOMEM;
	*group = (struct vprof_knot_wait_group){ name, is_any, object, *sums };
	return VPROF_OK;
}

static int by_name(const void *a, const void *b)
{
	const struct vprof_knot_wait_group *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	order = order ? order : x->is_any - y->is_any;
	return order ? order : (x->object > y->object) - (x->object < y->object);
}

int vprof_knot_wait_index_make(struct vprof_knot_wait_index *index, const struct vprof_knot_times *times,
			       const struct vprof_timeline *timeline)
{
	size_t n = 0;

	memset(index, 0, sizeof *index);
	for (size_t i = 0; i < times->waits.n; i++) {
		const struct vprof_knot_wait *w = &times->waits.v[i];
		struct vprof_knot_wait_sums sums = sums_of(w, times->n_knots);
		const char *name;

		if (w->name == VPROF_NONE) {
			add(&index->queued, &sums);
			continue;
		}
		name = timeline->names[w->name];
		if (push(index, name, 0, w->object, &sums) || (w->object && push(index, name, 1, 0, &sums)))
			return VPROF_ERR_NOMEM;
	}
	if (index->groups.n && vprof_array_sort(index->groups.v, index->groups.n, sizeof *index->groups.v, by_name))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < index->groups.n; i++) {
		struct vprof_knot_wait_group *group = &index->groups.v[i];

		if (n && !by_name(&index->groups.v[n - 1], group))
			add(&index->groups.v[n - 1].sums, &group->sums);
		else
			index->groups.v[n++] = *group;
	}
	index->groups.n = n;
	return VPROF_OK;
}

void vprof_knot_wait_index_release(struct vprof_knot_wait_index *index)
{
	VPROF_ARRAY_RELEASE(&index->groups);
}

static void add_found(const struct vprof_knot_wait_index *index, const struct vprof_knot_wait_group *wanted,
		      struct vprof_knot_wait_sums *to)
{
	const struct vprof_knot_wait_group *found =
		index->groups.n ? bsearch(wanted, index->groups.v, index->groups.n, sizeof *wanted, by_name) : NULL;

	if (found)
		add(to, &found->sums);
}

struct vprof_knot_wait_sums vprof_knot_waits_of_node(const struct vprof_knot_wait_index *index,
						     const struct vprof_node *n)
{
	struct vprof_knot_wait_group wanted = { .name = n->name, .is_any = vprof_object_is_several(n->object) };
	struct vprof_knot_wait_sums sums = { 0 };

	if (n->kind == VPROF_NODE_QUEUED)
		return index->queued;
	if (!wanted.is_any)
		wanted.object = strtoull(n->object, NULL, 16);
	add_found(index, &wanted, &sums);
	wanted.name = n->display;
	if (strcmp(n->name, n->display))
		add_found(index, &wanted, &sums);
	return sums;
}
