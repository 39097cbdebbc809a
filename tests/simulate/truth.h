/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The true critical path of an interval: read from the simulated machine's moments, waits, segments and hand-overs,
 * never from records. What it means is docs/design/critical-path.md.
 *
 * Invariants: pieces without a parent tile [begin, end]; a piece comes after its parent; the ticks of a node are its
 * own, not those of nodes below it, so all of them sum to the interval.
 */
#ifndef SIMULATE_TRUTH_H
#define SIMULATE_TRUTH_H

#include "tests/simulate/schedule/interval.h"

enum truth_kind { TRUTH_RUN, TRUTH_WAIT, TRUTH_QUEUED };

struct truth_piece {
	const struct sim_thread *th;
	uint64_t from, to;
	const struct sim_wait *wait;
	size_t parent; /* index + 1 */
	size_t node;
	uint32_t depth;
	enum truth_kind kind;
};

enum truth_class { TRUTH_ROOT, TRUTH_FRAME, TRUTH_BLOCKED, TRUTH_DELAY, TRUTH_PREEMPTED };

/* What a thread did in a wait; of an I/O call only switches tell. */
enum truth_state { TRUTH_SUSPENDED, TRUTH_KERNEL, TRUTH_EITHER, TRUTH_STATES };

struct truth_node {
	size_t parent;
	enum truth_class class;
	uint32_t code;	  /* FRAME */
	const char *name; /* BLOCKED */
	uint32_t level;
	int64_t ticks;
	uint64_t state[TRUTH_STATES]; /* its waits' ticks */
	uint64_t spun;		      /* of KERNEL: another thread was waited for meanwhile */
};

/* of a chosen call of a hot function, in its node or one beneath, while it stood for others */
struct truth_spent {
	const struct sim_thread *th;
	const struct sim_frame *call;
	size_t node;
	uint64_t ticks;
	bool is_outermost; /* the node is that of the outermost hot function, on the interval's own path */
};

struct truth {
	struct world *world;
	const struct sim_instance *instance;
	struct truth_piece *pieces;
	size_t n_pieces, cap_pieces;
	struct truth_node *nodes; /* [0]: the interval */
	size_t n_nodes, cap_nodes;
	struct truth_spent *spent;
	size_t n_spent, cap_spent;
	int64_t hot_ticks, hot_estimate; /* in the outermost hot functions of its own path; as timed calls tell */
	bool is_unknowable;		 /* a release that counts was cut off with the trace's begin or end */
};

/* Before all others: what the world's losses did to its waits. */
void truth_prepare(struct world *w);
/* *t may be used for one interval after the other; all zero before the first. */
void truth_find(struct truth *t, struct world *w, const struct sim_instance *i);
void truth_release(struct truth *t);

/* Does the wait stand for itself: it was recorded, and none around it? */
bool truth_wait_counts(const struct sim_thread *th, const struct sim_wait *w);
/* Its release was cut off, or may have been taken for another's whose release was. */
bool truth_wait_unknowable(const struct sim_thread *th, const struct sim_wait *w);
/* Records were lost while it lasted. */
bool truth_wait_lossy(const struct sim_thread *th, const struct sim_wait *w);
enum truth_loss { TRUTH_NO_LOSS, TRUTH_LOSSY, TRUTH_LOSS_UNTOLD };
/* Must the interval be left out? Untold: it should be, but no record tells that something was lost. */
enum truth_loss truth_loss(const struct world *w, const struct sim_instance *i);
/* Who ended it, as far as the records can tell, and when, within the wait; NULL: nobody. */
const struct sim_thread *truth_waker(const struct sim_thread *th, const struct sim_wait *w, uint64_t *t);

#endif
