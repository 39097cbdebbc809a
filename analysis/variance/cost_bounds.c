/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/variance/cost_bounds.h"

#include <math.h>

#include "analysis/variance/reported.h"

#define SCALE_LEAST 0.01
#define NEGLIGIBLE 0.0005 /* of the mean: moves no share */
#define LARGEST_ERROR 0.9 /* of the latency's sd */
#define UNBOUNDED 1e9	  /* the same, of which nothing is known */

/* what a figure may be less (negative) and more than it is */
struct room {
	double low, high;
};

/* a scale that was tried, and the interval's variance with it */
struct tried {
	double scale, var_ns2;
};

struct widening {
	struct vprof_results *r;
	struct vprof_tree *tree;
	struct vprof_reported reported;
	struct vprof_quantity_pair *pairs; /* [n_pairs] of each bounded quantity: with itself, with the latency */
	size_t n_pairs;
	struct room *share, *constant; /* [n_bounded] */
	double *figures;   /* [2 n_bounded] share and if constant of each quantity, as the tree's times were */
	double *variation; /* [n_nodes] sd by mean, with nothing taken out */
	struct tried none, low, high;
	double error; /* of the interval's time by what functions' records differ, by its sd */
};

/* Share and if constant of each bounded quantity, with the tree's times as they are now; 0 where nothing varies. */
static int measure(struct widening *w, double *figures)
{
	int ret = vprof_quantities_covariances(&w->reported.quantities, w->tree, w->pairs, w->n_pairs);
	double total = w->pairs[w->n_pairs - 1].cov_ns2;

	for (size_t i = 0; i < w->reported.n_bounded && !ret && total > 0; i++) {
		double own = w->pairs[2 * i].cov_ns2, with = w->pairs[2 * i + 1].cov_ns2;

		figures[2 * i] = own / total;
		figures[2 * i + 1] = (2 * with - own) / total;
	}
	return ret;
}

static int open_widening(struct widening *w)
{
	int ret = vprof_reported_take(&w->reported, w->r);
	size_t n = w->reported.n_bounded;

	w->pairs = calloc(2 * n + 1, sizeof *w->pairs);
	w->share = calloc(n + 1, sizeof *w->share);
	w->constant = calloc(n + 1, sizeof *w->constant);
	w->figures = calloc(2 * n + 1, sizeof *w->figures);
	w->variation = calloc(w->r->n_nodes, sizeof *w->variation);
	if (ret || !w->pairs || !w->share || !w->constant || !w->figures || !w->variation)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		w->pairs[w->n_pairs++] = (struct vprof_quantity_pair){ .a = i, .b = i };
		w->pairs[w->n_pairs++] = (struct vprof_quantity_pair){ .a = i, .b = w->reported.interval };
	}
	w->pairs[w->n_pairs++] = (struct vprof_quantity_pair){ .a = w->reported.interval, .b = w->reported.interval };
	return w->reported.n_costly ? measure(w, w->figures) : 0;
}

static void close_widening(struct widening *w)
{
	vprof_reported_release(&w->reported);
	free(w->pairs);
	free(w->share);
	free(w->constant);
	free(w->figures);
	free(w->variation);
}

/* The figures as they are reported; NaN: none. */
static void reported_figures(const struct widening *w, double *share, double *constant)
{
	const struct vprof_results *r = w->r;

	for (size_t i = 0; i < w->reported.n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];

		share[i] = f->share;
		constant[i] = f->if_constant;
		if (w->reported.together[i] != VPROF_NONE) {
			share[w->reported.together[i]] = f->together;
			constant[w->reported.together[i]] = f->together_constant;
		}
	}
	for (size_t i = 0; i < w->reported.n_costly; i++)
		for (uint32_t k = 0; k < w->reported.costly[i].n_quantities; k++) {
			uint32_t q = w->reported.costly[i].quantity + k;

			share[q] = w->figures[2 * (size_t)q];
			constant[q] = w->figures[2 * (size_t)q + 1];
		}
	for (size_t i = 0; i < r->n_causes; i++) {
		share[w->reported.of_cause[i]] = r->causes[i].share;
		constant[w->reported.of_cause[i]] = r->causes[i].if_constant;
	}
}

