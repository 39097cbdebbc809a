/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/causes/causes.h"

#include <math.h>

#include "analysis/causes/cause_text.h"
#include "analysis/variance/quantities.h"

#define SPLITS_MAX 7	  /* that are named; the others are the rest */
#define SPLIT_LEAST 0.01  /* of the cause's variance */
#define SETTLED_KEPT 0.95 /* of the replicates in which a settled cause is among the first k */
#define CHANCE (1.0 / 3)  /* of three equal ones, each has its rank in a third */

/* whether others' work, and why the interval needed it */
enum role { OWN, WAITING, QUEUED, N_ROLES };

/* nodes of one cause that are shown as one */
struct piece {
	uint32_t draft;
	enum vprof_node_kind kind;
	const char *name; /* NULL: those of one role */
	enum role role;
	double mean_ns, var_ns2; /* sums over its nodes */
	VPROF_ARRAY(uint32_t) nodes;
	double part; /* Cov(piece, cause) / Var(cause) */
};

struct making {
	struct vprof_results *r;
	struct vprof_tree *tree;
	struct vprof_cause_units units;
	struct vprof_clusters clusters;
	struct vprof_cause_drafts drafts;
	VPROF_ARRAY(struct piece) pieces; /* of one draft after the other */
};

/* The cause that takes in all that is left over beneath a function around the node. */
static uint32_t collecting(const struct making *m, const uint32_t *of_whole, uint32_t node)
{
	for (uint32_t i = node; i; i = m->r->nodes[i].parent)
		if (m->units.function[i] != VPROF_NONE && of_whole[m->units.function[i]] != VPROF_NONE)
			return of_whole[m->units.function[i]];
	return VPROF_NONE;
}

/* Every leaf to its unit's cause; what is left over to the function around it that a cause stands for as a whole.
 * of_unit, of_whole: [units] VPROF_NONE. */
static void assign_leaves(struct making *m, uint32_t *of_unit, uint32_t *of_whole)
{
	struct vprof_cause_drafts *d = &m->drafts;

	for (uint32_t k = 0; k < d->drafts.n; k++) {
		const struct vprof_cluster *c = d->drafts.v[k].cluster;

		for (size_t i = 0; i < c->n_units; i++)
			of_unit[c->units[i]] = k;
		if (c->n_units > 1 && !c->is_group)
			of_whole[c->end] = k;
	}
	for (uint32_t i = 0; i < m->r->n_nodes; i++) {
		if (m->r->nodes[i].n_children)
			continue;
		d->of_node[i] = of_unit[m->units.of_node[i]]; /* of a leaf there is one */
		if (d->of_node[i] == VPROF_NONE)
			d->of_node[i] = collecting(m, of_whole, i);
	}
}

static int fill_nodes(struct making *m)
{
	struct vprof_cause_drafts *d = &m->drafts;
	size_t n = m->units.units.n;
	uint32_t *of_unit = malloc((2 * n + 1) * sizeof *of_unit);

	d->of_node = malloc((m->r->n_nodes + 1) * sizeof *d->of_node);
	if (!of_unit || !d->of_node) {
		free(of_unit);
		return VPROF_ERR_NOMEM;
	}
	memset(of_unit, 0xff, 2 * n * sizeof *of_unit); /* VPROF_NONE */
	assign_leaves(m, of_unit, of_unit + n);
	free(of_unit);
	vprof_leaf_sets_join(m->r, d->of_node);
	for (uint32_t i = 0; i < m->r->n_nodes; i++) {
		struct vprof_cause *c;
		uint32_t *nodes;

		if (!vprof_leaf_set_has(m->r, d->of_node, i))
			continue;
		c = &d->drafts.v[d->of_node[i]].cause;
		if (!(c->n_nodes & (c->n_nodes - 1))) { /* a power of two: full */
			nodes = realloc((void *)c->nodes, (c->n_nodes ? 2 * c->n_nodes : 1) * sizeof *nodes);
			if (!nodes)
				return VPROF_ERR_NOMEM;
			c->nodes = nodes;
		}
		((uint32_t *)c->nodes)[c->n_nodes++] = i;
		c->mean_ns += m->r->nodes[i].mean_ns;
	}
	return 0;
}

