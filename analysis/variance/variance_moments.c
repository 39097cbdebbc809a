/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means, variances and sibling covariances of a numbered tree, and the tree as the results show it. */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/stats/moments.h"
#include "analysis/variance/variance_tree.h"

#include <math.h>
#include <stdio.h>

#define PAIRED_CHILDREN_MAX 200u
#define PAIRS_MAX ((size_t)6 << 20) /* 192 MiB of co-moments */

struct pairing {      /* of one parent */
	size_t first; /* into comoments */
	uint32_t n;   /* children taken part */
};

struct computation {
	struct vprof_tree *tree;
	struct vprof_results *r;
	struct vprof_moment *moments; /* [n_final] */
	struct pairing *pairings;     /* [n_final] by parent */
	uint32_t *rank;		      /* [n_final] place among the paired siblings, or VPROF_NONE */
	struct vprof_comoment *comoments;
	size_t n_pairs;
};

static size_t pair_index(const struct pairing *p, uint32_t i, uint32_t j) /* i < j < p->n */
{
	return p->first + (size_t)i * (2 * (size_t)p->n - i - 1) / 2 + (j - i - 1);
}

static const char *node_name(const struct computation *c, const struct vprof_tree_node *n)
{
	char text[512];

	switch (n->kind) {
	case VPROF_NODE_INTERVAL:
		return c->r->interval ? c->r->interval : "";
	case VPROF_NODE_WAIT:
		return vprof_results_string(c->r, c->tree->names.v[n->key]);
	case VPROF_NODE_QUEUED:
		return "queued";
	case VPROF_NODE_PREEMPTED:
		return "preempted";
	case VPROF_NODE_UNDIVIDED: /* its parent comes before it */
		snprintf(text, sizeof text, "undivided in %s", c->r->nodes[c->tree->nodes.v[n->parent].final_id].name);
		return vprof_results_string(c->r, text);
	default:
		if (n->probe)
			return vprof_results_string(c->r, n->probe->name);
		snprintf(text, sizeof text, "unknown probe %u", n->key);
		return vprof_results_string(c->r, text);
	}
}

static int fill_body(const struct computation *c, const struct vprof_tree_node *n, struct vprof_node *body)
{
	const struct vprof_node *parent = &c->r->nodes[n->final_id];
	char text[512];

	body->kind = VPROF_NODE_BODY;
	body->parent = n->final_id;
	body->depth = n->depth + 1;
	body->file = parent->file;
	body->line = parent->line;
	body->object = "";
	body->is_blame = n->level > 0;
	if (n->kind == VPROF_NODE_QUEUED || n->is_explained) {
		body->name = body->display = "unexplained";
		body->is_blame = body->is_unexplained = 1;
		return 0;
	}
	snprintf(text, sizeof text, "body of %s", parent->name);
	body->name = vprof_results_string(c->r, text);
	snprintf(text, sizeof text, "body of %s", parent->display);
	body->display = vprof_results_string(c->r, text);
	return body->name && body->display ? 0 : VPROF_ERR_NOMEM;
}

static const char *undivided_display(const struct computation *c, const struct vprof_node *parent)
{
	char text[512];

	snprintf(text, sizeof text, "undivided in %s", parent->display);
	return vprof_results_string(c->r, text);
}

