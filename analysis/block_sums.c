/* Nodes that an interval lacks took no time; their deviation, minus their mean, is added in closed form when a block ends, so
 * that an interval costs what it touched. */
#include "analysis/block_sums.h"

#include <math.h>

#include "analysis/moments.h"

#define TERMS_MAX 4096 /* resampled exactly; the smallest beyond are not */

struct pair { /* a covariance among the terms */
	uint32_t a, b, factor, slot_a, slot_b;
	struct vprof_comoment moment; /* of the block at hand */
};

struct pass {
	struct vprof_block_sums *s;
	struct vprof_results *r;
	struct vprof_tree *tree;
	const struct vprof_traits *traits;
	const uint8_t *is_slow;
	const struct vprof_work_model *model;
	uint32_t *slot;		/* [n_nodes] + 1; 0: none */
	uint32_t *group_of;	/* [n_nodes] + 1, of leaves */
	uint8_t *is_counted;	/* [n_nodes] one of its factor's outermost */
	uint8_t *has_term;	/* [n_nodes] the node's variance is a term that is resampled */
	double *value;		/* [n_nodes] of the interval at hand; NaN: it lacks the node */
	struct vprof_moment *of_slot; /* [n_slots] of the block at hand */
	VPROF_ARRAY(struct pair) pairs; /* by (a, b) */
	uint32_t *first_pair;	/* [n_nodes + 1] by a */
	struct vprof_moment *of_factor; /* [results' n_factors] */
	double *factor_value;	/* [results' n_factors] */
	double *factor_noise;	/* [results' n_factors] */
};

static double node_mean(const struct pass *p, uint32_t node)
{
	return p->r->nodes[node].mean_ns;
}

static int pair_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* The pair of these nodes, or NULL. */
static struct pair *find_pair(const struct pass *p, uint32_t a, uint32_t b)
{
	uint32_t low = p->first_pair[a], end = p->first_pair[a + 1], high = end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->pairs.v[middle].b < b)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && p->pairs.v[low].b == b ? &p->pairs.v[low] : NULL;
}

struct sized { /* a term and its part of the interval's variance */
	const struct vprof_factor_term *term;
	double share;
};

static int size_order(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (fabs(x->share) != fabs(y->share))
		return fabs(x->share) > fabs(y->share) ? -1 : 1;
	return x->term < y->term ? -1 : x->term > y->term;
}

static uint32_t slot_for(struct pass *p, uint32_t node)
{
	if (!p->slot[node])
		p->slot[node] = (uint32_t)++p->s->n_slots;
	return p->slot[node] - 1;
}

static double covariance_share(const struct vprof_results *r, uint32_t a, uint32_t b)
{
	size_t low = 0, high = r->n_covariances;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct vprof_covariance *c = &r->covariances[middle];

		if (c->a < a || (c->a == a && c->b < b))
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->n_covariances ? r->covariances[low].share : 0;
}

static int add_term(struct pass *p, const struct vprof_factor_term *t)
{
	struct vprof_sum_term *term = VPROF_PUSH(&p->s->terms);
	struct pair *pair;

	if (!term)
		return VPROF_ERR_NOMEM;
	*term = (struct vprof_sum_term){ t->factor, slot_for(p, t->a), slot_for(p, t->b), t->a == t->b ? 1 : 2 };
	if (t->a == t->b) {
		p->has_term[t->a] = 1;
		return 0;
	}
	pair = VPROF_PUSH(&p->pairs);
	if (!pair)
		return VPROF_ERR_NOMEM;
	*pair = (struct pair){ .a = t->a, .b = t->b, .factor = t->factor, .slot_a = term->slot_a, .slot_b = term->slot_b };
	return 0;
}

