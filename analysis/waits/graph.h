/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wait-for graph (wPerf, definition 3.3): a vertex for each thread, group of alike threads, or device; an edge from
 * A to B when B ended a wait of A. An edge's weight is the cascaded waiting time; from a device to a thread, the
 * thread's share of its idle time. Edges from a vertex to itself exist only where alike threads wait for one another.
 */
#ifndef VPROF_WAITS_GRAPH_H
#define VPROF_WAITS_GRAPH_H

#include "analysis/waits/cascade.h"

struct vprof_waits_vertex {
	uint32_t entity;			      /* its first */
	uint32_t n_entities;			      /* threads that it stands for, short-lived ones each */
	uint8_t kind;				      /* enum vprof_waits_entity_kind */
	uint8_t has_speed;			      /* of a network interface: its speed is known */
	uint64_t running_ns, runnable_ns, blocked_ns; /* summed over them */
	uint64_t unknown_ns;			      /* of blocked_ns: over, and the waker is not known */
	uint64_t idle_ns;			      /* of a device */
};

struct vprof_waits_edge {
	uint32_t from, to; /* vertices */
	uint64_t n_waits, own_ns, weight_ns;
	uint32_t first_reason, n_reasons; /* in by_edge, heaviest first; of idle time there are none */
	uint8_t is_idle;		  /* the device waits for requests */
};

struct vprof_waits_graph {
	uint64_t length_ns; /* of the recording */
	VPROF_ARRAY(struct vprof_waits_vertex) vertices;
	VPROF_ARRAY(struct vprof_waits_edge) edges; /* by from, then to */
	uint32_t *vertex_of;			    /* [n entities]; VPROF_NONE: nothing is known of it */
	VPROF_ARRAY(uint32_t) by_edge;		    /* reasons, grouped by edge */
};

/* `representative` as of vprof_waits_find_alike(), NULL: every entity is by itself; `is_kept` as of
 * vprof_waits_keep_relevant(). OK or NOMEM. O(n log n) for n
 * reasons. To be released in any case. */
int vprof_waits_graph_build(struct vprof_waits_graph *graph, const struct vprof_waits_history *history,
			    const struct vprof_waits_reasons *reasons, const uint32_t *representative,
			    const unsigned char *is_kept, struct vprof_error *err);
void vprof_waits_graph_release(struct vprof_waits_graph *graph);

/* Index of the edge, VPROF_NONE: there is none. O(log edges). */
uint32_t vprof_waits_graph_edge(const struct vprof_waits_graph *graph, uint32_t from, uint32_t to);

#endif
