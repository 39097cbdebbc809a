/* SPDX-License-Identifier: GPL-3.0-or-later */
/* New's nodes come first, so that without a base the numbers are its own. */
#include "analysis/latency/paired_tree.h"

#include "common/files.h"

/* The number of each of a tree's functions among those of both: map[functions of the tree]. */
static int map_functions(struct vprof_paired_tree *t, struct vprof_hash_index *index,
			 const struct vprof_annotated_tree *from, uint32_t *map)
{
	for (size_t i = 0; i < from->history->functions.n; i++) {
		const struct vprof_latency_function *f = &from->history->functions.v[i], **slot;
		uint64_t hash = vprof_mix(
			vprof_hash_text(vprof_hash_text(f->layer, vprof_latency_function_display(f)), f->file));
		size_t at;

		if (vprof_hash_index_room(index, 1))
			return VPROF_ERR_NOMEM;
		map[i] = VPROF_NONE;
		VPROF_HASH_EACH(index, hash, at, k)
		{
			const struct vprof_latency_function *g = t->functions.v[k];

			if (g->layer == f->layer && !strcmp(g->file, f->file) &&
			    !strcmp(vprof_latency_function_display(g), vprof_latency_function_display(f))) {
				map[i] = k;
				break;
			}
		}
		if (map[i] != VPROF_NONE)
			continue;
		slot = VPROF_PUSH(&t->functions);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = f;
		map[i] = (uint32_t)t->functions.n - 1;
		vprof_hash_index_put(index, at, hash, map[i]);
	}
	return VPROF_OK;
}

/* A node of both for each of a side's nodes: map[nodes of the side]. */
static int add_nodes(struct vprof_paired_tree *t, int side, const uint32_t *functions, uint32_t *map)
{
	const struct vprof_context_tree *from = &t->sides[side]->tree;

	map[0] = VPROF_CONTEXT_ROOT;
	for (uint32_t i = 1; i < from->nodes.n; i++) {
		uint32_t parent = map[from->nodes.v[i].parent];
		uint32_t node = vprof_context_child(&t->tree, parent, functions[from->nodes.v[i].function]);
		struct vprof_paired_node *p;

		if (node == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		if (node == t->nodes.n) {
			p = VPROF_PUSH(&t->nodes);
			if (!p)
				return VPROF_ERR_NOMEM;
			*p = (struct vprof_paired_node){ .parent = parent,
							 .depth = t->tree.nodes.v[node].depth,
							 .function = t->tree.nodes.v[node].function,
							 .side = { VPROF_NONE, VPROF_NONE } };
		}
		map[i] = node;
		if (t->nodes.v[node].side[side] == VPROF_NONE) {
			t->nodes.v[node].side[side] = i;
			t->nodes.v[parent].n_children[side]++;
		}
	}
	return VPROF_OK;
}

static int add_side(struct vprof_paired_tree *t, struct vprof_hash_index *index, int side)
{
	const struct vprof_annotated_tree *from = t->sides[side];
	uint32_t *functions = malloc((from->history->functions.n + 1) * sizeof *functions);
	uint32_t *map = malloc((from->tree.nodes.n + 1) * sizeof *map);
	int ret = functions && map ? map_functions(t, index, from, functions) : VPROF_ERR_NOMEM;

	if (!ret)
		ret = add_nodes(t, side, functions, map);
	free(functions);
	free(map);
	return ret;
}

int vprof_paired_tree_build(struct vprof_paired_tree *out, const struct vprof_annotated_tree *base,
			    const struct vprof_annotated_tree *new, struct vprof_error *err)
{
	struct vprof_hash_index index = { 0 };
	struct vprof_paired_node *root;
	int ret;

	*out = (struct vprof_paired_tree){ .sides = { base, new } };
	root = VPROF_PUSH(&out->nodes);
	if (root)
		*root = (struct vprof_paired_node){ .parent = VPROF_NONE,
						    .function = VPROF_NONE,
						    .side = { base ? 0 : VPROF_NONE, 0 } };
	ret = root ? add_side(out, &index, 1) : VPROF_ERR_NOMEM;
	if (!ret && base)
		ret = add_side(out, &index, 0);
	vprof_hash_index_release(&index);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_paired_tree_release(struct vprof_paired_tree *t)
{
	VPROF_ARRAY_RELEASE(&t->nodes);
	VPROF_ARRAY_RELEASE(&t->functions);
	vprof_context_tree_release(&t->tree);
}

const struct vprof_latency_context *vprof_paired_context(const struct vprof_paired_tree *t, int side, uint32_t node)
{
	uint32_t own = t->nodes.v[node].side[side];

	return own == VPROF_NONE ? NULL : &t->sides[side]->contexts[own];
}
