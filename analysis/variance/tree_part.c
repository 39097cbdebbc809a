/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of critical paths to nodes and sparse vectors.
 *
 * Ticks are first put where they were spent (exclusive); a piece that explains another one takes its ticks away from
 * that one's node. Inclusive times are summed from the leaves when the interval is complete.
 */
#include "analysis/variance/tree_part.h"

#include "analysis/paths/wait_states.h"
#include "analysis/timeline/edges/wake_class.h"
#include "analysis/timeline/calls.h"
#include "common/search.h"

#define DEPTH_MAX 200 /* recursion deeper than this is folded into the last frame */

struct vprof_tree_part *vprof_tree_part_new(const struct vprof_tree *tree, const struct vprof_tree_source *source,
					    size_t n_bytes_calls)
{
	struct vprof_tree_part *p = calloc(1, sizeof *p);
	uint64_t *first;

	if (!p)
		return NULL;
	p->tree = tree;
	p->source = source;
	p->noise = vprof_noise_new();
	p->undivided = vprof_undivided_new(source->timeline, tree->plan);
	p->off_cpu_hint = calloc(source->timeline->n_threads + 1, sizeof *p->off_cpu_hint);
	p->calls = vprof_calls_new(source->timeline->n_threads, n_bytes_calls);
	first = VPROF_PUSH(&p->first);
	if (p->noise && p->undivided && p->off_cpu_hint && p->calls && first && VPROF_PUSH(&p->nodes) &&
	    VPROF_PUSH(&p->hot)) {
		p->nodes.v[0].kind = VPROF_NODE_INTERVAL;
		p->hot.v[0].memo_key = UINT32_MAX;
		return p;
	}
	vprof_tree_part_free(p);
	return NULL;
}

void vprof_tree_part_free(struct vprof_tree_part *p)
{
	if (!p)
		return;
	VPROF_ARRAY_RELEASE(&p->nodes);
	VPROF_ARRAY_RELEASE(&p->hot);
	VPROF_ARRAY_RELEASE(&p->entry_node);
	VPROF_ARRAY_RELEASE(&p->entry_ticks);
	VPROF_ARRAY_RELEASE(&p->entry_cost);
	VPROF_ARRAY_RELEASE(&p->first);
	VPROF_ARRAY_RELEASE(&p->touched);
	VPROF_ARRAY_RELEASE(&p->stack);
	VPROF_ARRAY_RELEASE(&p->piece_node);
	VPROF_ARRAY_RELEASE(&p->call_node);
	VPROF_ARRAY_RELEASE(&p->call_host);
	vprof_noise_free(p->noise);
	vprof_undivided_free(p->undivided);
	vprof_calls_free(p->calls);
	vprof_hash_index_release(&p->by_key);
	free(p->off_cpu_hint);
	free(p->map);
	free(p->place);
	free(p);
}

uint8_t vprof_tree_class(const struct vprof_tree_node *n)
{
	switch (n->kind) {
	case VPROF_NODE_WAIT:
		return VPROF_CLASS_WAIT;
	case VPROF_NODE_QUEUED:
		return VPROF_CLASS_QUEUED;
	case VPROF_NODE_PREEMPTED:
		return VPROF_CLASS_PREEMPTED;
	case VPROF_NODE_UNDIVIDED:
		return VPROF_CLASS_UNDIVIDED;
	default:
		return VPROF_CLASS_FRAME;
	}
}

static void node_fill(struct vprof_tree_part *p, struct vprof_tree_node *n, uint32_t parent, uint8_t class,
		      uint32_t key, uint32_t level)
{
	static const uint8_t kinds[] = { VPROF_NODE_FUNCTION, VPROF_NODE_WAIT, VPROF_NODE_QUEUED, VPROF_NODE_PREEMPTED,
					 VPROF_NODE_UNDIVIDED };
	static const uint8_t probe_kinds[] = { [VPROF_PROBE_FUNCTION] = VPROF_NODE_FUNCTION,
					       [VPROF_PROBE_SITE] = VPROF_NODE_SITE,
					       [VPROF_PROBE_POINTER] = VPROF_NODE_POINTER };

	n->parent = parent;
	n->depth = p->nodes.v[parent].depth + 1;
	n->key = key;
	n->level = level;
	n->kind = kinds[class];
	if (class != VPROF_CLASS_FRAME)
		return;
	n->probe = vprof_plan_probe(p->tree->plan, key);
	if (n->probe && (unsigned)n->probe->kind < sizeof probe_kinds)
		n->kind = probe_kinds[n->probe->kind];
}

