/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the contexts of two runs cost for each unit of work, without idle time, and how sure that is.
 *
 * Two errors stand against a difference. Within the runs: costs of the parts of a recording vary, less so beside the
 * units of work that were done in the same part (the ratio estimator). Between them: a machine that does more besides
 * makes everything slower, in a ratio that most contexts have in common; what is told is the difference beyond it. How
 * far contexts stray from that ratio, more than their errors within the runs explain, is how much two runs differ for
 * no reason, and is taken as an error of each. Ratio and spread are medians over contexts, weighted by how well each
 * is known, so that what a cause adds counts little; with few contexts, or where these do not prove that it is another
 * one, the ratio is 1.
 */
#ifndef VPROF_LATENCY_PAIRED_COSTS_H
#define VPROF_LATENCY_PAIRED_COSTS_H

#include "analysis/latency/work_unit.h"

struct vprof_paired_costs {
	const struct vprof_paired_tree *tree;
	double scale[2];	 /* a ns of a side is this much of a unit's costs; base's times the ratio */
	double ratio, spread;	 /* that all of new costs more; standard deviation of contexts' logarithms from it */
	double total[2];	 /* ns per unit */
	double *own[2];		 /* [nodes] ns per unit */
	double *under[2];	 /* ... of each with all beneath it */
	double *error;		 /* [nodes] standard error of the difference of own times, within the runs */
	double *under_error;	 /* ... with all beneath */
	uint64_t *idle[2];	 /* [nodes] ns of idle time with all beneath */
	uint64_t *sure_idle[2];	 /* ... without what is so perhaps */
	unsigned char *is_await; /* [nodes] what sleeps there waits for work, on both sides */
};

/* Without a base the ratio is 1, and errors are of new alone. NOMEM; to be released in any case. O(nodes log nodes).
 */
int vprof_paired_costs_fill(struct vprof_paired_costs *out, const struct vprof_paired_tree *t,
			    const struct vprof_latency_units *units);
void vprof_paired_costs_release(struct vprof_paired_costs *costs);

/* A node's own idle time on a side, as far as it may be idle, or surely is; ns. */
uint64_t vprof_paired_costs_idle(const struct vprof_paired_costs *c, int side, uint32_t node);
uint64_t vprof_paired_costs_sure_idle(const struct vprof_paired_costs *c, int side, uint32_t node);

#endif
