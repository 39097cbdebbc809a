/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/transactions/blame_order.h"

#include "common/error.h"

static int node_order(const void *a, const void *b, void *arg)
{
	const struct vprof_blame_order *o = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct vprof_blame_node *x = &o->tree->nodes.v[i], *y = &o->tree->nodes.v[k];

	if (o->ticks[i] != o->ticks[k])
		return o->ticks[i] > o->ticks[k] ? -1 : 1;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void vprof_blame_sort(const struct vprof_blame_order *order, uint32_t *nodes, size_t n)
{
	qsort_r(nodes, n, sizeof *nodes, node_order, (void *)order);
}

int vprof_blame_arrange(struct vprof_blame_order *o, const struct vprof_blame_tree *tree)
{
	const struct vprof_blame_node *v = tree->nodes.v;
	size_t n = tree->nodes.n;

	*o = (struct vprof_blame_order){ .tree = tree };
	o->ticks = calloc(n + 1, sizeof *o->ticks);
	o->first = calloc(n + 2, sizeof *o->first);
	o->children = calloc(n + 1, sizeof *o->children);
	if (!o->ticks || !o->first || !o->children)
		return VPROF_ERR_NOMEM;
	for (size_t i = n; i-- > 1;) {
		o->ticks[i] += v[i].ticks;
		o->ticks[v[i].parent] += o->ticks[i];
		o->first[v[i].parent + 1]++;
	}
	for (size_t i = 0; i < n; i++)
		o->first[i + 1] += o->first[i];
	for (uint32_t i = 1; i < n; i++)
		o->children[o->first[v[i].parent]++] = i;
	for (size_t i = n; i > 0; i--)
		o->first[i] = o->first[i - 1];
	o->first[0] = 0;
	for (size_t i = 0; i < n; i++)
		vprof_blame_sort(o, o->children + o->first[i], o->first[i + 1] - o->first[i]);
	return VPROF_OK;
}

void vprof_blame_order_release(struct vprof_blame_order *o)
{
	free(o->ticks);
	free(o->first);
	free(o->children);
	*o = (struct vprof_blame_order){ 0 };
}