/* Terms of the reported factors, the largest of them where there are very many. */
static int choose_terms(struct pass *p, const struct vprof_term_list *list)
{
	VPROF_ARRAY(struct sized) sized = { NULL, 0, 0 };
	const struct vprof_results *r = p->r;
	int ret = 0;

	for (size_t i = 0; i < list->terms.n; i++) {
		const struct vprof_factor_term *t = &list->terms.v[i];
		struct sized *new;

		p->is_counted[t->a] |= t->a == t->b;
		if (t->factor >= p->s->n_factors)
			continue;
		new = VPROF_PUSH(&sized);
		if (!new) {
			VPROF_ARRAY_RELEASE(&sized);
			return VPROF_ERR_NOMEM;
		}
		*new = (struct sized){ t, t->a == t->b ? r->nodes[t->a].share : covariance_share(r, t->a, t->b) };
	}
	if (sized.n > TERMS_MAX)
		qsort(sized.v, sized.n, sizeof *sized.v, size_order);
	slot_for(p, 0);
	for (size_t i = 0; i < sized.n && !ret; i++) {
		if (i < TERMS_MAX)
			ret = add_term(p, sized.v[i].term);
		else
			p->s->fixed[sized.v[i].term->factor] += sized.v[i].share;
	}
	VPROF_ARRAY_RELEASE(&sized);
	if (p->pairs.n)
		qsort(p->pairs.v, p->pairs.n, sizeof *p->pairs.v, pair_order);
	for (size_t i = 0; i < p->pairs.n; i++)
		p->first_pair[p->pairs.v[i].a + 1]++;
	for (size_t i = 0; i < r->n_nodes; i++)
		p->first_pair[i + 1] += p->first_pair[i];
	return ret;
}

/* The largest contributions to the mean, and the largest to the gap. */
static int choose_groups(struct pass *p)
{
	struct vprof_block_sums *s = p->s;
	const struct vprof_results *r = p->r;
	uint32_t *group_of_factor = calloc(r->n_factors + 1, sizeof *group_of_factor);
	uint8_t *is_wanted = calloc(r->n_contributions + 1, 1);

	s->group = malloc((r->n_contributions + 1) * sizeof *s->group);
	if (!group_of_factor || !is_wanted || !s->group) {
		free(group_of_factor);
		free(is_wanted);
		return VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < r->n_contributions && i < VPROF_REPORTED_MAX; i++)
		is_wanted[i] = 1;
	for (size_t k = 0; k < VPROF_REPORTED_MAX; k++) {
		size_t best = r->n_contributions;

		for (size_t i = 0; i < r->n_contributions; i++)
			if (is_wanted[i] < 2 && isfinite(r->contributions[i].gap_ns) &&
			    (best == r->n_contributions ||
			     fabs(r->contributions[i].gap_ns) > fabs(r->contributions[best].gap_ns)))
				best = i;
		if (best < r->n_contributions)
			is_wanted[best] = 2;
	}
	for (uint32_t i = 0; i < r->n_contributions; i++)
		if (is_wanted[i]) {
			s->group[s->n_groups++] = i;
			group_of_factor[r->contributions[i].factor] = (uint32_t)s->n_groups;
		}
	for (size_t i = 0; i < r->n_nodes; i++)
		if (!r->nodes[i].n_children)
			p->group_of[i] = group_of_factor[r->nodes[i].factor];
	free(group_of_factor);
	free(is_wanted);
	return 0;
}

static int allocate(struct pass *p)
{
	struct vprof_block_sums *s = p->s;
	size_t b = s->n_blocks;

	s->count = calloc(b, sizeof(double));
	s->square = calloc(b, sizeof(double));
	s->slow = calloc(b, sizeof(double));
	s->deviation = calloc(b * s->n_slots, sizeof(double));
	s->product = calloc(b * s->n_factors + 1, sizeof(double));
	s->spent = calloc(b * s->n_groups + 1, sizeof(double));
	s->spent_slow = calloc(b * s->n_groups + 1, sizeof(double));
	s->type_count = calloc(b * s->n_types, sizeof(double));
	s->type_deviation = calloc(b * s->n_types, sizeof(double));
	s->type_factor = calloc(s->n_types * s->n_factors + 1, sizeof(double));
	s->type_n = calloc(s->n_types, sizeof(double));
	s->gram = calloc(b * VPROF_GRAM_SIZE(s->n_columns), sizeof(double));
	s->factor_work = calloc(s->n_factors * s->n_columns + 1, sizeof(double));
	p->of_slot = calloc(s->n_slots, sizeof *p->of_slot);
	return s->count && s->square && s->slow && s->deviation && s->product && s->spent && s->spent_slow && s->type_count &&
	       s->type_deviation && s->type_factor && s->type_n && s->gram && s->factor_work && p->of_slot ? 0 : VPROF_ERR_NOMEM;
}

