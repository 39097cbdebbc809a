/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree as a whole: parts that threads filled (tree_fill.c) are joined node by node, and the vectors of an interval
 * are read from the part that took it.
 *
 * Nodes have an order of their own (time, then what they are), so that results depend neither on the number of threads
 * nor on who met a node first.
 */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/variance/variance_tree.h"

#include "common/parallel.h"
#include "analysis/variance/tree_fill.h"

struct vprof_tree_private {
	struct place *places; /* [n_final] */
};

struct place {		       /* in the results */
	uint32_t parent, body; /* body: VPROF_NONE without children */
};

struct vprof_tree_reader {
	const struct vprof_tree *tree;
	double *sums; /* [n_final] of children, zero between samples */
	VPROF_ARRAY(double) ticks;
	VPROF_ARRAY(struct vprof_sample) sample;
	VPROF_ARRAY(struct vprof_sample_noise) noise;
};

int vprof_tree_new(struct vprof_tree **out, const struct vprof_timeline *timeline, const struct vprof_plan *plan,
		   struct vprof_error *err)
{
	struct vprof_tree *tree = calloc(1, sizeof *tree);
	struct vprof_tree_private *p = calloc(1, sizeof *p);
	struct vprof_tree_taken *taken = vprof_tree_taken_new();

	*out = NULL;
	if (!tree || !p || !taken) {
		free(tree);
		free(p);
		vprof_tree_taken_free(taken);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the variance tree");
	}
	tree->plan = plan;
	tree->private = p;
	tree->taken = taken;
	if (vprof_tree_add_source(tree, timeline)) {
		vprof_tree_free(tree);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the variance tree");
	}
	*out = tree;
	return 0;
}

void vprof_tree_free(struct vprof_tree *tree)
{
	struct vprof_tree_private *p;

	if (!tree)
		return;
	p = tree->private;
	vprof_tree_taken_free(tree->taken);
	VPROF_ARRAY_RELEASE(&tree->nodes);
	free(tree->factors);
	free(tree->corrected);
	free(p->places);
	VPROF_ARRAY_RELEASE(&tree->names);
	free(p);
	free(tree);
}

/* the tree's nodes by parent and kind */
struct join {
	struct vprof_tree *tree;
	struct vprof_hash_index by_key;
};