static int draft_causes(struct making *m)
{
	for (size_t i = 0; i < m->clusters.clusters.n && i < VPROF_CAUSES_MAX; i++) {
		struct vprof_cause_draft *d = VPROF_PUSH(&m->drafts.drafts);

		if (!d)
			return VPROF_ERR_NOMEM;
		d->cluster = &m->clusters.clusters.v[i];
		d->cause.share = d->cluster->var_ns2 / m->r->nodes[0].var_ns2;
	}
	return fill_nodes(m);
}

/* What a node of a cause is shown as: a call or a member of a group, or the code of the end itself. */
static void name_piece(const struct making *m, const struct vprof_cause_draft *d, uint32_t node, struct piece *p)
{
	const struct vprof_results *r = m->r;
	uint32_t end = vprof_cause_end(&m->drafts, d, node), unit = m->units.of_node[node];

	if (d->cluster->is_group && unit != VPROF_NONE && unit >= VPROF_UNIT_FUNCTIONS)
		node = m->units.units.v[unit].node;
	else if (d->cluster->end == VPROF_UNIT_PREEMPTED)
		node = end;
	else
		while (node != end && r->nodes[node].parent != end)
			node = r->nodes[node].parent;
	p->kind = node == end && d->cluster->end != VPROF_UNIT_PREEMPTED ? VPROF_NODE_BODY : r->nodes[node].kind;
	p->name = r->nodes[node].display;
}

/* The outermost wait or queue delay around others' work says why it matters to the interval. */
static enum role role_of(const struct vprof_results *r, uint32_t node)
{
	enum role role = OWN;

	for (uint32_t i = node; i; i = r->nodes[i].parent) {
		const struct vprof_node *above = &r->nodes[r->nodes[i].parent];

		if (!r->nodes[i].is_unexplained && r->nodes[i].is_blame && !above->is_blame)
			role = above->kind == VPROF_NODE_QUEUED ? QUEUED : WAITING;
	}
	return role;
}

static int add_to_piece(struct making *m, size_t first, const struct piece *like, uint32_t node)
{
	struct piece *p = NULL;
	uint32_t *at;

	for (size_t i = first; i < m->pieces.n && !p; i++)
		if (m->pieces.v[i].name == like->name && m->pieces.v[i].kind == like->kind &&
		    m->pieces.v[i].role == like->role)
			p = &m->pieces.v[i];
	if (!p) {
		p = VPROF_PUSH(&m->pieces);
		if (!p)
			return VPROF_ERR_NOMEM;
		*p = *like;
	}
	at = VPROF_PUSH(&p->nodes);
	if (!at)
		return VPROF_ERR_NOMEM;
	*at = node;
	p->var_ns2 += m->r->nodes[node].var_ns2;
	p->mean_ns += m->r->nodes[node].mean_ns;
	return 0;
}

/* A node that is the whole of the end, or holds several members of a group, is taken apart into its children. */
static int take_apart(struct making *m, size_t first, uint32_t draft, uint32_t node)
{
	const struct vprof_cause_draft *d = &m->drafts.drafts.v[draft];
	const struct vprof_node *n = &m->r->nodes[node];
	struct piece like = { .draft = draft };
	int ret = 0;

	if (n->n_children && (node == vprof_cause_end(&m->drafts, d, node) ||
			      (d->cluster->is_group && m->units.of_node[node] == VPROF_NONE))) {
		for (uint32_t c = n->first_child; c < n->first_child + n->n_children && !ret; c++)
			ret = take_apart(m, first, draft, c);
		return ret;
	}
	name_piece(m, d, node, &like);
	return add_to_piece(m, first, &like, node);
}

static int piece_order(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->var_ns2 != y->var_ns2)
		return x->var_ns2 > y->var_ns2 ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The largest pieces of one cause, and its parts by role. */
static int take_pieces(struct making *m, uint32_t draft)
{
	const struct vprof_cause *c = &m->drafts.drafts.v[draft].cause;
	size_t first = m->pieces.n;
	int ret = 0;

	for (size_t i = 0; i < c->n_nodes && !ret; i++)
		ret = take_apart(m, first, draft, c->nodes[i]);
	if (ret)
		return ret;
	qsort(m->pieces.v + first, m->pieces.n - first, sizeof *m->pieces.v, piece_order);
	for (; m->pieces.n > first + SPLITS_MAX; m->pieces.n--)
		VPROF_ARRAY_RELEASE(&m->pieces.v[m->pieces.n - 1].nodes);
	for (size_t i = 0; i < c->n_nodes && !ret; i++) {
		struct piece like = { .draft = draft, .role = role_of(m->r, c->nodes[i]) };

		ret = add_to_piece(m, first, &like, c->nodes[i]);
	}
	return ret;
}