/* The time of every variance factor: sums over its outermost nodes. */
static void add_factors(struct pass *p, const struct vprof_sample *sample, size_t n, size_t type, const double *row)
{
	struct vprof_block_sums *s = p->s;
	const struct vprof_node *nodes = p->r->nodes;

	for (size_t i = 1; i < n; i++)
		if (p->is_counted[sample[i].node])
			p->factor_value[nodes[sample[i].node].factor - 1] += sample[i].ns;
	for (size_t i = 1; i < n; i++) {
		uint32_t f = nodes[sample[i].node].factor - 1;

		if (!p->is_counted[sample[i].node] || p->factor_value[f] < 0)
			continue;
		vprof_moment_add(&p->of_factor[f], p->factor_value[f]);
		if (f < s->n_factors) {
			s->type_factor[type * s->n_factors + f] += p->factor_value[f];
			for (size_t c = 0; c < s->n_columns; c++)
				s->factor_work[f * s->n_columns + c] += p->factor_value[f] * row[c];
		}
		p->factor_value[f] = -1; /* taken */
	}
	for (size_t i = 1; i < n; i++)
		p->factor_value[nodes[sample[i].node].factor - 1] = 0;
}

static void add_deviations(struct pass *p, const struct vprof_sample *sample, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p->value[sample[i].node] = sample[i].ns;
	for (size_t i = 0; i < n; i++) {
		uint32_t a = sample[i].node;

		if (p->slot[a])
			vprof_moment_add(&p->of_slot[p->slot[a] - 1], sample[i].ns);
		for (uint32_t k = p->first_pair[a]; k < p->first_pair[a + 1]; k++) {
			struct pair *pair = &p->pairs.v[k];

			if (!isnan(p->value[pair->b]))
				vprof_comoment_add(&pair->moment, sample[i].ns - node_mean(p, a),
						   p->value[pair->b] - node_mean(p, pair->b));
		}
	}
	for (size_t i = 0; i < n; i++)
		p->value[sample[i].node] = NAN;
}

static void add_spent(struct pass *p, const struct vprof_sample *sample, size_t n, size_t block, int is_slow)
{
	struct vprof_block_sums *s = p->s;

	s->slow[block] += is_slow;
	for (size_t i = 0; i < n; i++) {
		uint32_t g = p->group_of[sample[i].node];

		if (!g)
			continue;
		s->spent[block * s->n_groups + g - 1] += sample[i].ns;
		if (is_slow)
			s->spent_slow[block * s->n_groups + g - 1] += sample[i].ns;
	}
}

/* Columns and latency, with the products of all pairs and their sums. */
static void add_row(struct vprof_block_sums *s, size_t block, double *row, double deviation)
{
	size_t width = s->n_columns + 1;
	double *gram = s->gram + block * VPROF_GRAM_SIZE(s->n_columns);

	if (!s->n_columns)
		return;
	row[s->n_columns] = deviation;
	for (size_t a = 0; a < width; a++) {
		for (size_t b = 0; b < width; b++)
			gram[a * width + b] += row[a] * row[b];
		gram[width * width + a] += row[a];
	}
}

