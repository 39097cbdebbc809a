/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/paired_costs.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#define CONTEXTS_MIN 10		/* as many equal ones as those that tell the ratio are worth */
#define RATIO_CHANCE 0.005	/* that a ratio of 1 is taken for another one, to either side */
#define MAD_TO_DEVIATION 1.4826 /* of a normal distribution */
#define RATIO_MIN 0.01		/* the logarithm of one that is worth a word */
#define LEAST_VARIANCE 0.01	/* of a logarithm: contexts that are known better count alike */

static const struct vprof_latency_context *context_of(const struct vprof_paired_costs *c, int side, uint32_t node)
{
	return c->tree->sides[side] ? vprof_paired_context(c->tree, side, node) : NULL;
}

/* Threads that wait for work sleep the less the more there is to do. Those that sleep at a place for four fifths of
 * their lives under one load may not under another one: where most of the sleep is idle time in one run, all of it is
 * in both, else none is. */
static void find_waits(struct vprof_paired_costs *c)
{
	for (uint32_t i = 1; i < c->tree->nodes.n; i++)
		for (int side = 0; side < 2; side++) {
			const struct vprof_latency_context *x = context_of(c, side, i);

			c->is_await[i] |= x && x->own_idle_ns && 2 * x->own_idle_ns >= x->own_sleep_ns;
		}
}

uint64_t vprof_paired_costs_idle(const struct vprof_paired_costs *c, int side, uint32_t node)
{
	const struct vprof_latency_context *x = context_of(c, side, node);

	if (!x || !c->tree->sides[0])
		return x ? x->own_idle_ns : 0;
	if (!c->is_await[node])
		return 0;
	return x->own_sleep_ns > x->own_idle_ns ? x->own_sleep_ns : x->own_idle_ns;
}

uint64_t vprof_paired_costs_sure_idle(const struct vprof_paired_costs *c, int side, uint32_t node)
{
	const struct vprof_latency_context *x = context_of(c, side, node);
	uint64_t idle = vprof_paired_costs_idle(c, side, node);

	return !x || idle < x->own_unpaired_ns ? 0 : idle - x->own_unpaired_ns;
}

/* Without idle time; of two runs as it likely was. */
static double own_time(const struct vprof_paired_costs *c, int side, uint32_t node)
{
	const struct vprof_latency_context *x = context_of(c, side, node);
	double all = c->tree->sides[0] ? x->likely_ns : (double)x->own_ns;
	double idle = (double)vprof_paired_costs_idle(c, side, node);

	return all > idle ? all - idle : 0;
}

/* Squared standard error of the cost of what took so long in each block: by how much that differs from what is due to
 * the units of work in the block. */
static double squared_error(const double *blocks, const double *parts, uint32_t n_blocks, double scale)
{
	double all = 0, sum = 0;

	for (uint32_t b = 0; b < n_blocks; b++)
		all += blocks[b];
	for (uint32_t b = 0; b < n_blocks; b++)
		sum += (blocks[b] - all * parts[b]) * (blocks[b] - all * parts[b]);
	return sum * n_blocks / (n_blocks - 1) * scale * scale; /* n_blocks^2 times that of the mean of a block */
}

