/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which paths cost most, or cost more in one run than in another (IntroPerf, Algorithm 3 and section 3.4.2).
 *
 * A run alone: contexts by their own time. Two runs: paths from the outermost function to one that calls none, by the
 * sum of the differences of the own times of their contexts; then each without its inner end as far as that adds
 * nothing, and once. Own times are without idle time, and scaled by what the two runs are compared for: a second of the
 * recording, or a call of a function.
 *
 * Between two events the time is own time of one of those that may have been there, so of a path it is at least the
 * time between events that both lie on it, at most that between events of which one leads off it: each stretch once.
 * Where that does not tell whether the path costs more, a context on it may: how long it was on the stack, with all it
 * calls, has closer bounds. The innermost one for which they tell is taken, if a third of its difference or more is the
 * path's.
 *
 * Where the paper takes the whole cost of a path that the base run lacks, only the contexts that it lacks count here in
 * full: a rarely taken branch of a busy function is not new with all its callers' time.
 */
#ifndef VPROF_LATENCY_PATH_RANKING_H
#define VPROF_LATENCY_PATH_RANKING_H

#include "analysis/latency/paired_tree.h"

enum vprof_latency_verdict {
	VPROF_LATENCY_CHANGED,	 /* whatever the functions did between events, and beyond what varies within the runs */
	VPROF_LATENCY_UNBOUNDED, /* the bounds do not exclude that it is the same */
	VPROF_LATENCY_VARIES,	 /* it varies as much within the runs, or is too small */
	VPROF_LATENCY_VERDICTS
};

struct vprof_ranked_node { /* of a path; a cell of the heat map */
	uint32_t node;	   /* of the paired tree */
	uint32_t rank;	   /* by cost within the path, from 1 */
	double cost;	   /* ns of own time per unit: new's, less base's */
};

struct vprof_ranked_path {
	uint32_t node;		/* where it ends */
	double cost, low, high; /* ns per unit */
	size_t n_whole; /* 0, or low and high are of the context at the end of so many nodes, with all that it calls */
	double share;	/* of all costs of new that are no idle time */
	double error;	/* standard error of cost, from the parts of both recordings; NaN: not known */
	enum vprof_latency_verdict verdict;
	size_t first_node, n_nodes; /* in `nodes`, outermost first */
};

struct vprof_latency_ranking {
	double scale[2]; /* units of each side that a ns of it is divided by: 1 / seconds, or 1 / calls */
	double total[2]; /* ns per unit, without idle time */
	VPROF_ARRAY(struct vprof_ranked_path) paths; /* by falling cost; without a base those that cost anything */
	VPROF_ARRAY(struct vprof_ranked_node) nodes;
};

/* scale: see above; that of a missing base is not used. NOMEM; to be released in any case. O(n log n) for n nodes, and
 * the depth for each path that is kept, at most `most`. */
int vprof_latency_rank(struct vprof_latency_ranking *out, const struct vprof_paired_tree *t, const double scale[2],
		       size_t most, struct vprof_error *err);
void vprof_latency_ranking_release(struct vprof_latency_ranking *ranking);

/* The paper's p_min: the rank, from 1, of the first path on which a function of this name is; 0: it is on none. */
size_t vprof_latency_p_min(const struct vprof_latency_ranking *r, const struct vprof_paired_tree *t, const char *name);

/* The paper's f_min: how many calls lie between the costliest context of a path and the nearest of this function on it;
 * SIZE_MAX: it is not on it. */
size_t vprof_latency_f_min(const struct vprof_latency_ranking *r, const struct vprof_paired_tree *t, size_t path,
			   const char *name);

#endif