static int take_out_noise(struct pass *p, size_t interval, size_t block)
{
	struct vprof_block_sums *s = p->s;
	const struct vprof_node *nodes = p->r->nodes;
	size_t n;
	const struct vprof_sample_noise *item = vprof_tree_noise(p->tree, interval, &n);

	if (!item)
		return VPROF_ERR_NOMEM;
	for (size_t k = 0; k < n; k++) {
		uint32_t a = item[k].a, b = item[k].b;
		const struct pair *pair = a == b ? NULL : find_pair(p, a, b);

		if (a == b && p->has_term[a])
			s->product[block * s->n_factors + nodes[a].factor - 1] -= item[k].ns2;
		else if (pair)
			s->product[block * s->n_factors + pair->factor] -= 2 * item[k].ns2;
		if (nodes[a].factor && nodes[a].factor == nodes[b].factor && p->is_counted[a] && p->is_counted[b])
			p->factor_noise[nodes[a].factor - 1] += (a == b ? 1 : 2) * item[k].ns2;
	}
	return 0;
}

/* Deviations and products of the block, absent nodes included; begins the next one. */
static void end_block(struct pass *p, size_t block)
{
	struct vprof_block_sums *s = p->s;
	double n = s->count[block];

	for (uint32_t node = 0; node < p->r->n_nodes; node++) {
		struct vprof_moment *m = p->slot[node] ? &p->of_slot[p->slot[node] - 1] : NULL;
		double mean = node_mean(p, node), absent;

		if (!m)
			continue;
		absent = n - (double)m->n_present;
		s->deviation[block * s->n_slots + p->slot[node] - 1] = m->residual - absent * mean;
		if (!node)
			s->square[block] = m->squares;
		else if (p->has_term[node])
			s->product[block * s->n_factors + p->r->nodes[node].factor - 1] += m->squares + absent * mean * mean;
	}
	for (size_t k = 0; k < p->pairs.n; k++) {
		struct pair *pair = &p->pairs.v[k];
		const struct vprof_moment *a = &p->of_slot[pair->slot_a], *b = &p->of_slot[pair->slot_b];
		double mean_a = node_mean(p, pair->a), mean_b = node_mean(p, pair->b);
		double neither = n - (double)a->n_present - (double)b->n_present + (double)pair->moment.n_both;

		s->product[block * s->n_factors + pair->factor] +=
			2 * (pair->moment.products - mean_b * (a->residual - pair->moment.sum_a) -
			     mean_a * (b->residual - pair->moment.sum_b) + neither * mean_a * mean_b);
		pair->moment = (struct vprof_comoment){ 0 };
	}
	for (uint32_t node = 0; node < p->r->n_nodes; node++)
		if (p->slot[node])
			p->of_slot[p->slot[node] - 1] = (struct vprof_moment){ .mean = node_mean(p, node) };
}

static int add_interval(struct pass *p, size_t i, size_t block)
{
	struct vprof_block_sums *s = p->s;
	double row[VPROF_COUNTERS_MAX + 1], deviation = p->traits->ns[i] - p->r->mean_ns;
	size_t n, type = p->traits->type[i] < s->n_types - 1 ? p->traits->type[i] : s->n_types - 1;
	const struct vprof_sample *sample = vprof_tree_sample(p->tree, i, &n);

	if (!sample)
		return VPROF_ERR_NOMEM;
	s->count[block]++;
	s->type_n[type]++;
	s->type_count[block * s->n_types + type]++;
	s->type_deviation[block * s->n_types + type] += deviation;
	vprof_work_row(p->model, p->traits, i, row);
	add_factors(p, sample, n, type, row);
	add_deviations(p, sample, n);
	add_spent(p, sample, n, block, p->is_slow[i]);
	add_row(s, block, row, deviation);
	return take_out_noise(p, i, block);
}

static int pass(struct pass *p)
{
	size_t n = p->tree->n_intervals, block = 0;

	for (uint32_t node = 0; node < p->r->n_nodes; node++) {
		p->value[node] = NAN;
		if (p->slot[node])
			p->of_slot[p->slot[node] - 1].mean = node_mean(p, node);
	}
	for (size_t i = 0; i < p->r->n_factors; i++)
		if (p->r->factors[i].kind == VPROF_FACTOR_VARIANCE)
			p->of_factor[i].mean = p->r->factors[i].mean_ns;
	for (size_t i = 0; i < n; i++) {
		size_t at = i * p->s->n_blocks / n;

		if (at != block)
			end_block(p, block);
		block = at;
		if (add_interval(p, i, block))
			return VPROF_ERR_NOMEM;
	}
	end_block(p, block);
	return 0;
}

