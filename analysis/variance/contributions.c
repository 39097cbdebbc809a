/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/variance/contributions.h"

#include <math.h>

/* The least latency of the slowest hundredth; infinite when nothing stands out. */
static double slowest_from(const struct vprof_interval_attributes *t)
{
	size_t wanted = (size_t)ceil(VPROF_TAIL_SHARE * (double)t->n), above;
	double from = t->ns[t->slowest[wanted - 1]];

	for (above = wanted; above < t->n && t->ns[t->slowest[above]] == from; above++)
		;
	if (above <= 2 * wanted)
		return from;
	/* Many took exactly as long: only those that took longer. */
	for (above = wanted; above && t->ns[t->slowest[above - 1]] == from; above--)
		;
	return above ? t->ns[t->slowest[above - 1]] : INFINITY;
}

static void split(struct vprof_results *r, const struct vprof_interval_attributes *attributes, double from,
		  int is_exclusive, uint8_t *is_slow)
{
	double tail = 0, rest = 0;

	for (size_t i = 0; i < attributes->n; i++) {
		is_slow[i] = is_exclusive ? attributes->ns[i] > from : attributes->ns[i] >= from;
		r->n_tail += is_slow[i];
		tail += is_slow[i] ? attributes->ns[i] : 0;
		rest += is_slow[i] ? 0 : attributes->ns[i];
	}
	if (r->n_tail)
		r->tail_ns = tail / (double)r->n_tail;
	if (attributes->n > r->n_tail)
		r->rest_ns = rest / (double)(attributes->n - r->n_tail);
	if (r->n_tail && r->n_tail < attributes->n)
		return;
	for (size_t i = 0; i < attributes->n; i++) /* nobody to compare with */
		is_slow[i] = 0;
}

void vprof_tail_choose(struct vprof_results *r, const struct vprof_interval_attributes *attributes,
		       double slower_than_ns, uint8_t *is_slow)
{
	r->tail_is_asked = slower_than_ns > 0;
	r->tail_from_ns = r->tail_is_asked ? slower_than_ns : NAN;
	r->tail_ns = r->rest_ns = NAN;
	if (!attributes->n)
		return;
	if (r->tail_is_asked) {
		split(r, attributes, slower_than_ns, 1, is_slow);
		return;
	}
	split(r, attributes, slowest_from(attributes), 0, is_slow);
	for (size_t i = 0; i < attributes->n; i++)
		if (is_slow[i] && !(attributes->ns[i] >= r->tail_from_ns))
			r->tail_from_ns = attributes->ns[i];
}

/* whose times are added up */
struct tail {
	const struct vprof_tree *tree;
	const uint8_t *is_slow;
};

static int add_slow(void *arg, int worker, const struct vprof_share *share)
{
	const struct tail *t = arg;
	struct vprof_tree_reader *reader = NULL;
	double *sums = share->sums;
	size_t n;

	(void)worker;
	for (size_t i = share->from; i < share->to; i++) {
		const struct vprof_sample *s;

		if (!t->is_slow[i])
			continue;
		reader = reader ? reader : vprof_tree_reader_new(t->tree);
		s = reader ? vprof_tree_read(reader, i, &n) : NULL;
		if (!s) {
			vprof_tree_reader_free(reader);
			return VPROF_ERR_NOMEM;
		}
		for (size_t k = 0; k < n; k++)
			sums[s[k].node] += s[k].ns;
	}
	vprof_tree_reader_free(reader);
	return 0;
}

static int fill_node_means(struct vprof_results *r, struct vprof_tree *tree, const uint8_t *is_slow)
{
	struct tail t = { tree, is_slow };
	const struct vprof_reduction reduction = { .n_items = tree->n_intervals,
						   .n_bytes = r->n_nodes * sizeof(double),
						   .n_bytes_share = (r->n_nodes + 1) * sizeof(double),
						   .add = add_slow,
						   .join = vprof_join_doubles,
						   .arg = &t };
	double n = (double)tree->n_intervals, n_slow = 0, *sums = calloc(r->n_nodes + 1, sizeof *sums);
	int ret = sums ? vprof_reduce(&tree->team, &reduction, sums) : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < tree->n_intervals; i++)
		n_slow += is_slow[i];
	for (size_t i = 0; i < r->n_nodes && !ret; i++) {
		struct vprof_node *node = &r->nodes[i];

		node->tail_ns = sums[i];
		node->rest_ns = n_slow > 0 ? (n * node->mean_ns - node->tail_ns) / (n - n_slow) : NAN;
		node->tail_ns = n_slow > 0 ? node->tail_ns / n_slow : NAN;
	}
	free(sums);
	return ret;
}

static int mean_order(const void *a, const void *b)
{
	const struct vprof_contribution *x = a, *y = b;

	if (x->mean_ns != y->mean_ns)
		return x->mean_ns > y->mean_ns ? -1 : 1;
	return x->factor < y->factor ? -1 : x->factor > y->factor;
}

static void finish(struct vprof_contribution *c)
{
	c->gap_ns = c->tail_ns - c->rest_ns;
	c->mean_low = c->mean_high = c->gap_low = c->gap_high = NAN;
}

int vprof_contributions_fill(struct vprof_results *r, struct vprof_tree *tree, const uint8_t *is_slow)
{
	uint32_t *place = calloc(r->n_factors + 1, sizeof *place); /* index + 1 */
	size_t n = 0;

	r->contributions = calloc(r->n_factors + 2, sizeof *r->contributions);
	if (!place || !r->contributions || fill_node_means(r, tree, is_slow)) {
		free(place);
		return VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *node = &r->nodes[i];
		struct vprof_contribution *c;

		if (node->n_children)
			continue;
		if (!place[node->factor]) {
			place[node->factor] = (uint32_t)++n;
			r->contributions[n - 1].factor = node->factor;
			r->contributions[n - 1].name = node->factor ? r->factors[node->factor - 1].name : node->name;
		}
		c = &r->contributions[place[node->factor] - 1];
		c->mean_ns += node->mean_ns;
		c->tail_ns += node->tail_ns;
		c->rest_ns += node->rest_ns;
	}
	free(place);
	r->n_contributions = n;
	for (size_t i = 0; i < n; i++)
		finish(&r->contributions[i]);
	qsort(r->contributions, n, sizeof *r->contributions, mean_order);
	return 0;
}

void vprof_contributions_add_recording(struct vprof_results *r)
{
	const struct vprof_node *root = r->nodes;
	struct vprof_contribution *c = &r->contributions[r->n_contributions];

	if (!isfinite(r->cost_scale) || !(r->mean_ns - root->mean_ns > 1e-9 * r->mean_ns))
		return;
	*c = (struct vprof_contribution){ .name = "recording", .mean_ns = r->mean_ns - root->mean_ns };
	c->tail_ns = r->tail_ns - root->tail_ns;
	c->rest_ns = r->rest_ns - root->rest_ns;
	finish(c);
	r->n_contributions++;
	qsort(r->contributions, r->n_contributions, sizeof *r->contributions, mean_order);
}
