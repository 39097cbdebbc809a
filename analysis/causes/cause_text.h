/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reports say of a cause besides its figures: where it sits, what it is called, what it consists of, and which
 * factors it stands for. */
#ifndef VPROF_CAUSE_TEXT_H
#define VPROF_CAUSE_TEXT_H

#include "analysis/causes/cause_clusters.h"
#include "common/plan.h"

/* a cause in the making, and what it was made of */
struct vprof_cause_draft {
	struct vprof_cause cause;
	const struct vprof_cluster *cluster;
};

struct vprof_cause_drafts {
	struct vprof_results *r;
	const struct vprof_plan *plan;
	const struct vprof_cause_units *units;
	VPROF_ARRAY(struct vprof_cause_draft) drafts;
	uint32_t *of_node; /* [n_nodes] the cause of all leaves beneath it or of itself; VPROF_NONE: of several, or none
			    */
};

/* Node of the cause's end around or at `node`, one of the cause's; 0: the interval. */
uint32_t vprof_cause_end(const struct vprof_cause_drafts *d, const struct vprof_cause_draft *draft, uint32_t node);

/* Kind, key, name, steps, places, and what could be broken down. OK or NOMEM. */
int vprof_cause_describe(struct vprof_cause_drafts *d, struct vprof_cause_draft *draft);

/* For each of the factors that may be selected, the cause that it folds into. OK or NOMEM. */
int vprof_causes_fold(struct vprof_cause_drafts *d);

#endif
