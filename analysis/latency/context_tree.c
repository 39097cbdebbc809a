/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Children are found by hashing parent and function, in place of the paper's set of children for each node. */
#include "analysis/latency/context_tree.h"

static uint32_t add_node(struct vprof_context_tree *tree, uint32_t parent, uint32_t function)
{
	struct vprof_context_node *node = tree->nodes.n < UINT32_MAX - 1 ? VPROF_PUSH(&tree->nodes) : NULL;

	if (!node)
		return VPROF_NONE;
	*node = (struct vprof_context_node){ .parent = parent,
					     .function = function,
					     .path = VPROF_NONE,
					     .depth = parent == VPROF_NONE || parent == VPROF_CONTEXT_ROOT ?
							      0 :
							      tree->nodes.v[parent].depth + 1 };
	return (uint32_t)tree->nodes.n - 1;
}

void vprof_context_tree_release(struct vprof_context_tree *tree)
{
	VPROF_ARRAY_RELEASE(&tree->nodes);
	VPROF_ARRAY_RELEASE(&tree->paths);
	vprof_hash_index_release(&tree->by_function);
}

uint32_t vprof_context_child(struct vprof_context_tree *tree, uint32_t parent, uint32_t function)
{
	uint64_t hash = vprof_mix((uint64_t)parent << 32 | function);
	uint32_t node;
	size_t at;

	if (!tree->nodes.n && add_node(tree, VPROF_NONE, VPROF_NONE) == VPROF_NONE)
		return VPROF_NONE;
	if (vprof_hash_index_room(&tree->by_function, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&tree->by_function, hash, at, i)
	if (tree->nodes.v[i].parent == parent && tree->nodes.v[i].function == function)
		return i;
	node = add_node(tree, parent, function);
	if (node != VPROF_NONE)
		vprof_hash_index_put(&tree->by_function, at, hash, node);
	return node;
}

uint32_t vprof_context_path(struct vprof_context_tree *tree, const struct vprof_latency_frame *frames, uint32_t n,
			    uint32_t *nodes)
{
	uint32_t node = VPROF_CONTEXT_ROOT, *slot;

	for (uint32_t i = 0; i < n; i++) {
		node = vprof_context_child(tree, node, frames[i].function);
		if (node == VPROF_NONE)
			return VPROF_NONE;
		if (nodes)
			nodes[i] = node;
	}
	if (!n)
		return VPROF_NONE;
	if (tree->nodes.v[node].path != VPROF_NONE)
		return tree->nodes.v[node].path;
	slot = VPROF_PUSH(&tree->paths);
	if (!slot)
		return VPROF_NONE;
	*slot = node;
	return tree->nodes.v[node].path = (uint32_t)tree->paths.n - 1;
}

int vprof_context_tree_build(struct vprof_context_tree *tree, const struct vprof_latency_history *h, uint32_t *nodes,
			     uint32_t *paths)
{
	if (!tree->nodes.n && add_node(tree, VPROF_NONE, VPROF_NONE) == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < h->stacks.n; i++) {
		const struct vprof_latency_stack *s = &h->stacks.v[i];

		paths[i] = vprof_context_path(tree, h->frames.v + s->first, s->n, nodes + s->first);
		if (paths[i] == VPROF_NONE)
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}
