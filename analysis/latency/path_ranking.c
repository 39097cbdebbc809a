/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/path_ranking.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#define TAIL_SHARE 0.02	    /* of a path's cost: inner ends that add less are left out */
#define CHANGE_MIN 0.01	    /* of new's costs: a smaller difference is not worth a word */
#define ERROR_CHANCE 1.2e-5 /* that a difference exceeds what it must by chance: six standard errors of 16 parts */
#define WHOLE_MIN (1.0 / 3) /* of what a context costs more: the path's part */
#define WINDOW_CHANCE 0.025 /* that windows differ from the rest so much to either side */
/* ... or new's cost this many times base's, if the difference is that share of new's costs, and neither its error nor
 * the number of calls explains it: the chance of either. What happens now and then may fall into one run alone. */
#define TIMES_MIN 2.0
#define TIMES_CHANGE 0.05
#define TIMES_CHANCE 0.01

struct own { /* of a node on one side, ns per unit, without idle time */
	double own, low, high;
};

struct candidate {
	uint32_t node; /* where the path ends */
	uint32_t leaf; /* ... before its inner end was left out; node, if that end costs less than in base */
	double cost;   /* summed from the root on */
};

struct ranking {
	struct vprof_latency_ranking *out;
	const struct vprof_paired_tree *tree;
	double *cost;		    /* [nodes] of each alone */
	double *sum;		    /* [nodes] from the root on */
	double *under;		    /* [nodes] of each with all beneath it */
	unsigned char *awaits_work; /* [nodes] what sleeps there is idle, on both sides */
	uint64_t *idle[2];	    /* [nodes] ns of each with all beneath it, on a side */
	uint64_t *sure_idle[2];	    /* ... without what is so perhaps */
	unsigned char *is_on[2];    /* [nodes of a side] all 0, but while a path is looked at */
	double low[2], most[2];	    /* of a side: what surely is own time of some node; all time that is not idle */
	VPROF_ARRAY(struct candidate) candidates;
};

static double less(uint64_t a, uint64_t b)
{
	return a > b ? (double)(a - b) : 0;
}

static const struct vprof_latency_context *context_of(const struct ranking *g, int side, uint32_t node)
{
	return g->tree->sides[side] ? vprof_paired_context(g->tree, side, node) : NULL;
}

/* Threads that wait for work sleep the less the more there is to do. Those that sleep at a place for four fifths of
 * their lives under one load may not under another one: where most of the sleep is idle time in one run, all of it is
 * in both, else none is. */
static void find_waits(struct ranking *g)
{
	for (uint32_t i = 1; i < g->tree->nodes.n; i++)
		for (int side = 0; side < 2; side++) {
			const struct vprof_latency_context *c = context_of(g, side, i);

			g->awaits_work[i] |= c && c->own_idle_ns && 2 * c->own_idle_ns >= c->own_sleep_ns;
		}
}

/* Idle time of a node's own on a side, as far as it may be idle. */
static uint64_t idle_of(const struct ranking *g, int side, uint32_t node)
{
	const struct vprof_latency_context *c = context_of(g, side, node);

	if (!c || !g->tree->sides[0])
		return c ? c->own_idle_ns : 0;
	if (!g->awaits_work[node])
		return 0;
	return c->own_sleep_ns > c->own_idle_ns ? c->own_sleep_ns : c->own_idle_ns;
}

/* ... as far as it surely is. */
static uint64_t sure_idle_of(const struct ranking *g, int side, uint32_t node)
{
	const struct vprof_latency_context *c = context_of(g, side, node);
	uint64_t idle = idle_of(g, side, node);

	return !c || idle < c->own_unpaired_ns ? 0 : idle - c->own_unpaired_ns;
}

static struct own own_of(const struct ranking *g, int side, uint32_t node)
{
	const struct vprof_latency_context *c = context_of(g, side, node);
	double scale = g->out->scale[side];
	uint64_t idle = idle_of(g, side, node);

	if (!c || !node)
		return (struct own){ 0, 0, 0 };
	return (struct own){ scale * less(c->own_ns, idle), scale * less(c->own_low_ns, idle),
			     scale * less(c->own_high_ns, sure_idle_of(g, side, node)) };
}

static void fill_costs(struct ranking *g)
{
	for (uint32_t i = 1; i < g->tree->nodes.n; i++) {
		double base = own_of(g, 0, i).own, new = own_of(g, 1, i).own;
		uint32_t parent = g->tree->nodes.v[i].parent;

		g->low[0] += own_of(g, 0, i).low;
		g->low[1] += own_of(g, 1, i).low;
		g->out->total[0] += base;
		g->out->total[1] += new;
		g->cost[i] = new - base;
		g->sum[i] = g->cost[i] + (parent ? g->sum[parent] : 0);
	}
}

