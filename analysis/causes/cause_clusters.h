/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters: units that vary together are one cause. Where several callees of a function move together, none of them
 * explains it alone: the cause is the function, or, where it is more than that, these callees. */
#ifndef VPROF_CAUSE_CLUSTERS_H
#define VPROF_CAUSE_CLUSTERS_H

#include "analysis/causes/cause_units.h"
#include "analysis/variance/quantities.h"

#define VPROF_CLUSTERED_MAX 96 /* units, the largest */

struct vprof_cluster {
	uint32_t end;	 /* unit of the function where the cause ends: a unit's own; or that which calls them all */
	int is_group;	 /* of several units, and not all that `end` does */
	size_t n_units;	 /* that it consists of */
	uint32_t *units; /* by falling variance */
	double var_ns2;
};

struct vprof_clusters {
	VPROF_ARRAY(struct vprof_cluster) clusters;
};

/* Of the units that have this part of the variance. OK, NOMEM or the failure of another rank; to be released in all
 * cases. */
int vprof_clusters_find(struct vprof_clusters *c, const struct vprof_cause_units *units, struct vprof_tree *tree,
			double share);
void vprof_clusters_release(struct vprof_clusters *c);

#endif
