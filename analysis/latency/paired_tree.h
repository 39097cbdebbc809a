/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calling context trees of two runs as one: contexts are the same when their functions are the same in the same
 * order. Functions are the same when they have one name in files of one name.
 */
#ifndef VPROF_LATENCY_PAIRED_TREE_H
#define VPROF_LATENCY_PAIRED_TREE_H

#include "analysis/latency/annotated_tree.h"
#include "common/hash/string_set.h"

struct vprof_paired_node {
	uint32_t parent, depth; /* VPROF_NONE: the root */
	uint32_t function;	/* in `functions` */
	uint32_t side[2];	/* the node in each of the trees, VPROF_NONE: it is not there */
	uint32_t n_children[2]; /* there */
};

struct vprof_paired_tree {
	const struct vprof_annotated_tree *sides[2]; /* base (or NULL), new; the caller's */
	VPROF_ARRAY(struct vprof_paired_node) nodes; /* 0: the root; parents before children */
	VPROF_ARRAY(const struct vprof_latency_function *) functions;
	struct vprof_context_tree tree; /* the same nodes */
};

/* base NULL: the tree of `new` alone, with the same numbers. NOMEM; to be released in any case. O(nodes). */
int vprof_paired_tree_build(struct vprof_paired_tree *out, const struct vprof_annotated_tree *base,
			    const struct vprof_annotated_tree *new, struct vprof_error *err);
void vprof_paired_tree_release(struct vprof_paired_tree *tree);

/* The context's sums on a side, 0: base; NULL: it is not there. */
const struct vprof_latency_context *vprof_paired_context(const struct vprof_paired_tree *t, int side, uint32_t node);

#endif
