/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the innermost functions outwards: where a function's own work is most of what varies beneath it, all of that is
 * one cluster. Else the units beneath it that correlate are joined (agglomeration by the correlation of sums). A joined
 * cluster in which one member dominates is none: that member is the cause, unless it is the function's own work, which
 * the others then are a part of. */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/causes/cause_clusters.h"

#include <math.h>

#define TOGETHER 0.5  /* correlation from which two vary together */
#define DOMINATES 0.8 /* Cov(member, cluster) / Var(cluster): the rest is incidental */
#define WITHIN 0.9    /* of the variance of a unit's nodes that lie beneath a function: it lies beneath it */
#define ALL_OF 0.95   /* of the mean latency: the function is the interval by another name */

struct item {
	uint32_t unit;
	uint32_t cluster; /* that it belongs to */
};

struct clustering {
	const struct vprof_cause_units *u;
	struct item items[VPROF_CLUSTERED_MAX];
	size_t n;						      /* items */
	double covariance[VPROF_CLUSTERED_MAX * VPROF_CLUSTERED_MAX]; /* [n * n] of live clusters */
	double joined[VPROF_CLUSTERED_MAX * VPROF_CLUSTERED_MAX];     /* ... if all that correlate were joined */
	/* live clusters are named by their first item */
	uint32_t end[VPROF_CLUSTERED_MAX];
	uint8_t is_group[VPROF_CLUSTERED_MAX];
	double *within;	     /* [units * n] variance of the item's nodes beneath the function */
	double *mean_ns;     /* [units] of the function's own outermost nodes */
	uint32_t *by_height; /* [units] */
};

static int size_order(const void *a, const void *b, void *arg)
{
	const struct vprof_cause_unit *units = arg, *x = &units[*(const uint32_t *)a],
				      *y = &units[*(const uint32_t *)b];

	if (x->node_var_ns2 != y->node_var_ns2)
		return x->node_var_ns2 > y->node_var_ns2 ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static int height_order(const void *a, const void *b, void *arg)
{
	const struct vprof_cause_unit *units = arg, *x = &units[*(const uint32_t *)a],
				      *y = &units[*(const uint32_t *)b];

	if (x->height != y->height)
		return x->height < y->height ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* The largest units, their covariances, and of these what is large enough. */
static int take_items(struct clustering *c, struct vprof_tree *tree, double share)
{
	struct vprof_cause_units *u = (struct vprof_cause_units *)c->u;
	uint32_t *order = malloc((u->units.n + 1) * sizeof *order), n_all = 0, n = 0;
	struct vprof_quantity_pair *pairs = NULL;
	struct vprof_quantities q = { 0 };
	int ret = order ? 0 : VPROF_ERR_NOMEM;

	for (uint32_t k = 0; k < u->units.n && !ret; k++)
		if (!u->units.v[k].is_closed && u->units.v[k].to > u->units.v[k].from)
			order[n_all++] = k;
	if (!ret)
		qsort_r(order, n_all, sizeof *order, size_order, u->units.v);
	n_all = n_all < VPROF_CLUSTERED_MAX ? n_all : VPROF_CLUSTERED_MAX;
	pairs = malloc(((size_t)n_all * (n_all + 1) / 2 + 1) * sizeof *pairs);
	if (!pairs)
		ret = VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < n_all && !ret; i++) {
		const struct vprof_cause_unit *unit = &u->units.v[order[i]];

		for (uint32_t k = i; k < n_all; k++)
			pairs[n++] = (struct vprof_quantity_pair){ .a = i, .b = k };
		ret = vprof_quantities_add_apart(&q, u->r, u->members + unit->from, unit->to - unit->from);
	}
	if (!ret)
		ret = vprof_quantities_finish(&q, u->r->n_nodes);
	if (!ret)
		ret = vprof_quantities_covariances(&q, tree, pairs, n);
	c->n = 0;
	for (uint32_t i = 0, k = 0; i < n_all && !ret; k += n_all - i++) {
		if (!(pairs[k].cov_ns2 >= share * u->r->nodes[0].var_ns2))
			order[i] = VPROF_NONE;
		else
			c->items[c->n++] = (struct item){ .unit = order[i] };
	}
	for (uint32_t i = 0, k = 0, x = 0; i < n_all && !ret; i++) {
		uint32_t y = x;

		for (uint32_t j = i; j < n_all; j++, k++) {
			if (order[i] == VPROF_NONE || order[j] == VPROF_NONE)
				continue;
			c->covariance[x * c->n + y] = c->covariance[y * c->n + x] = pairs[k].cov_ns2;
			y++;
		}
		x += order[i] != VPROF_NONE;
	}
	vprof_quantities_release(&q);
	free(order);
	free(pairs);
	return ret;
}

/* Of which functions is a node beneath, or the node itself: each once. */
static void add_within(struct clustering *c, uint32_t item, uint32_t node)
{
	const struct vprof_results *r = c->u->r;
	double var = r->nodes[node].var_ns2;

	for (uint32_t i = node; i; i = r->nodes[i].parent) {
		uint32_t unit = c->u->function[i], above = r->nodes[i].parent;

		if (unit == VPROF_NONE)
			continue;
		while (above && c->u->function[above] != unit)
			above = r->nodes[above].parent;
		if (!above) /* the outermost */
			c->within[unit * c->n + item] += var;
	}
}

static int fill_places(struct clustering *c)
{
	const struct vprof_cause_units *u = c->u;

	c->within = calloc(u->units.n * c->n + 1, sizeof *c->within);
	c->mean_ns = calloc(u->units.n + 1, sizeof *c->mean_ns);
	c->by_height = malloc((u->units.n + 1) * sizeof *c->by_height);
	if (!c->within || !c->mean_ns || !c->by_height)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct vprof_cause_unit *unit = &u->units.v[c->items[i].unit];

		c->items[i].cluster = i;
		c->end[i] = c->items[i].unit;
		for (size_t k = unit->from; k < unit->to; k++)
			add_within(c, i, u->members[k]);
	}
	for (uint32_t k = 0; k < u->units.n; k++)
		c->by_height[k] = k;
	qsort_r(c->by_height, u->units.n, sizeof *c->by_height, height_order, u->units.v);
	for (uint32_t i = 1; i < u->r->n_nodes; i++) {
		const struct vprof_node *n = &u->r->nodes[i];
		uint32_t above = n->parent;

		if (u->function[i] == VPROF_NONE || n->is_blame)
			continue;
		while (above && u->function[above] != u->function[i])
			above = u->r->nodes[above].parent;
		if (!above)
			c->mean_ns[u->function[i]] += n->mean_ns;
	}
	return 0;
}

