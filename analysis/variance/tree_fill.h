/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a variance tree's intervals were taken from and by whom: sources, the parts that threads filled, and which part
 * took which interval.
 *
 * vprof_tree_add_source() of variance_tree.h is here, too. Afterwards parts
 * are read, joined and arranged (variance_tree.c).
 */
#ifndef VPROF_TREE_FILL_H
#define VPROF_TREE_FILL_H

#include "analysis/variance/tree_part.h"

struct vprof_tree_taken;

/* NULL without memory. A tree owns its own from vprof_tree_new() on. */
struct vprof_tree_taken *vprof_tree_taken_new(void);
void vprof_tree_taken_free(struct vprof_tree_taken *taken);

/* The *n parts that intervals were added to, in the order in which they are joined; valid until the tree is filled
 * again. */
struct vprof_tree_part *const *vprof_tree_parts(const struct vprof_tree *tree, size_t *n);

/* Interval i, one of this rank's, is the *k-th of the part. */
const struct vprof_tree_part *vprof_tree_part_of(const struct vprof_tree *tree, size_t i, size_t *k);

struct vprof_tree_intervals {		 /* of one source */
	const struct vprof_edges *edges; /* may be NULL when this rank takes none of them */
	const uint32_t *chosen;		 /* indices of complete instances */
	size_t n;
};

/* Adds this rank's of all intervals, those of one source after another, by up to n_threads threads (0: one for each
 * CPU); what comes out does not depend on their number. OK or NOMEM. */
int vprof_tree_fill(struct vprof_tree *tree, const struct vprof_tree_intervals *of_source, int n_threads,
		    void (*progress)(void *arg, double done), void *arg);

#endif
