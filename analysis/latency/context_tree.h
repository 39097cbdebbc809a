/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calling context tree and the index of its paths (IntroPerf, Algorithm 1). A node is a function in a context: the
 * functions around it. A path is known by a number, from which its functions can be had again.
 *
 * Nodes and paths are numbered in the order in which they come, so a parent's number is below its children's, and the
 * tree of the same stacks in the same order is the same. Node 0 is the root, which is no function.
 *
 * This is the entry to the room analysis/latency. From the tree on it goes so: inference.h (instances, Algorithm 2),
 * annotated_tree.h (what each context takes) with likely_time.h, work_unit.h (what costs are told for), paired_tree.h
 * and paired_costs.h (two runs), path_ranking.h (Algorithm 3), latency_describe.h (results). Of the calls of one
 * function: inferred_calls.h, call_sums.h, layer_describe.h. What a load tells about annotations: request_evidence.h,
 * item_evidence.h.
 */
#ifndef VPROF_LATENCY_CONTEXT_TREE_H
#define VPROF_LATENCY_CONTEXT_TREE_H

#include "analysis/latency/history/latency_history.h"
#include "common/hash/hash_index.h"

#define VPROF_CONTEXT_ROOT 0u

struct vprof_context_node {
	uint32_t parent;   /* VPROF_NONE: the root */
	uint32_t function; /* VPROF_NONE: the root */
	uint32_t path;	   /* that ends here; VPROF_NONE: none */
	uint32_t depth;	   /* of the outermost functions: 0 */
};

struct vprof_context_tree {
	VPROF_ARRAY(struct vprof_context_node) nodes;
	VPROF_ARRAY(uint32_t) paths; /* path -> node where it ends */
	struct vprof_hash_index by_function;
};

void vprof_context_tree_release(struct vprof_context_tree *tree);

/* The child of a node that is this function, made when it is new: GetNode. VPROF_NONE without memory. */
uint32_t vprof_context_child(struct vprof_context_tree *tree, uint32_t node, uint32_t function);

/* PathToID: the number of a path of n functions, outermost first; new nodes are made. nodes[n] (or NULL) receives the
 * node of each function. VPROF_NONE without memory. O(n). */
uint32_t vprof_context_path(struct vprof_context_tree *tree, const struct vprof_latency_frame *frames, uint32_t n,
			    uint32_t *nodes);

/* All stacks of a history: nodes[n frames of the history] receives the node of each frame, paths[n stacks] their paths.
 * OK or NOMEM. O(frames). */
int vprof_context_tree_build(struct vprof_context_tree *tree, const struct vprof_latency_history *h, uint32_t *nodes,
			     uint32_t *paths);

#endif
