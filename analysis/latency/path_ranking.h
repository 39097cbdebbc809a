/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which paths cost most, or cost more in one run than in another (IntroPerf, Algorithm 3 and section 3.4.2).
 *
 * A run alone: contexts by their own time. Two runs: each path leads to where a difference arises, and no two paths
 * tell of the same difference. A context is such a place with all beneath it, unless half of what it costs more is some
 * context's further in: then that one is. So a cause that is spread over many small functions is the one that calls
 * them, and a function that makes all of a difference is the end of its path. Where what is beneath a context became
 * faster, its own time alone may be the place. What decides is by how much a context costs more at least, with its
 * errors within and between the runs (paired_costs.h); of what is beneath that, the differences themselves. The path
 * goes on from there to where most of it is.
 *
 * Settled differences come first, the largest first; then the others by how large they are at least. The paper takes
 * the paths to each function that calls none, by the sum of the own times on them: a cause that is spread over many
 * functions has no such path, one with many callees has many of them, and chance has most. Where it takes the whole
 * cost of a path that the base run lacks, only the contexts that are missing count here in full.
 *
 * The bounds are those of the time that the context was on the stack, with all it calls. Where these do not tell
 * whether it costs more, a context further out may: the innermost one for which they tell is taken, if a third of its
 * difference or more is the path's.
 */
#ifndef VPROF_LATENCY_PATH_RANKING_H
#define VPROF_LATENCY_PATH_RANKING_H

#include "analysis/latency/paired_costs.h"

enum vprof_latency_verdict {
	VPROF_LATENCY_CHANGED,	 /* whatever the functions did between events, and beyond what varies within the runs */
	VPROF_LATENCY_UNBOUNDED, /* the bounds do not exclude that it is the same */
	VPROF_LATENCY_VARIES,	 /* it varies as much within the runs, or is too small */
};

struct vprof_ranked_node { /* of a path; a cell of the heat map */
	uint32_t node;	   /* of the paired tree */
	uint32_t rank;	   /* by cost within the path, from 1 */
	double cost;	   /* ns of own time per unit: new's, less base's */
};

struct vprof_ranked_path {
	uint32_t node; /* of two runs: the context whose difference it is, with all beneath it, or alone (is_own) */
	int is_own;
	double cost, low, high; /* ns per unit */
	size_t n_whole; /* 0, or low and high are of the context at the end of so many nodes, with all that it calls */
	double share;	/* of all costs of new that are no idle time */
	double error;	/* standard error of cost, from the parts of both recordings; NaN: not known */
	double least;	/* what it costs more with 95 % probability: cost less its errors */
	enum vprof_latency_verdict verdict;
	size_t first_node, n_nodes; /* in `nodes`, outermost first */
	size_t first_part, n_parts; /* in `parts`: where else beneath the context much of its difference is */
};

struct vprof_ranked_part { /* a fifth of a path's difference or more, at the end of what has nearly all of it */
	uint32_t node;
	double cost; /* ns per unit, with all beneath */
};

struct vprof_latency_ranking {
	const struct vprof_latency_units *units;     /* the caller's */
	double ratio, spread;			     /* paired_costs.h */
	double total[2];			     /* ns per unit, without idle time; base's times the ratio */
	VPROF_ARRAY(struct vprof_ranked_path) paths; /* by rank; without a base those that cost anything */
	VPROF_ARRAY(struct vprof_ranked_node) nodes;
	VPROF_ARRAY(struct vprof_ranked_part) parts;
};

/* NOMEM; to be released in any case. O(n log n) for n nodes, and the depth for each path that is kept, at most `most`.
 */
int vprof_latency_rank(struct vprof_latency_ranking *out, const struct vprof_paired_tree *t,
		       const struct vprof_latency_units *units, size_t most, struct vprof_error *err);
void vprof_latency_ranking_release(struct vprof_latency_ranking *ranking);

#endif