/* Parents come before their children. */
static void add_beneath(struct ranking *g)
{
	for (uint32_t i = (uint32_t)g->tree->nodes.n; i-- > 1;) {
		uint32_t parent = g->tree->nodes.v[i].parent;

		g->under[i] += g->cost[i];
		g->under[parent] += g->under[i];
		for (int side = 0; side < 2; side++) {
			g->idle[side][i] += idle_of(g, side, i);
			g->idle[side][parent] += g->idle[side][i];
			g->sure_idle[side][i] += sure_idle_of(g, side, i);
			g->sure_idle[side][parent] += g->sure_idle[side][i];
		}
	}
}

/* The path that ends at a leaf, without the end that adds nothing: VPROF_NONE: it does not cost more. */
static uint32_t trimmed(const struct ranking *g, uint32_t leaf)
{
	uint32_t node = leaf;

	while (node && g->cost[node] < TAIL_SHARE * g->sum[leaf])
		node = g->tree->nodes.v[node].parent;
	return node && g->sum[node] > 0 ? node : VPROF_NONE;
}

static int gather(struct ranking *g)
{
	unsigned char *is_taken = calloc(g->tree->nodes.n, 1);
	int ret = is_taken ? VPROF_OK : VPROF_ERR_NOMEM;

	for (uint32_t i = 1; i < g->tree->nodes.n && !ret; i++) {
		const struct vprof_paired_node *n = &g->tree->nodes.v[i];
		uint32_t end = n->side[1] == VPROF_NONE || (g->tree->sides[0] && n->n_children[1]) ? VPROF_NONE : i;
		struct candidate *c;

		if (end != VPROF_NONE)
			end = g->tree->sides[0] ? trimmed(g, i) : g->cost[i] > 0 ? i : VPROF_NONE;
		if (end == VPROF_NONE || is_taken[end])
			continue;
		is_taken[end] = 1;
		c = VPROF_PUSH(&g->candidates);
		if (c)
			*c = (struct candidate){ end, g->sum[i] < (1 - TAIL_SHARE) * g->sum[end] ? end : i,
						 g->tree->sides[0] ? g->sum[end] : g->cost[end] };
		else
			ret = VPROF_ERR_NOMEM;
	}
	free(is_taken);
	return ret;
}

