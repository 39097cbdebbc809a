/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/plan/plan_maker.h"

#include "common/files.h"
#include "instrumenter/plan/plan_external.h"
#include "trace/format.h"

int vprof_plan_can_carry_probe(const struct vprof_plan_maker *m, uint32_t function)
{
	const struct vprof_facts_function *f = &m->facts->functions[function];
	const struct vprof_facts_file *file = vprof_facts_file(m->facts, f->file);

	return f->instrumentable && f->body_begin > 0 && file && file->in_project &&
	       vprof_path_inside(m->facts->root, file->path) && f->id < VP_CODE_SITE - VP_CODE_FUNCTION;
}

/* Expressions and statements: some ten operations of a nanosecond or less. */
#define CHEAP_SIZE 40

int vprof_plan_is_cheap(const struct vprof_plan_maker *m, uint32_t function)
{
	for (uint32_t i = m->function[function].canon; i != VPROF_PLAN_NONE; i = m->function[i].next_twin) {
		const struct vprof_facts_function *f = &m->facts->functions[i];

		if (f->size < 0 || f->size > CHEAP_SIZE || f->n_calls)
			return 0;
	}
	return 1;
}

/* Is a call that takes time of its own written inside this one, as an argument? The probe around the whole call would
 * count it as the outer function's. */
static int encloses_calls(const struct vprof_plan_maker *m, const struct vprof_facts_call *c)
{
	const struct vprof_facts_function *f = vprof_facts_function(m->facts, c->caller);

	for (uint32_t i = 0; f && i < f->n_calls; i++) {
		const struct vprof_facts_call *inner = vprof_facts_call_of(m->facts, f, i);
		uint32_t callee = inner->callee_function;

		if (inner->file != c->file || inner->begin < c->begin || inner->end > c->end ||
		    (inner->begin == c->begin && inner->end == c->end))
			continue;
		if (callee ? !m->facts->functions[callee - 1].is_tiny :
			     inner->kind != VPROF_CALL_DIRECT || vprof_plan_external_measured(inner->callee))
			return 1;
	}
	return 0;
}

/* One place carries one form: two configurations of a file may disagree. */
static int twins_agree(const struct vprof_plan_maker *m, const struct vprof_facts_call *c)
{
	uint32_t i = m->call[c - m->facts->calls].canon;

	for (; i != VPROF_PLAN_NONE; i = m->call[i].next_twin)
		if (!m->facts->calls[i].wrappable || m->facts->calls[i].form != c->form)
			return 0;
	return 1;
}

int vprof_plan_site_can_carry_probe(const struct vprof_plan_maker *m, const struct vprof_facts_call *c)
{
	const struct vprof_facts_file *file = vprof_facts_file(m->facts, c->file);

	return c->wrappable && twins_agree(m, c) && !encloses_calls(m, c) && c->begin > 0 && c->end > c->begin &&
	       file && file->in_project && vprof_path_inside(m->facts->root, file->path) &&
	       c->id < VP_CODE_MASK - VP_CODE_SITE;
}
