/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The static call graph: nodes are project functions (index into facts->functions) and external callees
 * (functions without a body in the project, one node for each name, after the project's functions).
 * Indirect calls have an edge to every function whose address is taken and whose type fits; virtual calls
 * to every override. Recursion is condensed (strongly connected components share one height).
 */
#ifndef VPROF_CALLGRAPH_H
#define VPROF_CALLGRAPH_H

#include "common/facts/facts.h"

struct vprof_callgraph {
	const struct vprof_facts *facts;
	size_t n_nodes, n_edges;
	const uint32_t *first;		  /* [n_nodes + 1]: callees of node i are edges[first[i] .. first[i+1]) */
	const uint32_t *edges;		  /* [n_edges], no duplicates within a node */
	const uint32_t *rfirst, *redges;  /* the same for the callers of a node */
	const uint32_t *component;	  /* [n_nodes] strongly connected component */
	const uint32_t *height;		  /* [n_nodes] longest path below it in the condensed graph; 0 = leaf */
	const char *const *external_name; /* [n_nodes - facts->n_functions] */
};

int vprof_callgraph_build(struct vprof_callgraph **out, const struct vprof_facts *facts, struct vprof_error *err);
void vprof_callgraph_free(struct vprof_callgraph *g);

#endif
