/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strongly connected components of a part of the wait-for graph. */
#ifndef VPROF_WAITS_COMPONENTS_H
#define VPROF_WAITS_COMPONENTS_H

#include "analysis/waits/graph.h"

/* A part of the graph: the vertices listed, and the edges between them that are not removed. */
struct vprof_waits_part {
	const struct vprof_waits_graph *graph;
	const uint32_t *first_edge;	 /* [n vertices of the graph + 1] a vertex's edges, in the graph's edges */
	const unsigned char *is_removed; /* [n edges of the graph] */
	const uint32_t *vertices;	 /* ascending */
	size_t n_vertices;
};

struct vprof_waits_components {
	uint32_t *of; /* [n vertices of the graph] number of its component; VPROF_NONE outside the part */
	VPROF_ARRAY(uint32_t) order; /* the part's vertices, component by component, each ascending */
	VPROF_ARRAY(uint32_t) first; /* [components + 1] in order */
	/* for the search itself: */
	uint32_t *index, *low, *stack, *calls, *at;
};

int vprof_waits_components_init(struct vprof_waits_components *c, size_t n_vertices); /* OK or NOMEM */
void vprof_waits_components_release(struct vprof_waits_components *c);

/* Components in an order in which edges lead to earlier ones only (Tarjan 1972). O(vertices of the graph +
 * edges of the part). */
void vprof_waits_components_find(struct vprof_waits_components *c, const struct vprof_waits_part *part);

#endif
