/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/path_ranking.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#define PART_MIN 0.5	    /* of what a context costs more: from that on it is told of the one further in */
#define LEAST_CHANCE 0.05   /* that it costs less more than `least` */
#define CHANGE_MIN 0.01	    /* of new's costs: a smaller difference is not worth a word */
#define ERROR_CHANCE 1.2e-5 /* that a difference exceeds what it must by chance: six standard errors of 16 parts */
#define PARTS_MIN 4	    /* of a recording: fewer may be alike by chance, and then have no error */
#define WHOLE_MIN (1.0 / 3) /* of what a context costs more: the path's part */
#define SHOWN_MIN 0.2	    /* of a difference: a part that is worth a word */
#define NEARLY_ALL 0.8	    /* of a part: it is told by the function further in */
#define WINDOW_CHANCE 0.025 /* that windows differ from the rest so much to either side */
/* ... or new's cost this many times base's, if the difference is that share of new's costs, and neither its error nor
 * the number of calls explains it: the chance of either. What happens now and then may fall into one run alone. */
#define TIMES_MIN 2.0
#define TIMES_CHANGE 0.05
#define TIMES_CHANCE 0.01

struct bounds {
	double low, high;
};

struct candidate {
	uint32_t node;
	int is_own;
	double cost, error, base, least;
};

struct ranking {
	struct vprof_latency_ranking *out;
	const struct vprof_paired_tree *tree;
	const struct vprof_latency_units *units;
	struct vprof_paired_costs costs;
	double errors, spreads; /* what chance explains with LEAST_CHANCE: so many errors, and of base's costs */
	double *largest,
		*surest; /* [nodes] of what its children cost more: as far as that is known; at least, by the bounds */
	unsigned char *is_whole;  /* [nodes] if it is told of, then with all beneath */
	unsigned char *has_known; /* [nodes] of it or something beneath it is known to cost more */
	uint32_t *heaviest;	  /* [nodes] the child that costs most more; 0: none */
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

/* What chance explains of a difference, with this probability at most: within the runs, and between them. */
static double chance_of(const struct ranking *g, double chance, double error, double base)
{
	return errors_of(g, chance) * error + gsl_cdf_ugaussian_Qinv(chance) * g->costs.spread * base;
}

static struct candidate candidate_of(const struct ranking *g, uint32_t node, int is_own)
{
	const struct vprof_paired_costs *c = &g->costs;
	double base = is_own ? c->own[0][node] : c->under[0][node];
	double error = is_own ? c->error[node] : c->under_error[node];
	double cost = (is_own ? c->own[1][node] : c->under[1][node]) - base;

	return (struct candidate){ node, is_own, cost, error, base, cost - g->errors * error - g->spreads * base };
}

static double cost_under(const struct ranking *g, uint32_t node)
{
	return g->costs.under[1][node] - g->costs.under[0][node];
}

/* How long a context was on the stack, or had the time for itself, without idle time. */
static struct bounds bounds_of(const struct ranking *g, int side, uint32_t node, int is_own)
{
	const struct vprof_paired_costs *costs = &g->costs;
	const struct vprof_latency_context *c = context_of(g, side, node);
	double scale = costs->scale[side];

	if (!c)
		return (struct bounds){ 0, 0 };
	if (is_own)
		return (struct bounds){ scale * less(c->own_low_ns, vprof_paired_costs_idle(costs, side, node)),
					scale * less(c->own_high_ns, vprof_paired_costs_sure_idle(costs, side, node)) };
	return (struct bounds){ scale * less(c->low_ns, costs->idle[side][node]),
				scale * less(c->high_ns, costs->sure_idle[side][node]) };
}

static struct bounds difference(const struct ranking *g, uint32_t node, int is_own)
{
	struct bounds old = bounds_of(g, 0, node, is_own), new = bounds_of(g, 1, node, is_own);

