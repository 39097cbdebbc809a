/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one thread of the analysis adds to a variance tree: nodes in the order in which it met them, and the intervals
 * it took. Parts know nothing of one another; vprof_tree_number() joins them.
 */
#ifndef VPROF_TREE_PART_H
#define VPROF_TREE_PART_H

#include "analysis/timeline/undivided.h"
#include "analysis/variance/tree.h"
#include "common/hash/hash_index.h"

#define VPROF_TREE_NODES_MAX 500000u

/* Nodes of different classes may share a key. */
enum vprof_node_class {
	VPROF_CLASS_FRAME,
	VPROF_CLASS_WAIT,
	VPROF_CLASS_QUEUED,
	VPROF_CLASS_PREEMPTED,
	VPROF_CLASS_UNDIVIDED
};

struct vprof_tree_frame {
	uint32_t call, node;
	uint32_t host; /* vprof_tree_part_host() */
	/* calls for which this one stands, or one around it: there are no chosen calls in chosen ones */
	uint32_t weight;
	const struct vprof_sampled *sampled; /* NULL: it stands for no other */
	uint64_t until;			     /* ... or no longer from here on */
};

struct vprof_tree_hot {		       /* of a node: what every call touches */
	int64_t ticks;		       /* of the interval being added; zero between intervals */
	uint64_t n_begun;	       /* calls that are in n_calls and n_timed once the parts are joined */
	int64_t cost;		       /* of recording, in the interval being added: see struct vprof_call_cost */
	uint32_t memo_key, memo_child; /* the child that was wanted last */
	uint32_t is_touched;
};

/* Ticks of the source to the tree's: before they are summed, so that no sum depends on who took what. */
static inline uint64_t vprof_tree_ticks(const struct vprof_tree_source *source, uint64_t ticks)
{
	return source->ratio == 1 ? ticks : (uint64_t)((double)ticks * source->ratio + 0.5);
}

struct vprof_tree_part {
	const struct vprof_tree *tree;
	const struct vprof_tree_source *source; /* whose intervals it takes */
	VPROF_ARRAY(struct vprof_tree_node) nodes;
	VPROF_ARRAY(struct vprof_tree_hot) hot; /* [nodes.n] */
	VPROF_ARRAY(uint32_t) entry_node;	/* places, sorted, once the tree is numbered */
	VPROF_ARRAY(uint64_t) entry_ticks;
	VPROF_ARRAY(float) entry_cost; /* beside them where the source's costs are known, else empty */
	VPROF_ARRAY(uint64_t) first;   /* [n intervals + 1] into the entries */
	struct vprof_noise *noise;
	struct vprof_undivided *undivided;
	uint64_t preempted_ticks, by_own_ticks, n_folded, wait_ticks, unmatched_ticks;
	uint64_t n_refused;		/* of n_folded, for the number of nodes */
	uint32_t *map;			/* to nodes of the tree, once joined */
	uint32_t *place;		/* ... and to their places in the results */
	struct vprof_hash_index by_key; /* of nodes: vprof_tree_key_hash() */
	VPROF_ARRAY(uint32_t) touched;
	VPROF_ARRAY(struct vprof_tree_frame) stack;
	VPROF_ARRAY(uint32_t) piece_node;
	VPROF_ARRAY(uint32_t) call_node; /* of the calls of a stretch */
	const struct vprof_call *window; /* calls around the piece at hand, in preorder */
	size_t n_window;
	VPROF_ARRAY(uint32_t) call_host; /* likewise, where some outlast turns */
	size_t *off_cpu_hint;		 /* [n_threads] */
	struct vprof_calls *calls;
};

struct vprof_tree_part *vprof_tree_part_new(const struct vprof_tree *tree, const struct vprof_tree_source *source,
					    size_t n_bytes_calls);
void vprof_tree_part_free(struct vprof_tree_part *part);

uint8_t vprof_tree_class(const struct vprof_tree_node *n);

/* A node is known by its parent, class, key and level. */
static inline uint64_t vprof_tree_key_hash(uint32_t parent, uint8_t class, uint32_t key, uint32_t level)
{
	return vprof_mix((uint64_t)parent << 32 ^ (uint64_t)(level << 3 | class) << 24 ^ key);
}

static inline int vprof_tree_has_key(const struct vprof_tree_node *n, uint32_t parent, uint8_t class, uint32_t key,
				     uint32_t level)
{
	return n->parent == parent && n->key == key && n->level == level && vprof_tree_class(n) == class;
}

/* VPROF_NONE when there is no memory; the parent itself when the tree may grow no more. */
uint32_t vprof_tree_part_child(struct vprof_tree_part *part, uint32_t parent, uint8_t class, uint32_t key,
			       uint32_t level);

/* The outlasting function for whose sake a call from t0 to t1 counts to its caller, which does so for that of `outer`
 * (0: it does not); 0: it has a node of its own (analysis/source/outlasting.h). */
uint32_t vprof_tree_part_host(const struct vprof_tree_part *part, uint32_t code, uint64_t t0, uint64_t t1,
			      uint32_t outer);

/* Adds one interval. OK or NOMEM. */
int vprof_tree_part_add(struct vprof_tree_part *part, const struct vprof_piece *pieces, size_t n_pieces);

/* Spends time of the interval at hand; nodes that were touched have touched parents. OK or NOMEM. */
int vprof_tree_part_spend(struct vprof_tree_part *part, uint32_t node, int64_t ticks);

/* The time of a run piece, and the frames around the begin of a wait: the node that it belongs to (VPROF_NONE without
 * memory). */
int vprof_tree_part_run(struct vprof_tree_part *part, const struct vprof_piece *piece, uint32_t base);
uint32_t vprof_tree_part_frames(struct vprof_tree_part *part, const struct vprof_piece *piece, uint32_t base);

/* Moves what is undivided of the interval at hand to nodes of its own. OK or NOMEM. */
int vprof_tree_part_divide(struct vprof_tree_part *part);

/* Spends from..to, part of `off_cpu`, on the preempted child of a node. OK or NOMEM. */
int vprof_tree_part_preempted(struct vprof_tree_part *part, const struct vprof_piece *piece, uint32_t node,
			      const struct vprof_off_cpu *off_cpu, uint64_t from, uint64_t to);

#endif
