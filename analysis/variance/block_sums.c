/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes absent from an interval took no time; their deviation, minus their mean, is added in closed form at the end of
 * a block, so that an interval costs only the nodes that it has. */
#include "analysis/variance/block_sums.h"

#include <math.h>

#include "analysis/stats/moments.h"
#include "common/parallel.h"

#define TERMS_MAX 4096 /* the largest, which are resampled; the others are not */

/* a covariance among the terms */
struct pair {
	uint32_t a, b, factor, slot_a, slot_b;
};

/* of the current interval and block */
struct worker {
	struct vprof_tree_reader *reader;
	double *value; /* [n_nodes] NaN: the interval lacks the node */
	struct vprof_quantity_adder adder;
	struct vprof_quantity_sum *of_quantity; /* [quantities.n] */
	struct vprof_moment *of_slot;		/* [n_slots] */
	struct vprof_comoment *of_pair;		/* [pairs.n] */
	double *row, *whole;			/* where the sums go */
};

#define DOUBLES(type) (sizeof(type) / sizeof(double))

struct pass {
	struct vprof_block_sums *s;
	struct vprof_results *r;
	struct vprof_tree *tree;
	const struct vprof_interval_attributes *attributes;
	const uint8_t *is_slow;
	const struct vprof_work_model *model;
	const struct vprof_run_blocks *blocks;
	uint32_t *slot;			/* [n_nodes] + 1; 0: none */
	uint32_t *group_of;		/* [n_nodes] + 1, of leaves */
	uint8_t *has_term;		/* [n_nodes] the node's variance is a term that is resampled */
	VPROF_ARRAY(struct pair) pairs; /* by (a, b) */
	uint32_t *first_pair;		/* [n_nodes + 1] by a */
	/* among the sums over all intervals */
	size_t at_type_n, at_work, at_totals, at_latency, n_whole;
	struct worker *workers;
	int n_workers;
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
static const struct pair *find_pair(const struct pass *p, uint32_t a, uint32_t b)
{
	const struct pair *of_a = p->pairs.v + p->first_pair[a];
	size_t n = p->first_pair[a + 1] - p->first_pair[a], i = VPROF_BISECT(n, k, of_a[k].b < b);

	return i < n && of_a[i].b == b ? &of_a[i] : NULL;
}

/* a term and its part of the interval's variance */
struct sized {
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

static double covariance_share(const struct vprof_results *r, const struct vprof_factor_term *t)
{
	size_t i = vprof_results_covariance(r, t->a, t->b);

	return i < r->n_covariances ? r->covariances[i].share : 0;
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
	*pair = (struct pair){
		.a = t->a, .b = t->b, .factor = t->factor, .slot_a = term->slot_a, .slot_b = term->slot_b
	};
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

		if (t->factor >= p->s->n_factors)
			continue;
		new = VPROF_PUSH(&sized);
		if (!new) {
			VPROF_ARRAY_RELEASE(&sized);
			return VPROF_ERR_NOMEM;
		}
		*new = (struct sized){ t, t->a == t->b ? r->nodes[t->a].share : covariance_share(r, t) };
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

static size_t take_places(size_t *next, size_t n)
{
	size_t at = *next;

	*next += n;
	return at;
}

static void lay_out(struct pass *p)
{
	struct vprof_block_sums *s = p->s;

	s->at_count = take_places(&s->width, 1);
	s->at_square = take_places(&s->width, 1);
	s->at_slow = take_places(&s->width, 1);
	s->at_deviation = take_places(&s->width, s->n_slots);
	s->at_product = take_places(&s->width, s->n_factors);
	s->at_spent = take_places(&s->width, s->n_groups);
	s->at_spent_slow = take_places(&s->width, s->n_groups);
	s->at_type_count = take_places(&s->width, s->n_types);
	s->at_type_deviation = take_places(&s->width, s->n_types);
	s->at_gram = take_places(&s->width, VPROF_GRAM_SIZE(s->n_columns));
	s->at_quantity = take_places(&s->width, s->reported.n_bounded * DOUBLES(struct vprof_quantity_total));
	take_places(&p->n_whole, s->n_types * s->n_factors);
	p->at_type_n = take_places(&p->n_whole, s->n_types);
	p->at_work = take_places(&p->n_whole, s->n_factors * s->n_columns);
	p->at_totals = take_places(&p->n_whole, s->reported.quantities.n * DOUBLES(struct vprof_quantity_sum));
	p->at_latency = take_places(&p->n_whole, 1);
}

static int begin_worker(struct pass *p, struct worker *w)
{
	w->reader = vprof_tree_reader_new(p->tree);
	w->value = vprof_calloc_aligned(p->r->n_nodes + 1, sizeof *w->value);
	w->of_quantity = vprof_calloc_aligned(p->s->reported.quantities.n + 1, sizeof *w->of_quantity);
	w->of_slot = vprof_calloc_aligned(p->s->n_slots, sizeof *w->of_slot);
	w->of_pair = vprof_calloc_aligned(p->pairs.n + 1, sizeof *w->of_pair);
	if (vprof_quantity_adder_begin(&w->adder, &p->s->reported.quantities) || !w->reader || !w->value ||
	    !w->of_quantity || !w->of_slot || !w->of_pair)
		return VPROF_ERR_NOMEM;
	for (uint32_t node = 0; node < p->r->n_nodes; node++) {
		w->value[node] = NAN;
		if (p->slot[node])
			w->of_slot[p->slot[node] - 1].mean = node_mean(p, node);
	}
	return 0;
}

static int allocate(struct pass *p)
{
	struct vprof_block_sums *s = p->s;

	lay_out(p);
	s->rows = calloc(s->n_blocks * s->width, sizeof *s->rows);
	s->whole = vprof_calloc_aligned(p->n_whole + 1, sizeof *s->whole);
	p->n_workers = p->tree->team.n_threads > 1 ? p->tree->team.n_threads : 1;
	p->n_workers = p->n_workers < VPROF_SHARES_MAX ? p->n_workers : VPROF_SHARES_MAX;
	p->workers = calloc((size_t)p->n_workers, sizeof *p->workers);
	for (int i = 0; p->workers && i < p->n_workers; i++)
		if (begin_worker(p, &p->workers[i]))
			return VPROF_ERR_NOMEM;
	return s->rows && s->whole && p->workers ? 0 : VPROF_ERR_NOMEM;
}

static void release(struct pass *p)
{
	for (int i = 0; p->workers && i < p->n_workers; i++) {
		vprof_tree_reader_free(p->workers[i].reader);
		free(p->workers[i].value);
		vprof_quantity_adder_release(&p->workers[i].adder);
		free(p->workers[i].of_quantity);
		free(p->workers[i].of_slot);
		free(p->workers[i].of_pair);
	}
	free(p->workers);
	free(p->slot);
	free(p->group_of);
	free(p->has_term);
	VPROF_ARRAY_RELEASE(&p->pairs);
	free(p->first_pair);
}

/* The time of every quantity; of the reported factors by type and work, too. */
static void add_quantities(const struct pass *p, struct worker *w, const struct vprof_sample *sample, size_t n,
			   size_t type, const double *row)
{
	const struct vprof_block_sums *s = p->s;

	vprof_quantity_adder_read(&w->adder, sample, n);
	vprof_quantity_adder_add(&w->adder, sample[0].ns - node_mean(p, 0), w->of_quantity);
	for (size_t i = 0; i < w->adder.here.n; i++) {
		uint32_t f = w->adder.here.v[i];

		if (f >= s->n_factors)
			continue;
		w->whole[type * s->n_factors + f] += w->adder.value[f];
		for (size_t c = 0; c < s->n_columns; c++)
			w->whole[p->at_work + f * s->n_columns + c] += w->adder.value[f] * row[c];
	}
	vprof_quantity_adder_clear(&w->adder);
}

static void add_deviations(const struct pass *p, struct worker *w, const struct vprof_sample *sample, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w->value[sample[i].node] = sample[i].ns;
	for (size_t i = 0; i < n; i++) {
		uint32_t a = sample[i].node;

		if (p->slot[a])
			vprof_moment_add(&w->of_slot[p->slot[a] - 1], sample[i].ns);
		for (uint32_t k = p->first_pair[a]; k < p->first_pair[a + 1]; k++) {
			uint32_t b = p->pairs.v[k].b;

			if (!isnan(w->value[b]))
				vprof_comoment_add(&w->of_pair[k], sample[i].ns - node_mean(p, a),
						   w->value[b] - node_mean(p, b));
		}
	}
	for (size_t i = 0; i < n; i++)
		w->value[sample[i].node] = NAN;
}

static void add_spent(const struct pass *p, struct worker *w, const struct vprof_sample *sample, size_t n, int is_slow)
{
	const struct vprof_block_sums *s = p->s;

	w->row[s->at_slow] += is_slow;
	for (size_t i = 0; i < n; i++) {
		uint32_t g = p->group_of[sample[i].node];

		if (!g)
			continue;
		w->row[s->at_spent + g - 1] += sample[i].ns;
		if (is_slow)
			w->row[s->at_spent_slow + g - 1] += sample[i].ns;
	}
}

/* Columns and latency, with the products of all pairs and their sums. */
static void add_row(const struct vprof_block_sums *s, double *gram, double *row, double deviation)
{
	size_t width = s->n_columns + 1;

	if (!s->n_columns)
		return;
	row[s->n_columns] = deviation;
	for (size_t a = 0; a < width; a++) {
		for (size_t b = 0; b < width; b++)
			gram[a * width + b] += row[a] * row[b];
		gram[width * width + a] += row[a];
	}
}

static int take_out_noise(const struct pass *p, struct worker *w, size_t interval)
{
	const struct vprof_block_sums *s = p->s;
	const struct vprof_node *nodes = p->r->nodes;
	size_t n;
	const struct vprof_sample_noise *item = vprof_tree_read_noise(w->reader, interval, &n);

	if (!item)
		return VPROF_ERR_NOMEM;
	for (size_t k = 0; k < n; k++) {
		uint32_t a = item[k].a, b = item[k].b;
		const struct pair *pair = a == b ? NULL : find_pair(p, a, b);

		if (a == b && p->has_term[a])
			w->row[s->at_product + nodes[a].factor - 1] -= item[k].ns2;
		else if (pair)
			w->row[s->at_product + pair->factor] -= 2 * item[k].ns2;
	}
	vprof_quantities_add_noise(&s->reported.quantities, item, n, w->of_quantity);
	return 0;
}

/* The block's sums of the quantities go into its row, and into those over all intervals. */
static void end_quantities(const struct pass *p, struct worker *w, double n, double latency_residual)
{
	const struct vprof_block_sums *s = p->s;

	for (size_t i = 0; i < s->reported.n_bounded; i++) {
		struct vprof_quantity_total total =
			vprof_quantity_total(&w->of_quantity[i], s->reported.quantities.mean.v[i], n, latency_residual);

		memcpy(w->row + s->at_quantity + i * DOUBLES(total), &total, sizeof total);
	}
	vprof_join_doubles(w->whole + p->at_totals, w->of_quantity, s->reported.quantities.n * sizeof *w->of_quantity);
	w->whole[p->at_latency] += latency_residual;
	memset(w->of_quantity, 0, s->reported.quantities.n * sizeof *w->of_quantity);
}

/* Deviations and products of the block, absent nodes included; begins the next one. */
static void end_block(const struct pass *p, struct worker *w)
{
	const struct vprof_block_sums *s = p->s;
	double n = w->row[s->at_count];

	for (uint32_t node = 0; node < p->r->n_nodes; node++) {
		const struct vprof_moment *m = p->slot[node] ? &w->of_slot[p->slot[node] - 1] : NULL;
		double mean = node_mean(p, node), absent;

		if (!m)
			continue;
		absent = n - (double)m->n_present;
		w->row[s->at_deviation + p->slot[node] - 1] = m->residual - absent * mean;
		if (!node)
			w->row[s->at_square] = m->squares;
		else if (p->has_term[node])
			w->row[s->at_product + p->r->nodes[node].factor - 1] += m->squares + absent * mean * mean;
	}
	for (size_t k = 0; k < p->pairs.n; k++) {
		const struct pair *pair = &p->pairs.v[k];
		const struct vprof_moment *a = &w->of_slot[pair->slot_a], *b = &w->of_slot[pair->slot_b];
		const struct vprof_comoment *both = &w->of_pair[k];
		double mean_a = node_mean(p, pair->a), mean_b = node_mean(p, pair->b);
		double neither = n - (double)a->n_present - (double)b->n_present + (double)both->n_both;

		w->row[s->at_product + pair->factor] +=
			2 * (both->products - mean_b * (a->residual - both->sum_a) -
			     mean_a * (b->residual - both->sum_b) + neither * mean_a * mean_b);
	}
	end_quantities(p, w, n, w->of_slot[0].residual);
	memset(w->of_pair, 0, p->pairs.n * sizeof *w->of_pair);
	for (uint32_t node = 0; node < p->r->n_nodes; node++)
		if (p->slot[node])
			w->of_slot[p->slot[node] - 1] = (struct vprof_moment){ .mean = node_mean(p, node) };
}

static int add_interval(const struct pass *p, struct worker *w, size_t i)
{
	const struct vprof_block_sums *s = p->s;
	double row[VPROF_COUNTERS_MAX + 1], deviation;
	size_t n, type = p->attributes->type[i] < s->n_types - 1 ? p->attributes->type[i] : s->n_types - 1;
	const struct vprof_sample *sample = vprof_tree_read(w->reader, i, &n);

	if (!sample)
		return VPROF_ERR_NOMEM;
	deviation = p->tree->factors ? sample[0].ns - p->r->nodes[0].mean_ns : p->attributes->ns[i] - p->r->mean_ns;
	w->row[s->at_count]++;
	w->whole[p->at_type_n + type]++;
	w->row[s->at_type_count + type]++;
	w->row[s->at_type_deviation + type] += deviation;
	vprof_work_row(p->model, p->attributes, i, row);
	add_quantities(p, w, sample, n, type, row);
	add_deviations(p, w, sample, n);
	add_spent(p, w, sample, n, p->is_slow[i]);
	add_row(s, w->row + s->at_gram, row, deviation);
	return p->tree->has_noise ? take_out_noise(p, w, i) : 0;
}

static int add_share(void *arg, int worker, const struct vprof_share *share)
{
	const struct pass *p = arg;
	struct worker *w = &p->workers[worker];
	size_t block = vprof_block_of(share->reduction, share->from);

	w->whole = share->sums;
	w->row = vprof_share_row(share, block);
	for (size_t i = share->from; i < share->to; i++) {
		size_t at = vprof_block_of(share->reduction, i);

		if (at != block) {
			end_block(p, w);
			w->row = vprof_share_row(share, at);
		}
		block = at;
		if (add_interval(p, w, i))
			return VPROF_ERR_NOMEM;
	}
	end_block(p, w);
	return 0;
}

static int pass(struct pass *p)
{
	struct vprof_block_sums *s = p->s;
	const struct vprof_reduction reduction = { .n_items = p->tree->n_intervals,
						   .n_bytes = p->n_whole * sizeof(double),
						   .n_bytes_share = (s->width + p->n_whole) * sizeof(double),
						   .add = add_share,
						   .join = vprof_join_doubles,
						   .arg = p,
						   .n_blocks = s->n_blocks,
						   .block_first = p->blocks->first,
						   .width = s->width,
						   .rows = s->rows };
	int ret = vprof_reduce(&p->tree->team, &reduction, s->whole);

	s->type_factor = s->whole;
	s->type_n = s->whole + p->at_type_n;
	s->factor_work = s->whole + p->at_work;
	s->totals = (void *)(s->whole + p->at_totals);
	s->latency_residual = s->whole[p->at_latency];
	return ret;
}

struct vprof_quantity_figures vprof_quantity_figures(const struct vprof_quantity_total *t, double n,
						     double latency_deviation, double latency_square)
{
	double total = latency_square - latency_deviation * latency_deviation / n;
	/* an interval's mean noise comes off the variance, which is of n - 1 (vprof_quantities_covariances) */
	double own = t->square - t->deviation * t->deviation / n - t->noise * (n - 1) / n;
	double with = t->with_latency - t->deviation * latency_deviation / n;

	if (!(total > 0))
		return (struct vprof_quantity_figures){ NAN, NAN, n > 1 && own > 0 ? sqrt(own / (n - 1)) : 0 };
	return (struct vprof_quantity_figures){ own / total, (2 * with - own) / total,
						n > 1 && own > 0 ? sqrt(own / (n - 1)) : 0 };
}

int vprof_block_sums_take(struct vprof_block_sums *s, struct vprof_results *r, struct vprof_tree *tree,
			  const struct vprof_interval_attributes *attributes, const uint8_t *is_slow,
			  const struct vprof_work_model *model, const struct vprof_term_list *terms,
			  const struct vprof_run_blocks *blocks)
{
	struct pass p = { .s = s,
			  .r = r,
			  .tree = tree,
			  .attributes = attributes,
			  .is_slow = is_slow,
			  .model = model,
			  .blocks = blocks };
	int ret = VPROF_ERR_NOMEM;

	*s = (struct vprof_block_sums){ .n_blocks = blocks->n, .n_columns = model->n_columns };
	s->n_factors = vprof_reported_count(r);
	s->n_types = 1 + (r->n_types < VPROF_REPORTED_MAX ? r->n_types : VPROF_REPORTED_MAX);
	p.slot = calloc(r->n_nodes + 1, sizeof *p.slot);
	p.group_of = calloc(r->n_nodes + 1, sizeof *p.group_of);
	p.has_term = calloc(r->n_nodes + 1, 1);
	p.first_pair = calloc(r->n_nodes + 2, sizeof *p.first_pair);
	s->fixed = calloc(s->n_factors + 1, sizeof *s->fixed);
	if (!p.slot || !p.group_of || !p.has_term || !p.first_pair || !s->fixed)
		goto out;
	if (choose_terms(&p, terms) || choose_groups(&p) || vprof_reported_take(&s->reported, r) || allocate(&p))
		goto out;
	ret = pass(&p);
out:
	release(&p);
	return ret;
}

void vprof_block_sums_release(struct vprof_block_sums *s)
{
	free(s->rows);
	VPROF_ARRAY_RELEASE(&s->terms);
	free(s->fixed);
	free(s->group);
	free(s->whole);
	vprof_reported_release(&s->reported);
	*s = (struct vprof_block_sums){ 0 };
}
