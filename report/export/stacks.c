/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/stacks.h"

#include <math.h>

#include "common/error.h"
#include "common/text.h"

#define WEIGHT_MAX ((uint64_t)1 << 62) /* of all; ns of a hundred years */

static int add(struct vprof_stacks *s, uint32_t node, int is_together, double weight)
{
	struct vprof_weighed *w;

	if (!(weight >= 0.5) || weight > (double)(WEIGHT_MAX - s->total)) /* beyond it: damaged results */
		return 0;
	w = VPROF_PUSH(&s->v);
	if (!w)
		return VPROF_ERR_NOMEM;
	*w = (struct vprof_weighed){ node, is_together, (uint64_t)llround(weight) };
	s->total += w->weight;
	return 0;
}

/* A body is what its parent did itself. */
static uint32_t frame_of(const struct vprof_results *r, uint32_t node)
{
	return r->nodes[node].kind == VPROF_NODE_BODY ? r->nodes[node].parent : node;
}

/* The next node in preorder, 0 at the end: stacks that share frames come one after the other. */
static uint32_t next_node(const struct vprof_results *r, uint32_t node)
{
	if (r->nodes[node].n_children)
		return r->nodes[node].first_child;
	while (node) {
		const struct vprof_node *parent = &r->nodes[r->nodes[node].parent];

		if (node + 1 < parent->first_child + parent->n_children)
			return node + 1;
		node = r->nodes[node].parent;
	}
	return 0;
}

int vprof_stacks_of_time(struct vprof_stacks *s, const struct vprof_results *r)
{
	uint32_t i = 0;

	do {
		const struct vprof_node *n = &r->nodes[i];
		double own = n->mean_ns;

		for (uint32_t k = 0; k < n->n_children; k++)
			own -= r->nodes[n->first_child + k].mean_ns;
		if (add(s, frame_of(r, i), 0, own * (double)r->n_complete))
			return VPROF_ERR_NOMEM;
		i = next_node(r, i);
	} while (i);
	return 0;
}

static double share_of(const struct vprof_node *n)
{
	return n->share > 0 ? n->share : 0;
}

int vprof_stacks_of_variance(struct vprof_stacks *s, const struct vprof_results *r)
{
	double *scale = calloc(r->n_nodes, sizeof *scale); /* of each node's own share */
	int ret = scale ? 0 : VPROF_ERR_NOMEM;
	uint32_t i = 0;

	if (!ret)
		scale[0] = 1e6;
	while (!ret) {
		const struct vprof_node *n = &r->nodes[i];
		double share = i ? share_of(n) : n->var_ns2 > 0, sum = 0, inner;

		for (uint32_t k = 0; k < n->n_children; k++)
			sum += share_of(&r->nodes[n->first_child + k]);
		inner = scale[i] * (sum > share ? share / sum : 1);
		for (uint32_t k = 0; k < n->n_children; k++)
			scale[n->first_child + k] = inner;
		if (!n->n_children)
			ret = add(s, frame_of(r, i), 0, scale[i] * share);
		else if (sum < share)
			ret = add(s, i, 1, scale[i] * (share - sum));
		i = next_node(r, i);
		if (!i)
			break;
	}
	free(scale);
	return ret;
}

void vprof_stacks_release(struct vprof_stacks *s)
{
	VPROF_ARRAY_RELEASE(&s->v);
}

char *vprof_stacks_label(const struct vprof_results *r, uint32_t node)
{
	static const char *const kinds[VPROF_NODE_KIND_COUNT] = { [VPROF_NODE_WAIT] = " (wait)" };
	const struct vprof_node *n = &r->nodes[node];
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_add(&t, n->display && *n->display ? n->display : n->name && *n->name ? n->name : "?");
	if (kinds[n->kind])
		vprof_text_add(&t, kinds[n->kind]);
	if (t.failed) {
		vprof_text_release(&t);
		return NULL;
	}
	return vprof_text_detach(&t);
}
