/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time of intervals' critical paths, in two ways: a tree of sums of whole ticks.
 *
 * Waiting time by who waited, whom for, at which lock, and what the holder ran meanwhile. From the root down: WAITER,
 * HOLDER, LOCK, SITE, then FRAME, WAIT and PREEMPTED as the holder's path has them. Ticks of a node are its own; those
 * of a wait are the sum over all that lies beneath its LOCK.
 *
 * All time by transaction context: a way of ROUTE nodes from the root, one for each stage that intervals passed;
 * beneath the last of them STAGE nodes, nested as the context grew; beneath each what ran in it, what it waited for,
 * QUEUED for the delay before it, and beneath waits and delays what others did meanwhile.
 *
 * Sums of integers do not depend on who adds them: threads and ranks fill trees of their own, which are joined.
 */
#ifndef VPROF_BLAME_TREE_H
#define VPROF_BLAME_TREE_H

#include "common/array.h"
#include "common/hash/hash_index.h"

enum vprof_blame_class {
	VPROF_BLAME_ROOT,
	VPROF_BLAME_WAITER, /* key: party (working_for.h) */
	VPROF_BLAME_HOLDER, /* key: holder (working_for.h) */
	VPROF_BLAME_LOCK,   /* key: name of the wait; VPROF_NONE: queued */
	VPROF_BLAME_SITE,   /* key: code of the innermost measured call in which the wait began; VPROF_NONE: none */
	VPROF_BLAME_FRAME,  /* key: code */
	VPROF_BLAME_WAIT,   /* key: name of the wait */
	VPROF_BLAME_PREEMPTED,
	VPROF_BLAME_QUEUED, /* beneath a STAGE */
	VPROF_BLAME_ROUTE,  /* key: call path (call_paths.h) */
	VPROF_BLAME_STAGE,  /* key: call path */
};

struct vprof_blame_node {
	uint32_t parent, key; /* a parent comes before its children; [0] is the root */
	uint8_t class;
	uint8_t objects; /* SITE: 0, 1, or 2 for more */
	uint8_t is_wait; /* FRAME: the call is a wait itself; what lies beneath it others did */
	uint8_t is_cut;	 /* the last ROUTE of an interval: one passed more stages than are told apart */
	/* beneath a STAGE, and its time is, or may turn out to be, part of a wait or delay: there are sums of it */
	uint8_t is_summed;
	uint64_t object;
	int64_t ticks; /* own */
	uint32_t depth;
	uint64_t n_waits; /* HOLDER, SITE; of the last ROUTE of an interval: intervals */
	uint64_t last;	  /* number of the wait that was counted last */
};

/* Of one node, in one block of intervals (run_blocks.h). HOLDER: waiting time. The last ROUTE of intervals: their
 * latencies, and how many there are. Nodes with is_summed: own ticks, as the node has them; so what lies beneath one in
 * a block is the sum over its subtree. */
struct vprof_blame_sum {
	uint32_t node, block;
	int64_t ticks;
	uint64_t n;
};

struct vprof_blame_tree {
	VPROF_ARRAY(struct vprof_blame_node) nodes;
	VPROF_ARRAY(struct vprof_blame_sum) sums;
	struct vprof_hash_index by_key, by_block;
};

int vprof_blame_begin(struct vprof_blame_tree *tree); /* OK or NOMEM; to be released in any case */
void vprof_blame_release(struct vprof_blame_tree *tree);

/* VPROF_NONE without memory. The parent itself where the tree may grow no more: calls and waits up to
 * VPROF_BLAME_NODES_MAX nodes and VPROF_BLAME_DEPTH_MAX deep (recursion, damaged traces), contexts up to twice as many
 * nodes, so that calls leave room for them. */
#define VPROF_BLAME_NODES_MAX 500000u
#define VPROF_BLAME_DEPTH_MAX 1000u
uint32_t vprof_blame_child(struct vprof_blame_tree *tree, uint32_t parent, uint8_t class, uint32_t key);

int vprof_blame_add_sum(struct vprof_blame_tree *tree, uint32_t node, uint32_t block, int64_t ticks, uint64_t n);

/* Adds `from` to `to`; holders become holder_of[key], NULL: they stay. OK or NOMEM. */
int vprof_blame_join(struct vprof_blame_tree *to, const struct vprof_blame_node *nodes, size_t n_nodes,
		     const struct vprof_blame_sum *sums, size_t n_sums, const uint32_t *holder_of);

#endif
