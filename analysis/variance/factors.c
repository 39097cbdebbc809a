/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decisions that the paper leaves open:
 *
 * - A factor is known by what it is and its name, and by whether it is blame (work that others did while the interval
 *   waited): factor_identity.h.
 * - Of recursive nodes only the outermost on each path counts: the inner ones' time is part of it.
 * - The covariance of two siblings of one name (two call sites of memcpy) belongs to that name's variance: the sum's
 *   variance holds it.
 * - Height: the static call graph's, and at least one more than the highest child's in the tree. The static one cannot
 *   know that a function waits for another thread (so a cause ranks above its symptom), and gives everything that
 *   recurses through one another the same height. A recursive call counts as the outermost one that it is within, so
 *   that no height depends on how deep a run recursed. Body: 0 beneath a broken-down function, else the function's own.
 * - Preempted: as specific as it gets (height 0). It raises the height of the function that was preempted, as any child
 *   does, only where it makes at least half of that function's variance: nearly everything is preempted now and then.
 * - The body of a function beneath which nothing else was measured is that function: no factor of its own.
 * - The body of the interval and everything unexplained say nothing specific; the latter is never selected.
 */
#include "analysis/variance/factors.h"

#include <math.h>
#include <stdio.h>

#include "analysis/variance/factor_identity.h"
#include "common/text.h"

#define COVARIANCE_SHARE_MIN 0.001
#define SMALL_COVARIANCES_MAX 1000

struct slot {
	uint64_t hash;
	uint32_t factor; /* index + 1 */
};

struct key {
	struct vprof_identity a, b;
	int is_pair; /* of a covariance: else `b` is not used */
};

struct selection {
	struct vprof_results *r;
	const struct vprof_plan *plan;
	uint32_t *height; /* [n_nodes] */
	struct vprof_identities ids;
	VPROF_ARRAY(struct vprof_factor) factors;
	VPROF_ARRAY(struct key) keys; /* of these factors */
	struct vprof_term_list *list;
	struct slot *slots;
	size_t n_slots;
};

static const struct vprof_probe *probe_of(const struct selection *s, const struct vprof_node *n)
{
	return vprof_node_kind_is_code(n->kind) ? vprof_plan_probe(s->plan, n->code) : NULL;
}

/* Fills outermost[n_nodes]: the outermost call of the same function that a node is within, on the same thread's path,
 * or the node itself. Parents come before their children. */
static void find_outermost(const struct vprof_results *r, uint32_t *outermost)
{
	for (uint32_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];
		uint32_t at = i;

		outermost[i] = i;
		if (!vprof_node_kind_is_code(n->kind))
			continue;
		do
			at = r->nodes[at].parent;
		while (at && vprof_node_kind_is_code(r->nodes[at].kind) &&
		       (r->nodes[at].kind != n->kind || r->nodes[at].code != n->code));
		if (at && vprof_node_kind_is_code(r->nodes[at].kind))
			outermost[i] = outermost[at];
	}
}

/* Children are done before their parents. What is beneath a recursive call is beneath the outermost call. */
static void take_height(struct selection *s, const uint32_t *outermost, uint32_t i)
{
	const struct vprof_node *n = &s->r->nodes[i];
	const struct vprof_probe *probe = probe_of(s, n);
	uint32_t *height = &s->height[outermost[i]];

	if (probe && probe->height > s->height[i])
		s->height[i] = probe->height;
	for (uint32_t c = n->first_child; c < n->first_child + n->n_children; c++) {
		const struct vprof_node *child = &s->r->nodes[c];

		if (child->kind == VPROF_NODE_BODY || outermost[c] != c ||
		    (child->kind == VPROF_NODE_PREEMPTED && child->var_ns2 < 0.5 * n->var_ns2))
			continue;
		if (s->height[c] + 1 > *height)
			*height = s->height[c] + 1;
	}
}