/* The share of a pair in other results of the tree. Of very many siblings only those that vary most are paired, which
 * may be others there: what is not known there stays as it is. */
static double pair_share(const struct vprof_results *other, const struct vprof_covariance *c)
{
	size_t at = vprof_results_covariance(other, c->a, c->b);
	const struct vprof_covariance *found = at < other->n_covariances ? &other->covariances[at] : c;

	return found->a == c->a && found->b == c->b ? found->share : c->share;
}

static double factor_share(const struct vprof_results *r, const struct vprof_results *other,
			   const struct vprof_factor *f)
{
	double share = 0;

	for (size_t i = 0; i < f->n_nodes; i++)
		share += f->kind == VPROF_FACTOR_VARIANCE ? other->nodes[f->nodes[i]].share :
							    pair_share(other, &r->covariances[f->nodes[i]]);
	return share;
}

static void move_room(struct room *room, double moved)
{
	room->low = fmin(room->low, moved);
	room->high = fmax(room->high, moved);
}

/* Notes how far every figure moves with other's scale, with which the tree's times are now. */
static int add_moves(struct widening *w, const struct vprof_results *other)
{
	size_t n = w->reported.n_bounded;
	double *share = calloc(4 * n + 1, sizeof *share), *constant = share + n, *now = share + 2 * n;
	int ret = share ? 0 : VPROF_ERR_NOMEM;

	vprof_quantities_set_means(&w->reported.quantities, other);
	if (!ret)
		ret = measure(w, now);
	if (!ret)
		reported_figures(w, share, constant);
	for (size_t i = 0; i < n && !ret && w->pairs[w->n_pairs - 1].cov_ns2 > 0; i++) {
		if (i < w->reported.n_factors)
			now[2 * i] = factor_share(w->r, other, &w->r->factors[i]);
		move_room(&w->share[i], now[2 * i] - share[i]);
		move_room(&w->constant[i], now[2 * i + 1] - constant[i]);
	}
	free(share);
	return ret;
}

/* With 0 how much the nodes' times vary is noted, else what moves. */
static int try_scale(struct widening *w, double scale, struct tried *tried)
{
	struct vprof_results *r = w->r, *other = vprof_results_new();
	int ret = other ? 0 : VPROF_ERR_NOMEM;

	if (!ret) {
		other->interval = r->interval;
		ret = vprof_tree_calibrate(w->tree, scale);
	}
	if (!ret)
		ret = scale > 0 ? vprof_tree_results(w->tree, other, NULL) : vprof_tree_variances(w->tree, other, NULL);
	if (!ret)
		*tried = (struct tried){ w->tree->cost_scale, other->nodes[0].var_ns2 };
	for (size_t i = 0; i < r->n_nodes && !ret && scale <= 0; i++)
		w->variation[i] =
			other->nodes[i].mean_ns > 0 ? sqrt(other->nodes[i].var_ns2) / other->nodes[i].mean_ns : 0;
	if (!ret && scale > 0)
		ret = add_moves(w, other);
	vprof_results_free(other);
	return ret;
}

/* The sd of what records nominally cost an interval, C: Var(T - s C) is known for three s. */
static double cost_sd(const struct widening *w)
{
	double low = (w->low.var_ns2 - w->none.var_ns2) / w->low.scale;
	double high = (w->high.var_ns2 - w->none.var_ns2) / w->high.scale;

	if (!(w->low.scale > 0) || !(w->high.scale > w->low.scale * (1 + 1e-6)))
		return w->r->nodes[0].probe_ns * w->variation[0] / fmax(w->r->cost_scale, SCALE_LEAST);
	return sqrt(fmax(0, (high - low) / (w->high.scale - w->low.scale)));
}

/* What one function's records cost differs from another's: the sd of the error that this leaves in a node's time, if
 * its calls vary as the time does. A body has the errors of its siblings, and of their records outside of them. */
static double node_error(const struct widening *w, uint32_t i)
{
	const struct vprof_node *nodes = w->r->nodes, *n = &nodes[i], *parent = &nodes[n->parent];
	double error = n->probe_ns * w->variation[i];

	if (n->kind != VPROF_NODE_BODY)
		return VPROF_SCALE_ERROR * error;
	error = 0;
	for (uint32_t c = parent->first_child; c < parent->first_child + parent->n_children; c++)
		error += c != i ? 2 * nodes[c].probe_ns * w->variation[c] : 0;
	return VPROF_SCALE_ERROR * error;
}

