/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/context_stacks.h"

#include <math.h>
#include <string.h>

/* The node is at the end of the stack. */
static void finish(struct vprof_context_stack *s)
{
	const struct vprof_profile_node *last = s->frames[s->n - 1];

	s->is_running = !last->is_blame && last->kind != VPROF_NODE_WAIT && last->kind != VPROF_NODE_QUEUED &&
			last->kind != VPROF_NODE_PREEMPTED;
	s->stage = "";
	for (uint32_t i = 0; i < s->n; i++)
		if (s->frames[i]->kind == VPROF_NODE_INTERVAL)
			s->stage = s->frames[i]->name;
}

int vprof_context_stacks(const struct vprof_results *r, int (*each)(void *arg, const struct vprof_context_stack *stack),
			 void *arg)
{
	for (size_t c = 0; c < r->n_contexts; c++) {
		struct vprof_context_stack s = { .context = &r->contexts[c] };

		for (size_t i = 0; i < s.context->n_profile; i++) {
			const struct vprof_profile_node *n = &s.context->profile[i];
			uint32_t depth = n->depth < VPROF_CONTEXT_DEPTH_MAX ? n->depth : VPROF_CONTEXT_DEPTH_MAX - 1;
			int ret;

			s.frames[depth] = n;
			s.n = depth + 1;
			if (!(n->own_ns >= 0.5) || n->own_ns > 0x1p62)
				continue;
			s.own_ns = (uint64_t)llround(n->own_ns);
			finish(&s);
			ret = each(arg, &s);
			if (ret)
				return ret;
		}
	}
	return 0;
}
