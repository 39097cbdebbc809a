/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of C++ headers that are measured at their calls instead of in their bodies.
 *
 * The linker keeps one copy of an inline function, from any unit that reads the header, so a probe in its body would
 * force every one of these units to be recompiled: in MariaDB nearly all of them, in every round. A child that is
 * neither a root nor broken down itself records only in its callers' frames, so the calls there can carry its probe,
 * with its own code.
 *
 * Invariant: either every way in which a broken-down function reaches such a child is a call that can be measured in a
 * file which fewer units read, or the probe stays in the body. It also stays there if the function may be called out of
 * sight: if its address is taken (callbacks), or if it is an operator that the library's templates call (std::sort,
 * std::map).
 */
#include "instrumenter/plan/plan_at_calls.h"

#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

/* canonical call and function */
struct vprof_plan_reach {
	uint32_t call, function;
	uint64_t mask;
};

static int is_for_templates(const char *name)
{
	static const char *const names[] = { "operator()", "operator<",	  "operator>",	"operator<=",
					     "operator>=", "operator<=>", "operator==", "operator!=" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

void vprof_plan_at_calls_begin(struct vprof_plan_maker *m)
{
	for (size_t i = 0; i < m->facts->n_addresses; i++) {
		uint32_t function = m->facts->addresses[i].function;

		if (function)
			m->function[m->function[function - 1].canon].needs_body = 1;
	}
	for (size_t i = 0; i < m->facts->n_functions; i++)
		if (is_for_templates(m->facts->functions[i].name))
			m->function[m->function[i].canon].needs_body = 1;
}

/* Does the place call this function and no other in every configuration and template instance? */
static int always_calls(const struct vprof_plan_maker *m, const struct vprof_facts_call *call, uint32_t function)
{
	for (uint32_t i = m->call[call - m->facts->calls].canon; i != VPROF_PLAN_NONE; i = m->call[i].next_twin) {
		const struct vprof_facts_call *twin = &m->facts->calls[i];

		if (twin->kind == VPROF_CALL_POINTER || twin->kind == VPROF_CALL_VIRTUAL || !twin->callee_function ||
		    m->function[twin->callee_function - 1].canon != function)
			return 0;
	}
	return 1;
}

void vprof_plan_reached(struct vprof_plan_maker *m, uint32_t function, const struct vprof_facts_call *call,
			uint64_t mask)
{
	const struct vprof_facts_function *f = &m->facts->functions[function];
	struct vprof_plan_reach *grown;

	if (m->function[function].needs_body)
		return;
	if (!call || f->lang != VPROF_LANG_CXX || !always_calls(m, call, function) ||
	    !vprof_facts_is_shared(m->facts, call->file, f->file) || !vprof_plan_site_can_carry_probe(m, call)) {
		m->function[function].needs_body = 1;
		return;
	}
	if (m->n_reaches == m->cap_reaches) {
		m->cap_reaches = m->cap_reaches ? m->cap_reaches * 2 : 64;
		grown = realloc(m->reaches, m->cap_reaches * sizeof *grown);
		if (!grown) {
			m->failed = 1;
			return;
		}
		m->reaches = grown;
	}
	m->reaches[m->n_reaches++] = (struct vprof_plan_reach){ m->call[call - m->facts->calls].canon, function, mask };
}

int vprof_plan_is_at_calls(const struct vprof_plan_maker *m, uint32_t function)
{
	const struct vprof_plan_mark *mark = &m->function[function];

	for (uint32_t i = mark->canon; i != VPROF_PLAN_NONE; i = m->function[i].next_twin)
		if (m->function[i].is_acquire)
			return 0;
	return mark->mask && !mark->needs_body && !mark->is_root && !mark->broken_down && !m->d->all && !m->d->live;
}

int vprof_plan_add_at_calls(struct vprof_plan_maker *m)
{
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < m->n_reaches; i++) {
		const struct vprof_plan_reach *r = &m->reaches[i];
		struct vprof_plan_call c = { m->facts->calls[r->call].id,
					     VP_CODE_FUNCTION + m->facts->functions[r->function].id, r->mask };

		if (vprof_plan_is_at_calls(m, r->function))
			rc = vprof_plan_add_call(m->plan, &c);
	}
	return rc;
}