/* error: of the time whose share of the variance it is, by the latency's sd */
static void widen_share(struct room *room, double share, double error)
{
	double low = fmax(0, share + room->low), high = fmax(0, share + room->high);

	room->low = pow(fmax(0, sqrt(low) - error), 2) - share;
	room->high = pow(sqrt(high) + error, 2) - share;
}

static void widen_covariance(const struct widening *w, const struct vprof_factor *f, struct room *room)
{
	const struct vprof_results *r = w->r;
	double error = 0;

	for (size_t i = 0; i < f->n_nodes; i++) {
		const struct vprof_covariance *c = &r->covariances[f->nodes[i]];
		double a = node_error(w, c->a), b = node_error(w, c->b);

		error += 2 * (a * sqrt(r->nodes[c->b].var_ns2) + b * sqrt(r->nodes[c->a].var_ns2) + a * b);
	}
	room->low -= error / r->nodes[0].var_ns2;
	room->high += error / r->nodes[0].var_ns2;
}

/* The errors of T and T - f are both at most w->error, of T's sd; that of f is at most `error`. Of two bounds that
 * follow from this the narrower one: the first does not know that T and T - f err alike where f is small, the second
 * bounds by how much Cov(T, f) and Var(f) = share err. */
static void widen_constant(const struct widening *w, struct room *room, double constant, double share, double error)
{
	double least = sqrt(fmax(0, 1 - constant - room->high)), most = sqrt(fmax(0, 1 - constant - room->low));
	double all = w->error, moved = 2 * (error + all * sqrt(share) + all * error) + 2 * error * sqrt(share);
	double low = constant + room->low - moved - error * error, high = constant + room->high + moved;

	low /= pow(low > 0 ? 1 + all : 1 - all, 2);
	high /= pow(high > 0 ? 1 - all : 1 + all, 2);
	room->low = fmax(low, 1 - pow((most + all) / (1 - all), 2)) - constant;
	room->high = fmin(high, 1 - pow(fmax(0, least - all) / (1 + all), 2)) - constant;
}

static double nodes_error(const struct widening *w, const uint32_t *nodes, size_t n)
{
	double error = 0;

	for (size_t i = 0; i < n; i++)
		error += node_error(w, nodes[i]);
	return error / sqrt(w->r->nodes[0].var_ns2);
}

/* Bounds that are not known, for want of intervals, stay so; none becomes narrower, also where a share is more than
 * `most`. */
static void add_room(double *low, double *high, const struct room *room, double most)
{
	if (isnan(*low) || isnan(*high))
		return;
	*low += fmin(0, room->low);
	*high = fmin(fmax(most, *high), *high + fmax(0, room->high));
}

/* a figure of the results with its bounds */
struct bounded {
	double value, *low, *high;
};

/* Of a sum of nodes whose error is at most `error`, as that of widen_share(). */
static void widen_quantity(const struct widening *w, size_t quantity, double error, struct bounded share,
			   struct bounded constant)
{
	struct room of_share = w->share[quantity], of_constant = w->constant[quantity];
	double most = fmax(0, share.value + of_share.high);

	widen_share(&of_share, share.value, error);
	add_room(share.low, share.high, &of_share, 1);
	widen_constant(w, &of_constant, constant.value, most, error);
	add_room(constant.low, constant.high, &of_constant, 1);
}

static void widen_factor(const struct widening *w, size_t i)
{
	struct vprof_factor *f = &w->r->factors[i];
	struct room *share = &w->share[i], *constant = &w->constant[i];
	double error = UNBOUNDED, most = fmax(0, f->share + share->high);

	if (f->kind == VPROF_FACTOR_COVARIANCE) {
		widen_covariance(w, f, share);
	} else {
		error = nodes_error(w, f->nodes, f->n_nodes);
		most = fmax(most, pow(f->sd_ns, 2) / w->r->nodes[0].var_ns2 + share->high);
		widen_share(share, f->share, error);
	}
	f->share_cost_low = share->low;
	f->share_cost_high = share->high;
	add_room(&f->share_low, &f->share_high, share, INFINITY);
	widen_constant(w, constant, f->if_constant, most, error);
	add_room(&f->if_constant_low, &f->if_constant_high, constant, 1);
	if (w->reported.together[i] != VPROF_NONE) {
		const struct vprof_factor *other = &w->r->factors[f->counterpart - 1];

		error += nodes_error(w, other->nodes, other->n_nodes);
		widen_quantity(w, w->reported.together[i], error,
			       (struct bounded){ f->together, &f->together_low, &f->together_high },
			       (struct bounded){ f->together_constant, &f->together_constant_low,
						 &f->together_constant_high });
	}
}

