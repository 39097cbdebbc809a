/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes out of the tree's times what recording took of them, and makes the estimates for sampled calls fit into the
 * measured time around them.
 *
 * Each node keeps, beside its time in an interval, the *nominal* cost of recording within that time and not within its
 * children's: calls times what a call was measured to take on this machine before the run (struct vprof_call_cost).
 * This is linear in one unknown, the scale: how much of the nominal cost this program really pays. A CPU that waits for
 * the program's own results executes a probe meanwhile (scale below 1); a call that is no longer inlined, lost
 * registers and caches cost more (above 1). probe_cost.h estimates it. So
 *
 *     time = measured time - scale x nominal cost (of the node and all beneath)
 *
 * in every interval. Overhead compensation of this kind: Malony and Shende, "Overhead Compensation in Performance
 * Profiling", Euro-Par 2004.
 *
 * The nodes' means over the run must fit together: children are not longer than their parent, nor below 0. Where they
 * are, the scale or the sampling is to blame, so the estimated times of all children of that parent that have a cost
 * are multiplied with one factor below 1, such that they leave its body 0: the ratio estimator with the parent's
 * measured time as the known total (Deville and Sarndal, "Calibration Estimators in Survey Sampling", Journal of the
 * American Statistical Association 87, 1992, with one benchmark). Where they fit the factor is 1.
 *
 * Sums are taken in the order of the results, since that of the tree's nodes depends on which thread met them first.
 */
#include "analysis/variance/tree.h"

#include <math.h>
#include <stdlib.h>

#define SCALE_LIMIT 0.9 /* of the intervals' time: no more is taken out */

void vprof_call_cost_fill(struct vprof_call_cost *cost, double record_ns, double inside_ns, double ns_per_tick)
{
	double per_ns = ns_per_tick > 0 ? VPROF_COST_PARTS / ns_per_tick : 0;

	*cost = (struct vprof_call_cost){ 0 };
	if (!(record_ns > 0) || !(inside_ns >= 0) || inside_ns > record_ns || !(record_ns * per_ns < 1e12))
		return;
	cost->inside = llround(inside_ns * per_ns);
	cost->outside = llround((record_ns - inside_ns) * per_ns);
	cost->counted = llround(record_ns * VPROF_COST_COUNTED_PART * per_ns);
}

double vprof_tree_cost_ns(const struct vprof_tree *tree)
{
	int64_t sum = 0;

	for (size_t i = 0; i < tree->nodes.n; i++)
		sum += tree->nodes.v[i].cost;
	return tree->n_intervals ? (double)sum / VPROF_COST_PARTS * tree->ns_per_tick / (double)tree->n_intervals : 0;
}

/* by place in the results; of bodies nothing is set */
struct calibration {
	struct vprof_tree *tree;
	uint32_t *node;	       /* [n_final] index into the tree's nodes; VPROF_NONE: a body */
	int64_t *cost;	       /* [n_final] with those of all beneath */
	int64_t *fixed;	       /* [n_final] ticks of waits, delays and preempted time in it: no record costs these */
	double *own;	       /* [n_final] ticks without cost; as measured beneath */
	uint32_t *first_child; /* [n_final] place; bodies have none */
};

static int open_calibration(struct calibration *c, struct vprof_tree *tree)
{
	size_t n = tree->n_final;

	*c = (struct calibration){ .tree = tree };
	c->node = malloc((n + 1) * sizeof *c->node);
	c->cost = calloc(n + 1, sizeof *c->cost);
	c->fixed = calloc(n + 1, sizeof *c->fixed);
	c->own = calloc(n + 1, sizeof *c->own);
	c->first_child = malloc((n + 1) * sizeof *c->first_child);
	if (!c->node || !c->cost || !c->fixed || !c->own || !c->first_child)
		return VPROF_ERR_NOMEM;
	memset(c->node, 0xff, (n + 1) * sizeof *c->node);
	memset(c->first_child, 0xff, (n + 1) * sizeof *c->first_child);
	for (size_t i = 0; i < tree->nodes.n; i++) {
		const struct vprof_tree_node *node = &tree->nodes.v[i];

		c->node[node->final_id] = (uint32_t)i;
		c->cost[node->final_id] = node->cost;
		if (node->body_id != VPROF_NONE)
			c->first_child[node->final_id] = node->body_id - node->n_children;
	}
	for (size_t at = n; at-- > 1;) { /* children have later places */
		const struct vprof_tree_node *node = &tree->nodes.v[c->node[at] != VPROF_NONE ? c->node[at] : 0];
		uint32_t parent = tree->nodes.v[node->parent].final_id;

		if (c->node[at] == VPROF_NONE)
			continue;
		if (!vprof_node_kind_is_code((enum vprof_node_kind)node->kind) && !c->cost[at])
			c->fixed[at] = (int64_t)node->total_ticks;
		c->cost[parent] += c->cost[at];
		c->fixed[parent] += c->fixed[at];
	}
	return 0;
}

