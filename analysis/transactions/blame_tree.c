/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/transactions/blame_tree.h"

#include "common/error.h"

#define CONTEXT_CLASSES VPROF_BLAME_ROUTE
#define DEPTH_CLASSES VPROF_BLAME_SITE /* up to which nodes are made, however many there are */

int vprof_blame_begin(struct vprof_blame_tree *tree)
{
	struct vprof_blame_node *root;

	*tree = (struct vprof_blame_tree){ 0 };
	root = VPROF_PUSH(&tree->nodes);
	if (!root)
		return VPROF_ERR_NOMEM;
	root->class = VPROF_BLAME_ROOT;
	return VPROF_OK;
}

void vprof_blame_release(struct vprof_blame_tree *tree)
{
	VPROF_ARRAY_RELEASE(&tree->nodes);
	VPROF_ARRAY_RELEASE(&tree->sums);
	vprof_hash_index_release(&tree->by_key);
	vprof_hash_index_release(&tree->by_block);
}

static int is_full(const struct vprof_blame_tree *tree, uint32_t parent, uint8_t class)
{
	if (class <= DEPTH_CLASSES)
		return 0;
	if (class >= CONTEXT_CLASSES)
		return tree->nodes.n >= 2 * (size_t)VPROF_BLAME_NODES_MAX;
	return tree->nodes.n >= VPROF_BLAME_NODES_MAX || tree->nodes.v[parent].depth >= VPROF_BLAME_DEPTH_MAX;
}

uint32_t vprof_blame_child(struct vprof_blame_tree *tree, uint32_t parent, uint8_t class, uint32_t key)
{
	uint64_t hash = vprof_mix(((uint64_t)parent << 32 | key) ^ (uint64_t)class << 56);
	struct vprof_blame_node *n;
	size_t at;

	if (vprof_hash_index_room(&tree->by_key, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&tree->by_key, hash, at, i)
	{
		n = &tree->nodes.v[i];
		if (n->parent == parent && n->key == key && n->class == class)
			return i;
	}
	if (is_full(tree, parent, class))
		return parent;
	n = VPROF_PUSH(&tree->nodes);
	if (!n)
		return VPROF_NONE;
	n->parent = parent;
	n->key = key;
	n->class = class;
	n->depth = tree->nodes.v[parent].depth + 1;
	n->is_summed = tree->nodes.v[parent].is_summed;
	vprof_hash_index_put(&tree->by_key, at, hash, (uint32_t)tree->nodes.n - 1);
	return (uint32_t)tree->nodes.n - 1;
}

int vprof_blame_add_sum(struct vprof_blame_tree *tree, uint32_t node, uint32_t block, int64_t ticks, uint64_t n)
{
	uint64_t hash = vprof_mix((uint64_t)node << 32 | block);
	struct vprof_blame_sum *s;
	size_t at;

	if (!ticks && !n)
		return VPROF_OK;
	if (vprof_hash_index_room(&tree->by_block, 1))
		return VPROF_ERR_NOMEM;
	VPROF_HASH_EACH(&tree->by_block, hash, at, i)
	{
		s = &tree->sums.v[i];
		if (s->node == node && s->block == block) {
			s->ticks += ticks;
			s->n += n;
			return VPROF_OK;
		}
	}
	s = VPROF_PUSH(&tree->sums);
	if (!s)
		return VPROF_ERR_NOMEM;
	*s = (struct vprof_blame_sum){ node, block, ticks, n };
	vprof_hash_index_put(&tree->by_block, at, hash, (uint32_t)tree->sums.n - 1);
	return VPROF_OK;
}

static void add_counts(struct vprof_blame_node *to, const struct vprof_blame_node *from)
{
	to->ticks += from->ticks;
	to->n_waits += from->n_waits;
	to->is_wait |= from->is_wait;
	to->is_cut |= from->is_cut;
	if (!from->objects)
		return;
	to->objects = from->objects > 1 || to->objects > 1 || (to->objects && to->object != from->object) ? 2 : 1;
	to->object = from->object;
}

int vprof_blame_join(struct vprof_blame_tree *to, const struct vprof_blame_node *nodes, size_t n_nodes,
		     const struct vprof_blame_sum *sums, size_t n_sums, const uint32_t *holder_of)
{
	uint32_t *map = calloc(n_nodes + 1, sizeof *map);
	int ret = map ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 1; i < n_nodes && !ret; i++) {
		const struct vprof_blame_node *n = &nodes[i];
		uint32_t key = n->class == VPROF_BLAME_HOLDER && holder_of ? holder_of[n->key] : n->key;

		map[i] = vprof_blame_child(to, map[n->parent], n->class, key);
		if (map[i] == VPROF_NONE)
			ret = VPROF_ERR_NOMEM;
		else
			add_counts(&to->nodes.v[map[i]], n);
	}
	for (size_t i = 0; i < n_sums && !ret; i++)
		ret = vprof_blame_add_sum(to, map[sums[i].node], sums[i].block, sums[i].ticks, sums[i].n);
	free(map);
	return ret;
}
