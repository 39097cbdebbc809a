/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ROUTE nodes in which intervals ended are the contexts; the STAGE nodes beneath each are its tree. Nodes are put
 * into an order of their own (time, then what they are), so that results do not depend on who met one first. */
#include "analysis/transactions/contexts_describe.h"

#include <math.h>
#include <stdio.h>

#include "analysis/transactions/blame_order.h"
#include "analysis/transactions/context_bounds.h"
#include "common/text.h"

#define CONTEXTS_MAX 256
#define NODES_MAX 2000 /* of a context's tree */

struct describing {
	struct vprof_results *r;
	const struct vprof_crosstalk_input *in;
	const struct vprof_call_paths *call_paths;
	const struct vprof_strings *names;
	const struct vprof_run_blocks *blocks;
	const struct vprof_blame_tree *tree;
	struct vprof_blame_order order;
	double ns_per_tick;
	struct vprof_context *x;
	struct vprof_profile_node *profile;
};

const char *vprof_context_name(struct vprof_results *r, const struct vprof_call_paths *call_paths,
			       const uint32_t *stages, uint32_t n)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	const char *name = NULL;

	for (uint32_t i = 0; i < n; i++)
		vprof_text_addf(&t, "%s%s", i ? VPROF_STAGE_SEPARATOR : "", call_paths->paths.v[stages[i]].label);
	if (!t.failed)
		name = vprof_results_string(r, t.s ? t.s : "");
	vprof_text_release(&t);
	return name;
}

static int fill_stages(struct describing *d, uint32_t route)
{
	uint32_t stages[VPROF_STAGES_MAX], n = 0;
	struct vprof_context_stage *out;

	for (uint32_t i = route; i && n < VPROF_STAGES_MAX; i = d->tree->nodes.v[i].parent)
		n++;
	for (uint32_t i = route, k = n; k > 0; i = d->tree->nodes.v[i].parent)
		stages[--k] = d->tree->nodes.v[i].key;
	d->x->stages = out = calloc(n + 1, sizeof *out);
	d->x->name = vprof_context_name(d->r, d->call_paths, stages, n);
	if (!out || !d->x->name)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct vprof_named_path *path = &d->call_paths->paths.v[stages[i]];

		out[i].name = vprof_results_string(d->r, path->label);
		out[i].program = vprof_results_string(d->r, path->program);
		out[i].path = vprof_results_string(d->r, path->text);
		if (!out[i].name || !out[i].program || !out[i].path)
			return VPROF_ERR_NOMEM;
		d->x->is_unknown |= !stages[i];
		d->x->n_stages++;
	}
	d->x->is_cut = d->tree->nodes.v[route].is_cut;
	return VPROF_OK;
}