static int lies_beneath(const struct clustering *c, uint32_t cluster, uint32_t unit)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->items[i].cluster == cluster &&
		    !(c->within[unit * c->n + i] >= WITHIN * c->u->units.v[c->items[i].unit].node_var_ns2))
			return 0;
	return 1;
}

static void add_rows(struct clustering *c, double *sums, uint32_t to, uint32_t from)
{
	for (uint32_t k = 0; k < c->n; k++)
		sums[to * c->n + k] += sums[from * c->n + k];
	for (uint32_t k = 0; k < c->n; k++)
		sums[k * c->n + to] += sums[k * c->n + from];
}

/* Longer work is preempted more often, wherever that is: the scheduler's time correlates with everything and belongs to
 * nothing, unless all of it lies beneath the function. */
static int is_scheduler(const struct clustering *c, uint32_t cluster)
{
	return c->items[cluster].unit == VPROF_UNIT_PREEMPTED;
}

/* Joins live clusters while some correlate: to[cluster] is the one that it was joined to. */
static void agglomerate(struct clustering *c, const uint32_t *live, size_t n, uint32_t *to)
{
	double *sums = c->joined;

	memcpy(sums, c->covariance, c->n * c->n * sizeof *sums);
	for (;;) {
		double best = TOGETHER;
		uint32_t best_a = VPROF_NONE, best_b = VPROF_NONE;

		for (size_t i = 0; i < n; i++)
			for (size_t k = i + 1; k < n && to[live[i]] == live[i]; k++) {
				uint32_t a = live[i], b = live[k];
				double r = sums[a * c->n + b] / sqrt(sums[a * c->n + a] * sums[b * c->n + b]);

				if (to[b] == b && r >= best && !is_scheduler(c, a) && !is_scheduler(c, b)) {
					best = r;
					best_a = a;
					best_b = b;
				}
			}
		if (best_a == VPROF_NONE)
			return;
		for (size_t i = 0; i < n; i++)
			if (to[live[i]] == best_b)
				to[live[i]] = best_a;
		add_rows(c, sums, best_a, best_b);
	}
}

/* The live cluster that has most of the joined one's variance to itself, or VPROF_NONE. */
static uint32_t dominating(const struct clustering *c, const uint32_t *live, size_t n, const uint32_t *to, uint32_t of)
{
	double all = c->joined[of * c->n + of];

	for (size_t i = 0; i < n; i++) {
		double with = 0;

		if (to[live[i]] != of)
			continue;
		for (size_t k = 0; k < n; k++)
			with += to[live[k]] == of ? c->covariance[live[i] * c->n + live[k]] : 0;
		if (with >= DOMINATES * all)
			return live[i];
	}
	return VPROF_NONE;
}

/* Of what varies beneath the function, is this most? */
static int is_most(const struct clustering *c, const uint32_t *live, size_t n, const uint32_t *to, uint32_t of)
{
	double with = 0, all = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			double cov = c->covariance[live[i] * c->n + live[k]];

			all += cov;
			with += to[live[i]] == of ? cov : 0;
		}
	return with >= DOMINATES * all;
}

