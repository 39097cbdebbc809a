/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chain of segments, waits and queue delays that determined an interval's end (VProfiler, section 3.3.3,
 * Algorithm 2); decisions in docs/design/critical-path.md.
 *
 * The walk goes backwards from END over the edges of edges.h and yields pieces. Invariants: the pieces without a parent
 * tile [begin, end] of the instance exactly; the pieces with a parent lie within it, do not overlap one another, and
 * come after it in the array. A piece's children are the blame: what the thread that ended the wait (or, for a queue
 * delay, the thread that took the interval up) did meanwhile. Times are ticks.
 *
 * This is the entry to the room analysis/paths. Use: vprof_edges_new() once, then a walker for each thread of the
 * analysis, then vprof_path_walk() for any instances in any order. wait_states.h tells how the time of a wait piece was
 * spent.
 */
#ifndef VPROF_CRITICAL_PATH_H
#define VPROF_CRITICAL_PATH_H

#include "analysis/timeline/edges/edges.h"

enum vprof_piece_kind {
	VPROF_PIECE_RUN,
	VPROF_PIECE_WAIT,
	VPROF_PIECE_QUEUED, /* only without a parent */
};

struct vprof_piece {
	uint64_t from, to;
	uint32_t thread;
	uint32_t wait;	     /* WAIT: index into the thread's waits, else VPROF_NONE */
	uint32_t parent;     /* index of the piece that this one explains, or VPROF_NONE */
	uint8_t kind, depth; /* depth: number of pieces above */
	uint32_t hop;	     /* that it was met in; a queue delay: that it came before */
};

/* A step of the walk, from the last one: the instance was on this thread from..to, and came there by `edge`. Without a
 * segment the thread only handed it on (from == to). */
struct vprof_hop {
	uint64_t from, to;
	uint32_t thread, segment;
	struct vprof_edge edge; /* NONE: the first, or nothing tells */
};

struct vprof_path; /* a walker, for one thread: the pieces of the last instance, and where its searches ended */

/* The edges must outlive the walker; several walkers may share them. OK or NOMEM. */
int vprof_path_new(struct vprof_path **out, const struct vprof_edges *edges, struct vprof_error *err);
void vprof_path_free(struct vprof_path *path);

/* Walks one COMPLETE instance. The pieces belong to the walker and are valid until the next walk. OK or NOMEM. */
int vprof_path_walk(struct vprof_path *path, uint32_t instance, const struct vprof_piece **pieces, size_t *n_pieces);

/* The hops of the last walk, backward; they tile the path with the queue delays between them. */
const struct vprof_hop *vprof_path_hops(const struct vprof_path *path, size_t *n);

#endif
