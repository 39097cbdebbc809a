/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In each block a context has intervals, their time, and of it what they waited, queued, and were preempted. The time
 * of a wait is that of the topmost node that is one, with all beneath it, as where the context's times are summed. */
#include "analysis/transactions/context_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats/bootstrap.h"

#define SEED UINT64_C(0x636f6e74657874) /* any: the same bounds every time */

/* sums of a context in a block; one more for all contexts, the last */
enum { SUM_N, SUM_ALL, SUM_WAITING, SUM_QUEUED, SUM_PREEMPTED, SUM_COUNT };
enum { MEAN, SHARE, RUNNING, WAITING, QUEUED, PREEMPTED, STATISTICS };

int vprof_blame_is_wait(const struct vprof_blame_node *n)
{
	return n->class == VPROF_BLAME_WAIT || (n->class == VPROF_BLAME_FRAME && n->is_wait);
}

/* What time in it counts for, 0: running. */
static uint8_t part_of(const struct vprof_blame_node *n)
{
	if (vprof_blame_is_wait(n))
		return SUM_WAITING;
	return n->class == VPROF_BLAME_QUEUED ? SUM_QUEUED : n->class == VPROF_BLAME_PREEMPTED ? SUM_PREEMPTED : 0;
}

/* context[nodes]: whose a node is, VPROF_NONE: nobody's; part[nodes]: what its time counts for. */
static void assign_nodes(const struct vprof_blame_tree *tree, const uint32_t *routes, size_t n_contexts,
			 uint32_t *context, uint8_t *part)
{
	context[0] = VPROF_NONE;
	for (size_t i = 1; i < tree->nodes.n; i++) {
		const struct vprof_blame_node *n = &tree->nodes.v[i];
		int is_deeper = n->class != VPROF_BLAME_ROUTE;

		context[i] = is_deeper ? context[n->parent] : VPROF_NONE;
		part[i] = is_deeper && part[n->parent] ? part[n->parent] : is_deeper ? part_of(n) : 0;
		for (size_t c = 0; c < n_contexts && !is_deeper; c++)
			if (routes[c] == i)
				context[i] = (uint32_t)c;
	}
}

/* rows[blocks][n * SUM_COUNT + 1]. OK or NOMEM. */
static int sum_blocks(const struct vprof_blame_tree *tree, const uint32_t *routes, size_t n, double *rows)
{
	uint32_t *context = calloc(tree->nodes.n + 1, sizeof *context);
	uint8_t *part = calloc(tree->nodes.n + 1, sizeof *part);

	if (context && part)
		assign_nodes(tree, routes, n, context, part);
	for (size_t i = 0; i < tree->sums.n && context && part; i++) {
		const struct vprof_blame_sum *s = &tree->sums.v[i];
		double *row = rows + s->block * (n * SUM_COUNT + 1);
		int is_route = tree->nodes.v[s->node].class == VPROF_BLAME_ROUTE;

		if (is_route)
			row[n * SUM_COUNT] += (double)s->ticks;
		if (context[s->node] == VPROF_NONE)
			continue;
		row += context[s->node] * SUM_COUNT;
		if (is_route) {
			row[SUM_N] += (double)s->n;
			row[SUM_ALL] += (double)s->ticks;
		} else if (part[s->node]) {
			row[part[s->node]] += (double)s->ticks;
		}
	}
	free(part);
	free(context);
	return context && part ? VPROF_OK : VPROF_ERR_NOMEM;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static void evaluate(void *arg, const double *sums, double *values)
{
	const size_t *n = arg;

	for (size_t i = 0; i < *n; i++) {
		const double *s = sums + i * SUM_COUNT;
		double *v = values + i * STATISTICS;

		v[MEAN] = ratio(s[SUM_ALL], s[SUM_N]);
		v[SHARE] = ratio(s[SUM_ALL], sums[*n * SUM_COUNT]);
		v[WAITING] = ratio(s[SUM_WAITING], s[SUM_ALL]);
		v[QUEUED] = ratio(s[SUM_QUEUED], s[SUM_ALL]);
		v[PREEMPTED] = ratio(s[SUM_PREEMPTED], s[SUM_ALL]);
		v[RUNNING] = 1 - v[WAITING] - v[QUEUED] - v[PREEMPTED];
	}
}

static void set_bounds(struct vprof_bootstrap_values *drawn, size_t i, double ns_per_tick, struct vprof_context *x)
{
	double *share[STATISTICS][2] = {
		[SHARE] = { &x->share_low, &x->share_high },
		[RUNNING] = { &x->running_low, &x->running_high },
		[WAITING] = { &x->waiting_low, &x->waiting_high },
		[QUEUED] = { &x->queued_low, &x->queued_high },
		[PREEMPTED] = { &x->preempted_low, &x->preempted_high },
	};

	vprof_bootstrap_bounds_within(drawn, i * STATISTICS + MEAN, 0, INFINITY, &x->mean_low, &x->mean_high);
	x->mean_low *= ns_per_tick;
	x->mean_high *= ns_per_tick;
	for (size_t k = SHARE; k < STATISTICS; k++)
		vprof_bootstrap_bounds_within(drawn, i * STATISTICS + k, 0, 1, share[k][0], share[k][1]);
}

static void clear_bounds(struct vprof_context *x)
{
	x->mean_low = x->mean_high = x->share_low = x->share_high = NAN;
	x->running_low = x->running_high = x->waiting_low = x->waiting_high = NAN;
	x->queued_low = x->queued_high = x->preempted_low = x->preempted_high = NAN;
}

int vprof_context_bounds(struct vprof_results *r, const struct vprof_blame_tree *tree, const uint32_t *routes,
			 const struct vprof_run_blocks *blocks, double ns_per_tick, int n_threads)
{
	size_t n = r->n_contexts < VPROF_CONTEXTS_BOUNDED ? r->n_contexts : VPROF_CONTEXTS_BOUNDED;
	struct vprof_bootstrap_values drawn = { 0 };
	double *rows;
	int ret;

	for (size_t i = 0; i < r->n_contexts; i++)
		clear_bounds(&r->contexts[i]);
	if (blocks->n < 2 || !n)
		return VPROF_OK;
	rows = calloc(blocks->n * (n * SUM_COUNT + 1), sizeof *rows);
	if (!rows)
		return VPROF_ERR_NOMEM;
	ret = sum_blocks(tree, routes, n, rows);
	if (!ret)
		ret = vprof_bootstrap_run(&(struct vprof_bootstrap){ .n_blocks = blocks->n,
								     .n_sums = n * SUM_COUNT + 1,
								     .n_statistics = n * STATISTICS,
								     .n_runs = blocks->run_first ? blocks->n_runs : 0,
								     .run_first = blocks->run_first,
								     .seed = SEED,
								     .rows = rows,
								     .evaluate = evaluate,
								     .arg = &n,
								     .n_threads = n_threads },
					  &drawn);
	for (size_t i = 0; i < n && !ret; i++)
		if (r->contexts[i].n >= VPROF_BOUNDS_MIN)
			set_bounds(&drawn, i, ns_per_tick, &r->contexts[i]);
	vprof_bootstrap_release(&drawn);
	free(rows);
	return ret;
}