/* The interval by another name. */
static int is_interval(const struct clustering *c, uint32_t unit)
{
	return c->mean_ns[unit] >= ALL_OF * c->u->r->mean_ns;
}

/* `of`, and the live clusters that were joined to it, are one from now on. */
static void merge(struct clustering *c, const uint32_t *live, size_t n, const uint32_t *to, uint32_t of)
{
	for (uint32_t k = 0; k < c->n; k++)
		if (to[c->items[k].cluster] == of)
			c->items[k].cluster = of;
	for (size_t k = 0; k < n; k++) {
		if (to[live[k]] != of || live[k] == of)
			continue;
		add_rows(c, c->covariance, of, live[k]);
		for (uint32_t i = 0; i < c->n; i++)
			c->covariance[live[k] * c->n + i] = c->covariance[i * c->n + live[k]] = 0;
	}
}

/* The same, unless one of them stands for the rest. */
static void join(struct clustering *c, const uint32_t *live, size_t n, const uint32_t *to, uint32_t of, uint32_t unit)
{
	uint32_t first = dominating(c, live, n, to, of);
	int has_own = 0;

	if (first != VPROF_NONE && (c->end[first] != unit || c->is_group[first]))
		return;
	for (size_t k = 0; k < n; k++)
		has_own |= to[live[k]] == of && c->end[live[k]] == unit && !c->is_group[live[k]];
	has_own |= is_most(c, live, n, to, of) && !is_interval(c, unit);
	merge(c, live, n, to, of);
	c->end[of] = unit;
	c->is_group[of] = !has_own;
}

/* Is the function's own work, live cluster `own`, most of what varies beneath it? */
static int is_most_its_own(const struct clustering *c, const uint32_t *live, size_t n, uint32_t own)
{
	double with = 0, all = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			all += c->covariance[live[i] * c->n + live[k]];
			with += live[i] == own ? c->covariance[live[i] * c->n + live[k]] : 0;
		}
	return with >= DOMINATES * all;
}

/* The clusters beneath one function. */
static void join_beneath(struct clustering *c, uint32_t unit)
{
	uint32_t live[VPROF_CLUSTERED_MAX], to[VPROF_CLUSTERED_MAX];
	size_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		to[i] = i;
		if (c->items[i].cluster == i && lies_beneath(c, i, unit))
			live[n++] = i;
	}
	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		if (c->end[live[i]] == unit && !c->is_group[live[i]] && !is_interval(c, unit) &&
		    is_most_its_own(c, live, n, live[i])) {
			for (size_t k = 0; k < n; k++)
				to[live[k]] = live[i];
			merge(c, live, n, to, live[i]);
			return;
		}
	agglomerate(c, live, n, to);
	for (size_t i = 0; i < n; i++) {
		size_t n_joined = 0;

		for (size_t k = 0; k < n; k++)
			n_joined += to[live[k]] == live[i];
		if (n_joined > 1)
			join(c, live, n, to, live[i], unit);
	}
}

static int list_clusters(const struct clustering *c, struct vprof_clusters *out)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct vprof_cluster *cluster;

		if (c->items[i].cluster != i)
			continue;
		cluster = VPROF_PUSH(&out->clusters);
		if (!cluster)
			return VPROF_ERR_NOMEM;
		*cluster = (struct vprof_cluster){ .end = c->end[i],
						   .is_group = c->is_group[i],
						   .var_ns2 = c->covariance[i * c->n + i] };
		cluster->units = malloc(c->n * sizeof *cluster->units);
		if (!cluster->units)
			return VPROF_ERR_NOMEM;
		for (uint32_t k = 0; k < c->n; k++) {
			if (c->items[k].cluster != i)
				continue;
			cluster->units[cluster->n_units++] = c->items[k].unit;
		}
	}
	return 0;
}

int vprof_clusters_find(struct vprof_clusters *out, const struct vprof_cause_units *units, struct vprof_tree *tree,
			double share)
{
	struct clustering *c = calloc(1, sizeof *c);
	int ret = c ? 0 : VPROF_ERR_NOMEM;

	*out = (struct vprof_clusters){ 0 };
	if (ret)
		return ret;
	c->u = units;
	ret = take_items(c, tree, share);
	if (!ret)
		ret = fill_places(c);
	for (size_t k = 0; k < units->units.n && !ret; k++)
		if (c->by_height[k] >= VPROF_UNIT_FUNCTIONS)
			join_beneath(c, c->by_height[k]);
	if (!ret)
		ret = list_clusters(c, out);
	free(c->within);
	free(c->mean_ns);
	free(c->by_height);
	free(c);
	return ret;
}

void vprof_clusters_release(struct vprof_clusters *c)
{
	for (size_t i = 0; i < c->clusters.n; i++)
		free(c->clusters.v[i].units);
	VPROF_ARRAY_RELEASE(&c->clusters);
}