static uint32_t joined_child(struct join *j, const struct vprof_tree_node *from, uint32_t parent)
{
	uint8_t class = vprof_tree_class(from);
	uint64_t hash = vprof_tree_key_hash(parent, class, from->key, from->level);
	struct vprof_tree_node *n;
	size_t at;

	if (vprof_hash_index_room(&j->by_key, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&j->by_key, hash, at, node)
	if (vprof_tree_has_key(&j->tree->nodes.v[node], parent, class, from->key, from->level))
		return node;
	n = VPROF_PUSH(&j->tree->nodes);
	if (!n)
		return VPROF_NONE;
	vprof_hash_index_put(&j->by_key, at, hash, (uint32_t)j->tree->nodes.n - 1);
	*n = (struct vprof_tree_node){ .parent = parent,
				       .depth = from->depth,
				       .key = from->key,
				       .level = from->level,
				       .kind = from->kind,
				       .probe = from->probe };
	j->tree->n_unknown_codes += vprof_tree_class(from) == VPROF_CLASS_FRAME && !from->probe;
	j->tree->nodes.v[parent].n_children++;
	j->tree->nodes.v[parent].is_explained |= from->level > j->tree->nodes.v[parent].level;
	return (uint32_t)j->tree->nodes.n - 1;
}

static void add_counts(struct vprof_tree_node *to, const struct vprof_tree_node *from)
{
	to->n_calls += from->n_calls;
	to->n_timed += from->n_timed;
	to->total_ticks += from->total_ticks;
	to->cost += from->cost;
	to->blocked_ticks += from->blocked_ticks;
	to->kernel_ticks += from->kernel_ticks;
	to->io_ticks += from->io_ticks;
	to->rare_ticks += from->rare_ticks;
	if (!from->objects)
		return;
	to->objects = from->objects > 1 || to->objects > 1 || (to->objects && to->object != from->object) ? 2 : 1;
	to->object = from->object;
}

static int join_part(struct join *j, struct vprof_tree_part *part)
{
	struct vprof_tree *tree = j->tree;

	part->map = malloc(part->nodes.n * sizeof *part->map);
	part->place = malloc(part->nodes.n * sizeof *part->place);
	if (!part->map || !part->place)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < part->nodes.n; i++) {
		struct vprof_tree_node from = part->nodes.v[i];
		uint32_t to = i ? joined_child(j, &from, part->map[from.parent]) : 0;

		if (to == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		part->map[i] = to;
		from.n_calls += part->hot.v[i].n_begun;
		from.n_timed += part->hot.v[i].n_begun;
		add_counts(&tree->nodes.v[to], &from);
	}
	tree->preempted_ticks += part->preempted_ticks;
	tree->by_own_ticks += part->by_own_ticks;
	tree->wait_ticks += part->wait_ticks;
	tree->unmatched_ticks += part->unmatched_ticks;
	tree->n_folded += part->n_folded;
	tree->has_noise |= vprof_noise_has_items(part->noise);
	return 0;
}

static int begin_join(struct join *j, struct vprof_tree *tree)
{
	*j = (struct join){ .tree = tree };
	tree->n_unknown_codes = 0;
	if (!VPROF_PUSH(&tree->nodes))
		return VPROF_ERR_NOMEM;
	tree->nodes.v[0].kind = VPROF_NODE_INTERVAL;
	return 0;
}

static int join_parts(struct vprof_tree *tree)
{
	size_t n_parts;
	struct vprof_tree_part *const *parts = vprof_tree_parts(tree, &n_parts);
	struct join j;
	int ret = begin_join(&j, tree);

	for (size_t i = 0; i < n_parts && !ret; i++)
		ret = join_part(&j, parts[i]);
	vprof_hash_index_release(&j.by_key);
	return ret;
}

/* what one rank tells the others: these counts, then its nodes */
struct tree_counts {
	uint64_t preempted_ticks, by_own_ticks, wait_ticks, unmatched_ticks, n_folded, has_noise, is_full, n_nodes;
};

/* the nodes of all ranks as one tree */
struct united {
	struct join join;
	uint32_t *map; /* [nodes before] of this rank to the nodes after */
};

static int add_rank(void *arg, const void *bytes, size_t n_bytes, int is_own)
{
	struct united *u = arg;
	struct vprof_tree *tree = u->join.tree;
	const struct tree_counts *counts = bytes;
	const struct vprof_tree_node *nodes = (const void *)(counts + 1);
	uint32_t *to = malloc((counts->n_nodes + 1) * sizeof *to);
	int ret = to ? 0 : VPROF_ERR_NOMEM;

	(void)n_bytes;
	for (size_t i = 0; i < counts->n_nodes && !ret; i++) {
		struct vprof_tree_node from = nodes[i];

		if (from.probe) /* of another process */
			from.probe = vprof_plan_probe(tree->plan, from.key);
		to[i] = i ? joined_child(&u->join, &from, to[from.parent]) : 0;
		if (to[i] == VPROF_NONE)
			ret = VPROF_ERR_NOMEM;
		else
			add_counts(&tree->nodes.v[to[i]], &from);
	}
	if (is_own && !ret)
		memcpy(u->map, to, counts->n_nodes * sizeof *to);
	free(to);
	tree->preempted_ticks += counts->preempted_ticks;
	tree->by_own_ticks += counts->by_own_ticks;
	tree->wait_ticks += counts->wait_ticks;
	tree->unmatched_ticks += counts->unmatched_ticks;
	tree->n_folded += counts->n_folded;
	tree->has_noise |= counts->has_noise != 0;
	tree->is_full |= counts->is_full != 0;
	return ret;
}

/* The nodes of all ranks become those of each; what the parts' nodes are called follows. */
static int unite_ranks(struct vprof_tree *tree, int ret)
{
	size_t n_parts;
	struct vprof_tree_part *const *parts = vprof_tree_parts(tree, &n_parts);
	struct tree_counts counts = { tree->preempted_ticks,   tree->by_own_ticks, tree->wait_ticks,
				      tree->unmatched_ticks,   tree->n_folded,	   (uint64_t)tree->has_noise,
				      (uint64_t)tree->is_full, tree->nodes.n };
	size_t n_bytes = sizeof counts + tree->nodes.n * sizeof(struct vprof_tree_node);
	unsigned char *mine = malloc(n_bytes);
	struct united u = { .map = malloc((tree->nodes.n + 1) * sizeof *u.map) };

	ret = mine && u.map ? ret : VPROF_ERR_NOMEM;
	if (!ret) {
		memcpy(mine, &counts, sizeof counts);
		memcpy(mine + sizeof counts, tree->nodes.v, n_bytes - sizeof counts);
		VPROF_ARRAY_RELEASE(&tree->nodes);
		tree->preempted_ticks = tree->by_own_ticks = tree->wait_ticks = tree->unmatched_ticks = tree->n_folded =
			0;
		ret = begin_join(&u.join, tree);
	}
	ret = vprof_collect(&tree->team, ret, mine, n_bytes, add_rank, &u);
	for (size_t i = 0; i < n_parts && !ret; i++)
		for (size_t k = 0; k < parts[i]->nodes.n; k++)
			parts[i]->map[k] = u.map[parts[i]->map[k]];
	vprof_hash_index_release(&u.join.by_key);
	free(mine);
	free(u.map);
	return ret;
}

static int time_order(const void *a, const void *b, void *arg)
{
	const struct vprof_tree_node *nodes = arg;
	const struct vprof_tree_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];

	if (x->total_ticks != y->total_ticks)
		return x->total_ticks > y->total_ticks ? -1 : 1;
	if (vprof_tree_class(x) != vprof_tree_class(y))
		return vprof_tree_class(x) < vprof_tree_class(y) ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->level < y->level ? -1 : x->level > y->level;
}

