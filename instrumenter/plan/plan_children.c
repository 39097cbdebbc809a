/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The children of a function: what its calls reach and a probe can measure.
 *
 * If a callee cannot carry a probe, its own callees are children instead. A call through a pointer is one child if a
 * probe can be put around it; otherwise all its possible targets are. Each enumeration has its own stamp, so nothing
 * counts twice in it.
 */
#define _GNU_SOURCE /* qsort_r */
#include "instrumenter/plan/plan_children.h"

#include <stdlib.h>
#include <string.h>

#include "instrumenter/plan/plan_at_calls.h"
#include "instrumenter/plan/plan_external.h"

#define PASS_THROUGH_DEPTH 8 /* of functions that cannot carry a probe, looked through for children */

static int by_caller(const void *a, const void *b, void *facts)
{
	const struct vprof_facts *all = facts;
	uint32_t c = all->addresses[*(const uint32_t *)a].caller, d = all->addresses[*(const uint32_t *)b].caller;

	return c < d ? -1 : c > d;
}

int vprof_plan_children_begin(struct vprof_plan_maker *m)
{
	size_t n = m->facts->n_addresses;

	m->address_by_caller = malloc((n + 1) * sizeof *m->address_by_caller);
	if (!m->address_by_caller)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		m->address_by_caller[i] = (uint32_t)i;
	qsort_r(m->address_by_caller, n, sizeof *m->address_by_caller, by_caller, (void *)m->facts);
	return VPROF_OK;
}

void vprof_plan_children_end(struct vprof_plan_maker *m)
{
	for (size_t i = 0; i < m->n_targets; i++)
		free(m->targets[i].functions);
	free(m->targets);
	free(m->address_by_caller);
}

static int is_child(const struct vprof_plan_maker *m, uint32_t function)
{
	const struct vprof_plan_mark *mark = &m->function[function];

	if (!vprof_plan_can_carry_probe(m, function))
		return 0;
	if (m->d->live && !mark->is_acquire && vprof_plan_is_cheap(m, function))
		return 0;
	return mark->is_acquire || (!m->facts->functions[function].is_tiny && !mark->excluded && !mark->closed);
}

const struct vprof_plan_targets *vprof_plan_pointer_targets(struct vprof_plan_maker *m, const char *signature)
{
	struct vprof_plan_targets *t;
	size_t n;

	for (size_t i = 0; i < m->n_targets; i++)
		if (!strcmp(m->targets[i].signature, signature))
			return &m->targets[i];
	if (m->n_targets == m->cap_targets) {
		size_t cap = m->cap_targets ? m->cap_targets * 2 : 16;

		t = realloc(m->targets, cap * sizeof *t);
		if (!t) {
			m->failed = 1;
			return NULL;
		}
		m->targets = t;
		m->cap_targets = cap;
	}
	n = *signature ? vprof_facts_pointer_targets(m->facts, signature, m->found, m->facts->n_functions) : 0;
	if (n > m->facts->n_functions)
		n = m->facts->n_functions;
	t = &m->targets[m->n_targets];
	t->signature = signature;
	t->n = n;
	t->functions = malloc((n + 1) * sizeof *t->functions);
	if (!t->functions) {
		m->failed = 1;
		return NULL;
	}
	memcpy(t->functions, m->found, n * sizeof *t->functions);
	m->n_targets++;
	return t;
}

static void add_child(const struct vprof_plan_maker *m, struct vprof_plan_mark *mark, struct vprof_plan_children *c)
{
	if (mark->stamp == m->stamp)
		return;
	mark->stamp = m->stamp;
	c->n++;
	if (c->mark) {
		mark->mask |= c->mask;
		mark->present = 1;
	}
}

/* `call`: the call in the broken-down function itself, or NULL. */
static void child_function(struct vprof_plan_maker *m, uint32_t function, const struct vprof_facts_call *call,
			   struct vprof_plan_children *c)
{
	uint32_t canon = m->function[function].canon;

	if (c->mark)
		vprof_plan_reached(m, canon, call, c->mask);
	add_child(m, &m->function[canon], c);
}

static void child_site(struct vprof_plan_maker *m, const struct vprof_facts_call *call, struct vprof_plan_children *c)
{
	struct vprof_plan_mark *mark = &m->call[m->call[call - m->facts->calls].canon];

	if (!mark->closed)
		add_child(m, mark, c);
}

