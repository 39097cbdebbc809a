/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Knots and sinks of the wait-for graph, refined (wPerf, sections 3.2, 3.3 and 4.2).
 *
 * A strongly connected component without edges to others is inescapable: its vertices wait for nobody else, so that the
 * application cannot become faster unless something in it does. It is a knot when it has edges, a sink when it is one
 * vertex without. A knot without devices whose threads together used less than one CPU is in the background, and so is
 * a single device that was idle for longer than the threshold: it is reported, removed, and what remains is searched
 * again.
 *
 * A knot is refined by removing its lightest edge, again and again (the lower vertices first among equal ones), until
 * it falls apart; then its parts are searched for knots and sinks in turn. That ends when a knot is one vertex or a
 * simple cycle, or when its lightest edge weighs more than a threshold.
 */
#ifndef VPROF_WAITS_KNOTS_H
#define VPROF_WAITS_KNOTS_H

#include "analysis/waits/graph.h"

enum vprof_waits_end { /* why a knot was not refined further */
		       VPROF_WAITS_VERTEX,
		       VPROF_WAITS_CYCLE,
		       VPROF_WAITS_HEAVY,      /* its lightest edge is above the threshold */
		       VPROF_WAITS_PARTS,      /* it fell apart into parts that all are in the background */
		       VPROF_WAITS_BACKGROUND, /* in the background: it is not refined */
		       VPROF_WAITS_ENDS
};

struct vprof_waits_knot {
	uint8_t end;	    /* enum vprof_waits_end */
	uint8_t is_sink;    /* one vertex, no edge */
	uint8_t has_device; /* a disk, or a network interface of known speed */
	uint32_t depth;	    /* how often it was cut out of a larger knot that fell apart */
	uint64_t busy_ns;   /* its threads running or runnable */
	uint64_t runnable_ns;
	uint32_t first_vertex, n_vertices; /* in `vertices` */
	uint32_t first_edge, n_edges;	   /* in `edges`: those that were not removed, of a background knot all */
};

struct vprof_waits_knot_options {
	double threshold;	/* share of the recording above which an edge is not removed; 0.2 */
	double background_cpus; /* CPUs below which a knot without devices is in the background; 0.99 */
};

struct vprof_waits_knots {
	VPROF_ARRAY(struct vprof_waits_knot) knots; /* in the order in which they were found */
	VPROF_ARRAY(uint32_t) vertices;		    /* of the graph */
	VPROF_ARRAY(uint32_t) edges;
};

/* OK or NOMEM; to be released in any case. Each time that a knot falls apart costs O((vertices + edges) log edges). */
int vprof_waits_knots_find(struct vprof_waits_knots *knots, const struct vprof_waits_graph *graph,
			   const struct vprof_waits_knot_options *options, struct vprof_error *err);
void vprof_waits_knots_release(struct vprof_waits_knots *knots);

#endif
