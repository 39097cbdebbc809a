/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/inferred_calls.h"

#include "common/hash/hash_index.h"

struct cut { /* a stack from `depth` on */
	uint32_t stack, depth, made;
};

struct gathering {
	struct vprof_inferred_calls *out;
	const struct vprof_annotated_tree *tree;
	unsigned char *is_wanted; /* [nodes] the function, outermost */
	VPROF_ARRAY(struct cut) cuts;
	struct vprof_hash_index by_cut;
	uint32_t function; /* in the history that is made: one for all of this name */
};

static uint32_t cut_stack(struct gathering *g, uint32_t stack, uint32_t depth)
{
	uint64_t hash = vprof_mix((uint64_t)stack << 32 | depth);
	const struct vprof_latency_history *from = g->tree->history;
	const struct vprof_latency_stack *s = &from->stacks.v[stack];
	struct vprof_latency_history *h = &g->out->history;
	struct vprof_latency_stack *to;
	struct cut *c;
	size_t at, first = h->frames.n;

	if (vprof_hash_index_room(&g->by_cut, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&g->by_cut, hash, at, i)
	if (g->cuts.v[i].stack == stack && g->cuts.v[i].depth == depth)
		return g->cuts.v[i].made;
	for (uint32_t d = depth; d < s->n; d++) {
		struct vprof_latency_frame *f = VPROF_PUSH(&h->frames);

		if (!f)
			return VPROF_NONE;
		*f = from->frames.v[s->first + d];
		f->function = d == depth ? g->function : f->function;
	}
	to = VPROF_PUSH(&h->stacks);
	c = to ? VPROF_PUSH(&g->cuts) : NULL;
	if (!c)
		return VPROF_NONE;
	*to = (struct vprof_latency_stack){ first, s->n - depth, s->n_user > depth ? s->n_user - depth : 0 };
	*c = (struct cut){ stack, depth, (uint32_t)h->stacks.n - 1 };
	vprof_hash_index_put(&g->by_cut, at, hash, (uint32_t)g->cuts.n - 1);
	return c->made;
}

/* Does the event's stack show the node at its depth? */
static int shows(const struct gathering *g, const struct vprof_latency_event *e, uint32_t node, uint32_t depth)
{
	const struct vprof_latency_stack *s = &g->tree->history->stacks.v[e->stack];

	return depth < s->n && g->tree->nodes[s->first + depth] == node;
}

static int add_events(struct gathering *g, const struct vprof_latency_instance *i, size_t *at)
{
	const struct vprof_latency_history *from = g->tree->history;
	const struct vprof_latency_thread *t = &from->threads.v[i->thread];
	uint32_t depth = g->tree->tree.nodes.v[i->node].depth;
	size_t end = t->first_event + t->n_events, first = g->out->history.events.n;

	for (*at = vprof_latency_event_at(from, t, i->first); *at < end && from->events.v[*at].t <= i->last; (*at)++) {
		const struct vprof_latency_event *e = &from->events.v[*at];
		uint32_t stack;
		struct vprof_latency_event *to;

		/* of events at the same time those before it, or behind it, may lie elsewhere */
		if (!shows(g, e, i->node, depth))
			continue;
		stack = cut_stack(g, e->stack, depth);
		to = stack == VPROF_NONE ? NULL : VPROF_PUSH(&g->out->history.events);
		if (!to)
			return VPROF_ERR_NOMEM;
		*to = (struct vprof_latency_event){
			e->t, stack, e->flags & (g->out->history.events.n - 1 == first ? VPROF_LATENCY_SKIPPED : ~0u)
		};
	}
	return VPROF_OK;
}

static int on_instance(void *gathering, const struct vprof_latency_instance *i)
{
	struct gathering *g = gathering;
	struct vprof_latency_history *h = &g->out->history;
	const struct vprof_latency_thread *from = &g->tree->history->threads.v[i->thread];
	struct vprof_latency_thread *t;
	size_t first = h->events.n, next;

	if (!g->is_wanted[i->node])
		return VPROF_OK;
	g->out->n_calls++;
	if (i->n_unsure) {
		g->out->n_unsure++;
		return VPROF_OK;
	}
	if (add_events(g, i, &next))
		return VPROF_ERR_NOMEM;
	t = VPROF_PUSH(&h->threads);
	if (!t)
		return VPROF_ERR_NOMEM;
	*t = (struct vprof_latency_thread){ .name = from->name,
					    .pid = from->pid,
					    .tid = from->tid,
					    .begin = i->before,
					    .end = i->after,
					    .begin_is_cut = (i->flags & VPROF_INSTANCE_BEGIN_CUT) != 0,
					    .end_is_cut = (i->flags & VPROF_INSTANCE_END_CUT) != 0,
					    .end_flags = next < from->first_event + from->n_events ?
								 g->tree->history->events.v[next].flags &
									 VPROF_LATENCY_SKIPPED :
								 VPROF_LATENCY_SKIPPED,
					    .first_event = first,
					    .n_events = h->events.n - first };
	return VPROF_OK;
}

/* Marks the nodes of the function that are beneath none of it. */
static int mark(struct gathering *g, const char *name, const char *file)
{
	const struct vprof_context_tree *tree = &g->tree->tree;
	unsigned char *is_within = calloc(tree->nodes.n, 1);
	int found = 0;

	for (uint32_t x = 1; is_within && x < tree->nodes.n; x++) {
		const struct vprof_latency_function *f = vprof_annotated_function(g->tree, x);
		int is_named = !strcmp(vprof_latency_function_display(f), name) && (!file || !strcmp(f->file, file));

		g->is_wanted[x] = is_named && !is_within[tree->nodes.v[x].parent];
		is_within[x] = is_named || is_within[tree->nodes.v[x].parent];
		if (g->is_wanted[x] && !found++)
			g->function = tree->nodes.v[x].function;
	}
	free(is_within);
	return is_within ? found : -1;
}

static int prepare(struct gathering *g)
{
	const struct vprof_latency_history *from = g->tree->history;
	struct vprof_latency_history *h = &g->out->history;

	h->begin = from->begin;
	h->end = from->end;
	h->may_follow = from->may_follow;
	h->may_become = from->may_become;
	h->arg = from->arg;
	h->is_continuous = from->is_continuous;
	if (VPROF_RESERVE(&h->functions, from->functions.n + 1))
		return VPROF_ERR_NOMEM;
	memcpy(h->functions.v, from->functions.v, from->functions.n * sizeof *h->functions.v);
	h->functions.n = from->functions.n;
	return VPROF_OK;
}

int vprof_inferred_calls_gather(struct vprof_inferred_calls *out, const struct vprof_annotated_tree *t,
				const char *name, const char *file, struct vprof_error *err)
{
	struct gathering g = { .out = out, .tree = t, .is_wanted = calloc(t->tree.nodes.n + 1, 1) };
	struct vprof_latency_gaps gaps = { 0 };
	struct vprof_latency_inference inference = { .history = t->history,
						     .tree = &t->tree,
						     .nodes = t->nodes,
						     .paths = t->paths,
						     .gaps = &gaps,
						     .instance = on_instance,
						     .arg = &g };
	int found = g.is_wanted ? mark(&g, name, file) : -1, ret = found < 0 ? VPROF_ERR_NOMEM : VPROF_OK;

	*out = (struct vprof_inferred_calls){ .n_calls = 0 };
	if (!ret && !found)
		ret = vprof_error_set(err, VPROF_ERR_INPUT,
				      "no call of %s was seen: name a function as vprof report latency does", name);
	if (!ret)
		ret = prepare(&g);
	for (uint32_t i = 0; i < t->history->threads.n && !ret; i++)
		ret = vprof_latency_infer(&inference, i);
	vprof_latency_gaps_release(&gaps);
	VPROF_ARRAY_RELEASE(&g.cuts);
	vprof_hash_index_release(&g.by_cut);
	free(g.is_wanted);
	return ret == VPROF_ERR_NOMEM ? vprof_error_no_memory(err) : ret;
}

void vprof_inferred_calls_release(struct vprof_inferred_calls *calls)
{
	vprof_latency_history_release(&calls->history);
}
