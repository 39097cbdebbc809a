/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/variance/quantities.h"

#include <math.h>

#include "common/search.h"

static int is_in(const uint32_t *nodes, size_t n, uint32_t node)
{
	size_t i = VPROF_BISECT(n, k, nodes[k] < node);

	return i < n && nodes[i] == node;
}

/* Keeps of nodes[n] the outermost, each once, sorted: their number. A parent comes before its children, so what is kept
 * so far has all ancestors that may be. */
static size_t keep_outermost(const struct vprof_results *r, uint32_t *nodes, size_t n)
{
	size_t n_kept = 0;

	if (n)
		qsort(nodes, n, sizeof *nodes, vprof_compare_u32);
	for (size_t i = 0; i < n; i++) {
		uint32_t above = nodes[i];

		while (above && !is_in(nodes, n_kept, above))
			above = r->nodes[above].parent;
		if (!is_in(nodes, n_kept, above))
			nodes[n_kept++] = nodes[i];
	}
	return n_kept;
}

int vprof_quantities_add_apart(struct vprof_quantities *q, const struct vprof_results *r, const uint32_t *nodes,
			       size_t n)
{
	double *mean = VPROF_PUSH(&q->mean);

	if (!mean)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct vprof_quantity_member *m = VPROF_PUSH(&q->members);

		if (!m)
			return VPROF_ERR_NOMEM;
		*m = (struct vprof_quantity_member){ nodes[i], (uint32_t)q->n };
		*mean += r->nodes[nodes[i]].mean_ns;
	}
	q->n++;
	return 0;
}

int vprof_quantities_add(struct vprof_quantities *q, const struct vprof_results *r, const uint32_t *nodes, size_t n)
{
	uint32_t *own = malloc((n + 1) * sizeof *own);
	int ret = VPROF_ERR_NOMEM;

	if (own) {
		memcpy(own, nodes, n * sizeof *own);
		ret = vprof_quantities_add_apart(q, r, own, keep_outermost(r, own, n));
	}
	free(own);
	return ret;
}

static int member_order(const void *a, const void *b)
{
	const struct vprof_quantity_member *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->quantity < y->quantity ? -1 : x->quantity > y->quantity;
}

int vprof_quantities_finish(struct vprof_quantities *q, size_t n_nodes)
{
	q->n_nodes = n_nodes;
	q->first = calloc(n_nodes + 1, sizeof *q->first);
	if (!q->first)
		return VPROF_ERR_NOMEM;
	if (q->members.n)
		qsort(q->members.v, q->members.n, sizeof *q->members.v, member_order);
	for (size_t i = 0; i < q->members.n; i++)
		q->first[q->members.v[i].node + 1]++;
	for (size_t i = 0; i < n_nodes; i++)
		q->first[i + 1] += q->first[i];
	return 0;
}

void vprof_quantities_set_means(struct vprof_quantities *q, const struct vprof_results *r)
{
	memset(q->mean.v, 0, q->n * sizeof *q->mean.v);
	for (size_t i = 0; i < q->members.n; i++)
		q->mean.v[q->members.v[i].quantity] += r->nodes[q->members.v[i].node].mean_ns;
}

void vprof_quantities_release(struct vprof_quantities *q)
{
	VPROF_ARRAY_RELEASE(&q->members);
	VPROF_ARRAY_RELEASE(&q->mean);
	free(q->first);
	*q = (struct vprof_quantities){ 0 };
}

int vprof_quantity_adder_begin(struct vprof_quantity_adder *a, const struct vprof_quantities *q)
{
	*a = (struct vprof_quantity_adder){ .q = q, .value = malloc((q->n + 1) * sizeof *a->value) };
	if (!a->value || VPROF_RESERVE(&a->here, q->n + 1))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < q->n; i++)
		a->value[i] = NAN;
	return 0;
}

void vprof_quantity_adder_release(struct vprof_quantity_adder *a)
{
	free(a->value);
	VPROF_ARRAY_RELEASE(&a->here);
	a->value = NULL;
}

void vprof_quantity_adder_read(struct vprof_quantity_adder *a, const struct vprof_sample *sample, size_t n)
{
	const struct vprof_quantities *q = a->q;

	for (size_t i = 0; i < n; i++)
		for (uint32_t k = q->first[sample[i].node]; k < q->first[sample[i].node + 1]; k++) {
			uint32_t at = q->members.v[k].quantity;

			if (isnan(a->value[at])) {
				a->value[at] = 0;
				a->here.v[a->here.n++] = at;
			}
			a->value[at] += sample[i].ns;
		}
}

