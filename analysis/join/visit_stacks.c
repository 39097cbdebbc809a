/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/visit_stacks.h"

#define PLACE_VISIT UINT32_MAX /* no place in a program: nothing is known of where it may lead */

static uint32_t root_of(const struct vprof_latency_history *h)
{
	return h->frames.v[0].function;
}

int vprof_visit_group_begin(struct vprof_visit_group *group, uint64_t begin, uint64_t end)
{
	struct vprof_latency_history *h = &group->history;
	struct vprof_latency_function *f = VPROF_PUSH(&h->functions);
	struct vprof_latency_frame *frame = VPROF_PUSH(&h->frames);
	struct vprof_latency_stack *stack = VPROF_PUSH(&h->stacks);

	if (!f || !frame || !stack)
		return VPROF_ERR_NOMEM;
	/* it is begun once: where calls were missed within it, it is the same visit */
	*f = (struct vprof_latency_function){ .name = group->name, .file = "", .is_start = 1 };
	*frame = (struct vprof_latency_frame){ (uint32_t)h->functions.n - 1, PLACE_VISIT };
	*stack = (struct vprof_latency_stack){ 0, 1, 1 };
	h->begin = begin;
	h->end = end;
	return VPROF_OK;
}

uint32_t vprof_visit_stack_add(struct vprof_latency_history *h, const struct vprof_latency_frame *frames, uint32_t n,
			       uint32_t n_user)
{
	size_t first = h->frames.n;
	struct vprof_latency_stack *s;

	if (VPROF_ROOM(&h->frames, first + n + 1))
		return VPROF_NONE;
	h->frames.v[h->frames.n++] = (struct vprof_latency_frame){ root_of(h), PLACE_VISIT };
	for (uint32_t i = 0; i < n; i++)
		h->frames.v[h->frames.n++] = frames[i];
	s = VPROF_PUSH(&h->stacks);
	if (!s)
		return VPROF_NONE;
	*s = (struct vprof_latency_stack){ first, n + 1, n_user + 1 };
	return (uint32_t)h->stacks.n - 1;
}

int vprof_visit_group_add(struct vprof_visit_group *group, uint32_t visit, const struct vprof_visit_stretch *stretches,
			  uint32_t n, size_t first)
{
	struct vprof_latency_history *h = &group->history;
	struct vprof_latency_thread *t = VPROF_PUSH(&h->threads);
	uint32_t *number = VPROF_PUSH(&group->visits);

	if (!t || !number)
		return VPROF_ERR_NOMEM;
	*number = visit;
	*t = (struct vprof_latency_thread){ .name = "",
					    .pid = stretches[0].pid,
					    .tid = stretches[0].tid,
					    .begin = stretches[0].from,
					    .end = stretches[n - 1].to,
					    .first_event = first,
					    .n_events = h->events.n - first };
	return VPROF_OK;
}

void vprof_visit_group_release(struct vprof_visit_group *group)
{
	vprof_latency_history_release(&group->history);
	VPROF_ARRAY_RELEASE(&group->visits);
}
