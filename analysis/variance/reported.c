/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/variance/reported.h"

struct node_list {
	VPROF_ARRAY(uint32_t) nodes;
};

/* Both members of a covariance, or the nodes of a variance. */
static int take_nodes(const struct vprof_results *r, const struct vprof_factor *f, struct node_list *list)
{
	for (size_t i = 0; i < f->n_nodes; i++) {
		const struct vprof_covariance *c = f->kind == VPROF_FACTOR_COVARIANCE ? &r->covariances[f->nodes[i]] :
											NULL;
		uint32_t *node = VPROF_ROOM(&list->nodes, list->nodes.n + 2) ? NULL : list->nodes.v + list->nodes.n;

		if (!node)
			return VPROF_ERR_NOMEM;
		node[0] = c ? c->a : f->nodes[i];
		if (c)
			node[1] = c->b;
		list->nodes.n += c ? 2 : 1;
	}
	return 0;
}

/* One quantity for the factor, and perhaps for another with it. */
static int add_quantity(struct vprof_reported *of, const struct vprof_results *r, const struct vprof_factor *f,
			const struct vprof_factor *other)
{
	struct node_list list = { 0 };
	int ret = take_nodes(r, f, &list);

	if (!ret && other)
		ret = take_nodes(r, other, &list);
	if (!ret)
		ret = vprof_quantities_add(&of->quantities, r, list.nodes.v, list.nodes.n);
	VPROF_ARRAY_RELEASE(&list.nodes);
	return ret;
}

/* Factors from..to with their counterparts, each two once. */
static int add_together(struct vprof_reported *of, const struct vprof_results *r, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		uint32_t other = r->factors[i].counterpart;

		of->together[i] = other && other - 1 < i ? of->together[other - 1] : VPROF_NONE;
		if (!other || other - 1 < i)
			continue;
		of->together[i] = (uint32_t)of->quantities.n;
		if (add_quantity(of, r, &r->factors[i], &r->factors[other - 1]))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static uint64_t records_of(const struct vprof_factor *f)
{
	return f->kind == VPROF_FACTOR_VARIANCE && f->node_kind != VPROF_NODE_UNDIVIDED ? f->n_timed : 0;
}

/* Of the factors that were not looked at yet the one with most records; n_factors: none has any. */
static size_t next_costly(const uint8_t *is_seen, const struct vprof_results *r)
{
	size_t best = r->n_factors;
	uint64_t most = 0;

	for (size_t i = 0; i < r->n_factors; i++)
		if (!is_seen[i] && records_of(&r->factors[i]) > most) {
			most = records_of(&r->factors[i]);
			best = i;
		}
	return best;
}

/* A node's own code and all beneath it, without what the scheduler took in the node itself. */
static int take_bodies(const struct vprof_results *r, const struct vprof_factor *f, struct node_list *list)
{
	if (VPROF_ROOM(&list->nodes, list->nodes.n + f->n_nodes))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < f->n_nodes; i++)
		list->nodes.v[list->nodes.n++] = vprof_node_body_of(r, f->nodes[i]);
	return 0;
}

/* What is undivided between the factor's nodes and their siblings. */
static int take_undivided(const struct vprof_results *r, const struct vprof_factor *f, struct node_list *list)
{
	for (size_t i = 0; i < f->n_nodes; i++) {
		const struct vprof_node *parent = &r->nodes[r->nodes[f->nodes[i]].parent];

		for (uint32_t k = parent->first_child; k < parent->first_child + parent->n_children; k++) {
			uint32_t *node = r->nodes[k].kind == VPROF_NODE_UNDIVIDED ? VPROF_PUSH(&list->nodes) : NULL;

			if (node)
				*node = k;
			else if (r->nodes[k].kind == VPROF_NODE_UNDIVIDED)
				return VPROF_ERR_NOMEM;
		}
	}
	return 0;
}

/* What is closed is closed wherever it runs: with a function's own work goes that beneath waits, however rare. And what
 * is undivided beside it may be its time, so it is one quantity without that and another with it, if there is any. */
