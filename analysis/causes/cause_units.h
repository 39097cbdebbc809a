/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units: every leaf of the variance tree belongs to one of them, so that in every interval their times sum to the
 * latency. A unit is what one function of the program did itself: its own code, and the calls that leave the project,
 * wherever it ran, for the interval or while the interval waited. The scheduler, unexplained queue delay, what lies
 * outside all functions, and what is undivided between a function and the hot ones that it calls are units of their
 * own.
 *
 * What is too small to be a cause belongs to its caller, from the innermost calls outwards: so a unit is a function
 * with those of its callees that do not matter by themselves.
 */
#ifndef VPROF_CAUSE_UNITS_H
#define VPROF_CAUSE_UNITS_H

#include "analysis/results/results.h"
#include "analysis/variance/variance_tree.h"

enum { VPROF_UNIT_OUTSIDE, VPROF_UNIT_QUEUED, VPROF_UNIT_PREEMPTED, VPROF_UNIT_FUNCTIONS };

struct vprof_cause_unit {
	const char *name; /* of the function, or of undivided time */
	uint32_t node;	  /* its first one */
	int is_undivided;
	uint32_t function;   /* the unit of the function; VPROF_NONE: none */
	uint32_t height;     /* in the tree: calls beneath it */
	int is_closed;	     /* belongs to the callers */
	size_t from, to;     /* its members */
	double bound_ns2;    /* its variance is not above this */
	double var_ns2;	     /* NaN: not measured */
	double node_var_ns2; /* sum over its members */
};

struct vprof_cause_units {
	const struct vprof_results *r;
	VPROF_ARRAY(struct vprof_cause_unit) units;
	uint32_t *function;  /* [n_nodes] unit of a function's node; else VPROF_NONE */
	uint32_t *undivided; /* [n_nodes] unit of undivided time; else VPROF_NONE */
	uint32_t *of_node;   /* [n_nodes] unit of all leaves beneath it or of itself; VPROF_NONE: of several */
	uint32_t *members;   /* nodes, by unit: none beneath another */
};

/* Units that are not closed have at least this part of the variance, or their variance is not known exactly. OK, NOMEM
 * or the failure of another rank; to be released in all cases. */
int vprof_cause_units_take(struct vprof_cause_units *u, const struct vprof_results *r, struct vprof_tree *tree,
			   double share);
void vprof_cause_units_release(struct vprof_cause_units *u);

/* of_set[n_nodes] is filled for the leaves: fills it for nodes whose leaves are all of one set; else VPROF_NONE. */
void vprof_leaf_sets_join(const struct vprof_results *r, uint32_t *of_set);
/* Is the node of a set, and its parent not? */
int vprof_leaf_set_has(const struct vprof_results *r, const uint32_t *of_set, uint32_t node);

#endif