void vprof_quantity_adder_clear(struct vprof_quantity_adder *a)
{
	for (size_t i = 0; i < a->here.n; i++)
		a->value[a->here.v[i]] = NAN;
	a->here.n = 0;
}

void vprof_quantity_adder_add(const struct vprof_quantity_adder *a, double latency_deviation,
			      struct vprof_quantity_sum *sums)
{
	for (size_t i = 0; i < a->here.n; i++) {
		uint32_t at = a->here.v[i];
		struct vprof_quantity_sum *s = &sums[at];
		double d = a->value[at] - a->q->mean.v[at];

		s->squares += d * d;
		s->residual += d;
		s->n_present++;
		s->with_latency += d * latency_deviation;
		s->latency += latency_deviation;
	}
}

/* Both nodes' members are sorted by quantity. */
void vprof_quantities_add_noise(const struct vprof_quantities *q, const struct vprof_sample_noise *noise, size_t n,
				struct vprof_quantity_sum *sums)
{
	const struct vprof_quantity_member *m = q->members.v;

	for (size_t i = 0; i < n; i++) {
		uint32_t a = q->first[noise[i].a], b = q->first[noise[i].b];

		while (a < q->first[noise[i].a + 1] && b < q->first[noise[i].b + 1]) {
			if (m[a].quantity == m[b].quantity)
				sums[m[a].quantity].noise += (noise[i].a == noise[i].b ? 1 : 2) * noise[i].ns2;
			if (m[a].quantity <= m[b].quantity)
				a++;
			else
				b++;
		}
	}
}

struct vprof_quantity_total vprof_quantity_total(const struct vprof_quantity_sum *s, double mean, double n,
						 double latency_residual)
{
	double absent = n - s->n_present;

	return (struct vprof_quantity_total){ .deviation = s->residual - absent * mean,
					      .square = s->squares + absent * mean * mean,
					      .with_latency = s->with_latency - mean * (latency_residual - s->latency),
					      .noise = s->noise };
}

/* Sums over intervals, of doubles only, so that they are joined as such (moments.h says what they are). */
struct own_sum {
	double squares, residual, noise, n_present;
};
struct pair_sum {
	double products, sum_a, sum_b, noise, n_both;
};

/* one pass for covariances; the sums are those of q->n quantities, then of n pairs */
struct covariances {
	const struct vprof_quantities *q;
	struct vprof_tree *tree;
	struct vprof_quantity_pair *pairs;
	size_t n;
	uint32_t *first; /* [q->n + 1] of the pairs, by a */
};

static struct pair_sum *pair_sums(const struct covariances *c, void *sums)
{
	return (void *)((struct own_sum *)sums + c->q->n);
}

static void add_pairs(const struct covariances *c, const struct vprof_quantity_adder *a, struct own_sum *own)
{
	struct pair_sum *of_pair = pair_sums(c, own);
	const double *mean = c->q->mean.v;

	for (size_t i = 0; i < a->here.n; i++) {
		uint32_t x = a->here.v[i];
		double d = a->value[x] - mean[x];

		own[x].squares += d * d;
		own[x].residual += d;
		own[x].n_present++;
		for (uint32_t k = c->first[x]; k < c->first[x + 1]; k++) {
			uint32_t y = c->pairs[k].b;
			double dy = a->value[y] - mean[y];

			if (y == x || isnan(dy))
				continue;
			of_pair[k].products += d * dy;
			of_pair[k].sum_a += d;
			of_pair[k].sum_b += dy;
			of_pair[k].n_both++;
		}
	}
}

static void add_pair_noise(const struct covariances *c, uint32_t x, uint32_t y, double ns2, struct own_sum *own)
{
	uint32_t a = x < y ? x : y, b = x < y ? y : x, n = c->first[a + 1] - c->first[a];
	size_t i = VPROF_BISECT(n, k, c->pairs[c->first[a] + k].b < b);

	if (a == b)
		own[a].noise += ns2;
	else if (i < n && c->pairs[c->first[a] + i].b == b)
		pair_sums(c, own)[c->first[a] + i].noise += ns2;
}

/* An item is the covariance of two nodes' errors: within one quantity it counts twice. */
static int add_noise(const struct covariances *c, struct vprof_tree_reader *reader, size_t interval,
		     struct own_sum *own)
{
	const struct vprof_quantities *q = c->q;
	const struct vprof_quantity_member *m = q->members.v;
	size_t n;
	const struct vprof_sample_noise *noise = vprof_tree_read_noise(reader, interval, &n);

