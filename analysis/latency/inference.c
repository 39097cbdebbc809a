/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper sets the end of every register at every event. All that are on the stack share it, so here it is kept once,
 * and an event costs as much as what it changes. (In the paper's listing, line 11 has == where != is meant.)
 */
#include "analysis/latency/inference.h"

static struct vprof_latency_gap *find_gap(struct vprof_latency_inference *g, uint32_t stack, uint32_t next,
					  uint32_t flags)
{
	uint64_t hash = vprof_mix(((uint64_t)stack << 32 | next) + ((uint64_t)flags << 58));
	struct vprof_latency_gap *gap;
	size_t at;

	if (vprof_hash_index_room(&g->gaps->by_stacks, 1))
		return NULL;
	VPROF_HASH_EACH(&g->gaps->by_stacks, hash, at, i)
	{
		gap = &g->gaps->v.v[i];
		if (gap->stack == stack && gap->next == next && gap->flags == flags)
			return gap;
	}
	gap = VPROF_PUSH(&g->gaps->v);
	if (!gap)
		return NULL;
	*gap = (struct vprof_latency_gap){ .stack = stack, .next = next, .flags = flags };
	if (stack != VPROF_NONE && next != VPROF_NONE)
		gap->common = vprof_latency_common_depth(g->history, stack, next, flags);
	vprof_hash_index_put(&g->gaps->by_stacks, at, hash, (uint32_t)g->gaps->v.n - 1);
	return gap;
}

void vprof_latency_gaps_release(struct vprof_latency_gaps *gaps)
{
	VPROF_ARRAY_RELEASE(&gaps->v);
	vprof_hash_index_release(&gaps->by_stacks);
}

static int add_gap(struct vprof_latency_inference *g, struct vprof_latency_gap *gap, uint64_t to)
{
	uint64_t from_observed = vprof_latency_observed(g->history, g->last);
	uint64_t ns = vprof_latency_observed(g->history, to) - from_observed;

	gap->n += gap->n != UINT32_MAX;
	gap->ns += ns;
	return g->gap ? g->gap(g->arg, gap, from_observed, ns) : 0;
}

/* Its longest stretch up to the last event. */
static void end_stretch(struct vprof_latency_register *r, uint64_t last)
{
	if (last - r->sure_from > r->sure_ns)
		r->sure_ns = last - r->sure_from;
}

/* Closes registers from the innermost one on until `depth` are left: CloseRegister. */
static int close_registers(struct vprof_latency_inference *g, uint32_t depth, uint64_t after, uint32_t flags)
{
	int ret = 0;

	while (g->n_registers > depth && !ret) {
		struct vprof_latency_register *r = &g->registers[--g->n_registers];
		struct vprof_latency_instance i = { .before = r->before,
						    .first = r->first,
						    .last = g->last,
						    .after = after,
						    .node = r->node,
						    .path = r->path,
						    .thread = g->thread,
						    .n_unsure = r->n_unsure,
						    .flags = r->flags | flags };

		end_stretch(r, g->last);
		i.sure_ns = r->sure_ns;
		ret = g->instance(g->arg, &i);
	}
	return ret;
}

void vprof_latency_infer_begin(struct vprof_latency_inference *g, uint32_t thread)
{
	g->thread = thread;
	g->n_registers = 0;
	g->stack = VPROF_NONE;
	g->last = g->history->threads.v[thread].begin;
}

static void open_registers(struct vprof_latency_inference *g, const struct vprof_latency_event *e)
{
	const struct vprof_latency_stack *s = &g->history->stacks.v[e->stack];
	int is_cut = g->stack == VPROF_NONE && g->history->threads.v[g->thread].begin_is_cut;

	for (uint32_t d = g->n_registers; d < s->n; d++)
		g->registers[d] = (struct vprof_latency_register){ .before = g->last,
								   .first = e->t,
								   .sure_from = e->t,
								   .node = g->nodes[s->first + d],
								   .path = g->paths[e->stack],
								   .flags = is_cut ? VPROF_INSTANCE_BEGIN_CUT : 0 };
	g->n_registers = s->n;
}

int vprof_latency_infer_step(struct vprof_latency_inference *g, const struct vprof_latency_event *e)
{
	struct vprof_latency_gap *gap = find_gap(g, g->stack, e->stack, e->flags & ~VPROF_LATENCY_TIMER);
	struct vprof_latency_common common;
	int ret;

	if (!gap)
		return VPROF_ERR_NOMEM;
	common = gap->common;
	ret = add_gap(g, gap, e->t);
	if (!ret)
		ret = close_registers(g, common.depth, e->t, 0);
	for (uint32_t d = common.sure_depth; d < g->n_registers; d++) {
		end_stretch(&g->registers[d], g->last);
		g->registers[d].sure_from = e->t;
		g->registers[d].n_unsure++;
	}
	if (!ret)
		open_registers(g, e);
	g->stack = e->stack;
	g->last = e->t;
	return ret;
}

int vprof_latency_infer_end(struct vprof_latency_inference *g)
{
	const struct vprof_latency_thread *t = &g->history->threads.v[g->thread];
	struct vprof_latency_gap *gap = find_gap(g, g->stack, VPROF_NONE, t->end_flags);
	int ret = gap ? add_gap(g, gap, t->end) : VPROF_ERR_NOMEM;

	return ret ? ret : close_registers(g, 0, t->end, t->end_is_cut ? VPROF_INSTANCE_END_CUT : 0);
}

int vprof_latency_infer(struct vprof_latency_inference *g, uint32_t thread)
{
	const struct vprof_latency_thread *t = &g->history->threads.v[thread];
	int ret = 0;

	vprof_latency_infer_begin(g, thread);
	for (size_t i = t->first_event; i < t->first_event + t->n_events && !ret; i++)
		ret = vprof_latency_infer_step(g, &g->history->events.v[i]);
	return ret ? ret : vprof_latency_infer_end(g);
}