static int fill_node(const struct computation *c, uint32_t i)
{
	const struct vprof_tree_node *n = &c->tree->nodes.v[i];
	struct vprof_node *out = &c->r->nodes[n->final_id];
	char text[32];

	out->kind = n->kind;
	out->code = n->kind == VPROF_NODE_FUNCTION || n->kind == VPROF_NODE_SITE || n->kind == VPROF_NODE_POINTER ?
			    n->key :
			    0;
	out->parent = c->tree->nodes.v[n->parent].final_id;
	out->depth = n->depth;
	out->is_blame = n->level > 0;
	out->n_calls = n->n_calls;
	out->n_timed = n->n_timed;
	if (c->tree->n_intervals)
		out->rare_ns = (double)n->rare_ticks * c->tree->ns_per_tick / (double)c->tree->n_intervals;
	out->name = out->display = node_name(c, n);
	out->file = out->object = "";
	if (n->kind == VPROF_NODE_UNDIVIDED) {
		const struct vprof_node *parent = &c->r->nodes[out->parent];

		out->file = parent->file;
		out->line = parent->line;
		out->display = undivided_display(c, parent);
	}
	if (n->probe) {
		out->broken_down = n->probe->broken_down;
		out->display = vprof_results_string(c->r, n->probe->display && *n->probe->display ? n->probe->display :
												    n->probe->name);
		out->file = vprof_results_string(c->r, n->probe->file ? n->probe->file : "");
		out->line = n->probe->line;
	}
	if (n->objects) {
		snprintf(text, sizeof text, "0x%llx", (unsigned long long)n->object);
		out->object = vprof_results_string(c->r, n->objects > 1 ? VPROF_OBJECT_SEVERAL : text);
	}
	if (!out->name || !out->display || !out->file || !out->object)
		return VPROF_ERR_NOMEM;
	if (n->body_id == VPROF_NONE)
		return 0;
	out->n_children = n->n_children + 1;
	out->first_child = n->body_id - n->n_children;
	return fill_body(c, n, &c->r->nodes[n->body_id]);
}

/* Time of a node in one state: its own waits', and that of its children on the same level of blame. */
static int fill_state(const struct computation *c, size_t ticks_at, size_t ns_at)
{
	size_t n = c->tree->nodes.n;
	uint64_t *sums = calloc(n, sizeof *sums);
	double per_interval = c->tree->n_intervals ? c->tree->ns_per_tick / (double)c->tree->n_intervals : 0;

	if (!sums)
		return VPROF_ERR_NOMEM;
	for (size_t i = n; i-- > 0;) {
		const struct vprof_tree_node *node = &c->tree->nodes.v[i];

		sums[i] += *(const uint64_t *)((const char *)node + ticks_at);
		if (i && c->tree->nodes.v[node->parent].level == node->level)
			sums[node->parent] += sums[i];
		*(double *)((char *)&c->r->nodes[node->final_id] + ns_at) = (double)sums[i] * per_interval;
	}
	free(sums);
	return 0;
}

static int fill_states(const struct computation *c)
{
	if (fill_state(c, offsetof(struct vprof_tree_node, blocked_ticks), offsetof(struct vprof_node, blocked_ns)) ||
	    fill_state(c, offsetof(struct vprof_tree_node, kernel_ticks), offsetof(struct vprof_node, kernel_ns)) ||
	    fill_state(c, offsetof(struct vprof_tree_node, io_ticks), offsetof(struct vprof_node, io_ns)))
		return VPROF_ERR_NOMEM;
	/* of some sources, perhaps, it is known */
	for (size_t i = 0; i < c->r->n_nodes && !c->tree->has_switches; i++) {
		c->r->nodes[i].io_ns += c->r->nodes[i].kernel_ns;
		c->r->nodes[i].kernel_ns = NAN;
	}
	return 0;
}

/* Preempted time of a node: that of its children on the same level of blame. In the results' order, since the order of
 * the tree's nodes, and with it that of a sum of doubles, depends on which thread met them first. */
static int fill_preempted(const struct computation *c)
{
	const struct vprof_tree *tree = c->tree;
	uint32_t *node_at;

	for (size_t i = 0; i < c->r->n_nodes; i++)
		c->r->nodes[i].preempted_ns = tree->has_switches ? 0 : NAN;
	if (!tree->has_switches)
		return 0;
	node_at = malloc(c->r->n_nodes * sizeof *node_at);
	if (!node_at)
		return VPROF_ERR_NOMEM;
	memset(node_at, 0xff, c->r->n_nodes * sizeof *node_at); /* VPROF_NONE: a body */
	for (size_t i = 0; i < tree->nodes.n; i++)
		node_at[tree->nodes.v[i].final_id] = (uint32_t)i;
	for (size_t at = c->r->n_nodes; at-- > 1;) { /* children come after their parents */
		const struct vprof_tree_node *node, *parent;
		struct vprof_node *out = &c->r->nodes[at];

		if (node_at[at] == VPROF_NONE)
			continue;
		node = &tree->nodes.v[node_at[at]];
		parent = &tree->nodes.v[node->parent];
		if (node->kind == VPROF_NODE_PREEMPTED)
			out->preempted_ns = out->mean_ns;
		if (parent->level == node->level)
			c->r->nodes[parent->final_id].preempted_ns += out->preempted_ns;
	}
	free(node_at);
	return 0;
}