/* Own times and errors of a side, and those with all beneath. */
static int fill_side(struct vprof_paired_costs *c, int side, const double *parts)
{
	const struct vprof_annotated_tree *t = c->tree->sides[side];
	size_t n = c->tree->nodes.n;
	double *blocks = calloc(n * VPROF_LATENCY_BLOCKS, sizeof *blocks);

	if (!blocks)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = (uint32_t)n; i-- > 1;) {
		const struct vprof_latency_context *x = vprof_paired_context(c->tree, side, i);
		uint32_t node = c->tree->nodes.v[i].side[side], parent = c->tree->nodes.v[i].parent;
		double own[VPROF_LATENCY_BLOCKS] = { 0 };
		double *under = blocks + (size_t)i * VPROF_LATENCY_BLOCKS;
		double *to = blocks + (size_t)parent * VPROF_LATENCY_BLOCKS;

		if (x) {
			c->own[side][i] = c->scale[side] * own_time(c, side, i);
			c->idle[side][i] += vprof_paired_costs_idle(c, side, i);
			c->sure_idle[side][i] += vprof_paired_costs_sure_idle(c, side, i);
		}
		c->under[side][i] += c->own[side][i];
		c->under[side][parent] += c->under[side][i];
		c->idle[side][parent] += c->idle[side][i];
		c->sure_idle[side][parent] += c->sure_idle[side][i];
		for (uint32_t b = 0; b < t->n_blocks; b++) {
			size_t at = (size_t)node * VPROF_LATENCY_BLOCKS + b;

			if (x)
				own[b] = t->own_blocks[at] + (c->is_await[i] ? 0 : (double)t->sleep_blocks[at]);
			under[b] += own[b];
			to[b] += under[b];
		}
		c->error[i] += squared_error(own, parts, t->n_blocks, c->scale[side]);
		c->under_error[i] += squared_error(under, parts, t->n_blocks, c->scale[side]);
	}
	c->total[side] = c->under[side][0];
	free(blocks);
	return VPROF_OK;
}

struct context_ratio {
	double log, weight, variance; /* within the runs */
};

static int compare_ratios(const void *x, const void *y)
{
	const struct context_ratio *a = x, *b = y;

	return a->log < b->log ? -1 : a->log > b->log;
}

static int compare_variances(const void *x, const void *y)
{
	const struct context_ratio *a = x, *b = y;

	return a->variance < b->variance ? -1 : a->variance > b->variance;
}

/* Where that part of all weight lies below. */
static size_t quantile(const struct context_ratio *r, size_t n, double part)
{
	double all = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		all += r[i].weight;
	for (size_t i = 0; i < n; i++) {
		sum += r[i].weight;
		if (sum >= part * all)
			return i;
	}
	return n - 1;
}

/* Of contexts that both sides have. */
static size_t gather_ratios(const struct vprof_paired_costs *c, const struct vprof_latency_units *units,
			    struct context_ratio *out)
{
	size_t n = 0;

	for (uint32_t i = 1; i < c->tree->nodes.n; i++) {
		double base = c->own[0][i], new = c->own[1][i], variance = 0;

		if (base <= 0 || new <= 0)
			continue;
		for (int side = 0; side < 2; side++) {
			const struct vprof_annotated_tree *t = c->tree->sides[side];
			size_t at = (size_t)c->tree->nodes.v[i].side[side] * VPROF_LATENCY_BLOCKS;
			double own[VPROF_LATENCY_BLOCKS] = { 0 };

			for (uint32_t b = 0; b < t->n_blocks; b++)
				own[b] = t->own_blocks[at + b] + (c->is_await[i] ? 0 : (double)t->sleep_blocks[at + b]);
			variance += squared_error(own, units->part[side], t->n_blocks, c->scale[side]) /
				    (c->own[side][i] * c->own[side][i]);
		}
		out[n++] = (struct context_ratio){ log(new / base), 1 / (variance + LEAST_VARIANCE), variance };
	}
	return n;
}