	return (struct bounds){ new.low - old.high, new.high - old.low };
}

/* The difference as far as chance does not explain it; by_cost: as it is. */
static double known(const struct candidate *c, int by_cost)
{
	return by_cost || c->least > 0 ? c->cost : 0;
}

/* From the innermost contexts outward: where may a difference arise? Returns whether any is known. */
static int find_places(const struct ranking *g, int by_cost)
{
	for (uint32_t i = 0; i < g->tree->nodes.n; i++) {
		g->heaviest[i] = 0;
		g->largest[i] = g->surest[i] = 0;
		g->has_known[i] = 0;
	}
	for (uint32_t i = (uint32_t)g->tree->nodes.n; i-- > 1;) {
		struct candidate own = candidate_of(g, i, 1), all = candidate_of(g, i, 0);
		double own_cost = known(&own, by_cost), all_cost = known(&all, by_cost);
		double most = own_cost > all_cost ? own_cost : all_cost;
		double sure = all_cost > 0 ? difference(g, i, 0).low : 0;
		uint32_t parent = g->tree->nodes.v[i].parent;
		int is_further = g->largest[i] >= PART_MIN * most || (sure > 0 && g->surest[i] >= PART_MIN * sure);

		g->has_known[i] |= most > 0;
		g->is_whole[i] = g->has_known[i] ? !is_further && all_cost >= PART_MIN * own_cost : 1;
		g->has_known[parent] |= g->has_known[i];
		if (all_cost > g->largest[parent])
			g->largest[parent] = all_cost;
		if (sure > g->surest[parent])
			g->surest[parent] = sure;
		if (g->tree->nodes.v[i].side[1] != VPROF_NONE && all.cost > 0 &&
		    (!g->heaviest[parent] || all.cost >= cost_under(g, g->heaviest[parent])))
			g->heaviest[parent] = i;
	}
	return g->has_known[0];
}

/* By how much more new costs: with all beneath it where that is the place, else its own time. What lies in a context
 * that is such a place is not told again. */
static int gather_differences(struct ranking *g)
{
	unsigned char *is_told = calloc(g->tree->nodes.n, 1);
	struct candidate *to;

	if (!is_told)
		return VPROF_ERR_NOMEM;
	if (!find_places(g, 0))
		find_places(g, 1);
	for (uint32_t i = 1; i < g->tree->nodes.n; i++) {
		struct candidate c = candidate_of(g, i, !g->is_whole[i]);

		is_told[i] = is_told[g->tree->nodes.v[i].parent];
		if (is_told[i])
			continue;
		is_told[i] = g->is_whole[i];
		if (g->tree->nodes.v[i].side[1] == VPROF_NONE || c.cost <= 0)
			continue;
		to = VPROF_PUSH(&g->candidates);
		if (!to) {
			free(is_told);
			return VPROF_ERR_NOMEM;
		}
		*to = c;
	}
	free(is_told);
	return VPROF_OK;
}

static int gather_costs(struct ranking *g)
{
	for (uint32_t i = 1; i < g->tree->nodes.n; i++) {
		struct candidate *c = g->costs.own[1][i] > 0 ? VPROF_PUSH(&g->candidates) : NULL;

		if (g->costs.own[1][i] > 0 && !c)
			return VPROF_ERR_NOMEM;
		if (c)
			*c = (struct candidate){ i, 1, g->costs.own[1][i], g->costs.error[i], 0, g->costs.own[1][i] };
	}
	return VPROF_OK;
}

/* By falling size, of equal ones in the order of their nodes. */
static int compare_candidates(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->least != b->least)
		return a->least > b->least ? -1 : 1;
	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Settled ones first, by falling cost; the others stay as they are. */
static int compare_paths(const void *x, const void *y)
{
	const struct vprof_ranked_path *a = x, *b = y;
	int is_a = a->verdict == VPROF_LATENCY_CHANGED, is_b = b->verdict == VPROF_LATENCY_CHANGED;

	if (is_a != is_b)
		return is_b - is_a;
	if (is_a && a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return a->first_node < b->first_node ? -1 : a->first_node > b->first_node;
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

/* The innermost context of the path that surely costs more, and the path a good part of that. */
static void find_bounds(const struct ranking *g, struct vprof_ranked_path *p)
{
	struct bounds d = difference(g, p->node, p->is_own);
	size_t n = g->tree->nodes.v[p->node].depth + 1;

	p->n_whole = p->is_own ? 0 : n;
	p->low = d.low;
	p->high = d.high;
	for (uint32_t node = p->node; node && p->low <= 0; node = g->tree->nodes.v[node].parent, n--) {
		d = difference(g, node, 0);
		if (d.low <= 0 || p->cost < WHOLE_MIN * cost_under(g, node))
			continue;
		p->n_whole = n;
		p->low = d.low;
		p->high = d.high;
	}
}

/* A single run's: between no own time beneath and all of it. */
static void find_own_bounds(const struct ranking *g, struct vprof_ranked_path *p)
{
	struct bounds own = bounds_of(g, 1, p->node, 1);
	double sure = 0, most;

	for (uint32_t i = 1; i < g->tree->nodes.n; i++)
		sure += bounds_of(g, 1, i, 1).low;
	most = g->costs.scale[1] * less(g->tree->sides[1]->total_ns, g->costs.sure_idle[1][0]) - (sure - own.low);
	p->low = own.low;
	p->high = own.high < most ? own.high : most; /* no more than the others leave */
}

/* May chance alone have made the calls on the path as many as they are? Not where both recordings hold the program's
 * whole life, as those of a command do. Else the outermost context that is not called equally often decides: within its
 * calls everything else happens as often as they do. */
static int may_be_called_by_chance(const struct ranking *g, const struct vprof_ranked_path *p)
{
	const double *units = g->units->n;

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
	int is_sample = 0, is_few = 0; /* of windows: even a multiple may be chance */

	for (int side = 0; side < 2; side++) {
		is_sample |= g->tree->sides[side] && g->tree->sides[side]->history->windows.n > 1;
		is_few |= g->tree->sides[side] && g->tree->sides[side]->n_blocks < PARTS_MIN;
	}
	if (p->low <= 0)
		return VPROF_LATENCY_UNBOUNDED;
	if (is_few && g->tree->sides[0])
		return VPROF_LATENCY_VARIES;
	if (p->share < CHANGE_MIN || !g->tree->sides[0])
		return g->tree->sides[0] ? VPROF_LATENCY_VARIES : VPROF_LATENCY_CHANGED;
	if (p->cost > chance_of(g, ERROR_CHANCE, p->error, base) ||
	    (!is_sample && new >= TIMES_MIN *base && p->share >= TIMES_CHANGE &&
	     p->cost > chance_of(g, TIMES_CHANCE, p->error, base) && !may_be_called_by_chance(g, p)))
		return VPROF_LATENCY_CHANGED;
	return VPROF_LATENCY_VARIES;
}

/* From a context to where most of its difference is, as far as that is a good part: the end, and the contexts on the
 * way. */
static uint32_t innermost(const struct ranking *g, uint32_t node, uint32_t *n)
{
	double least = WHOLE_MIN * cost_under(g, node);

	for (*n = 0; g->heaviest[node] && cost_under(g, g->heaviest[node]) >= least; ++*n)
		node = g->heaviest[node];
	return node;
}

/* The child that has most of a context's difference; 0: none. */
static uint32_t next_part(const struct ranking *g, uint32_t node)
{
	uint32_t child = g->heaviest[node];

	return child && cost_under(g, child) >= NEARLY_ALL * cost_under(g, node) ? child : 0;
}

/* Of what a context's difference consists beneath it. */
static int add_parts(struct ranking *g, struct vprof_ranked_path *p)
{
	uint32_t place = p->node, next;

	p->first_part = g->out->parts.n;
	while (!p->is_own && (next = next_part(g, place)))
		place = next;
	for (uint32_t i = place + 1; i < g->tree->nodes.n && !p->is_own; i++) {
		struct vprof_ranked_part *part;
		uint32_t end = i;

		if (g->tree->nodes.v[i].parent != place || cost_under(g, i) < SHOWN_MIN * p->cost)
			continue;
		while ((next = next_part(g, end)))
			end = next;
		part = VPROF_PUSH(&g->out->parts);
		if (!part)
			return VPROF_ERR_NOMEM;
		*part = (struct vprof_ranked_part){ end, cost_under(g, i) };
	}
	p->n_parts = g->out->parts.n - p->first_part;
	return VPROF_OK;
}

static int add_path(struct ranking *g, const struct candidate *c)
{
	struct vprof_latency_ranking *out = g->out;
	uint32_t n = g->tree->nodes.v[c->node].depth + 1, end = c->node, further = 0;
	struct vprof_ranked_path *p = VPROF_PUSH(&out->paths);

	if (!p)
		return VPROF_ERR_NOMEM;
	*p = (struct vprof_ranked_path){
		.node = c->node, .is_own = c->is_own, .cost = c->cost, .least = c->least, .first_node = out->nodes.n
	};
	p->share = out->total[1] > 0 ? p->cost / out->total[1] : 0;
	p->error = g->tree->sides[0] ? c->error : NAN;
	if (g->tree->sides[0])
		find_bounds(g, p);
	else
		find_own_bounds(g, p);
	if (g->tree->sides[0] && p->n_whole == n)
		end = innermost(g, c->node, &further);
	n += further;
	if (VPROF_ROOM(&out->nodes, out->nodes.n + n))
		return VPROF_ERR_NOMEM;
	out->nodes.n += n;
	p->n_nodes = n;
	for (uint32_t node = end, i = n; i-- > 0; node = g->tree->nodes.v[node].parent)
		out->nodes.v[p->first_node + i] =
			(struct vprof_ranked_node){ .node = node,
						    .cost = g->costs.own[1][node] - g->costs.own[0][node] };
	rank_nodes(out->nodes.v + p->first_node, n);
	if (!g->tree->sides[0] && g->tree->sides[1]->history->windows.n > 1) { /* windows are a sample */
		double error = c->error * errors_of(g, WINDOW_CHANCE);

		p->low = p->low > error ? p->low - error : 0;
		p->high += error;
	}
	p->verdict = judge(g, p, c->base);
	return g->tree->sides[0] ? add_parts(g, p) : VPROF_OK;
}

static void release(struct ranking *g)
{
	vprof_paired_costs_release(&g->costs);
	free(g->largest);
	free(g->surest);
	free(g->is_whole);
	free(g->has_known);
	free(g->heaviest);
	VPROF_ARRAY_RELEASE(&g->candidates);
}

int vprof_latency_rank(struct vprof_latency_ranking *out, const struct vprof_paired_tree *t,
		       const struct vprof_latency_units *units, size_t most, struct vprof_error *err)
{
	struct ranking g = { .out = out, .tree = t, .units = units };
	int ret;

	*out = (struct vprof_latency_ranking){ .units = units, .ratio = 1 };
	ret = vprof_paired_costs_fill(&g.costs, t, units);
	g.largest = calloc(t->nodes.n, sizeof *g.largest);
	g.surest = calloc(t->nodes.n, sizeof *g.surest);
	g.is_whole = calloc(t->nodes.n, 1);
	g.has_known = calloc(t->nodes.n, 1);
	g.heaviest = calloc(t->nodes.n, sizeof *g.heaviest);
	if (!ret && !(g.largest && g.surest && g.is_whole && g.has_known && g.heaviest))
		ret = VPROF_ERR_NOMEM;
	if (!ret) {
		out->ratio = g.costs.ratio;
		out->spread = g.costs.spread;
		out->total[0] = g.costs.total[0];
		out->total[1] = g.costs.total[1];
		g.errors = errors_of(&g, LEAST_CHANCE);
		g.spreads = gsl_cdf_ugaussian_Qinv(LEAST_CHANCE) * g.costs.spread;
		ret = t->sides[0] ? gather_differences(&g) : gather_costs(&g);
	}
	if (!ret && vprof_array_sort(g.candidates.v, g.candidates.n, sizeof *g.candidates.v, compare_candidates))
		ret = VPROF_ERR_NOMEM;
	for (size_t i = 0; i < g.candidates.n && i < most && !ret; i++)
		ret = add_path(&g, &g.candidates.v[i]);
	if (!ret && t->sides[0] && vprof_array_sort(out->paths.v, out->paths.n, sizeof *out->paths.v, compare_paths))
		ret = VPROF_ERR_NOMEM;
	release(&g);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_latency_ranking_release(struct vprof_latency_ranking *r)
{
	VPROF_ARRAY_RELEASE(&r->paths);
	VPROF_ARRAY_RELEASE(&r->nodes);
	VPROF_ARRAY_RELEASE(&r->parts);
}