/* Sums of ticks are exact, so the means are. */
static void take_means(struct computation *c)
{
	double per_interval = c->tree->n_intervals ? c->tree->ns_per_tick / (double)c->tree->n_intervals : 0;
	const double *corrected = c->tree->corrected;

	for (size_t i = 0; i < c->tree->nodes.n; i++) {
		const struct vprof_tree_node *n = &c->tree->nodes.v[i];

		c->moments[n->final_id].mean =
			per_interval * (corrected ? corrected[n->final_id] : (double)n->total_ticks);
		if (n->body_id != VPROF_NONE)
			c->moments[n->body_id].mean =
				per_interval * (corrected ? corrected[n->body_id] : (double)n->body_ticks);
	}
}

static int add_noise(struct vprof_tree_reader *reader, size_t interval, struct vprof_moment *moments)
{
	size_t n;
	const struct vprof_sample_noise *item = vprof_tree_read_noise(reader, interval, &n);

	for (size_t k = 0; item && k < n; k++)
		if (item[k].a == item[k].b)
			moments[item[k].a].noise += item[k].ns2;
	return item ? 0 : VPROF_ERR_NOMEM;
}

static int add_squares(void *arg, int worker, const struct vprof_share *share)
{
	const struct computation *c = arg;
	struct vprof_moment *moments = share->sums;
	struct vprof_tree_reader *reader = vprof_tree_reader_new(c->tree);
	int ret = reader ? 0 : VPROF_ERR_NOMEM;

	(void)worker;
	for (size_t i = 0; moments != c->moments && i < c->tree->n_final; i++)
		moments[i].mean = c->moments[i].mean;
	for (size_t i = share->from; i < share->to && !ret; i++) {
		size_t n;
		const struct vprof_sample *sample = vprof_tree_read(reader, i, &n);

		for (size_t k = 0; sample && k < n; k++)
			vprof_moment_add(&moments[sample[k].node], sample[k].ns);
		ret = sample ? 0 : VPROF_ERR_NOMEM;
		if (!ret && c->tree->has_noise)
			ret = add_noise(reader, i, moments);
	}
	vprof_tree_reader_free(reader);
	return ret;
}

static void join_moments(void *to, const void *from, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes / sizeof(struct vprof_moment); i++)
		vprof_moment_join((struct vprof_moment *)to + i, (const struct vprof_moment *)from + i);
}

static void join_comoments(void *to, const void *from, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes / sizeof(struct vprof_comoment); i++)
		vprof_comoment_join((struct vprof_comoment *)to + i, (const struct vprof_comoment *)from + i);
}

static size_t moments_bytes(const struct computation *c) /* with those of a reader */
{
	return c->tree->n_final * (sizeof *c->moments + sizeof(int64_t));
}

/* What the errors of sampled times add to variances is taken out. */
static int take_variances(struct computation *c)
{
	const struct vprof_reduction reduction = { .n_items = c->tree->n_intervals,
						   .n_bytes = c->tree->n_final * sizeof *c->moments,
						   .n_bytes_share = moments_bytes(c),
						   .add = add_squares,
						   .join = join_moments,
						   .arg = c };
	double total, n_intervals = (double)(c->tree->n_intervals ? c->tree->n_intervals : 1);
	int ret = vprof_reduce(&c->tree->team, &reduction, c->moments);

	if (ret)
		return ret;
	total = vprof_moment_variance(&c->moments[0], c->tree->n_intervals);
	for (size_t i = 0; i < c->tree->n_final; i++) {
		struct vprof_node *n = &c->r->nodes[i];

		n->mean_ns = c->moments[i].mean;
		n->n_intervals = c->moments[i].n_present;
		n->noise_ns2 = c->moments[i].noise / n_intervals;
		n->var_ns2 = vprof_moment_variance(&c->moments[i], c->tree->n_intervals);
		n->var_ns2 = n->var_ns2 > n->noise_ns2 ? n->var_ns2 - n->noise_ns2 : 0;
		n->share = total > 0 ? n->var_ns2 / total : 0;
	}
	return 0;
}