/* The ratio that contexts have in common, and their spread around it. */
static int find_ratio(struct vprof_paired_costs *c, const struct vprof_latency_units *units)
{
	struct context_ratio *r = malloc((c->tree->nodes.n + 1) * sizeof *r);
	size_t n = r && c->total[0] > 0 && c->total[1] > 0 ? gather_ratios(c, units, r) : 0;
	double sum = 0, squares = 0, n_equal, reach, middle = 0, deviation;

	for (size_t i = 0; i < n; i++) {
		sum += r[i].weight;
		squares += r[i].weight * r[i].weight;
	}
	n_equal = squares > 0 ? sum * sum / squares : 0;
	if (n_equal < CONTEXTS_MIN) {
		free(r);
		return r ? VPROF_OK : VPROF_ERR_NOMEM;
	}
	qsort(r, n, sizeof *r, compare_ratios);
	reach = gsl_cdf_ugaussian_Qinv(RATIO_CHANCE) / (2 * sqrt(n_equal)); /* of a median: the sign test */
	if (reach < 0.5 &&
	    (r[quantile(r, n, 0.5 - reach)].log > RATIO_MIN || r[quantile(r, n, 0.5 + reach)].log < -RATIO_MIN))
		middle = r[quantile(r, n, 0.5)].log;
	for (size_t i = 0; i < n; i++)
		r[i].log = fabs(r[i].log - middle);
	qsort(r, n, sizeof *r, compare_ratios);
	deviation = MAD_TO_DEVIATION * r[quantile(r, n, 0.5)].log;
	qsort(r, n, sizeof *r, compare_variances);
	deviation = deviation * deviation - r[quantile(r, n, 0.5)].variance;
	c->ratio = exp(middle);
	c->spread = deviation > 0 ? sqrt(deviation) : 0;
	free(r);
	return VPROF_OK;
}

static int prepare(struct vprof_paired_costs *c)
{
	size_t n = c->tree->nodes.n;
	int is_there = 1;

	c->error = calloc(n, sizeof *c->error);
	c->under_error = calloc(n, sizeof *c->under_error);
	c->is_await = calloc(n, 1);
	for (int side = 0; side < 2; side++) {
		c->own[side] = calloc(n, sizeof *c->own[side]);
		c->under[side] = calloc(n, sizeof *c->under[side]);
		c->idle[side] = calloc(n, sizeof *c->idle[side]);
		c->sure_idle[side] = calloc(n, sizeof *c->sure_idle[side]);
		is_there &= c->own[side] && c->under[side] && c->idle[side] && c->sure_idle[side];
	}
	return is_there && c->error && c->under_error && c->is_await ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Base's costs times the ratio. Variances become errors when both sides are added up. */
static int fill_base(struct vprof_paired_costs *c, const struct vprof_latency_units *units)
{
	int ret = fill_side(c, 0, units->part[0]);

	if (!ret)
		ret = find_ratio(c, units);
	if (ret || c->ratio == 1)
		return ret;
	/* once more, for the errors */
	for (uint32_t i = 0; i < c->tree->nodes.n; i++) {
		c->own[0][i] = c->under[0][i] = c->error[i] = c->under_error[i] = 0;
		c->idle[0][i] = c->sure_idle[0][i] = 0;
		c->own[1][i] = c->under[1][i] = 0;
		c->idle[1][i] = c->sure_idle[1][i] = 0;
	}
	c->scale[0] *= c->ratio;
	ret = fill_side(c, 0, units->part[0]);
	return ret ? ret : fill_side(c, 1, units->part[1]);
}

int vprof_paired_costs_fill(struct vprof_paired_costs *out, const struct vprof_paired_tree *t,
			    const struct vprof_latency_units *units)
{
	int ret;

	*out = (struct vprof_paired_costs){ .tree = t, .ratio = 1 };
	for (int side = 0; side < 2; side++)
		out->scale[side] = units->n[side] > 0 ? 1 / units->n[side] : 0;
	ret = prepare(out);
	if (!ret) {
		find_waits(out);
		ret = fill_side(out, 1, units->part[1]);
	}
	if (!ret && t->sides[0])
		ret = fill_base(out, units);
	for (uint32_t i = 0; i < t->nodes.n && !ret; i++) {
		out->error[i] = sqrt(out->error[i]);
		out->under_error[i] = sqrt(out->under_error[i]);
	}
	return ret;
}

void vprof_paired_costs_release(struct vprof_paired_costs *c)
{
	for (int side = 0; side < 2; side++) {
		free(c->own[side]);
		free(c->under[side]);
		free(c->idle[side]);
		free(c->sure_idle[side]);
	}
	free(c->error);
	free(c->under_error);
	free(c->is_await);
}