static int number(struct vprof_tree *tree)
{
	size_t n = tree->nodes.n, n_queue = 1;
	uint32_t *first = NULL, *children = NULL, *queue = NULL, next = 1;
	int ret = VPROF_ERR_NOMEM;
	first = calloc(n + 1, sizeof *first);
	children = malloc(n * sizeof *children);
	queue = malloc(n * sizeof *queue);
	if (!first || !children || !queue)
		goto out;
	for (size_t i = 0; i < n; i++)
		first[i + 1] = first[i] + tree->nodes.v[i].n_children;
	for (size_t i = 1; i < n; i++)
		children[first[tree->nodes.v[i].parent]++] = (uint32_t)i;
	for (size_t i = n; i-- > 0;)
		first[i] -= tree->nodes.v[i].n_children;
	queue[0] = 0;
	tree->nodes.v[0].final_id = 0;
	for (size_t k = 0; k < n_queue; k++) {
		struct vprof_tree_node *node = &tree->nodes.v[queue[k]];
		uint32_t *list = children + first[queue[k]];

		node->body_id = VPROF_NONE;
		if (!node->n_children)
			continue;
		qsort_r(list, node->n_children, sizeof *list, time_order, tree->nodes.v);
		for (uint32_t i = 0; i < node->n_children; i++) {
			tree->nodes.v[list[i]].final_id = next++;
			queue[n_queue++] = list[i];
		}
		node->body_id = next++;
	}
	tree->n_final = next;
	ret = 0;
out:
	free(first);
	free(children);
	free(queue);
	return ret;
}