static int add_function(struct vprof_reported *of, const struct vprof_results *r, uint8_t *is_seen, size_t factor)
{
	const struct vprof_factor *f = &r->factors[factor];
	const struct vprof_factor *other = f->counterpart ? &r->factors[f->counterpart - 1] : NULL;
	struct vprof_costly *costly = &of->costly[of->n_costly++];
	struct node_list list = { 0 };
	int ret = take_bodies(r, f, &list);
	size_t n_own;

	*costly = (struct vprof_costly){ (uint32_t)factor, (uint32_t)of->quantities.n, 1 };
	is_seen[factor] = 1;
	if (other)
		is_seen[f->counterpart - 1] = 1;
	if (!ret && other)
		ret = take_bodies(r, other, &list);
	if (!ret)
		ret = vprof_quantities_add(&of->quantities, r, list.nodes.v, list.nodes.n);
	n_own = list.nodes.n;
	if (!ret)
		ret = take_undivided(r, f, &list);
	if (!ret && other)
		ret = take_undivided(r, other, &list);
	if (!ret && list.nodes.n > n_own) {
		ret = vprof_quantities_add(&of->quantities, r, list.nodes.v, list.nodes.n);
		costly->n_quantities++;
	}
	VPROF_ARRAY_RELEASE(&list.nodes);
	return ret;
}

static int add_costly(struct vprof_reported *of, const struct vprof_results *r)
{
	uint8_t *is_seen = calloc(r->n_factors + 1, 1);
	int ret = 0;

	of->costly = malloc(VPROF_COSTLY_MAX * sizeof *of->costly);
	if (!is_seen || !of->costly)
		ret = VPROF_ERR_NOMEM;
	while (!ret && of->n_costly < VPROF_COSTLY_MAX) {
		size_t i = next_costly(is_seen, r);

		if (i == r->n_factors)
			break;
		ret = add_function(of, r, is_seen, i);
	}
	free(is_seen);
	return ret;
}

/* All variances; of covariances, whose number is large, only the first ones. */
static int add_other_factors(struct vprof_reported *of, const struct vprof_results *r)
{
	for (size_t i = of->n_factors; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];

		of->of_factor[i] = f->kind == VPROF_FACTOR_VARIANCE ? (uint32_t)of->quantities.n : VPROF_NONE;
		if (f->kind == VPROF_FACTOR_VARIANCE &&
		    vprof_quantities_add_apart(&of->quantities, r, f->nodes, f->n_nodes))
			return VPROF_ERR_NOMEM;
	}
	return add_together(of, r, of->n_factors, r->n_factors);
}

int vprof_reported_take(struct vprof_reported *of, const struct vprof_results *r)
{
	static const uint32_t root;

	*of = (struct vprof_reported){ .n_factors = vprof_reported_count(r) };
	of->of_factor = malloc((r->n_factors + 1) * sizeof *of->of_factor);
	of->together = malloc((r->n_factors + 1) * sizeof *of->together);
	of->of_cause = malloc((r->n_causes + 1) * sizeof *of->of_cause);
	if (!of->of_factor || !of->together || !of->of_cause)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < of->n_factors; i++) {
		of->of_factor[i] = i;
		if (add_quantity(of, r, &r->factors[i], NULL))
			return VPROF_ERR_NOMEM;
	}
	if (add_together(of, r, 0, of->n_factors))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r->n_causes; i++) {
		of->of_cause[i] = (uint32_t)of->quantities.n;
		if (vprof_quantities_add_apart(&of->quantities, r, r->causes[i].nodes, r->causes[i].n_nodes))
			return VPROF_ERR_NOMEM;
	}
	if (add_costly(of, r))
		return VPROF_ERR_NOMEM;
	of->n_bounded = of->quantities.n;
	of->interval = (uint32_t)of->quantities.n;
	if (vprof_quantities_add_apart(&of->quantities, r, &root, 1) || add_other_factors(of, r))
		return VPROF_ERR_NOMEM;
	return vprof_quantities_finish(&of->quantities, r->n_nodes);
}

void vprof_reported_release(struct vprof_reported *of)
{
	vprof_quantities_release(&of->quantities);
	free(of->of_factor);
	free(of->together);
	free(of->of_cause);
	free(of->costly);
	*of = (struct vprof_reported){ 0 };
}
