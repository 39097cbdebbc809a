/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/knot_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

int vprof_knot_wait_is_of_node(const struct vprof_knot_wait *w, const struct vprof_node *n,
			       const struct vprof_timeline *timeline)
{
	if (w->name == VPROF_NONE || n->kind == VPROF_NODE_QUEUED)
		return w->name == VPROF_NONE && n->kind == VPROF_NODE_QUEUED;
	if (strcmp(timeline->names[w->name], n->name) && strcmp(timeline->names[w->name], n->display))
		return 0;
	if (!strcmp(n->object, "several"))
		return w->object != 0;
	return w->object == strtoull(n->object, NULL, 16);
}

static void add_node(const struct vprof_results *r, const struct vprof_knot_times *times,
		     const struct vprof_timeline *timeline, uint32_t node, struct sums *sums)
{
	uint32_t wait = own_wait(r, node);
	double all = 0, through[VPROF_KNOT_TIMES_MAX] = { 0 };

	sums->mean_ns += r->nodes[node].mean_ns;
	for (size_t i = 0; wait != VPROF_NONE && i < times->waits.n; i++) {
		const struct vprof_knot_wait *w = &times->waits.v[i];

		if (!vprof_knot_wait_is_of_node(w, &r->nodes[wait], timeline))
			continue;
		all += (double)w->ticks;
		for (size_t k = 0; k < times->n_knots; k++)
			through[k] += (double)w->through_ticks[k];
	}
	if (all <= 0)
		return;
	sums->waits_ns += r->nodes[node].mean_ns;
	for (size_t k = 0; k < times->n_knots; k++)
		sums->through[k] += r->nodes[node].mean_ns * through[k] / all;
}

static void tell(const struct sums *sums, const struct vprof_knot_times *times, const char *const *names,
		 const char **knot, double *part)
{
	size_t most = 0;

	*knot = "";
	*part = NAN;
	if (!(sums->waits_ns > 0 && sums->mean_ns > 0) || !times->n_knots)
		return;
	for (size_t k = 1; k < times->n_knots; k++)
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

void vprof_knot_parts_fill(struct vprof_results *r, const struct vprof_knot_times *times,
			   const struct vprof_timeline *timeline, const char *const *names)
{
	for (size_t i = 0; i < r->n_factors; i++) {
		struct vprof_factor *f = &r->factors[i];
		struct sums sums = { 0 };

		for (size_t k = 0; f->kind == VPROF_FACTOR_VARIANCE && k < f->n_nodes; k++)
			add_node(r, times, timeline, f->nodes[k], &sums);
		tell(&sums, times, names, &f->knot, &f->knot_part);
	}
	for (size_t i = 0; i < r->n_causes; i++) {
		struct vprof_cause *c = &r->causes[i];
		struct sums sums = { 0 };

		for (size_t k = 0; k < c->n_nodes; k++)
			add_node(r, times, timeline, c->nodes[k], &sums);
		tell(&sums, times, names, &c->knot, &c->knot_part);
	}
}
