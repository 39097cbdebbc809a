/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The input's rules, and what annotations change in it. */
#include "analysis/waits/history/history.h"

#include <inttypes.h>

void vprof_waits_history_release(struct vprof_waits_history *h)
{
	for (size_t e = 0; e < h->entities.n; e++)
		VPROF_ARRAY_RELEASE(&h->entities.v[e].segments);
	VPROF_ARRAY_RELEASE(&h->entities);
	VPROF_ARRAY_RELEASE(&h->requests);
	VPROF_ARRAY_RELEASE(&h->stacks);
}

static const char *segment_fault(const struct vprof_waits_history *h, uint32_t entity,
				 const struct vprof_waits_segment *s, uint64_t after)
{
	if (s->from < after)
		return "begins before the one before it ended";
	if (s->to <= s->from)
		return "is empty";
	if (s->to > h->end)
		return "ends after the recording";
	if (s->state > VPROF_WAITS_BLOCKED)
		return "has an unknown state";
	if (s->state == VPROF_WAITS_BLOCKED && s->waker != VPROF_NONE &&
	    (s->waker >= h->entities.n || s->waker == entity))
		return "has an impossible waker";
	if (h->stacks.n ? s->wait_stack >= h->stacks.n || s->waker_stack >= h->stacks.n :
			  s->wait_stack || s->waker_stack)
		return "has an unknown stack";
	return NULL;
}

static int check_entity(const struct vprof_waits_history *h, uint32_t entity, struct vprof_error *err)
{
	const struct vprof_waits_entity *e = &h->entities.v[entity];
	uint64_t after = h->begin;

	if (e->kind >= VPROF_WAITS_ENTITY_KINDS || (e->segments.n && e->kind != VPROF_WAITS_THREAD) ||
	    (e->creator != VPROF_NONE && e->creator >= h->entities.n))
		return vprof_error_set(err, VPROF_ERR_INPUT, "wait history: entity %u is inconsistent", entity);
	for (size_t i = 0; i < e->segments.n; i++) {
		const char *fault = segment_fault(h, entity, &e->segments.v[i], after);

		if (fault)
			return vprof_error_set(err, VPROF_ERR_INPUT, "wait history: segment %zu of entity %u %s", i,
					       entity, fault);
		after = e->segments.v[i].to;
	}
	return VPROF_OK;
}

int vprof_waits_history_check(const struct vprof_waits_history *h, struct vprof_error *err)
{
	if (h->begin > h->end || h->end > VPROF_WAITS_TIME_MAX || h->entities.n >= VPROF_NONE)
		return vprof_error_set(err, VPROF_ERR_INPUT, "wait history: impossible recording");
	for (uint32_t e = 0; e < h->entities.n; e++)
		if (check_entity(h, e, err))
			return VPROF_ERR_INPUT;
	for (size_t i = 0; i < h->requests.n; i++) {
		const struct vprof_waits_request *r = &h->requests.v[i];

		if (r->issue < h->begin || r->complete < r->issue || r->complete > h->end ||
		    r->device >= h->entities.n || (r->thread != VPROF_NONE && r->thread >= h->entities.n) ||
		    (h->entities.v[r->device].kind != VPROF_WAITS_DISK &&
		     h->entities.v[r->device].kind != VPROF_WAITS_NETWORK))
			return vprof_error_set(err, VPROF_ERR_INPUT, "wait history: request %zu is impossible", i);
	}
	return VPROF_OK;
}
