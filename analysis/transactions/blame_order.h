/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A blame tree's nodes with all that is beneath them, children by falling time. The order is the nodes' own: it does
 * not depend on who met one first. */
#ifndef VPROF_BLAME_ORDER_H
#define VPROF_BLAME_ORDER_H

#include "analysis/transactions/blame_tree.h"

struct vprof_blame_order {
	const struct vprof_blame_tree *tree;
	int64_t *ticks;		    /* [nodes] with all beneath */
	uint32_t *first, *children; /* [nodes + 1], [nodes]: children of a node */
};

/* OK or NOMEM; to be released in any case. */
int vprof_blame_arrange(struct vprof_blame_order *order, const struct vprof_blame_tree *tree);
void vprof_blame_order_release(struct vprof_blame_order *order);

/* Sorts indices of nodes the same way. */
void vprof_blame_sort(const struct vprof_blame_order *order, uint32_t *nodes, size_t n);

#endif