static void fill_deviations(const struct pass *p)
{
	double n = (double)p->tree->n_intervals;

	for (size_t i = 0; i < p->r->n_factors; i++) {
		double noise = n > 0 ? p->factor_noise[i] / n : 0;
		double variance = vprof_moment_variance(&p->of_factor[i], p->tree->n_intervals);

		if (p->r->factors[i].kind == VPROF_FACTOR_VARIANCE)
			p->r->factors[i].sd_ns = variance > noise ? sqrt(variance - noise) : 0;
	}
}

int vprof_block_sums_take(struct vprof_block_sums *s, struct vprof_results *r, struct vprof_tree *tree,
			  const struct vprof_traits *traits, const uint8_t *is_slow, const struct vprof_work_model *model,
			  const struct vprof_term_list *terms, size_t n_blocks)
{
	struct pass p = { .s = s, .r = r, .tree = tree, .traits = traits, .is_slow = is_slow, .model = model };
	size_t reported = r->n_selected > VPROF_REPORTED_MAX ? r->n_selected : VPROF_REPORTED_MAX;
	int ret = VPROF_ERR_NOMEM;

	*s = (struct vprof_block_sums){ .n_blocks = n_blocks, .n_columns = model->n_columns };
	s->n_factors = r->n_factors < reported ? r->n_factors : reported;
	s->n_types = 1 + (r->n_types < VPROF_REPORTED_MAX ? r->n_types : VPROF_REPORTED_MAX);
	p.slot = calloc(r->n_nodes + 1, sizeof *p.slot);
	p.group_of = calloc(r->n_nodes + 1, sizeof *p.group_of);
	p.is_counted = calloc(r->n_nodes + 1, 1);
	p.has_term = calloc(r->n_nodes + 1, 1);
	p.value = calloc(r->n_nodes + 1, sizeof *p.value);
	p.first_pair = calloc(r->n_nodes + 2, sizeof *p.first_pair);
	p.of_factor = calloc(r->n_factors + 1, sizeof *p.of_factor);
	p.factor_value = calloc(r->n_factors + 1, sizeof *p.factor_value);
	p.factor_noise = calloc(r->n_factors + 1, sizeof *p.factor_noise);
	s->fixed = calloc(s->n_factors + 1, sizeof *s->fixed);
	if (!p.slot || !p.group_of || !p.is_counted || !p.has_term || !p.value || !p.first_pair || !p.of_factor ||
	    !p.factor_value || !p.factor_noise || !s->fixed)
		goto out;
	if (choose_terms(&p, terms) || choose_groups(&p) || allocate(&p) || pass(&p))
		goto out;
	fill_deviations(&p);
	ret = 0;
out:
	free(p.slot);
	free(p.group_of);
	free(p.is_counted);
	free(p.has_term);
	free(p.value);
	free(p.of_slot);
	VPROF_ARRAY_RELEASE(&p.pairs);
	free(p.first_pair);
	free(p.of_factor);
	free(p.factor_value);
	free(p.factor_noise);
	return ret;
}

void vprof_block_sums_release(struct vprof_block_sums *s)
{
	free(s->count);
	free(s->deviation);
	free(s->square);
	free(s->product);
	VPROF_ARRAY_RELEASE(&s->terms);
	free(s->fixed);
	free(s->group);
	free(s->spent);
	free(s->spent_slow);
	free(s->slow);
	free(s->type_count);
	free(s->type_deviation);
	free(s->type_factor);
	free(s->type_n);
	free(s->gram);
	free(s->factor_work);
	*s = (struct vprof_block_sums){ 0 };
}
