/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live/live_contexts.h"

#include "common/search.h"

#define CONTEXTS 64

/* Where a code is in the list, or belongs. */
static size_t place_of(const struct vprof_live_contexts *c, uint32_t code)
{
	return VPROF_BISECT(c->v.n, i, c->v.v[i].code < code);
}

static struct vprof_live_context *find(const struct vprof_live_contexts *c, uint32_t code)
{
	size_t i = place_of(c, code);

	return i < c->v.n && c->v.v[i].code == code ? &c->v.v[i] : NULL;
}

/* Of a probe that has none, or LEAF, which changes then. */
static int give(struct vprof_live_contexts *c, uint32_t code, int context)
{
	size_t at = place_of(c, code);
	int is_known = find(c, code) != NULL;

	if (!is_known) {
		if (!VPROF_PUSH(&c->v))
			return VPROF_ERR_NOMEM;
		memmove(c->v.v + at + 1, c->v.v + at, (c->v.n - 1 - at) * sizeof *c->v.v);
	}
	c->v.v[at] = (struct vprof_live_context){ code, context, is_known };
	c->n_users[context]++;
	return VPROF_OK;
}

static int least_used(const struct vprof_live_contexts *c)
{
	int best = VPROF_CONTEXT_FIRST;

	for (int i = VPROF_CONTEXT_FIRST; i < CONTEXTS; i++)
		if (c->n_users[i] < c->n_users[best])
			best = i;
	return best;
}

static size_t n_used(const struct vprof_live_contexts *c)
{
	size_t n = 0;

	for (int i = VPROF_CONTEXT_FIRST; i < CONTEXTS; i++)
		n += c->n_users[i] > 0;
	return n;
}

/* The highest probe that could be broken down and was never opened; NULL: there is none. */
static const struct vprof_probe *highest_new(const struct vprof_live_contexts *c, const struct vprof_plan *plan)
{
	const struct vprof_probe *best = NULL;

	for (size_t i = 0; i < plan->n_probes; i++) {
		const struct vprof_probe *p = &plan->probes[i];

		if (!p->broken_down && p->n_children && !find(c, p->code) && (!best || p->height > best->height))
			best = p;
	}
	return best;
}

static int give_all(struct vprof_live_contexts *c, const struct vprof_plan *plan)
{
	const struct vprof_probe *p;
	int rc = VPROF_OK;

	for (size_t i = 0; i < plan->n_probes && !rc; i++) {
		const struct vprof_live_context *known = find(c, plan->probes[i].code);

		if (plan->probes[i].broken_down && (!known || known->context == VPROF_CONTEXT_LEAF))
			rc = give(c, plan->probes[i].code, least_used(c));
	}
	while (!rc && n_used(c) < VPROF_LIVE_CONTEXTS_WHOLE && (p = highest_new(c, plan)))
		rc = give(c, p->code, least_used(c));
	for (size_t i = 0; i < plan->n_probes && !rc; i++)
		if (!find(c, plan->probes[i].code))
			rc = give(c, plan->probes[i].code, VPROF_CONTEXT_LEAF);
	return rc;
}

/* The bits that stand for the plan's: of all functions that have the plan's bit. */
static void translate(const struct vprof_live_contexts *c, const struct vprof_plan *plan, uint64_t to[CONTEXTS])
{
	for (int i = 0; i < CONTEXTS; i++)
		to[i] = i < VPROF_CONTEXT_FIRST ? UINT64_C(1) << i : 0;
	for (size_t i = 0; i < plan->n_probes; i++)
		if (plan->probes[i].broken_down)
			to[plan->probes[i].context & (CONTEXTS - 1)] |= UINT64_C(1)
									<< find(c, plan->probes[i].code)->context;
}

static uint64_t translated(uint64_t mask, const uint64_t to[CONTEXTS])
{
	uint64_t sum = 0;

	if (mask == VPROF_MASK_ANY)
		return mask;
	for (int i = 0; i < CONTEXTS; i++)
		if (mask >> i & 1)
			sum |= to[i];
	return sum;
}

int vprof_live_contexts_assign(struct vprof_live_contexts *c, struct vprof_plan *plan)
{
	uint64_t to[CONTEXTS];

	if (give_all(c, plan))
		return VPROF_ERR_NOMEM;
	translate(c, plan, to);
	for (size_t i = 0; i < plan->n_probes; i++) {
		struct vprof_probe *p = &plan->probes[i];
		const struct vprof_live_context *own = find(c, p->code);

		p->context = own->context;
		p->is_changed = own->is_changed;
		p->mask = translated(p->mask, to);
	}
	for (size_t i = 0; i < plan->n_at_calls; i++)
		plan->at_calls[i].mask = translated(plan->at_calls[i].mask, to);
	return VPROF_OK;
}

void vprof_live_contexts_forget(struct vprof_live_contexts *c)
{
	c->v.n = 0;
	memset(c->n_users, 0, sizeof c->n_users);
}

void vprof_live_contexts_release(struct vprof_live_contexts *c)
{
	VPROF_ARRAY_RELEASE(&c->v);
}