static int variance_order(const void *a, const void *b, void *arg)
{
	const struct vprof_node *nodes = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (nodes[i].var_ns2 != nodes[k].var_ns2)
		return nodes[i].var_ns2 > nodes[k].var_ns2 ? -1 : 1;
	return i < k ? -1 : i > k;
}

static size_t count_pairs(const struct computation *c, uint32_t limit)
{
	size_t n = 0;

	for (size_t i = 0; i < c->tree->n_final; i++) {
		size_t k = c->r->nodes[i].n_children < limit ? c->r->nodes[i].n_children : limit;

		n += k * (k ? k - 1 : 0) / 2;
	}
	return n;
}

static int choose_pairs(struct computation *c)
{
	uint32_t limit = PAIRED_CHILDREN_MAX, *list = malloc(c->tree->n_final * sizeof *list);

	if (!list)
		return VPROF_ERR_NOMEM;
	while (limit > 2 && count_pairs(c, limit) > PAIRS_MAX)
		limit /= 2;
	for (size_t i = 0; i < c->tree->n_final; i++)
		c->rank[i] = VPROF_NONE;
	for (size_t i = 0; i < c->tree->n_final; i++) {
		const struct vprof_node *n = &c->r->nodes[i];
		uint32_t rank = 0;

		c->pairings[i].first = c->n_pairs;
		c->pairings[i].n = n->n_children < limit ? n->n_children : limit;
		c->n_pairs += (size_t)c->pairings[i].n * (c->pairings[i].n ? c->pairings[i].n - 1 : 0) / 2;
		for (uint32_t k = 0; k < n->n_children; k++)
			list[k] = n->first_child + k;
		if (n->n_children > limit)
			qsort_r(list, n->n_children, sizeof *list, variance_order, c->r->nodes);
		for (uint32_t k = 0; k < c->pairings[i].n; k++)
			c->rank[list[k]] = 0;
		for (uint32_t k = 0; k < n->n_children; k++)
			if (c->rank[n->first_child + k] != VPROF_NONE)
				c->rank[n->first_child + k] = rank++;
	}
	free(list);
	c->comoments = vprof_calloc_aligned(c->n_pairs + 1, sizeof *c->comoments);
	return c->comoments ? 0 : VPROF_ERR_NOMEM;
}

static void pair_up(const struct computation *c, struct vprof_comoment *comoments, const struct vprof_sample *s,
		    size_t n, const struct pairing *pairing)
{
	for (size_t a = 0; a < n; a++) {
		double da = s[a].ns - c->moments[s[a].node].mean;

		if (c->rank[s[a].node] == VPROF_NONE)
			continue;
		for (size_t b = a + 1; b < n; b++)
			if (c->rank[s[b].node] != VPROF_NONE)
				vprof_comoment_add(
					&comoments[pair_index(pairing, c->rank[s[a].node], c->rank[s[b].node])], da,
					s[b].ns - c->moments[s[b].node].mean);
	}
}

static int pair_up_noise(const struct computation *c, struct vprof_tree_reader *reader, size_t interval,
			 struct vprof_comoment *comoments)
{
	size_t n;
	const struct vprof_sample_noise *item = vprof_tree_read_noise(reader, interval, &n);

	for (size_t k = 0; item && k < n; k++) {
		uint32_t a = c->rank[item[k].a], b = c->rank[item[k].b];

		if (item[k].a != item[k].b && a != VPROF_NONE && b != VPROF_NONE)
			comoments[pair_index(&c->pairings[c->r->nodes[item[k].a].parent], a, b)].noise += item[k].ns2;
	}
	return item ? 0 : VPROF_ERR_NOMEM;
}

static int add_products_of(const struct computation *c, struct vprof_tree_reader *reader, size_t interval,
			   struct vprof_comoment *comoments)
{
	const struct vprof_node *nodes = c->r->nodes;
	size_t from, to, n;
	const struct vprof_sample *sample = vprof_tree_read(reader, interval, &n);

	if (!sample)
		return VPROF_ERR_NOMEM;
	for (from = 1; from < n; from = to) {
		for (to = from + 1; to < n && nodes[sample[to].node].parent == nodes[sample[from].node].parent; to++)
			;
		if (to > from + 1)
			pair_up(c, comoments, sample + from, to - from, &c->pairings[nodes[sample[from].node].parent]);
	}
	return c->tree->has_noise ? pair_up_noise(c, reader, interval, comoments) : 0;
}

