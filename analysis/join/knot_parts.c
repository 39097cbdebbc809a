/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/knot_parts.h"

#include <math.h>

#define MOSTLY 0.5

struct sums {
	double mean_ns;	 /* of all nodes */
	double waits_ns; /* ... of those that are waits, or lie beneath one */
	double through[VPROF_KNOT_TIMES_MAX];
};

/* The wait of the interval's own thread that the node is or lies beneath; VPROF_NONE: none. */
static uint32_t own_wait(const struct vprof_results *r, uint32_t node)
{
	uint32_t at = node;

	while (at && r->nodes[at].is_blame)
		at = r->nodes[at].parent;
	for (; at; at = r->nodes[at].parent) {
		enum vprof_node_kind kind = r->nodes[at].kind;

		if (kind == VPROF_NODE_WAIT || kind == VPROF_NODE_QUEUED || kind == VPROF_NODE_SITE)
			return at;
		if (!r->nodes[node].is_blame && (kind == VPROF_NODE_FUNCTION || kind == VPROF_NODE_POINTER))
			break; /* its own time, not that of a wait */
		if (r->nodes[node].is_blame)
			return at; /* an annotated function that waits */
	}
	return VPROF_NONE;
}

static void add_node(const struct vprof_results *r, size_t n_knots, const struct vprof_knot_wait_index *waits,
		     uint32_t node, struct sums *sums)
{
	uint32_t wait = own_wait(r, node);
	struct vprof_knot_wait_sums of_wait;

	sums->mean_ns += r->nodes[node].mean_ns;
	if (wait == VPROF_NONE)
		return;
	of_wait = vprof_knot_waits_of_node(waits, &r->nodes[wait]);
	if (of_wait.ticks <= 0)
		return;
	sums->waits_ns += r->nodes[node].mean_ns;
	for (size_t k = 0; k < n_knots; k++)
		sums->through[k] += r->nodes[node].mean_ns * of_wait.through_ticks[k] / of_wait.ticks;
}

static void tell(const struct sums *sums, size_t n_knots, const char *const *names, const char **knot, double *part)
{
	size_t most = 0;

	*knot = "";
	*part = NAN;
	if (!(sums->waits_ns > 0 && sums->mean_ns > 0) || !n_knots)
		return;
	for (size_t k = 1; k < n_knots; k++)
		if (sums->through[k] > sums->through[most])
			most = k;
	*part = sums->through[most] / sums->mean_ns;
	if (*part >= MOSTLY)
		*knot = names[most];
}

void vprof_knot_parts_clear(struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_factors; i++) {
		r->factors[i].knot = "";
		r->factors[i].knot_part = NAN;
	}
	for (size_t i = 0; i < r->n_causes; i++) {
		r->causes[i].knot = "";
		r->causes[i].knot_part = NAN;
	}
}

void vprof_knot_parts_fill(struct vprof_results *r, size_t n_knots, const struct vprof_knot_wait_index *waits,
			   const char *const *names)
{
	for (size_t i = 0; i < r->n_factors; i++) {
		struct vprof_factor *f = &r->factors[i];
		struct sums sums = { 0 };

		for (size_t k = 0; f->kind == VPROF_FACTOR_VARIANCE && k < f->n_nodes; k++)
			add_node(r, n_knots, waits, f->nodes[k], &sums);
		tell(&sums, n_knots, names, &f->knot, &f->knot_part);
	}
	for (size_t i = 0; i < r->n_causes; i++) {
		struct vprof_cause *c = &r->causes[i];
		struct sums sums = { 0 };

		for (size_t k = 0; k < c->n_nodes; k++)
			add_node(r, n_knots, waits, c->nodes[k], &sums);
		tell(&sums, n_knots, names, &c->knot, &c->knot_part);
	}
}
