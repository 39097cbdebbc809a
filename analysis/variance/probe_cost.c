/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/variance/probe_cost.h"

#include <math.h>

#include "analysis/results/warning_list.h"

#define UNTIMED_PART 0.25     /* of record_ns, for a call that is only counted */
#define UNACCOUNTED_PART 0.05 /* of the mean, beyond which a slower run is told */

static int is_call(const struct vprof_node *n)
{
	return n->kind == VPROF_NODE_FUNCTION || n->kind == VPROF_NODE_SITE || n->kind == VPROF_NODE_POINTER;
}

static int is_sampled(const struct vprof_node *n)
{
	return is_call(n) && n->n_timed < n->n_calls;
}

/* Children come after their parents. What a node passes on to its parent is what all of its calls take. A chosen call
 * of a hot function stands for others with all that was recorded in it, so in its own time and beneath each call counts
 * as recorded; in the time of what called it the skipped ones are. */
static void fill_nodes(struct vprof_results *r)
{
	double n = r->n_complete ? (double)r->n_complete : 1;

	for (size_t i = 0; i < r->n_nodes; i++)
		r->nodes[i].probe_ns = 0;
	for (size_t i = r->n_nodes; i-- > 1;) {
		struct vprof_node *node = &r->nodes[i], *parent = &r->nodes[node->parent];
		double calls = is_call(node) ? (double)node->n_calls / n : 0;
		double timed = is_call(node) ? (double)node->n_timed / n : 0;
		double beneath = node->probe_ns, outside = beneath + calls * r->record_ns;

		if (is_sampled(node) && !is_sampled(parent))
			outside = beneath * timed / calls + (timed + (calls - timed) * UNTIMED_PART) * r->record_ns;
		if (node->kind != VPROF_NODE_BODY)
			parent->probe_ns += outside;
		node->probe_ns = beneath + calls * r->record_inside_ns;
	}
}

/* A body holds what its siblings' records add outside of them. */
static void fill_bodies(struct vprof_results *r)
{
	for (size_t i = 1; i < r->n_nodes; i++) {
		struct vprof_node *body = &r->nodes[i];
		const struct vprof_node *parent = &r->nodes[body->parent];

		if (body->kind != VPROF_NODE_BODY)
			continue;
		body->probe_ns = parent->probe_ns;
		for (uint32_t c = parent->first_child; c < parent->first_child + parent->n_children; c++)
			if (c != i)
				body->probe_ns -= r->nodes[c].probe_ns;
		if (body->probe_ns < 0)
			body->probe_ns = 0;
	}
}

/* See the header. */
static double unprobed(double share, double probe_ns, double mean_ns)
{
	double q = mean_ns > 0 ? fmin(1, probe_ns / mean_ns) : 0, r = (1 - q) * (1 - q), rest = 1 - share * (1 - r);

	if (q <= VPROF_PROBE_SHARE_SHOWN)
		return NAN;
	if (share < 0)
		return share * r;
	return rest > 0 ? fmin(share, share * r / rest) : share;
}

void vprof_probe_cost_fill(struct vprof_results *r, double record_ns, double record_inside_ns)
{
	int known = record_ns > 0 && isfinite(record_ns);

	r->record_ns = known ? record_ns : VPROF_RECORD_NS;
	r->record_inside_ns = known ? record_inside_ns : VPROF_RECORD_INSIDE_NS;
	fill_nodes(r);
	fill_bodies(r);
	r->probe_ns = r->n_nodes ? r->nodes[0].probe_ns : 0;
	for (size_t f = 0; f < r->n_factors; f++) {
		struct vprof_factor *factor = &r->factors[f];

		factor->probe_ns = 0;
		for (size_t i = 0; i < factor->n_nodes && factor->kind == VPROF_FACTOR_VARIANCE; i++)
			factor->probe_ns += r->nodes[factor->nodes[i]].probe_ns;
		for (size_t i = 0; i < factor->n_nodes && factor->kind == VPROF_FACTOR_COVARIANCE; i++) {
			const struct vprof_covariance *c = &r->covariances[factor->nodes[i]];

			factor->probe_ns += r->nodes[c->a].probe_ns + r->nodes[c->b].probe_ns;
		}
		factor->share_unprobed = unprobed(factor->share, factor->probe_ns, factor->mean_ns);
	}
}

int vprof_probe_cost_compare(struct vprof_results *r, double mean_ns, double low_ns, double high_ns)
{
	double low, high;

	r->baseline_mean_ns = mean_ns;
	r->baseline_low = low_ns;
	r->baseline_high = high_ns;
	vprof_results_probe_cost_bounds(r, &low, &high);
	if (!(low > r->probe_ns + UNACCOUNTED_PART * r->mean_ns))
		return 0;
	return vprof_warning_add(
		r,
		"intervals took %.0f %% longer than in the annotated-only run (%.0f to %.0f %%), but the recorded "
		"calls account for only %.1f %%: the load was different, or probes make threads hold locks "
		"longer. Shares are those of the slower run; measure fewer functions, or repeat both runs",
		100 * (r->mean_ns / mean_ns - 1), 100 * low / mean_ns, 100 * high / mean_ns,
		100 * r->probe_ns / r->mean_ns);
}