static int add_products(void *arg, int worker, const struct vprof_share *share)
{
	const struct computation *c = arg;
	struct vprof_tree_reader *reader = vprof_tree_reader_new(c->tree);
	int ret = reader ? 0 : VPROF_ERR_NOMEM;

	(void)worker;
	for (size_t i = share->from; i < share->to && !ret; i++)
		ret = add_products_of(c, reader, i, share->sums);
	vprof_tree_reader_free(reader);
	return ret;
}

static int take_covariances(struct computation *c)
{
	struct vprof_reduction reduction = {
		.n_items = c->tree->n_intervals, .add = add_products, .join = join_comoments, .arg = c
	};

	if (choose_pairs(c))
		return VPROF_ERR_NOMEM;
	reduction.n_bytes = c->n_pairs * sizeof *c->comoments;
	reduction.n_bytes_share = (c->n_pairs + 1) * sizeof *c->comoments;
	if (reduction.n_bytes_share < moments_bytes(c))
		reduction.n_bytes_share = moments_bytes(c);
	return vprof_reduce(&c->tree->team, &reduction, c->comoments);
}

static int fill_covariances(struct computation *c)
{
	struct vprof_results *r = c->r;
	double total = r->nodes[0].var_ns2;

	r->covariances = calloc(c->n_pairs ? c->n_pairs : 1, sizeof *r->covariances);
	if (!r->covariances)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];

		for (uint32_t a = n->first_child; a < n->first_child + n->n_children; a++) {
			for (uint32_t b = a + 1; b < n->first_child + n->n_children; b++) {
				struct vprof_covariance *v = &r->covariances[r->n_covariances];
				double product = sqrt(r->nodes[a].var_ns2) * sqrt(r->nodes[b].var_ns2);

				size_t pair;

				if (c->rank[a] == VPROF_NONE || c->rank[b] == VPROF_NONE)
					continue;
				pair = pair_index(&c->pairings[i], c->rank[a], c->rank[b]);
				v->a = a;
				v->b = b;
				v->cov_ns2 = vprof_comoment_covariance(&c->comoments[pair], &c->moments[a],
								       &c->moments[b], c->tree->n_intervals);
				if (c->tree->n_intervals)
					v->cov_ns2 -= c->comoments[pair].noise / (double)c->tree->n_intervals;
				v->share = total > 0 ? 2 * v->cov_ns2 / total : 0;
				v->r = product > 0 ? v->cov_ns2 / product : 0;
				r->n_covariances++;
			}
		}
	}
	return 0;
}

static int fill(struct vprof_tree *tree, struct vprof_results *r, int with_covariances, struct vprof_error *err)
{
	struct computation c = { .tree = tree, .r = r };
	int ret = VPROF_ERR_NOMEM;

	r->nodes = calloc(tree->n_final, sizeof *r->nodes);
	c.moments = vprof_calloc_aligned(tree->n_final, sizeof *c.moments);
	c.pairings = calloc(tree->n_final, sizeof *c.pairings);
	c.rank = malloc(tree->n_final * sizeof *c.rank);
	if (!r->nodes || !c.moments || !c.pairings || !c.rank)
		goto out;
	r->n_nodes = tree->n_final;
	for (size_t i = 0; i < tree->nodes.n; i++)
		if (fill_node(&c, (uint32_t)i))
			goto out;
	if (fill_states(&c))
		goto out;
	take_means(&c);
	if (take_variances(&c) || (with_covariances && (take_covariances(&c) || fill_covariances(&c))))
		goto out;
	ret = fill_preempted(&c);
out:
	free(c.moments);
	free(c.pairings);
	free(c.rank);
	free(c.comoments);
	if (ret)
		vprof_error_set(err, ret,
				"not enough memory for the variance tree of %zu nodes: record a shorter run, "
				"or measure fewer functions",
				tree->n_final);
	return ret;
}

int vprof_tree_results(struct vprof_tree *tree, struct vprof_results *r, struct vprof_error *err)
{
	return fill(tree, r, 1, err);
}

int vprof_tree_variances(struct vprof_tree *tree, struct vprof_results *r, struct vprof_error *err)
{
	return fill(tree, r, 0, err);
}