/* Quantities: the interval, the causes, their pieces. */
static int add_quantities(const struct making *m, struct vprof_quantities *q)
{
	static const uint32_t interval = 0;
	int ret = vprof_quantities_add_apart(q, m->r, &interval, 1);

	for (size_t i = 0; i < m->drafts.drafts.n && !ret; i++)
		ret = vprof_quantities_add_apart(q, m->r, m->drafts.drafts.v[i].cause.nodes,
						 m->drafts.drafts.v[i].cause.n_nodes);
	for (size_t i = 0; i < m->pieces.n && !ret; i++)
		ret = vprof_quantities_add_apart(q, m->r, m->pieces.v[i].nodes.v, m->pieces.v[i].nodes.n);
	return ret ? ret : vprof_quantities_finish(q, m->r->n_nodes);
}

/* Of each cause: with the interval, by itself, with its pieces. */
static size_t list_pairs(const struct making *m, struct vprof_quantity_pair *pairs)
{
	uint32_t n_causes = (uint32_t)m->drafts.drafts.n;
	size_t n = 0, piece = 0;

	for (uint32_t k = 0; k < n_causes; k++)
		pairs[n++] = (struct vprof_quantity_pair){ .a = 0, .b = 1 + k };
	for (uint32_t k = 0; k < n_causes; k++) {
		pairs[n++] = (struct vprof_quantity_pair){ .a = 1 + k, .b = 1 + k };
		for (; piece < m->pieces.n && m->pieces.v[piece].draft == k; piece++)
			pairs[n++] = (struct vprof_quantity_pair){ .a = 1 + k, .b = 1 + n_causes + (uint32_t)piece };
	}
	return n;
}

static void take_figures(struct making *m, const struct vprof_quantity_pair *pairs)
{
	double total = m->r->nodes[0].var_ns2;
	size_t n = m->drafts.drafts.n, at = n, piece = 0;

	for (size_t k = 0; k < n; k++) {
		struct vprof_cause *c = &m->drafts.drafts.v[k].cause;
		double own = pairs[at++].cov_ns2;

		c->share = own / total;
		c->if_constant = (2 * pairs[k].cov_ns2 - own) / total;
		for (; piece < m->pieces.n && m->pieces.v[piece].draft == k; piece++)
			m->pieces.v[piece].part = pairs[at++].cov_ns2 / own; /* at least the threshold's variance */
	}
}

static int measure(struct making *m)
{
	struct vprof_quantities q = { 0 };
	struct vprof_quantity_pair *pairs = malloc((2 * m->drafts.drafts.n + m->pieces.n + 1) * sizeof *pairs);
	int ret = pairs ? add_quantities(m, &q) : VPROF_ERR_NOMEM;

	if (!ret)
		ret = vprof_quantities_covariances(&q, m->tree, pairs, list_pairs(m, pairs));
	if (!ret)
		take_figures(m, pairs);
	vprof_quantities_release(&q);
	free(pairs);
	return ret;
}

