/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan is made from, and the children of functions in it (plan_make.c decides, plan_children.c finds children).
 *
 * Functions and calls are named by their index in the facts. Where memory ends, m->failed is set and the enumeration
 * goes on without.
 */
#ifndef VPROF_PLAN_CHILDREN_H
#define VPROF_PLAN_CHILDREN_H

#include "instrumenter/instrument.h"

#define VPROF_PLAN_NONE UINT32_MAX

struct vprof_plan_mark {
	uint64_t mask;
	uint32_t canon, next_twin; /* index; the list of twins starts at the canonical one */
	uint32_t n_twins;	   /* of the canonical one */
	uint32_t stamp;		   /* last enumeration that met it */
	unsigned char present, is_root, broken_down, is_acquire, excluded, context, needs_body;
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

/* One enumeration of children: `mask` is given to each; `n` counts the distinct ones. */
struct vprof_plan_children {
	uint64_t mask;
	int mark; /* put the mask on them, else only count */
	uint32_t n;
};

/* Before and after all others; `facts`, `function`, `call` and `found` are there, twins are linked. OK or NOMEM. */
int vprof_plan_children_begin(struct vprof_plan_maker *m);
void vprof_plan_children_end(struct vprof_plan_maker *m);

int vprof_plan_can_carry_probe(const struct vprof_plan_maker *m, uint32_t function);
int vprof_plan_site_can_carry_probe(const struct vprof_plan_maker *m, const struct vprof_facts_call *c);

/* Functions that a pointer of this signature may mean; kept. NULL without memory. */
const struct vprof_plan_targets *vprof_plan_pointer_targets(struct vprof_plan_maker *m, const char *signature);

/* Distinct measurable children of a function, of all functions at its place; those that a call through a pointer may
 * reach. */
void vprof_plan_children_of(struct vprof_plan_maker *m, uint32_t function, struct vprof_plan_children *c);
void vprof_plan_children_by_pointer(struct vprof_plan_maker *m, const char *signature, struct vprof_plan_children *c);
uint32_t vprof_plan_count_children(struct vprof_plan_maker *m, uint32_t function);

/* plan_at_calls.c. Once twins are linked. */
void vprof_plan_at_calls_begin(struct vprof_plan_maker *m);

/* A broken-down function, whose context `mask` is, has this (canonical) function as a child: by this call, or NULL when
 * it is by another way. */
void vprof_plan_reached(struct vprof_plan_maker *m, uint32_t function, const struct vprof_facts_call *call,
			uint64_t mask);

/* Once all is decided: is it measured at its calls instead of in its body? And all these calls into the plan: OK or
 * NOMEM. */
int vprof_plan_is_at_calls(const struct vprof_plan_maker *m, uint32_t function);
int vprof_plan_add_at_calls(struct vprof_plan_maker *m);

#endif