uint32_t vprof_tree_part_child(struct vprof_tree_part *p, uint32_t parent, uint8_t class, uint32_t key, uint32_t level)
{
	uint64_t hash = vprof_tree_key_hash(parent, class, key, level);
	struct vprof_tree_node *n;
	struct vprof_tree_hot *hot;
	size_t at;

	if (vprof_hash_index_room(&p->by_key, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&p->by_key, hash, at, node)
	if (vprof_tree_has_key(&p->nodes.v[node], parent, class, key, level))
		return node;
	if (p->nodes.v[parent].depth >= DEPTH_MAX || p->nodes.n >= VPROF_TREE_NODES_MAX) {
		p->n_folded++;
		p->n_refused += p->nodes.v[parent].depth < DEPTH_MAX;
		return parent;
	}
	hot = VPROF_PUSH(&p->hot);
	n = hot ? VPROF_PUSH(&p->nodes) : NULL;
	if (!n)
		return VPROF_NONE;
	hot->memo_key = UINT32_MAX;
	node_fill(p, n, parent, class, key, level);
	vprof_hash_index_put(&p->by_key, at, hash, (uint32_t)p->nodes.n - 1);
	return (uint32_t)p->nodes.n - 1;
}

int vprof_tree_part_spend(struct vprof_tree_part *p, uint32_t node, int64_t ticks)
{
	for (uint32_t i = node; !p->hot.v[i].is_touched; i = p->nodes.v[i].parent) {
		uint32_t *t = VPROF_PUSH(&p->touched);

		if (!t)
			return VPROF_ERR_NOMEM;
		*t = i;
		p->hot.v[i].is_touched = 1;
		if (!i)
			break;
	}
	p->hot.v[node].ticks += ticks;
	return 0;
}

static uint32_t wait_node(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t base)
{
	const struct vprof_tree *tree = p->tree;
	const struct vprof_wait *w = &p->source->timeline->threads[piece->thread].waits.v[piece->wait];
	uint32_t name = p->source->canonical[w->name], node;
	const struct vprof_tree_node *top;
	struct vprof_tree_node *n;

	node = vprof_tree_part_frames(p, piece, base);
	if (node == VPROF_NONE)
		return node;
	top = &p->nodes.v[node];
	if (node == base || !vprof_wait_is_of_probe(top->probe, tree->names.v[name], w->kind))
		node = vprof_tree_part_child(p, node, VPROF_CLASS_WAIT, name, piece->depth);
	if (node == VPROF_NONE)
		return node;
	n = &p->nodes.v[node];
	if (vprof_wait_has_waker(w->kind)) { /* the object of I/O is a file descriptor: says little */
		if (!n->objects)
			n->object = w->object;
		n->objects = n->objects && (n->objects > 1 || n->object != w->object) ? 2 : 1;
	}
	if (n->kind == VPROF_NODE_WAIT && piece->from == w->t0) {
		n->n_calls++;
		n->n_timed++;
	}
	return node;
}

static void count_wait(struct vprof_tree_part *p, const struct vprof_piece *piece)
{
	const struct vprof_wait *w = &p->source->timeline->threads[piece->thread].waits.v[piece->wait];
	uint64_t ticks = piece->to - piece->from;

	if (!vprof_wait_has_waker(w->kind))
		return;
	if (piece->parent == VPROF_NONE)
		p->wait_ticks += vprof_tree_ticks(p->source, ticks);
	if (w->waker == VPROF_NONE)
		p->unmatched_ticks += vprof_tree_ticks(p->source, ticks);
}

/* A wait's time: how much of it was blocked, and what the scheduler took. */
static int spend_wait(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t node)
{
	const struct vprof_timeline *timeline = p->source->timeline;
	const struct vprof_wait *w = &timeline->threads[piece->thread].waits.v[piece->wait];
	struct vprof_wait_walk walk;
	struct vprof_wait_stretch s;

	vprof_wait_walk_begin(&walk, timeline, piece->thread, w, piece->from, piece->to,
			      &p->off_cpu_hint[piece->thread]);
	while (vprof_wait_walk_next(&walk, &s)) {
		struct vprof_tree_node *n = &p->nodes.v[node];
		uint64_t ticks = vprof_tree_ticks(p->source, s.to - s.from);

		if (s.state == VPROF_IN_PREEMPTED ? vprof_tree_part_preempted(p, piece, node, s.off_cpu, s.from, s.to) :
						    vprof_tree_part_spend(p, node, (int64_t)(s.to - s.from)))
			return VPROF_ERR_NOMEM;
		if (s.state == VPROF_IN_BLOCK)
			n->blocked_ticks += ticks;
		else if (s.state == VPROF_IN_KERNEL)
			n->kernel_ticks += ticks;
		else if (s.state == VPROF_IN_IO)
			n->io_ticks += ticks;
	}
	return 0;
}

static int add_piece(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t *node)
{
	const uint32_t base = piece->parent == VPROF_NONE ? 0 : p->piece_node.v[piece->parent];
	int64_t ticks = (int64_t)(piece->to - piece->from);

	if (piece->parent != VPROF_NONE && vprof_tree_part_spend(p, base, -ticks))
		return VPROF_ERR_NOMEM;
	*node = base;
	if (piece->kind == VPROF_PIECE_RUN)
		return vprof_tree_part_run(p, piece, base);
	*node = piece->kind == VPROF_PIECE_WAIT ? wait_node(p, piece, base) :
						  vprof_tree_part_child(p, base, VPROF_CLASS_QUEUED, 0, 0);
	if (*node == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (piece->kind == VPROF_PIECE_WAIT) {
		count_wait(p, piece);
		return spend_wait(p, piece, *node);
	}
	p->nodes.v[*node].n_calls++;
	p->nodes.v[*node].n_timed++;
	return vprof_tree_part_spend(p, *node, ticks);
}

/* Few, nearly sorted items: insertion; many: qsort. */
static void sort_indices(uint32_t *v, size_t n)
{
	if (n > 64) {
		qsort(v, n, sizeof *v, vprof_compare_u32);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		uint32_t x = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static uint32_t parent_of(const void *part, uint32_t node)
{
	return ((const struct vprof_tree_part *)part)->nodes.v[node].parent;
}

/* What recording took of the nodes' times in the interval that is stored. */
static void store_cost(struct vprof_tree_part *p, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t node = p->touched.v[i];

		p->entry_cost.v[at + i] = (float)p->hot.v[node].cost;
		p->nodes.v[node].cost += p->hot.v[node].cost;
		p->hot.v[node].cost = 0;
	}
	p->entry_cost.n = at + n;
}

static int store(struct vprof_tree_part *p)
{
	size_t n = p->touched.n, at = p->entry_node.n;
	uint64_t *first = VPROF_PUSH(&p->first);

	if (!first || VPROF_ROOM(&p->entry_node, at + n) || VPROF_ROOM(&p->entry_ticks, at + n) ||
	    (vprof_tree_cost_is_known(p->source) && VPROF_ROOM(&p->entry_cost, at + n)))
		return VPROF_ERR_NOMEM;
	sort_indices(p->touched.v, n);
	if (vprof_tree_cost_is_known(p->source))
		store_cost(p, at, n);
	for (size_t i = n; i-- > 1;)
		p->hot.v[p->nodes.v[p->touched.v[i]].parent].ticks += p->hot.v[p->touched.v[i]].ticks;
	for (size_t i = 0; i < n; i++) {
		uint32_t node = p->touched.v[i];
		struct vprof_tree_hot *hot = &p->hot.v[node];
		uint64_t ticks = vprof_tree_ticks(p->source, hot->ticks < 0 ? 0 : (uint64_t)hot->ticks);

		p->entry_node.v[at + i] = node;
		p->entry_ticks.v[at + i] = ticks;
		p->nodes.v[node].total_ticks += ticks;
		hot->ticks = 0;
		hot->is_touched = 0;
	}
	p->touched.n = 0;
	p->entry_node.n = p->entry_ticks.n = *first = at + n;
	return vprof_noise_store(p->noise, parent_of, p);
}

static int is_outlasting(const struct vprof_timeline *timeline, uint32_t code)
{
	size_t at = VPROF_BISECT(timeline->outlasting.n, i, timeline->outlasting.v[i] < code);

	return at < timeline->outlasting.n && timeline->outlasting.v[at] == code;
}

uint32_t vprof_tree_part_host(const struct vprof_tree_part *p, uint32_t code, uint64_t t0, uint64_t t1, uint32_t outer)
{
	const struct vprof_timeline *timeline = p->source->timeline;
	const struct vprof_probe *probe;

	if (!timeline->outlasting.n)
		return 0;
	if (t1 - t0 >= timeline->outlasting_ticks && is_outlasting(timeline, code))
		return code;
	probe = outer ? vprof_plan_probe(p->tree->plan, code) : NULL;
	for (size_t i = 0; probe && i < VPROF_HOSTS_MAX && probe->hosts[i]; i++)
		if (probe->hosts[i] == outer)
			return outer;
	return 0;
}

int vprof_tree_part_add(struct vprof_tree_part *p, const struct vprof_piece *pieces, size_t n_pieces)
{
	p->piece_node.n = 0;
	if (VPROF_ROOM(&p->piece_node, n_pieces) || vprof_tree_part_spend(p, 0, 0))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n_pieces; i++)
		if (add_piece(p, &pieces[i], &p->piece_node.v[i]))
			return VPROF_ERR_NOMEM;
	return vprof_tree_part_divide(p) ? VPROF_ERR_NOMEM : store(p);
}