static int fill_places(struct vprof_tree *tree)
{
	struct vprof_tree_private *p = tree->private;

	p->places = calloc(tree->n_final, sizeof *p->places);
	if (!p->places)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < tree->nodes.n; i++)
		tree->nodes.v[i].body_ticks += (int64_t)tree->nodes.v[i].total_ticks;
	for (size_t i = 1; i < tree->nodes.n; i++)
		tree->nodes.v[tree->nodes.v[i].parent].body_ticks -= (int64_t)tree->nodes.v[i].total_ticks;
	for (size_t i = 0; i < tree->nodes.n; i++) {
		const struct vprof_tree_node *n = &tree->nodes.v[i];

		p->places[n->final_id] = (struct place){ tree->nodes.v[n->parent].final_id, n->body_id };
		if (n->body_id != VPROF_NONE)
			p->places[n->body_id] = (struct place){ n->final_id, VPROF_NONE };
	}
	return 0;
}

struct entry {
	uint64_t ticks;
	uint32_t node;
	float cost;
};

static int entry_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

/* Few, nearly sorted items: insertion; many: qsort. */
static void sort_entries(struct entry *v, size_t n)
{
	if (n > 64) {
		qsort(v, n, sizeof *v, entry_order);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct entry x = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1].node > x.node; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* From here on the entries of an interval are sorted by their nodes' places, which take the nodes' stead. */
static int arrange_part(void *arg, int worker, size_t item)
{
	const struct vprof_tree *tree = arg;
	size_t n_parts;
	struct vprof_tree_part *part = vprof_tree_parts(tree, &n_parts)[item];
	VPROF_ARRAY(struct entry) entries = { NULL, 0, 0 };

	(void)worker;
	for (size_t i = 0; i < part->nodes.n; i++)
		part->place[i] = tree->nodes.v[part->map[i]].final_id;
	for (size_t k = 0; k + 1 < part->first.n; k++) {
		size_t from = part->first.v[k], n = part->first.v[k + 1] - from;

		if (VPROF_ROOM(&entries, n)) {
			VPROF_ARRAY_RELEASE(&entries);
			return VPROF_ERR_NOMEM;
		}
		for (size_t i = 0; i < n; i++)
			entries.v[i] = (struct entry){ part->entry_ticks.v[from + i],
						       part->place[part->entry_node.v[from + i]],
						       part->entry_cost.n ? part->entry_cost.v[from + i] : 0 };
		sort_entries(entries.v, n);
		for (size_t i = 0; i < n; i++) {
			part->entry_ticks.v[from + i] = entries.v[i].ticks;
			part->entry_node.v[from + i] = entries.v[i].node;
			if (part->entry_cost.n)
				part->entry_cost.v[from + i] = entries.v[i].cost;
		}
	}
	VPROF_ARRAY_RELEASE(&entries);
	return 0;
}

int vprof_tree_number(struct vprof_tree *tree)
{
	size_t n_parts;
	int ret = unite_ranks(tree, join_parts(tree));

	if (ret || number(tree) || fill_places(tree))
		return ret ? ret : VPROF_ERR_NOMEM;
	vprof_tree_parts(tree, &n_parts);
	return vprof_parallel_run(tree->team.n_threads, n_parts, arrange_part, tree);
}

struct vprof_tree_reader *vprof_tree_reader_new(const struct vprof_tree *tree)
{
	struct vprof_tree_reader *r = vprof_calloc_aligned(1, sizeof *r);

	if (!r)
		return NULL;
	r->tree = tree;
	r->sums = vprof_calloc_aligned(tree->n_final, sizeof *r->sums);
	if (r->sums)
		return r;
	vprof_tree_reader_free(r);
	return NULL;
}

void vprof_tree_reader_free(struct vprof_tree_reader *r)
{
	if (!r)
		return;
	free(r->sums);
	VPROF_ARRAY_RELEASE(&r->ticks);
	VPROF_ARRAY_RELEASE(&r->sample);
	VPROF_ARRAY_RELEASE(&r->noise);
	free(r);
}

/* Of entries [from, from + n): their times without what recording took, calibrated. */
static void correct(struct vprof_tree_reader *r, const struct vprof_tree_part *part, size_t from, size_t n)
{
	const struct place *places = r->tree->private->places;
	const uint32_t *node = part->entry_node.v + from;
	double per_part = r->tree->cost_scale / VPROF_COST_PARTS;

	for (size_t e = n; e-- > 0;) {
		double cost = r->sums[node[e]] + (part->entry_cost.n ? part->entry_cost.v[from + e] : 0);

		r->sums[node[e]] = 0;
		if (e)
			r->sums[places[node[e]].parent] += cost;
		r->ticks.v[e] = r->tree->factors[node[e]] * (r->ticks.v[e] - cost * per_part);
	}
}

/* Bodies come in the order of their parents, too: both are merged. */
const struct vprof_sample *vprof_tree_read(struct vprof_tree_reader *r, size_t i, size_t *n)
{
	const struct place *places = r->tree->private->places;
	double ns = r->tree->ns_per_tick, *ticks;
	size_t k, n_entries, out = 0, parent = 0;
	const struct vprof_tree_part *part = vprof_tree_part_of(r->tree, i, &k);
	size_t from = (size_t)part->first.v[k];
	const uint32_t *node = part->entry_node.v + from;

	*n = 0;
	n_entries = (size_t)part->first.v[k + 1] - from;
	if (VPROF_ROOM(&r->sample, 2 * n_entries) || VPROF_ROOM(&r->ticks, n_entries))
		return NULL;
	ticks = r->ticks.v;
	for (size_t e = 0; e < n_entries; e++)
		ticks[e] = (double)(int64_t)part->entry_ticks.v[from + e];
	if (r->tree->factors)
		correct(r, part, from, n_entries);
	for (size_t e = 1; e < n_entries; e++)
		r->sums[places[node[e]].parent] += ticks[e];
	for (size_t e = 0; e <= n_entries; e++) {
		for (; parent < e; parent++) {
			uint32_t body = places[node[parent]].body;
			double rest = ticks[parent] - r->sums[node[parent]];

			if (body != VPROF_NONE && e < n_entries && body > node[e])
				break;
			r->sums[node[parent]] = 0;
			if (body != VPROF_NONE && rest != 0)
				r->sample.v[out++] = (struct vprof_sample){ body, rest * ns };
		}
		if (e < n_entries)
			r->sample.v[out++] = (struct vprof_sample){ node[e], ticks[e] * ns };
	}
	*n = out;
	return r->sample.v;
}

static const struct vprof_sample_noise no_noise;

static uint32_t place_of(const struct vprof_tree *tree, const struct vprof_tree_part *part, uint32_t noise_node)
{
	const struct vprof_tree_node *node = &tree->nodes.v[part->map[noise_node & ~VPROF_NOISE_BODY]];

	return noise_node & VPROF_NOISE_BODY ? node->body_id : node->final_id;
}

const struct vprof_sample_noise *vprof_tree_read_noise(struct vprof_tree_reader *r, size_t i, size_t *n)
{
	const struct vprof_tree *tree = r->tree;
	size_t n_items, interval;
	const struct vprof_tree_part *part = vprof_tree_part_of(tree, i, &interval);
	double ns = tree->ns_per_tick * part->source->ratio, ns2 = ns * ns;
	const struct vprof_noise_item *items = vprof_noise_items(part->noise, interval, &n_items);

	r->noise.n = 0;
	for (size_t k = 0; k < n_items; k++) {
		uint32_t a = place_of(tree, part, items[k].a), b = place_of(tree, part, items[k].b);
		struct vprof_sample_noise *item;
		double factor;

		if (a == VPROF_NONE || b == VPROF_NONE) /* a body that is not there */
			continue;
		factor = tree->factors ? tree->factors[a] * tree->factors[b] : 1;
		item = VPROF_PUSH(&r->noise);
		if (!item)
			return NULL;
		*item = (struct vprof_sample_noise){ a < b ? a : b, a < b ? b : a,
						     vprof_noise_product(&items[k], tree->cost_scale) * ns2 * factor };
	}
	*n = r->noise.n;
	return *n ? r->noise.v : &no_noise;
}