static void close_calibration(struct calibration *c)
{
	free(c->node);
	free(c->cost);
	free(c->fixed);
	free(c->own);
	free(c->first_child);
}

/* Not all of its calls were timed, or of one around it. */
static int is_sampled(const struct calibration *c, uint32_t place)
{
	uint32_t i = c->node[place];

	for (; i; i = c->tree->nodes.v[i].parent)
		if (c->tree->nodes.v[i].n_timed < c->tree->nodes.v[i].n_calls)
			return 1;
	return 0;
}

/* Its time is an estimate: calls of it or beneath it were recorded at a cost, or not all of them were timed. */
static int is_estimate(const struct calibration *c, uint32_t place)
{
	const struct vprof_tree_node *node = &c->tree->nodes.v[c->node[place]];

	return c->cost[place] != 0 || node->n_timed < node->n_calls;
}

/* The factors of a node's children, and of its body (which has their errors). */
static void fit_children(const struct calibration *c, uint32_t place)
{
	const struct vprof_tree_node *node = &c->tree->nodes.v[c->node[place]];
	double *factors = c->tree->factors, *corrected = c->tree->corrected;
	uint32_t first = c->first_child[place], end = first + node->n_children;
	double estimated = 0, exact = 0, own = factors[place], of_estimated = own;

	for (uint32_t k = first; k < end; k++)
		*(is_estimate(c, k) ? &estimated : &exact) += fmax(0, c->own[k]) * own;
	if (estimated + exact > corrected[place])
		of_estimated = estimated > 0 ? own * fmax(0, fmin(1, (corrected[place] - exact) / estimated)) : 0;
	factors[end] = of_estimated;
	corrected[end] = corrected[place];
	for (uint32_t k = first; k < end; k++) {
		factors[k] = c->own[k] < 0 ? 0 : is_estimate(c, k) ? of_estimated : own;
		corrected[k] = factors[k] * c->own[k];
		corrected[end] -= corrected[k];
	}
}

/* A tenth at least remains of what no wait and no preemption explains, of the interval and of all nodes to which
 * records matter. */
static double largest_scale(const struct calibration *c, double scale)
{
	for (size_t at = 0; at < c->tree->n_final; at++) {
		double room, cost = (double)c->cost[at] / VPROF_COST_PARTS;

		if (c->node[at] == VPROF_NONE || !(c->cost[at] > 0) || c->cost[at] < c->cost[0] / 10 ||
		    (at && is_sampled(c, (uint32_t)at)))
			continue;
		room = (double)c->tree->nodes.v[c->node[at]].total_ticks - (double)c->fixed[at];
		scale = fmin(scale, fmax(0, SCALE_LIMIT * room / cost));
	}
	return scale;
}

int vprof_tree_calibrate(struct vprof_tree *tree, double scale)
{
	struct calibration c;
	int ret = open_calibration(&c, tree);
	double most;

	free(tree->factors);
	free(tree->corrected);
	tree->factors = calloc(tree->n_final + 1, sizeof *tree->factors);
	tree->corrected = calloc(tree->n_final + 1, sizeof *tree->corrected);
	if (ret || !tree->factors || !tree->corrected) {
		close_calibration(&c);
		return VPROF_ERR_NOMEM;
	}
	most = largest_scale(&c, scale);
	tree->cost_scale = scale < most ? scale : most;
	for (size_t at = 0; at < tree->n_final; at++)
		if (c.node[at] != VPROF_NONE)
			c.own[at] = (double)tree->nodes.v[c.node[at]].total_ticks -
				    (double)c.cost[at] * tree->cost_scale / VPROF_COST_PARTS;
	tree->factors[0] = 1;
	tree->corrected[0] = c.own[0];
	for (uint32_t at = 0; at < tree->n_final; at++)
		if (c.node[at] != VPROF_NONE && c.first_child[at] != VPROF_NONE)
			fit_children(&c, at);
	close_calibration(&c);
	return 0;
}
