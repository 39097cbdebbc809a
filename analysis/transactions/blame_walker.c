/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/transactions/blame_walker.h"

#include "analysis/paths/wait_states.h"

#define CALLS_BYTES ((size_t)16 << 20)

int vprof_blame_walker_turn(struct vprof_blame_walker *w, const struct vprof_blame_of *of)
{
	const struct vprof_source *source = &of->working->sources[of->source];

	if (w->of == of)
		return VPROF_OK;
	if (!w->tree.nodes.n && vprof_blame_begin(&w->tree))
		return VPROF_ERR_NOMEM;
	vprof_path_free(w->path);
	vprof_calls_free(w->calls);
	w->path = NULL;
	w->of = of;
	w->calls = vprof_calls_new(source->timeline->n_threads, CALLS_BYTES);
	if (!w->calls || vprof_path_new(&w->path, source->edges, NULL)) {
		w->of = NULL;
		return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

void vprof_blame_walker_release(struct vprof_blame_walker *w)
{
	vprof_path_free(w->path);
	vprof_calls_free(w->calls);
	vprof_blame_release(&w->tree);
	VPROF_ARRAY_RELEASE(&w->pieces);
	VPROF_ARRAY_RELEASE(&w->stages);
	VPROF_ARRAY_RELEASE(&w->call_node);
}

const struct vprof_timeline *vprof_blame_timeline(const struct vprof_blame_walker *w)
{
	return w->of->working->sources[w->of->source].timeline;
}

int64_t vprof_blame_ticks(const struct vprof_blame_walker *w, uint64_t ticks)
{
	return w->of->ratio == 1 ? (int64_t)ticks : (int64_t)((double)ticks * w->of->ratio + 0.5);
}

int vprof_blame_spend(struct vprof_blame_walker *w, uint32_t node, uint64_t ticks, int sign)
{
	int64_t same = sign * vprof_blame_ticks(w, ticks);

	w->tree.nodes.v[node].ticks += same;
	if (w->block == VPROF_NONE || !w->tree.nodes.v[node].is_summed)
		return VPROF_OK;
	return vprof_blame_add_sum(&w->tree, node, w->block, same, 0);
}

uint32_t vprof_blame_step(struct vprof_blame_walker *w, uint32_t parent, uint8_t class, uint32_t key)
{
	size_t n = w->tree.nodes.n;
	uint32_t node = vprof_blame_child(&w->tree, parent, class, key);
	const struct vprof_probe *probe;

	if (w->tree.nodes.n == n || w->block == VPROF_NONE)
		return node;
	probe = class == VPROF_BLAME_FRAME && w->of->plan ? vprof_plan_probe(w->of->plan, key) : NULL;
	w->tree.nodes.v[node].is_summed |= class != VPROF_BLAME_FRAME ||
					   (probe && w->of->may_wait[probe - w->of->plan->probes]);
	return node;
}

/* The node of the innermost measured call that is open at t, beneath `base`; *code is its. VPROF_NONE without memory.
 */
static uint32_t open_node(struct vprof_blame_walker *w, uint32_t thread, uint64_t t, uint32_t base, uint32_t *code)
{
	const struct vprof_call *calls;
	size_t n;

	*code = VPROF_NONE;
	if (vprof_calls_open(w->calls, thread, &vprof_blame_timeline(w)->threads[thread].calls, t, &calls, &n))
		return VPROF_NONE;
	for (size_t i = n; i-- > 0 && base != VPROF_NONE;) {
		*code = calls[i].code;
		base = vprof_blame_step(w, base, VPROF_BLAME_FRAME, *code);
	}
	return base;
}

static int spend_calls(struct vprof_blame_walker *w, uint32_t thread, uint64_t from, uint64_t to, uint32_t base)
{
	struct vprof_stretch s;
	int more;

	if (from >= to)
		return VPROF_OK;
	if (vprof_blame_spend(w, base, to - from, 1))
		return VPROF_ERR_NOMEM;
	vprof_stretch_begin(&s, w->calls, thread, &vprof_blame_timeline(w)->threads[thread].calls, from, to);
	while ((more = vprof_stretch_next(&s)) > 0) {
		if (VPROF_ROOM(&w->call_node, s.n))
			return VPROF_ERR_NOMEM;
		for (size_t i = 0; i < s.n_kept; i++)
			w->call_node.v[i] = w->call_node.v[s.kept[i]];
		for (size_t i = s.n_kept; i < s.n; i++) {
			const struct vprof_stretch_call *c = &s.v[i];
			uint32_t above = c->parent == VPROF_NONE ? base : w->call_node.v[c->parent];
			uint32_t node = vprof_blame_step(w, above, VPROF_BLAME_FRAME, c->code);

			if (node == VPROF_NONE)
				return VPROF_ERR_NOMEM;
			w->call_node.v[i] = node;
			if (vprof_blame_spend(w, node, c->high - c->low, 1) ||
			    vprof_blame_spend(w, above, c->high - c->low, -1))
				return VPROF_ERR_NOMEM;
		}
	}
	return more < 0 ? VPROF_ERR_NOMEM : VPROF_OK;
}

/* What the thread ran: its calls, and where others had its CPU. */
int vprof_blame_spend_run(struct vprof_blame_walker *w, uint32_t thread, uint64_t from, uint64_t to, uint32_t base)
{
	const struct vprof_thread_timeline *thr = &vprof_blame_timeline(w)->threads[thread];
	size_t i = thr->off_cpu.n ? VPROF_TIME_SEARCH(&thr->off_cpu, from, 0) : 0;

	for (i -= i > 0; i < thr->off_cpu.n && thr->off_cpu.v[i].t0 < to; i++) {
		const struct vprof_off_cpu *off = &thr->off_cpu.v[i];
		uint64_t a = off->t0 > from ? off->t0 : from, b = off->t1 < to ? off->t1 : to;
		uint32_t node, code;

		if (!off->is_preempted || a >= b)
			continue;
		if (spend_calls(w, thread, from, a, base))
			return VPROF_ERR_NOMEM;
		node = open_node(w, thread, a, base, &code);
		node = node == VPROF_NONE ? node : vprof_blame_step(w, node, VPROF_BLAME_PREEMPTED, 0);
		if (node == VPROF_NONE || vprof_blame_spend(w, node, b - a, 1))
			return VPROF_ERR_NOMEM;
		from = b;
	}
	return spend_calls(w, thread, from, to, base);
}

/* A wait of a holder, or of one that a holder waited for; its node, beneath which what explains it goes. */
int vprof_blame_spend_wait(struct vprof_blame_walker *w, const struct vprof_piece *p, uint32_t base, uint32_t *node)
{
	const struct vprof_wait *wait = &vprof_blame_timeline(w)->threads[p->thread].waits.v[p->wait];
	const char *name = vprof_blame_timeline(w)->names[wait->name];
	uint32_t code;

	*node = open_node(w, p->thread, p->from, base, &code);
	if (*node != VPROF_NONE && (code == VPROF_NONE || !w->of->plan ||
				    !vprof_wait_is_of_probe(vprof_plan_probe(w->of->plan, code), name, wait->kind)))
		*node = vprof_blame_step(w, *node, VPROF_BLAME_WAIT, w->of->canonical[wait->name]);
	if (*node == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	w->tree.nodes.v[*node].is_wait = 1;
	return vprof_blame_spend(w, *node, p->to - p->from, 1);
}
