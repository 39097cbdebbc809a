/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of C++ headers that are measured at their calls instead of in their bodies. */
#ifndef VPROF_PLAN_AT_CALLS_H
#define VPROF_PLAN_AT_CALLS_H

#include "instrumenter/plan/plan_maker.h"

/* Call it once twins are linked. */
void vprof_plan_at_calls_begin(struct vprof_plan_maker *m);

/* A broken-down function, whose context `mask` is, has this (canonical) function as a child: through this call, or NULL
 * when it is reached in another way. */
void vprof_plan_reached(struct vprof_plan_maker *m, uint32_t function, const struct vprof_facts_call *call,
			uint64_t mask);

/* Once all is decided: is it measured at its calls instead of in its body? The second adds all these calls to the plan:
 * OK or NOMEM. */
int vprof_plan_is_at_calls(const struct vprof_plan_maker *m, uint32_t function);
int vprof_plan_add_at_calls(struct vprof_plan_maker *m);

#endif