static void children_down_to(struct vprof_plan_maker *m, uint32_t function, struct vprof_plan_children *c, int depth);

/* A callee with a body: itself, or what it calls when it cannot carry a probe. */
static void child_callee(struct vprof_plan_maker *m, uint32_t function, const struct vprof_facts_call *call,
			 struct vprof_plan_children *c, int depth)
{
	struct vprof_plan_mark *mark = &m->function[function];

	if (is_child(m, function)) {
		child_function(m, function, depth ? NULL : call, c);
	} else if (!vprof_plan_can_carry_probe(m, function) && !mark->excluded && depth < PASS_THROUGH_DEPTH &&
		   mark->stamp != m->stamp) {
		mark->stamp = m->stamp;
		children_down_to(m, function, c, depth + 1);
	}
}

static void children_through_pointer(struct vprof_plan_maker *m, const char *signature, struct vprof_plan_children *c)
{
	const struct vprof_plan_targets *t = vprof_plan_pointer_targets(m, signature);

	for (size_t i = 0; t && i < t->n; i++)
		if (is_child(m, t->functions[i]))
			child_function(m, t->functions[i], NULL, c);
}

static void children_of_call(struct vprof_plan_maker *m, const struct vprof_facts_call *call,
			     struct vprof_plan_children *c, int depth)
{
	size_t n;

	if (call->kind == VPROF_CALL_POINTER) {
		if (vprof_plan_site_can_carry_probe(m, call))
			child_site(m, call, c);
		else
			children_through_pointer(m, call->signature, c);
		return;
	}
	if (call->kind == VPROF_CALL_VIRTUAL) {
		n = vprof_facts_overriders(m->facts, call->callee_usr, m->found, m->facts->n_functions);
		if (n > m->facts->n_functions)
			n = m->facts->n_functions;
		if (n) {
			uint32_t *overriders = malloc(n * sizeof *overriders);

			if (!overriders) {
				m->failed = 1;
				return;
			}
			memcpy(overriders, m->found, n * sizeof *overriders);
			for (size_t i = 0; i < n; i++)
				child_callee(m, overriders[i], NULL, c, depth);
			free(overriders);
			return;
		}
	}
	if (call->callee_function)
		child_callee(m, call->callee_function - 1, call, c, depth);
	else if (vprof_plan_site_can_carry_probe(m, call) && vprof_plan_external_measured(call->callee))
		child_site(m, call, c);
}

/* Functions passed to external ones (threads, comparators, callbacks) may be called back from there. */
static void children_called_back(struct vprof_plan_maker *m, uint32_t id, struct vprof_plan_children *c)
{
	const struct vprof_facts *f = m->facts;
	size_t low = 0, high = f->n_addresses;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->addresses[m->address_by_caller[middle]].caller < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < f->n_addresses; low++) {
		const struct vprof_facts_address *a = &f->addresses[m->address_by_caller[low]];

		if (a->caller != id)
			break;
		if (a->function && a->use == VPROF_ADDRESS_ARGUMENT && is_child(m, a->function - 1) &&
		    !vprof_facts_find(f, a->target, NULL, NULL, 0))
			child_function(m, a->function - 1, NULL, c);
	}
}

/* Distinct measurable children of a function, of all functions at its place. */
static void children_down_to(struct vprof_plan_maker *m, uint32_t function, struct vprof_plan_children *c, int depth)
{
	for (uint32_t i = m->function[function].canon; i != VPROF_PLAN_NONE; i = m->function[i].next_twin) {
		const struct vprof_facts_function *f = &m->facts->functions[i];

		for (uint32_t k = 0; k < f->n_calls; k++)
			children_of_call(m, vprof_facts_call_of(m->facts, f, k), c, depth);
		children_called_back(m, f->id, c);
	}
}

void vprof_plan_children_of(struct vprof_plan_maker *m, uint32_t function, struct vprof_plan_children *c)
{
	m->stamp++;
	children_down_to(m, function, c, 0);
}

void vprof_plan_children_by_pointer(struct vprof_plan_maker *m, const char *signature, struct vprof_plan_children *c)
{
	m->stamp++;
	children_through_pointer(m, signature, c);
}

uint32_t vprof_plan_count_children(struct vprof_plan_maker *m, uint32_t function)
{
	struct vprof_plan_children c = { 0 };

	vprof_plan_children_of(m, function, &c);
	return c.n;
}