/* By falling cost, of equal ones in the order of their nodes. */
static int compare_candidates(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static int compare_costs(const void *x, const void *y)
{
	const struct vprof_ranked_node *const *a = x, *const *b = y;

	if ((*a)->cost != (*b)->cost)
		return (*a)->cost > (*b)->cost ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static void rank_nodes(struct vprof_ranked_node *nodes, size_t n)
{
	struct vprof_ranked_node *order[VPROF_LATENCY_DEPTH_MAX];

	for (size_t i = 0; i < n; i++)
		order[i] = &nodes[i];
	qsort(order, n, sizeof *order, compare_costs);
	for (size_t i = 0; i < n; i++)
		order[i]->rank = (uint32_t)i + 1;
}

/* Squared standard error of what a path costs from its node `first` on, by the parts of a side's recording. */
static double squared_error(const struct ranking *g, const struct vprof_ranked_path *p, int side, size_t first)
{
	const struct vprof_annotated_tree *t = g->tree->sides[side];
	uint32_t n_blocks = t->n_blocks;
	double v[VPROF_LATENCY_BLOCKS] = { 0 }, mean = 0, sum = 0;

	for (size_t i = first; i < p->n_nodes; i++) {
		uint32_t pair = g->out->nodes.v[p->first_node + i].node;
		uint32_t node = g->tree->nodes.v[pair].side[side];
		size_t first_block = (size_t)node * VPROF_LATENCY_BLOCKS;

		for (uint32_t b = 0; b < n_blocks && node != VPROF_NONE; b++)
			v[b] += (double)t->own_blocks[first_block + b] +
				(g->awaits_work[pair] ? 0 : (double)t->sleep_blocks[first_block + b]);
	}
	for (uint32_t b = 0; b < n_blocks; b++)
		mean += v[b] / n_blocks;
	for (uint32_t b = 0; b < n_blocks; b++)
		sum += (v[b] - mean) * (v[b] - mean);
	sum *= (double)n_blocks / (n_blocks - 1); /* of the whole: n_blocks^2 times that of the mean of a part */
	return sum * g->out->scale[side] * g->out->scale[side];
}

/* A path begins at the root, so two contexts of a stack are on it only if the outer one is. Is the outermost one on it
 * that may have had the time as its own? */
static int may_hold(const struct vprof_annotated_tree *t, const struct vprof_latency_gap *gap,
		    const unsigned char *is_on)
{
	const struct vprof_latency_stack *stacks = t->history->stacks.v;
	uint32_t sure = gap->common.sure_depth;

	if (gap->common.depth)
		return is_on[t->nodes[stacks[gap->stack].first + (sure ? sure - 1 : 0)]];
	return (gap->stack != VPROF_NONE && is_on[t->nodes[stacks[gap->stack].first]]) ||
	       (gap->next != VPROF_NONE && is_on[t->nodes[stacks[gap->next].first]]);
}

static int is_inside(const struct vprof_annotated_tree *t, uint32_t stack, const unsigned char *is_on)
{
	const struct vprof_latency_stack *s = stack == VPROF_NONE ? NULL : &t->history->stacks.v[stack];

	return s && is_on[t->nodes[s->first + s->n - 1]];
}

/* Of the path as a whole, to its leaf: each stretch of time counts once. */
static struct own union_bounds(const struct ranking *g, uint32_t leaf, int side)
{
	const struct vprof_annotated_tree *t = g->tree->sides[side];
	unsigned char *is_on = g->is_on[side];
	struct own all = { 0, 0, 0 };
	uint64_t low = 0, high = 0, idle = 0, sure_idle = 0;

	for (uint32_t node = leaf; node; node = g->tree->nodes.v[node].parent) {
		uint32_t own = g->tree->nodes.v[node].side[side];

		if (own == VPROF_NONE)
			continue;
		all.own += own_of(g, side, node).own;
		is_on[own] = 1;
		idle += idle_of(g, side, node);
		sure_idle += sure_idle_of(g, side, node);
	}
	for (size_t i = 0; i < t->gaps.n; i++) {
		const struct vprof_latency_gap *gap = &t->gaps.v[i];

		if (!may_hold(t, gap, is_on))
			continue;
		high += gap->ns;
		if (gap->common.depth && is_inside(t, gap->stack, is_on) && is_inside(t, gap->next, is_on))
			low += gap->ns;
	}
	for (uint32_t node = leaf; node; node = g->tree->nodes.v[node].parent)
		if (g->tree->nodes.v[node].side[side] != VPROF_NONE)
			is_on[g->tree->nodes.v[node].side[side]] = 0;
	all.low = g->out->scale[side] * less(low, idle);
	all.high = g->out->scale[side] * less(high, sure_idle);
	return all;
}

/* How long a context was on the stack, without idle time. */
static struct own whole_of(const struct ranking *g, int side, uint32_t node)
{
	const struct vprof_latency_context *c = vprof_paired_context(g->tree, side, node);
	double scale = g->out->scale[side];

	if (!c)
		return (struct own){ 0, 0, 0 };
	return (struct own){ 0, scale * less(c->low_ns, g->idle[side][node]),
			     scale * less(c->high_ns, g->sure_idle[side][node]) };
}

/* The innermost context of the path that surely costs more, and the path a good part of that. */
static void settle_whole(const struct ranking *g, struct vprof_ranked_path *p)
{
	for (size_t n = p->n_nodes; n-- > 1;) {
		uint32_t node = g->out->nodes.v[p->first_node + n].node;
		struct own old = whole_of(g, 0, node), new = whole_of(g, 1, node);

		if (new.low - old.high <= 0 || p->cost < WHOLE_MIN * g->under[node])
			continue;
		p->n_whole = n + 1;
		p->low = new.low - old.high;
		p->high = new.high - old.low;
		return;
	}
}

/* Adds up a side's bounds over the path's contexts; together they have no more time than the others leave. */
static struct own path_bounds(const struct ranking *g, const struct vprof_ranked_path *p, int side, size_t first)
{
	struct own all = { 0, 0, 0 };
	double most;

	for (size_t i = first; i < p->n_nodes; i++) {
		struct own own = own_of(g, side, g->out->nodes.v[p->first_node + i].node);

		all.own += own.own;
		all.low += own.low;
		all.high += own.high;
	}
	most = g->most[side] - (g->low[side] - all.low);
	all.high = all.high < most ? all.high : most;
	return all;
}

/* Beyond how many standard errors of a difference chance reaches with this probability. The degrees of freedom are
 * those of the side with fewer parts, a bound for any two variances: estimated from them (Welch and Satterthwaite) they
 * are too many where the two parts of a recording in three windows happen to be alike. */
static double errors_of(const struct ranking *g, double chance)
{
	uint32_t n_blocks = VPROF_LATENCY_BLOCKS;

	for (int side = 0; side < 2; side++)
		if (g->tree->sides[side] && g->tree->sides[side]->n_blocks < n_blocks)
			n_blocks = g->tree->sides[side]->n_blocks;
	return gsl_cdf_tdist_Qinv(chance, n_blocks - 1);
}

/* May chance alone have made the calls on the path as many as they are? Not where both recordings hold the program's
 * whole life, as those of a command do. Else the outermost context that is not called equally often decides: within its
 * calls everything else happens as often as they do. */
static int may_be_called_by_chance(const struct ranking *g, const struct vprof_ranked_path *p)
{
	double units[2] = { 1 / g->out->scale[0], 1 / g->out->scale[1] };

	for (size_t i = 0; i < p->n_nodes; i++) {
		uint32_t node = g->out->nodes.v[p->first_node + i].node;
		const struct vprof_latency_context *old = context_of(g, 0, node), *new = context_of(g, 1, node);
		uint64_t n_old = old ? old->n : 0, n_new = new ? new->n : 0, most = UINT32_MAX / 2;

		if (!i && !(old && old->n_cut) && !(new && new->n_cut))
			return 0;
		if (!i || n_old == n_new)
			continue;
		if (n_old > most || n_new > most)
			return 0;
		return gsl_cdf_binomial_Q(n_new ? (unsigned int)n_new - 1 : 0, units[1] / (units[0] + units[1]),
					  (unsigned int)(n_old + n_new)) >= TIMES_CHANCE;
	}
	return 0;
}

static enum vprof_latency_verdict judge(const struct ranking *g, const struct vprof_ranked_path *p, double base)
{
	double new = base + p->cost;
	int is_sample = 0; /* of windows: even a multiple may be chance */

	for (int side = 0; side < 2; side++)
		is_sample |= g->tree->sides[side] && g->tree->sides[side]->history->windows.n > 1;
	if (p->low <= 0)
		return VPROF_LATENCY_UNBOUNDED;
	if (p->share < CHANGE_MIN || !g->tree->sides[0])
		return g->tree->sides[0] ? VPROF_LATENCY_VARIES : VPROF_LATENCY_CHANGED;
	if (p->cost > errors_of(g, ERROR_CHANCE) * p->error ||
	    (!is_sample && new >= TIMES_MIN *base && p->share >= TIMES_CHANGE &&
	     p->cost > errors_of(g, TIMES_CHANCE) * p->error && !may_be_called_by_chance(g, p)))
		return VPROF_LATENCY_CHANGED;
	return VPROF_LATENCY_VARIES;
}

static void widen(const struct ranking *g, struct vprof_ranked_path *p)
{
	double error = sqrt(squared_error(g, p, 1, p->n_nodes - 1)) * errors_of(g, WINDOW_CHANCE);

	p->low = p->low > error ? p->low - error : 0;
	p->high += error;
}

static int add_path(struct ranking *g, const struct candidate *c)
{
	struct vprof_latency_ranking *out = g->out;
	uint32_t n = g->tree->nodes.v[c->node].depth + 1;
	struct vprof_ranked_path *p = VPROF_PUSH(&out->paths);
	struct own old, new;

	if (!p || VPROF_ROOM(&out->nodes, out->nodes.n + n))
		return VPROF_ERR_NOMEM;
	*p = (struct vprof_ranked_path){ .node = c->node, .cost = c->cost, .first_node = out->nodes.n, .n_nodes = n };
	out->nodes.n += n;
	for (uint32_t node = c->node, i = n; i-- > 0; node = g->tree->nodes.v[node].parent) {
		old = own_of(g, 0, node);
		new = own_of(g, 1, node);
		out->nodes.v[p->first_node + i] = (struct vprof_ranked_node){ .node = node, .cost = new.own - old.own };
	}
	if (g->tree->sides[0]) {
		old = union_bounds(g, c->leaf, 0);
		new = union_bounds(g, c->leaf, 1);
	} else {
		old = (struct own){ 0, 0, 0 };
		new = path_bounds(g, p, 1, n - 1);
	}
	p->low = new.low - old.high;
	p->high = new.high - old.low;
	if (g->tree->sides[0] && p->low <= 0)
		settle_whole(g, p);
	rank_nodes(out->nodes.v + p->first_node, n);
	if (!g->tree->sides[0] && g->tree->sides[1]->history->windows.n > 1) /* windows are a sample */
		widen(g, p);
	p->share = out->total[1] > 0 ? p->cost / out->total[1] : 0;
	p->error = g->tree->sides[0] ? sqrt(squared_error(g, p, 0, 0) + squared_error(g, p, 1, 0)) : NAN;
	p->verdict = judge(g, p, old.own);
	return VPROF_OK;
}

static int prepare(struct ranking *g)
{
	const struct vprof_paired_tree *t = g->tree;
	int is_there = 1;

	g->cost = calloc(t->nodes.n, sizeof *g->cost);
	g->sum = calloc(t->nodes.n, sizeof *g->sum);
	g->under = calloc(t->nodes.n, sizeof *g->under);
	g->awaits_work = calloc(t->nodes.n, 1);
	for (int side = 0; side < 2; side++) {
		g->idle[side] = calloc(t->nodes.n, sizeof *g->idle[side]);
		g->sure_idle[side] = calloc(t->nodes.n, sizeof *g->sure_idle[side]);
		g->is_on[side] = calloc(t->sides[side] ? t->sides[side]->tree.nodes.n : 1, 1);
		is_there &= g->idle[side] && g->sure_idle[side] && g->is_on[side];
	}
	return is_there && g->cost && g->sum && g->under && g->awaits_work ? VPROF_OK : VPROF_ERR_NOMEM;
}

static void release(struct ranking *g)
{
	free(g->cost);
	free(g->sum);
	free(g->under);
	free(g->awaits_work);
	for (int side = 0; side < 2; side++) {
		free(g->idle[side]);
		free(g->sure_idle[side]);
		free(g->is_on[side]);
	}
	VPROF_ARRAY_RELEASE(&g->candidates);
}

int vprof_latency_rank(struct vprof_latency_ranking *out, const struct vprof_paired_tree *t, const double scale[2],
		       size_t most, struct vprof_error *err)
{
	struct ranking g = { .out = out, .tree = t };
	int ret;

	*out = (struct vprof_latency_ranking){ .scale = { scale[0], scale[1] } };
	ret = prepare(&g);
	if (!ret) {
		find_waits(&g);
		fill_costs(&g);
		add_beneath(&g);
		for (int side = 0; side < 2; side++)
			if (t->sides[side])
				g.most[side] = scale[side] * less(t->sides[side]->total_ns, g.sure_idle[side][0]);
		ret = gather(&g);
	}
	if (!ret && vprof_array_sort(g.candidates.v, g.candidates.n, sizeof *g.candidates.v, compare_candidates))
		ret = VPROF_ERR_NOMEM;
	for (size_t i = 0; i < g.candidates.n && i < most && !ret; i++)
		ret = add_path(&g, &g.candidates.v[i]);
	release(&g);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_latency_ranking_release(struct vprof_latency_ranking *r)
{
	VPROF_ARRAY_RELEASE(&r->paths);
	VPROF_ARRAY_RELEASE(&r->nodes);
}

static int is_named(const struct vprof_paired_tree *t, uint32_t node, const char *name)
{
	return !strcmp(t->functions.v[t->nodes.v[node].function]->name, name);
}

size_t vprof_latency_p_min(const struct vprof_latency_ranking *r, const struct vprof_paired_tree *t, const char *name)
{
	for (size_t i = 0; i < r->paths.n; i++)
		for (size_t k = 0; k < r->paths.v[i].n_nodes; k++)
			if (is_named(t, r->nodes.v[r->paths.v[i].first_node + k].node, name))
				return i + 1;
	return 0;
}

size_t vprof_latency_f_min(const struct vprof_latency_ranking *r, const struct vprof_paired_tree *t, size_t path,
			   const char *name)
{
	const struct vprof_ranked_path *p = &r->paths.v[path];
	const struct vprof_ranked_node *nodes = r->nodes.v + p->first_node;
	size_t costliest = 0, nearest = SIZE_MAX;

	for (size_t i = 0; i < p->n_nodes; i++)
		costliest = nodes[i].rank == 1 ? i : costliest;
	for (size_t i = 0; i < p->n_nodes; i++) {
		size_t distance = i > costliest ? i - costliest : costliest - i;

		if (is_named(t, nodes[i].node, name) && distance < nearest)
			nearest = distance;
	}
	return nearest;
}