static int take_heights(struct selection *s)
{
	const struct vprof_results *r = s->r;
	uint32_t highest = s->plan->graph_height, *outermost = malloc((r->n_nodes + 1) * sizeof *outermost);

	if (!outermost)
		return VPROF_ERR_NOMEM;
	find_outermost(r, outermost);
	for (size_t i = r->n_nodes; i-- > 1;) {
		take_height(s, outermost, (uint32_t)i);
		if (s->height[i] > highest)
			highest = s->height[i];
	}
	free(outermost);
	for (size_t i = 1; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i], *parent = &r->nodes[n->parent];

		if (n->kind != VPROF_NODE_BODY)
			continue;
		if (n->parent == 0)
			s->height[i] = highest;
		else if (vprof_node_kind_is_code(parent->kind) && !parent->broken_down)
			s->height[i] = s->height[n->parent];
		else
			s->height[i] = 0;
	}
	s->r->graph_height = highest + 1;
	s->height[0] = highest + 1;
	return 0;
}

static int slots_grow(struct selection *s)
{
	size_t n = s->n_slots ? s->n_slots * 2 : 256;
	struct slot *slots = calloc(n, sizeof *slots);

	if (!slots)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < s->n_slots; i++) {
		size_t k = s->slots[i].hash & (n - 1);

		if (!s->slots[i].factor)
			continue;
		while (slots[k].factor)
			k = (k + 1) & (n - 1);
		slots[k] = s->slots[i];
	}
	free(s->slots);
	s->slots = slots;
	s->n_slots = n;
	return 0;
}

static int is_of(const struct key *key, const struct vprof_identity *a, const struct vprof_identity *b)
{
	return key->is_pair == (b != NULL) && vprof_identity_equal(&key->a, a) &&
	       (!b || vprof_identity_equal(&key->b, b));
}

/* The variance factor of `a`, or the covariance factor of both, made when it is new. Index + 1, or 0 without memory. */
static uint32_t factor_of(struct selection *s, const struct vprof_identity *a, const struct vprof_identity *b)
{
	uint64_t hash = b ? vprof_mix(a->hash * 31 + b->hash) : a->hash;
	struct vprof_factor *f;
	struct key *key;
	size_t i;

	if (2 * s->factors.n >= s->n_slots && slots_grow(s))
		return 0;
	for (i = hash & (s->n_slots - 1); s->slots[i].factor; i = (i + 1) & (s->n_slots - 1))
		if (s->slots[i].hash == hash && is_of(&s->keys.v[s->slots[i].factor - 1], a, b))
			return s->slots[i].factor;
	f = VPROF_PUSH(&s->factors);
	key = f ? VPROF_PUSH(&s->keys) : NULL;
	if (!key)
		return 0;
	*key = (struct key){ .a = *a, .is_pair = b != NULL };
	if (b)
		key->b = *b;
	f->key = vprof_identity_key(&s->ids, s->r, a, b);
	if (!f->key)
		return 0;
	s->slots[i].hash = hash;
	return s->slots[i].factor = (uint32_t)s->factors.n;
}

static int add_term(struct selection *s, uint32_t factor, uint32_t a, uint32_t b)
{
	struct vprof_factor_term *t = VPROF_PUSH(&s->list->terms);

	if (!t)
		return VPROF_ERR_NOMEM;
	t->factor = factor;
	t->a = a;
	t->b = b;
	return 0;
}

static int has_ancestor_of(const struct vprof_results *r, uint32_t node, uint32_t factor)
{
	for (uint32_t i = r->nodes[node].parent; i; i = r->nodes[i].parent)
		if (r->nodes[i].factor == factor)
			return 1;
	return 0;
}

/* Being preempted is not a measured call. */
static int is_all_of_parent(const struct vprof_results *r, uint32_t node)
{
	const struct vprof_node *parent = &r->nodes[r->nodes[node].parent];

	if (r->nodes[node].kind != VPROF_NODE_BODY ||
	    (!vprof_node_kind_is_code(parent->kind) && parent->kind != VPROF_NODE_WAIT))
		return 0;
	for (uint32_t c = parent->first_child; c < parent->first_child + parent->n_children; c++)
		if (c != node && r->nodes[c].kind != VPROF_NODE_PREEMPTED)
			return 0;
	return 1;
}

