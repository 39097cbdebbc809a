/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan is made from. plan_make.c decides, plan_children.c finds the children of functions, plan_at_calls.c
 * measures some of them at their calls.
 *
 * Functions and calls are named by their index in the facts. "Twins" are functions, or calls, that several units have
 * at one place in a file: they are decided on together. When memory runs out, m->failed is set and the work goes on
 * without what there was no room for.
 */
#ifndef VPROF_PLAN_MAKER_H
#define VPROF_PLAN_MAKER_H

#include "instrumenter/instrument.h"

#define VPROF_PLAN_NONE UINT32_MAX

struct vprof_plan_mark {
	uint64_t mask;
	uint32_t canon, next_twin; /* index; the list of twins starts at the canonical one */
	uint32_t n_twins;	   /* of the canonical one */
	uint32_t stamp;		   /* last enumeration that met it */
	unsigned char present, is_root, broken_down, is_acquire, excluded, closed, context, needs_body;
};

/* of one signature */
struct vprof_plan_targets {
	const char *signature;
	uint32_t *functions;
	size_t n;
};

/* the state of one vprof_plan_make() */
struct vprof_plan_maker {
	const struct vprof_facts *facts;
	const struct vprof_callgraph *graph;
	const struct vprof_annotations *a;
	const struct vprof_decisions *d;
	struct vprof_plan *plan;
	struct vprof_text *skipped;
	struct vprof_plan_mark *function, *call;
	uint32_t *address_by_caller; /* indices into addresses, sorted by caller */
	uint32_t *found;	     /* scratch for look-ups, [n_functions] */
	struct vprof_plan_targets *targets;
	size_t n_targets, cap_targets;
	uint32_t stamp;
	struct vprof_plan_reach *reaches;
	size_t n_reaches, cap_reaches;
	int failed; /* out of memory */
};

/* Can a probe be put into the function's body; around the call? */
int vprof_plan_can_carry_probe(const struct vprof_plan_maker *m, uint32_t function);
/* Is the function shorter than its probe: no loop, no call, a few operations? */
int vprof_plan_is_cheap(const struct vprof_plan_maker *m, uint32_t function);
int vprof_plan_site_can_carry_probe(const struct vprof_plan_maker *m, const struct vprof_facts_call *c);

#endif
