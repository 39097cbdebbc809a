/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The children of functions: what their calls reach and a probe can measure. */
#ifndef VPROF_PLAN_CHILDREN_H
#define VPROF_PLAN_CHILDREN_H

#include "instrumenter/plan/plan_maker.h"

/* One enumeration of children: `mask` is given to each; `n` counts the distinct ones. */
struct vprof_plan_children {
	uint64_t mask;
	int mark; /* put the mask on them, else only count */
	uint32_t n;
};

/* Before and after all others; `facts`, `function`, `call` and `found` are there, twins are linked. OK or NOMEM. */
int vprof_plan_children_begin(struct vprof_plan_maker *m);
void vprof_plan_children_end(struct vprof_plan_maker *m);

/* Possible targets of a pointer of this signature; cached. NULL when out of memory. */
const struct vprof_plan_targets *vprof_plan_pointer_targets(struct vprof_plan_maker *m, const char *signature);

/* Distinct measurable children of a function, of all functions at its place; those that a call through a pointer may
 * reach. */
void vprof_plan_children_of(struct vprof_plan_maker *m, uint32_t function, struct vprof_plan_children *c);
void vprof_plan_children_by_pointer(struct vprof_plan_maker *m, const char *signature, struct vprof_plan_children *c);
uint32_t vprof_plan_count_children(struct vprof_plan_maker *m, uint32_t function);

#endif