static int add_variances(struct selection *s)
{
	struct vprof_results *r = s->r;

	for (uint32_t i = 1; i < r->n_nodes; i++) {
		struct vprof_node *n = &r->nodes[i];
		struct vprof_factor *f;
		uint32_t index;

		if (is_all_of_parent(r, i)) {
			n->factor = r->nodes[n->parent].factor;
			continue;
		}
		index = factor_of(s, &s->ids.of[i], NULL);
		if (!index)
			return VPROF_ERR_NOMEM;
		n->factor = index;
		f = &s->factors.v[index - 1];
		if (!f->name || (vprof_node_kind_is_code(n->kind) && f->node_kind == VPROF_NODE_WAIT)) {
			f->kind = VPROF_FACTOR_VARIANCE;
			f->node_kind = n->kind;
			f->name = f->name_a = vprof_identity_label(&s->ids, r, &s->ids.of[i]);
			f->name_b = "";
			f->is_blame = n->is_blame;
			if (!f->name)
				return VPROF_ERR_NOMEM;
		}
		if (s->height[i] > f->height)
			f->height = s->height[i];
		if (has_ancestor_of(r, i, index))
			continue;
		f->share += n->share;
		f->mean_ns += n->mean_ns;
		f->blocked_share += n->blocked_ns;
		f->kernel_share += n->kernel_ns;
		f->io_share += n->io_ns;
		f->preempted_share += n->preempted_ns;
		f->n_calls += n->n_calls;
		f->n_timed += n->n_timed;
		f->noise_share += r->nodes[0].var_ns2 > 0 ? n->noise_ns2 / r->nodes[0].var_ns2 : 0;
		if (add_term(s, index - 1, i, i))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int name_pair(struct selection *s, struct vprof_factor *f, const struct vprof_identity *a,
		     const struct vprof_identity *b)
{
	struct vprof_text name = VPROF_TEXT_INIT;

	f->kind = VPROF_FACTOR_COVARIANCE;
	f->name_a = vprof_identity_label(&s->ids, s->r, a);
	f->name_b = vprof_identity_label(&s->ids, s->r, b);
	if (!f->name_a || !f->name_b)
		return VPROF_ERR_NOMEM;
	vprof_text_addf(&name, "(%s, %s)", f->name_a, f->name_b);
	f->name = name.failed ? NULL : vprof_results_string(s->r, name.s);
	vprof_text_release(&name);
	return f->name ? 0 : VPROF_ERR_NOMEM;
}

/* The factor of two siblings that are two factors. */
static struct vprof_factor *pair_factor(struct selection *s, struct vprof_covariance *c)
{
	struct vprof_identity a = s->ids.of[c->a], b = s->ids.of[c->b];
	int is_swapped;
	uint32_t index;
	struct vprof_factor *f;

	/* Beside others' work, what the scheduler took and what nobody explains is of one kind with it. */
	if (vprof_identity_is_own(&a) || vprof_identity_is_own(&b))
		b.is_blame = a.is_blame;
	is_swapped = vprof_identity_order(&a, &b) > 0;
	index = is_swapped ? factor_of(s, &b, &a) : factor_of(s, &a, &b);
	if (!index)
		return NULL;
	c->factor = index;
	f = &s->factors.v[index - 1];
	if (f->name)
		return f;
	f->is_blame = a.is_blame;
	return (is_swapped ? name_pair(s, f, &b, &a) : name_pair(s, f, &a, &b)) ? NULL : f;
}

static int add_covariance(struct selection *s, struct vprof_covariance *c)
{
	struct vprof_results *r = s->r;
	const struct vprof_node *a = &r->nodes[c->a], *b = &r->nodes[c->b];
	uint32_t height = s->height[c->a] > s->height[c->b] ? s->height[c->a] : s->height[c->b];
	struct vprof_factor *f;

	if (a->factor == b->factor) { /* two nodes of one name: part of its variance */
		c->factor = a->factor;
		if (has_ancestor_of(r, c->a, a->factor))
			return 0;
		s->factors.v[a->factor - 1].share += c->share;
		return add_term(s, a->factor - 1, c->a, c->b);
	}
	f = pair_factor(s, c);
	if (!f)
		return VPROF_ERR_NOMEM;
	f->share += c->share;
	f->mean_ns += a->mean_ns + b->mean_ns;
	f->blocked_share += a->blocked_ns + b->blocked_ns;
	f->kernel_share += a->kernel_ns + b->kernel_ns;
	f->io_share += a->io_ns + b->io_ns;
	f->preempted_share += a->preempted_ns + b->preempted_ns;
	f->height = height > f->height ? height : f->height;
	return add_term(s, c->factor - 1, c->a, c->b);
}

static int size_order(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return x > y ? -1 : x < y;
}

/* Too small to be told apart from nothing: not listed, except the largest of them. */
static double covariance_floor(const struct vprof_results *r)
{
	double *shares, floor = 0;

	if (r->n_covariances <= SMALL_COVARIANCES_MAX)
		return 0;
	shares = malloc(r->n_covariances * sizeof *shares);
	if (!shares)
		return COVARIANCE_SHARE_MIN;
	for (size_t i = 0; i < r->n_covariances; i++)
		shares[i] = r->covariances[i].share;
	qsort(shares, r->n_covariances, sizeof *shares, size_order);
	floor = fabs(shares[SMALL_COVARIANCES_MAX]);
	free(shares);
	return floor < COVARIANCE_SHARE_MIN ? floor : COVARIANCE_SHARE_MIN;
}

static int add_covariances(struct selection *s)
{
	double floor = covariance_floor(s->r);

	for (size_t i = 0; i < s->r->n_covariances; i++) {
		struct vprof_covariance *c = &s->r->covariances[i];

		if (fabs(c->share) < floor && s->r->nodes[c->a].factor != s->r->nodes[c->b].factor)
			continue;
		if (add_covariance(s, c))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

/* The function whose breaking down would say more about this node: itself, the one whose body it is, or the one that
 * a wait sits in. */
static const struct vprof_probe *breakable(const struct selection *s, uint32_t node)
{
	const struct vprof_node *n = &s->r->nodes[node];
	const struct vprof_probe *probe;

	if (n->kind == VPROF_NODE_PREEMPTED || n->kind == VPROF_NODE_UNDIVIDED)
		return NULL;
	if (!vprof_node_kind_is_code(n->kind) && n->kind != VPROF_NODE_QUEUED && node)
		n = &s->r->nodes[n->parent];
	probe = probe_of(s, n);
	return probe && !probe->broken_down && probe->n_children > 0 ? probe : NULL;
}

/* probes already counted, for one factor at a time */
struct break_down {
	const struct vprof_probe *seen[64];
	size_t n;
};

/* Undivided time is told apart by a run that records every call of the hot functions beside it. */
static void count_sampled(const struct selection *s, struct vprof_factor *f, uint32_t node)
{
	const struct vprof_node *parent = &s->r->nodes[s->r->nodes[node].parent];

	for (uint32_t c = parent->first_child; c < parent->first_child + parent->n_children; c++) {
		const struct vprof_probe *probe = probe_of(s, &s->r->nodes[c]);

		if (!vprof_node_is_sampled(&s->r->nodes[c]) || !probe || probe->every_call)
			continue;
		f->can_break_down = 1;
		f->n_unmeasured++;
	}
}

static void count_breakable(const struct selection *s, struct vprof_factor *f, uint32_t node, struct break_down *b)
{
	const struct vprof_probe *probe = breakable(s, node);

	if (s->r->nodes[node].kind == VPROF_NODE_UNDIVIDED)
		count_sampled(s, f, node);
	if (!probe)
		return;
	f->can_break_down = 1;
	for (size_t i = 0; i < b->n; i++)
		if (b->seen[i] == probe)
			return;
	if (b->n < sizeof b->seen / sizeof *b->seen)
		b->seen[b->n++] = probe;
	f->n_unmeasured += probe->n_children;
}

static int term_order(const void *a, const void *b)
{
	const struct vprof_factor_term *x = a, *y = b;

	if (x->factor != y->factor)
		return x->factor < y->factor ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* Of the mean; NaN stays NaN. */
static double part_of(double ns, double mean_ns)
{
	double part = mean_ns > 0 ? ns / mean_ns : 0 * ns;

	return part > 1 ? 1 : part;
}

/* Nodes, what can be broken down, correlation and score of one factor; `terms` are its own. */
static int finish_factor(struct selection *s, struct vprof_factor *f, const struct vprof_factor_term *terms, size_t n)
{
	struct vprof_results *r = s->r;
	struct break_down seen = { .n = 0 };
	double covariance = 0, product = 0, variance = 0, distance = (double)r->graph_height - f->height;
	uint32_t *nodes = malloc((n ? n : 1) * sizeof *nodes);

	if (!nodes)
		return VPROF_ERR_NOMEM;
	f->nodes = nodes;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_factor_term *t = &terms[i];

		if (f->kind == VPROF_FACTOR_VARIANCE) {
			if (t->a == t->b)
				nodes[f->n_nodes++] = t->a;
		} else {
			nodes[f->n_nodes++] = (uint32_t)vprof_results_covariance(r, t->a, t->b);
			covariance += r->covariances[nodes[f->n_nodes - 1]].cov_ns2;
			product += sqrt(r->nodes[t->a].var_ns2) * sqrt(r->nodes[t->b].var_ns2);
			variance += r->nodes[t->a].var_ns2 + r->nodes[t->b].var_ns2 +
				    2 * r->covariances[nodes[f->n_nodes - 1]].cov_ns2;
		}
		count_breakable(s, f, t->a, &seen);
		if (t->b != t->a)
			count_breakable(s, f, t->b, &seen);
	}
	f->sd_ns = variance > 0 ? sqrt(variance) : 0; /* of variance factors: vprof_confidence_fill */
	f->r = product > 0 ? covariance / product : 0;
	f->blocked_share = part_of(f->blocked_share, f->mean_ns);
	f->kernel_share = part_of(f->kernel_share, f->mean_ns);
	f->io_share = part_of(f->io_share, f->mean_ns);
	f->preempted_share = part_of(f->preempted_share, f->mean_ns);
	f->specificity = distance * distance;
	f->score = f->specificity * f->share;
	f->note = "";
	f->share_low = f->share_high = NAN;
	return 0;
}

static int finish_factors(struct selection *s)
{
	size_t from, to;

	if (s->list->terms.n)
		qsort(s->list->terms.v, s->list->terms.n, sizeof *s->list->terms.v, term_order);
	for (from = 0; from < s->list->terms.n; from = to) {
		for (to = from; to < s->list->terms.n && s->list->terms.v[to].factor == s->list->terms.v[from].factor;
		     to++)
			;
		if (finish_factor(s, &s->factors.v[s->list->terms.v[from].factor], s->list->terms.v + from, to - from))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

struct ranked {
	struct vprof_factor *factor;
	uint32_t old, depth; /* depth of its first node */
	int is_selectable;
};

static int rank_order(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	const struct vprof_factor *f = x->factor, *g = y->factor;
	int is_wait_f = f->node_kind == VPROF_NODE_WAIT || f->node_kind == VPROF_NODE_QUEUED;
	int is_wait_g = g->node_kind == VPROF_NODE_WAIT || g->node_kind == VPROF_NODE_QUEUED;

	if (x->is_selectable != y->is_selectable)
		return x->is_selectable ? -1 : 1;
	if (f->score != g->score)
		return f->score > g->score ? -1 : 1;
	if (f->kind != g->kind)
		return f->kind == VPROF_FACTOR_VARIANCE ? -1 : 1;
	if (is_wait_f != is_wait_g)
		return is_wait_f - is_wait_g;
	if (x->depth != y->depth)
		return x->depth > y->depth ? -1 : 1; /* of a call chain the inner end */
	return strcmp(f->key, g->key);
}

static uint32_t factor_depth(const struct vprof_results *r, const struct vprof_factor *f)
{
	if (!f->n_nodes)
		return 0;
	return r->nodes[f->kind == VPROF_FACTOR_VARIANCE ? f->nodes[0] : r->covariances[f->nodes[0]].a].depth;
}

/* The factor of the same function beneath waits, or of its own work. An identity's hash does not tell the two apart. */
static void set_counterparts(struct selection *s)
{
	for (size_t i = 0; i < s->factors.n; i++) {
		struct vprof_identity other = s->keys.v[i].a;
		size_t k = other.hash & (s->n_slots - 1);

		if (s->keys.v[i].is_pair)
			continue;
		other.is_blame = !other.is_blame;
		for (; s->slots[k].factor; k = (k + 1) & (s->n_slots - 1))
			if (s->slots[k].hash == other.hash && is_of(&s->keys.v[s->slots[k].factor - 1], &other, NULL))
				s->factors.v[i].counterpart = s->slots[k].factor;
	}
}

/* Sorts the factors into the results and renumbers everything that points at them. */
static int rank(struct selection *s)
{
	struct vprof_results *r = s->r;
	size_t n = s->factors.n, n_above = 0;
	struct ranked *order = malloc((n ? n : 1) * sizeof *order);
	uint32_t *new_index = malloc((n ? n : 1) * sizeof *new_index);
	int ret = VPROF_ERR_NOMEM;

	r->factors = calloc(n ? n : 1, sizeof *r->factors);
	if (!order || !new_index || !r->factors)
		goto out;
	for (size_t i = 0; i < n; i++) {
		struct vprof_factor *f = &s->factors.v[i];

		order[i] = (struct ranked){ f, (uint32_t)i, factor_depth(r, f),
					    !vprof_factor_is_unexplained(r, f) && f->share > r->threshold };
		n_above += (size_t)order[i].is_selectable;
	}
	qsort(order, n, sizeof *order, rank_order);
	for (size_t i = 0; i < n; i++) {
		r->factors[i] = *order[i].factor;
		new_index[order[i].old] = (uint32_t)i;
	}
	for (size_t i = 0; i < n; i++)
		if (r->factors[i].counterpart)
			r->factors[i].counterpart = new_index[r->factors[i].counterpart - 1] + 1;
	r->n_factors = n;
	s->factors.n = 0; /* their nodes belong to the results now */
	r->n_selected = r->k < 0 ? 0 : n_above < (size_t)r->k ? n_above : (size_t)r->k;
	for (size_t i = 1; i < r->n_nodes; i++)
		r->nodes[i].factor = new_index[r->nodes[i].factor - 1] + 1;
	for (size_t i = 0; i < r->n_covariances; i++)
		if (r->covariances[i].factor)
			r->covariances[i].factor = new_index[r->covariances[i].factor - 1] + 1;
	for (size_t i = 0; i < s->list->terms.n; i++)
		s->list->terms.v[i].factor = new_index[s->list->terms.v[i].factor];
	ret = 0;
out:
	free(order);
	free(new_index);
	return ret;
}

int vprof_factors_select(struct vprof_results *r, const struct vprof_plan *plan, struct vprof_term_list *terms,
			 struct vprof_error *err)
{
	struct selection s = { .r = r, .plan = plan, .list = terms };
	int ret = VPROF_ERR_NOMEM;

	s.height = calloc(r->n_nodes ? r->n_nodes : 1, sizeof *s.height);
	if (!s.height)
		goto out;
	if (vprof_identities_take(&s.ids, r, plan))
		goto out;
	if (take_heights(&s) || add_variances(&s) || add_covariances(&s) || finish_factors(&s))
		goto out;
	set_counterparts(&s);
	if (rank(&s))
		goto out;
	ret = 0;
out:
	for (size_t i = 0; i < s.factors.n; i++)
		free((void *)s.factors.v[i].nodes);
	VPROF_ARRAY_RELEASE(&s.factors);
	VPROF_ARRAY_RELEASE(&s.keys);
	free(s.height);
	vprof_identities_release(&s.ids);
	free(s.slots);
	if (ret)
		vprof_error_set(err, ret, "not enough memory to rank the factors of %zu nodes: measure fewer functions",
				r->n_nodes);
	return ret;
}