/* What is told of a node but for its times. */
static int name_node(struct describing *d, const struct vprof_blame_node *n, struct vprof_profile_node *out)
{
	static const uint8_t probe_kinds[] = { [VPROF_PROBE_FUNCTION] = VPROF_NODE_FUNCTION,
					       [VPROF_PROBE_SITE] = VPROF_NODE_SITE,
					       [VPROF_PROBE_POINTER] = VPROF_NODE_POINTER };
	const struct vprof_probe *probe =
		n->class == VPROF_BLAME_FRAME && d->in->plan ? vprof_plan_probe(d->in->plan, n->key) : NULL;
	const char *name = probe ? probe->display : NULL;
	char code[32];

	out->kind = VPROF_NODE_FUNCTION;
	if (probe && (unsigned)probe->kind < sizeof probe_kinds)
		out->kind = probe_kinds[probe->kind];
	out->kind = vprof_blame_is_wait(n) ? VPROF_NODE_WAIT : out->kind;
	switch (n->class) {
	case VPROF_BLAME_STAGE:
		out->kind = VPROF_NODE_INTERVAL;
		name = d->call_paths->paths.v[n->key].label;
		break;
	case VPROF_BLAME_WAIT:
		out->kind = VPROF_NODE_WAIT;
		name = d->names->kept.v[n->key];
		break;
	case VPROF_BLAME_QUEUED:
		out->kind = VPROF_NODE_QUEUED;
		name = "queued";
		break;
	case VPROF_BLAME_PREEMPTED:
		out->kind = VPROF_NODE_PREEMPTED;
		name = "preempted";
		break;
	default:
		snprintf(code, sizeof code, "code %u", n->key);
		name = name ? name : code;
	}
	out->name = vprof_results_string(d->r, name);
	out->file = vprof_results_string(d->r, probe ? probe->file : "");
	out->line = probe ? probe->line : 0;
	return out->name && out->file ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Adds a node's own time to what it was spent in. Sums of own times are the whole: what explains a wait is part of it.
 */
static void count_time(struct vprof_context *x, const struct vprof_blame_node *n, double total_ns, double own_ns)
{
	if (vprof_blame_is_wait(n))
		x->waiting_ns += total_ns;
	else if (n->class == VPROF_BLAME_QUEUED)
		x->queued_ns += total_ns;
	else if (n->class == VPROF_BLAME_PREEMPTED)
		x->preempted_ns += total_ns;
	else
		x->running_ns += own_ns;
}

/* The times of a subtree that is the interval's own: beneath a wait or delay all is part of it. */
static void add_times(struct describing *d, uint32_t node)
{
	const struct vprof_blame_node *n = &d->tree->nodes.v[node];

	count_time(d->x, n, (double)d->order.ticks[node] * d->ns_per_tick, (double)n->ticks * d->ns_per_tick);
	if (!vprof_blame_is_wait(n) && n->class != VPROF_BLAME_QUEUED && n->class != VPROF_BLAME_PREEMPTED)
		for (uint32_t c = d->order.first[node]; c < d->order.first[node + 1]; c++)
			add_times(d, d->order.children[c]);
}

static int list_nodes(struct describing *d, uint32_t node, uint32_t depth, int is_blame, int64_t least)
{
	const struct vprof_blame_node *n = &d->tree->nodes.v[node];
	struct vprof_profile_node *out = &d->profile[d->x->n_profile++];
	int is_explained = is_blame || vprof_blame_is_wait(n) || n->class == VPROF_BLAME_QUEUED;
	int64_t own = d->order.ticks[node];
	int ret = name_node(d, n, out);

	out->depth = depth;
	out->is_blame = is_blame;
	out->total_ns = (double)own * d->ns_per_tick;
	for (uint32_t c = d->order.first[node]; c < d->order.first[node + 1] && !ret; c++) {
		uint32_t child = d->order.children[c];

		if (d->order.ticks[child] < least || d->order.ticks[child] <= 0)
			continue;
		own -= d->order.ticks[child];
		ret = list_nodes(d, child, depth + 1, is_explained, least);
	}
	out->own_ns = (double)own * d->ns_per_tick;
	return ret;
}

static int falling(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

static size_t gather_ticks(const struct describing *d, uint32_t node, int64_t *ticks)
{
	size_t n = 1;

	ticks[0] = d->order.ticks[node];
	for (uint32_t c = d->order.first[node]; c < d->order.first[node + 1]; c++)
		n += gather_ticks(d, d->order.children[c], ticks + n);
	return n;
}

/* The heaviest nodes beneath the route: `scratch`, of all nodes. */
static int fill_profile(struct describing *d, uint32_t route, int64_t *scratch)
{
	size_t n = 0;
	int64_t least;
	int ret = VPROF_OK;

	for (uint32_t c = d->order.first[route]; c < d->order.first[route + 1]; c++)
		if (d->tree->nodes.v[d->order.children[c]].class == VPROF_BLAME_STAGE)
			n += gather_ticks(d, d->order.children[c], scratch + n);
	qsort(scratch, n, sizeof *scratch, falling);
	least = n > NODES_MAX ? scratch[NODES_MAX - 1] + 1 : 1; /* equal ones are left out together */
	d->x->profile = d->profile = calloc((n < NODES_MAX ? n : NODES_MAX) + 1, sizeof *d->profile);
	if (!d->profile)
		return VPROF_ERR_NOMEM;
	for (uint32_t c = d->order.first[route]; c < d->order.first[route + 1] && !ret; c++) {
		uint32_t stage = d->order.children[c];

		if (d->tree->nodes.v[stage].class != VPROF_BLAME_STAGE)
			continue;
		d->x->total_ns += (double)d->order.ticks[stage] * d->ns_per_tick;
		add_times(d, stage);
		if (d->order.ticks[stage] >= least)
			ret = list_nodes(d, stage, 0, 0, least);
	}
	return ret;
}

/* Time beneath a route that is its own, not that of a longer one. */
static int64_t route_ticks(const struct describing *d, uint32_t route)
{
	int64_t ticks = 0;

	for (uint32_t c = d->order.first[route]; c < d->order.first[route + 1]; c++)
		if (d->tree->nodes.v[d->order.children[c]].class == VPROF_BLAME_STAGE)
			ticks += d->order.ticks[d->order.children[c]];
	return ticks;
}

struct route {
	uint32_t node;
	int64_t ticks;
	const struct vprof_blame_tree *tree;
};

/* By falling time; equal ones by their stages from the last, so that the order is their own. */
static int route_order(const void *a, const void *b)
{
	const struct route *x = a, *y = b;
	uint32_t i = x->node, k = y->node;

	if (x->ticks != y->ticks)
		return x->ticks > y->ticks ? -1 : 1;
	for (; i && k; i = x->tree->nodes.v[i].parent, k = y->tree->nodes.v[k].parent)
		if (x->tree->nodes.v[i].key != y->tree->nodes.v[k].key)
			return x->tree->nodes.v[i].key < y->tree->nodes.v[k].key ? -1 : 1;
	return i ? 1 : k ? -1 : 0;
}

static int fill_contexts(struct describing *d, const struct route *routes, size_t n)
{
	int64_t *scratch = calloc(d->tree->nodes.n + 1, sizeof *scratch);
	uint32_t nodes[CONTEXTS_MAX];
	double all = 0;
	int ret = scratch ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < n; i++)
		all += (double)routes[i].ticks * d->ns_per_tick;
	for (size_t i = 0; i < n && i < CONTEXTS_MAX && !ret; i++) {
		nodes[i] = routes[i].node;
		d->x = &d->r->contexts[d->r->n_contexts++];
		d->x->n = d->tree->nodes.v[routes[i].node].n_waits;
		ret = fill_stages(d, routes[i].node);
		ret = ret ? ret : fill_profile(d, routes[i].node, scratch);
		d->x->mean_ns = d->x->n ? d->x->total_ns / (double)d->x->n : 0;
		d->x->share = all > 0 ? d->x->total_ns / all : NAN;
	}
	d->r->n_contexts_left = n > CONTEXTS_MAX ? n - CONTEXTS_MAX : 0;
	free(scratch);
	return ret ? ret : vprof_context_bounds(d->r, d->tree, nodes, d->blocks, d->ns_per_tick, d->in->team.n_threads);
}

static int describe(struct describing *d)
{
	VPROF_ARRAY(struct route) routes = { NULL, 0, 0 };
	int ret = VPROF_OK;

	for (uint32_t i = 0; i < d->tree->nodes.n && !ret; i++) {
		struct route *slot;

		if (d->tree->nodes.v[i].class != VPROF_BLAME_ROUTE || !d->tree->nodes.v[i].n_waits)
			continue;
		slot = VPROF_PUSH(&routes);
		if (slot)
			*slot = (struct route){ i, route_ticks(d, i), d->tree };
		else
			ret = VPROF_ERR_NOMEM;
	}
	if (routes.n)
		qsort(routes.v, routes.n, sizeof *routes.v, route_order);
	d->r->contexts = calloc((routes.n < CONTEXTS_MAX ? routes.n : CONTEXTS_MAX) + 1, sizeof *d->r->contexts);
	ret = d->r->contexts ? ret : VPROF_ERR_NOMEM;
	ret = ret ? ret : fill_contexts(d, routes.v, routes.n);
	VPROF_ARRAY_RELEASE(&routes);
	return ret;
}

static int name_stages(const struct vprof_crosstalk_input *in, const struct vprof_blame_tree *tree)
{
	uint8_t *is_stage = in->is_named ? NULL : calloc(in->call_paths->paths.n + 1, 1);
	int ret = is_stage || in->is_named ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < tree->nodes.n && is_stage; i++)
		if (tree->nodes.v[i].class == VPROF_BLAME_STAGE)
			is_stage[tree->nodes.v[i].key] = 1;
	if (is_stage)
		ret = vprof_call_paths_name(in->call_paths, is_stage);
	free(is_stage);
	return ret;
}

int vprof_contexts_describe(struct vprof_results *r, const struct vprof_crosstalk_input *input,
			    const struct vprof_run_blocks *blocks, const struct vprof_strings *names,
			    const struct vprof_blame_tree *tree)
{
	struct describing d = { .r = r,
				.in = input,
				.call_paths = input->call_paths,
				.blocks = blocks,
				.names = names,
				.tree = tree,
				.ns_per_tick = input->sources[0].timeline->ns_per_tick };
	int ret = vprof_blame_arrange(&d.order, tree);

	ret = ret ? ret : name_stages(input, tree);
	ret = ret ? ret : describe(&d);
	vprof_blame_order_release(&d.order);
	return ret;
}