	for (size_t i = 0; noise && i < n; i++)
		for (uint32_t a = q->first[noise[i].a]; a < q->first[noise[i].a + 1]; a++)
			for (uint32_t b = q->first[noise[i].b]; b < q->first[noise[i].b + 1]; b++) {
				int is_twice = noise[i].a != noise[i].b && m[a].quantity == m[b].quantity;

				/* of one node: each two of its quantities once */
				if (noise[i].a == noise[i].b && m[b].quantity < m[a].quantity)
					continue;
				add_pair_noise(c, m[a].quantity, m[b].quantity, (is_twice ? 2 : 1) * noise[i].ns2, own);
			}
	return noise ? 0 : VPROF_ERR_NOMEM;
}

static int add_share(void *arg, int worker, const struct vprof_share *share)
{
	const struct covariances *c = arg;
	struct vprof_tree_reader *reader = vprof_tree_reader_new(c->tree);
	struct vprof_quantity_adder a;
	int ret = vprof_quantity_adder_begin(&a, c->q) || !reader ? VPROF_ERR_NOMEM : 0;

	(void)worker;
	for (size_t i = share->from; i < share->to && !ret; i++) {
		size_t n;
		const struct vprof_sample *sample = vprof_tree_read(reader, i, &n);

		if (!sample) {
			ret = VPROF_ERR_NOMEM;
			break;
		}
		vprof_quantity_adder_read(&a, sample, n);
		add_pairs(c, &a, share->sums);
		vprof_quantity_adder_clear(&a);
		if (c->tree->has_noise)
			ret = add_noise(c, reader, i, share->sums);
	}
	vprof_quantity_adder_release(&a);
	vprof_tree_reader_free(reader);
	return ret;
}

static struct vprof_moment moment_of(const struct own_sum *s, double mean)
{
	return (struct vprof_moment){ .mean = mean,
				      .squares = s->squares,
				      .residual = s->residual,
				      .noise = s->noise,
				      .n_present = (size_t)s->n_present };
}

static void finish_pair(const struct covariances *c, struct own_sum *own, size_t k)
{
	struct vprof_quantity_pair *pair = &c->pairs[k];
	const struct pair_sum *both = &pair_sums(c, own)[k];
	struct vprof_moment a = moment_of(&own[pair->a], c->q->mean.v[pair->a]);
	struct vprof_moment b = moment_of(&own[pair->b], c->q->mean.v[pair->b]);
	struct vprof_comoment products = {
		.products = both->products, .sum_a = both->sum_a, .sum_b = both->sum_b, .n_both = (size_t)both->n_both
	};
	size_t n = c->tree->n_intervals;

	if (pair->a == pair->b)
		pair->cov_ns2 = vprof_moment_variance(&a, n) - (n ? a.noise / (double)n : 0);
	else
		pair->cov_ns2 = vprof_comoment_covariance(&products, &a, &b, n) - (n ? both->noise / (double)n : 0);
}

int vprof_quantities_covariances(const struct vprof_quantities *q, struct vprof_tree *tree,
				 struct vprof_quantity_pair *pairs, size_t n)
{
	struct covariances c = { q, tree, pairs, n, calloc(q->n + 2, sizeof *c.first) };
	struct vprof_reduction reduction = { .n_items = tree->n_intervals,
					     .n_bytes = q->n * sizeof(struct own_sum) + n * sizeof(struct pair_sum),
					     .add = add_share,
					     .join = vprof_join_doubles,
					     .arg = &c };
	struct own_sum *sums = vprof_calloc_aligned(reduction.n_bytes + 1, 1);
	int ret = c.first && sums ? 0 : VPROF_ERR_NOMEM;

	reduction.n_bytes_share = reduction.n_bytes + q->n * (sizeof(double) + sizeof(uint32_t)) + 1;
	for (size_t k = 0; k < n && !ret; k++)
		c.first[pairs[k].a + 1]++;
	for (size_t i = 0; i < q->n && !ret; i++)
		c.first[i + 1] += c.first[i];
	if (!ret)
		ret = vprof_reduce(&tree->team, &reduction, sums);
	for (size_t k = 0; k < n && !ret; k++)
		finish_pair(&c, sums, k);
	free(c.first);
	free(sums);
	return ret;
}