/* Of what is undivided in a quantity. */
static double undivided_error(const struct widening *w, uint32_t quantity)
{
	const struct vprof_quantities *q = &w->reported.quantities;
	double error = 0;

	for (size_t i = 0; i < q->members.n; i++) {
		const struct vprof_quantity_member *m = &q->members.v[i];

		if (m->quantity == quantity && w->r->nodes[m->node].kind == VPROF_NODE_UNDIVIDED)
			error += node_error(w, m->node);
	}
	return error / sqrt(w->r->nodes[0].var_ns2);
}

/* Of these only the upper bounds are of use: they widen by what any of the function's quantities may be more. */
static void widen_costly(const struct widening *w, const struct vprof_costly *costly)
{
	struct vprof_factor *f = &w->r->factors[costly->factor];
	struct vprof_factor *other = f->counterpart ? &w->r->factors[f->counterpart - 1] : NULL;
	double own = nodes_error(w, f->nodes, f->n_nodes), more_share = 0, more_constant = 0;

	if (other)
		own += nodes_error(w, other->nodes, other->n_nodes);
	for (uint32_t q = costly->quantity; q < costly->quantity + costly->n_quantities; q++) {
		struct room share = w->share[q], constant = w->constant[q];
		double value = fmax(0, w->figures[2 * (size_t)q]), most = fmax(0, value + share.high);
		double error = own + (q > costly->quantity ? undivided_error(w, q) : 0);

		widen_share(&share, value, error);
		widen_constant(w, &constant, w->figures[2 * (size_t)q + 1], most, error);
		more_share = fmax(more_share, share.high);
		more_constant = fmax(more_constant, constant.high);
	}
	f->code_share_high += more_share;
	f->code_constant_high += more_constant;
	if (other) {
		other->code_share_high = f->code_share_high;
		other->code_constant_high = f->code_constant_high;
	}
}

static void widen_cause(const struct widening *w, struct vprof_cause *c, uint32_t quantity)
{
	widen_quantity(w, quantity, nodes_error(w, c->nodes, c->n_nodes),
		       (struct bounded){ c->share, &c->share_low, &c->share_high },
		       (struct bounded){ c->if_constant, &c->if_constant_low, &c->if_constant_high });
	if (c->share_low < 0)
		c->share_low = 0;
}

int vprof_cost_bounds_widen(struct vprof_results *r, struct vprof_tree *tree, const struct vprof_cost_scale *scale)
{
	struct widening w = { .r = r, .tree = tree };
	int ret;

	if (!(vprof_tree_cost_ns(tree) > 0) || !(r->probe_high_ns > NEGLIGIBLE * r->mean_ns) ||
	    !(r->nodes[0].var_ns2 > 0))
		return 0;
	ret = open_widening(&w);
	if (!ret)
		ret = try_scale(&w, 0, &w.none);
	if (!ret)
		ret = try_scale(&w, fmax(scale->low, SCALE_LEAST), &w.low);
	if (!ret)
		ret = try_scale(&w, scale->high, &w.high);
	if (!ret) {
		w.error = VPROF_SCALE_ERROR * r->cost_scale * cost_sd(&w) / sqrt(r->nodes[0].var_ns2);
		w.error = fmin(w.error, LARGEST_ERROR);
		for (size_t i = 0; i < w.reported.n_factors; i++)
			widen_factor(&w, i);
		for (size_t i = 0; i < w.reported.n_costly; i++)
			widen_costly(&w, &w.reported.costly[i]);
		for (size_t i = 0; i < r->n_causes; i++)
			widen_cause(&w, &r->causes[i], w.reported.of_cause[i]);
	}
	close_widening(&w);
	return ret ? ret : vprof_tree_calibrate(tree, scale->value);
}
