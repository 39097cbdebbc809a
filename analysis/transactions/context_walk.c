/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/transactions/context_walk.h"

/* The path of the enqueue at t, 0: there is none, or a message. */
static uint32_t enqueue_path(const struct vprof_thread_timeline *thr, uint64_t t)
{
	size_t i = VPROF_TIME_SEARCH(&thr->queue_events, t, 0);

	while (i-- > 0 && thr->queue_events.v[i].t == t)
		if (!thr->queue_events.v[i].is_dequeue && thr->queue_events.v[i].path)
			return thr->queue_events.v[i].path;
	return 0;
}

/* `next`: the hop that came after this one, NULL: none. */
static uint32_t stage_of(const struct vprof_call_paths *call_paths, size_t source, const struct vprof_hop *hop,
			 const struct vprof_hop *next)
{
	const struct vprof_source *s = &call_paths->sources[source];
	const struct vprof_segment *segment = hop->segment == VPROF_NONE ? NULL :
									   &s->intervals->segments.v[hop->segment];
	uint32_t path = 0;

	if (next && next->edge.kind == VPROF_EDGE_CREATION && next->edge.thread == hop->thread)
		path = enqueue_path(&s->timeline->threads[hop->thread], next->edge.t);
	path = vprof_call_path_number(call_paths, source, hop->thread, path);
	if (!path && segment)
		path = vprof_call_path_number(call_paths, source, hop->thread, segment->end_path);
	if (!path && segment)
		path = vprof_call_path_number(call_paths, source, hop->thread, segment->begin_path);
	return path;
}

/* The stage of each hop: backward, as the hops are. A hop without a segment whose call path is not known is no stage of
 * its own: the thread may have done anything. It is of the next one's. */
static void find_stages(const struct vprof_call_paths *call_paths, size_t source, const struct vprof_hop *hops,
			size_t n_hops, uint32_t *stages)
{
	for (size_t i = 0; i < n_hops; i++) {
		stages[i] = stage_of(call_paths, source, &hops[i], i ? &hops[i - 1] : NULL);
		if (i && !stages[i] && hops[i].segment == VPROF_NONE)
			stages[i] = stages[i - 1];
	}
}

uint32_t vprof_context_route(const struct vprof_call_paths *call_paths, size_t source, const struct vprof_hop *hops,
			     size_t n_hops, uint32_t *of_hops, uint32_t *stages, int *is_cut)
{
	uint32_t n = 0;

	*is_cut = 0;
	find_stages(call_paths, source, hops, n_hops, of_hops);
	for (size_t i = n_hops; i-- > 0;) {
		uint32_t k = 0;

		while (k < n && stages[k] != of_hops[i])
			k++;
		if (k < n)
			continue;
		if (n < VPROF_STAGES_MAX)
			stages[n++] = of_hops[i];
		else
			*is_cut = 1;
	}
	return n;
}

/* w->stages: nodes of the hops. The node of the route, VPROF_NONE without memory. */
static uint32_t make_nodes(struct vprof_blame_walker *w, const struct vprof_hop *hops, size_t n_hops)
{
	int is_cut;
	uint32_t stages[VPROF_STAGES_MAX],
		route = 0, node,
		n = vprof_context_route(w->of->call_paths, w->of->source, hops, n_hops, w->stages.v, stages, &is_cut);

	for (uint32_t i = 0; i < n && route != VPROF_NONE; i++)
		route = vprof_blame_child(&w->tree, route, VPROF_BLAME_ROUTE, stages[i]);
	if (route == VPROF_NONE)
		return VPROF_NONE;
	w->tree.nodes.v[route].is_cut |= is_cut != 0;
	n = 0;
	for (size_t i = n_hops; i-- > 0;) {
		n = vprof_stages_append(stages, n, w->stages.v[i]);
		node = route;
		for (uint32_t k = 0; k < n && node != VPROF_NONE; k++)
			node = vprof_blame_child(&w->tree, node, VPROF_BLAME_STAGE, stages[k]);
		if (node == VPROF_NONE)
			return VPROF_NONE;
		w->stages.v[i] = node;
	}
	return route;
}

static int add_piece(struct vprof_blame_walker *w, const struct vprof_piece *p, uint32_t base, uint32_t *node)
{
	*node = base;
	if (p->from >= p->to)
		return VPROF_OK;
	if (p->parent != VPROF_NONE && vprof_blame_spend(w, base, p->to - p->from, -1))
		return VPROF_ERR_NOMEM;
	if (p->kind == VPROF_PIECE_RUN)
		return vprof_blame_spend_run(w, p->thread, p->from, p->to, base);
	if (p->kind == VPROF_PIECE_WAIT)
		return vprof_blame_spend_wait(w, p, base, node);
	*node = vprof_blame_step(w, base, VPROF_BLAME_QUEUED, 0);
	return *node == VPROF_NONE ? VPROF_ERR_NOMEM : vprof_blame_spend(w, *node, p->to - p->from, 1);
}

int vprof_context_walk(struct vprof_blame_walker *w, const struct vprof_piece *pieces, size_t n, uint32_t block)
{
	const struct vprof_hop *hops;
	uint32_t route;
	uint64_t ticks = 0;
	size_t n_hops;
	int ret = VPROF_OK;

	hops = vprof_path_hops(w->path, &n_hops);
	if (VPROF_ROOM(&w->stages, n_hops + 1) || VPROF_ROOM(&w->pieces, n + 1))
		return VPROF_ERR_NOMEM;
	route = make_nodes(w, hops, n_hops);
	if (route == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	w->tree.nodes.v[route].n_waits++;
	for (size_t i = 0; i < n && !ret; i++) {
		const struct vprof_piece *p = &pieces[i];

		/* what others did meanwhile is part of a wait or delay in any case: its sums stay as they are */
		w->block = p->parent == VPROF_NONE ? block : VPROF_NONE;
		ticks += p->parent == VPROF_NONE && p->from < p->to ? p->to - p->from : 0;
		ret = add_piece(w, p, p->parent == VPROF_NONE ? w->stages.v[p->hop] : w->pieces.v[p->parent].node,
				&w->pieces.v[i].node);
	}
	return ret ? ret : vprof_blame_add_sum(&w->tree, route, block, vprof_blame_ticks(w, ticks), 1);
}