static int split_order(const void *a, const void *b)
{
	const struct vprof_split *x = a, *y = b;

	if (!*x->name != !*y->name)
		return *x->name ? -1 : 1;
	if (x->part != y->part)
		return x->part > y->part ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* pieces[n]: of this cause. What is too small is in the rest. */
static int fill_splits(struct vprof_cause *c, const struct piece *pieces, size_t n)
{
	struct vprof_split *splits = calloc(n + 1, sizeof *splits), *rest;
	double *parts[N_ROLES] = { &c->own_part, &c->waiting_part, &c->queued_part };

	if (!splits)
		return VPROF_ERR_NOMEM;
	c->splits = splits;
	rest = &splits[n];
	*rest = (struct vprof_split){ .name = "", .part = 1, .mean_ns = c->mean_ns };
	for (size_t i = 0; i < n; i++) {
		const struct piece *p = &pieces[i];

		if (!p->name)
			*parts[p->role] = p->part;
		if (!p->name || fabs(p->part) < SPLIT_LEAST)
			continue;
		splits[c->n_splits++] = (struct vprof_split){ .kind = p->kind,
							      .name = p->name,
							      .part = p->part,
							      .share = p->part * c->share,
							      .mean_ns = p->mean_ns };
		rest->part -= p->part;
		rest->mean_ns -= p->mean_ns;
	}
	if (c->n_splits && fabs(rest->part) >= SPLIT_LEAST / 2) {
		rest->share = rest->part * c->share;
		splits[c->n_splits++] = *rest;
	}
	qsort(splits, c->n_splits, sizeof *splits, split_order);
	return 0;
}

static int describe_all(struct making *m)
{
	size_t piece = 0, from;

	for (size_t k = 0; k < m->drafts.drafts.n; k++) {
		struct vprof_cause_draft *d = &m->drafts.drafts.v[k];

		for (from = piece; piece < m->pieces.n && m->pieces.v[piece].draft == k; piece++)
			;
		if (fill_splits(&d->cause, m->pieces.v + from, piece - from) || vprof_cause_describe(&m->drafts, d))
			return VPROF_ERR_NOMEM;
	}
	return vprof_causes_fold(&m->drafts);
}

static int cause_order(const void *a, const void *b)
{
	const struct vprof_cause *x = a, *y = b;

	if (x->if_constant != y->if_constant)
		return x->if_constant > y->if_constant ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return strcmp(x->key, y->key);
}

/* The results own the causes from here on. */
static int hand_over(struct making *m)
{
	struct vprof_results *r = m->r;

	r->causes = calloc(m->drafts.drafts.n + 1, sizeof *r->causes);
	if (!r->causes)
		return VPROF_ERR_NOMEM;
	for (; r->n_causes < m->drafts.drafts.n; r->n_causes++)
		r->causes[r->n_causes] = m->drafts.drafts.v[r->n_causes].cause;
	m->drafts.drafts.n = 0;
	qsort(r->causes, r->n_causes, sizeof *r->causes, cause_order);
	return 0;
}

static void release(struct making *m)
{
	for (size_t i = 0; i < m->drafts.drafts.n; i++) {
		free((void *)m->drafts.drafts.v[i].cause.steps);
		free((void *)m->drafts.drafts.v[i].cause.splits);
		free((void *)m->drafts.drafts.v[i].cause.factors);
		free((void *)m->drafts.drafts.v[i].cause.nodes);
	}
	VPROF_ARRAY_RELEASE(&m->drafts.drafts);
	free(m->drafts.of_node);
	for (size_t i = 0; i < m->pieces.n; i++)
		VPROF_ARRAY_RELEASE(&m->pieces.v[i].nodes);
	VPROF_ARRAY_RELEASE(&m->pieces);
	vprof_clusters_release(&m->clusters);
	vprof_cause_units_release(&m->units);
}

int vprof_causes_find(struct vprof_results *r, struct vprof_tree *tree, const struct vprof_plan *plan)
{
	struct making m = { .r = r, .tree = tree };
	int ret;

	if (!r->n_nodes || !(r->nodes[0].var_ns2 > 0))
		return 0;
	ret = vprof_cause_units_take(&m.units, r, tree, r->threshold);
	m.drafts.r = r;
	m.drafts.plan = plan;
	m.drafts.units = &m.units;
	if (!ret)
		ret = vprof_clusters_find(&m.clusters, &m.units, tree, r->threshold);
	if (!ret)
		ret = draft_causes(&m);
	for (uint32_t k = 0; k < m.drafts.drafts.n && !ret; k++)
		ret = take_pieces(&m, k);
	if (!ret)
		ret = measure(&m);
	if (!ret)
		ret = describe_all(&m);
	if (!ret)
		ret = hand_over(&m);
	release(&m);
	return ret;
}

/* Settled: neither its size nor its rank may be due to chance. Bounds of one run are of its intervals, which share what
 * may differ in the next one; those of two runs or more hold how runs differ (run_blocks.h), so only they settle. */
static enum vprof_cause_status judge(const struct vprof_results *r, const struct vprof_cause *c)
{
	int is_sure = c->if_constant_low > r->threshold && c->if_constant_low >= c->if_constant / 2;
	int has_rank = c->first_kept >= SETTLED_KEPT && c->place_kept > CHANCE;

	if (r->inconclusive || c->kind == VPROF_CAUSE_UNDIVIDED || !is_sure || !has_rank)
		return VPROF_CAUSE_CANDIDATE;
	return r->n_runs < 2 ? VPROF_CAUSE_SETTLED_HERE : VPROF_CAUSE_SETTLED;
}

void vprof_causes_judge(struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_causes; i++)
		r->causes[i].status = judge(r, &r->causes[i]);
}
