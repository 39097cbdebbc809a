/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/schedule/programs.h"
#include "tests/simulate/sampling.h"

#define NO_RESULT SIZE_MAX

struct node {
	size_t parent;
	enum truth_class class;
	uint32_t code, level;
	const char *name; /* owned; BLOCKED */
	bool is_explained;
	bool has_children; /* that took any time */
	long double total;
	size_t result; /* place in the results */
};

struct entry {
	size_t node, interval;
	long double ns;
};

/* The product of two sampling errors, summed over the intervals. */
struct noise {
	size_t a, b; /* nodes; later places in the results, a <= b */
	bool is_body_a, is_body_b;
	long double ns2;
};

struct figures {
	const struct vprof_plan *plan;
	uint64_t *coverage;
	struct node *nodes; /* [0]: the interval */
	size_t n_nodes, cap_nodes;
	struct entry *entries;
	size_t n_entries, cap_entries, n_intervals;
	struct noise *noise;
	size_t n_noise, cap_noise;
	size_t *at; /* nodes of the truth being added */
	long double ns_per_tick;
	/* while compared */
	const struct vprof_results *r;
	figures_say *say;
	void *arg;
	struct figure *figures; /* [r->n_nodes] */
	long double *ns;	/* [r->n_nodes * n_intervals] */
	bool is_different;
};

#define COVER_FIGURE(f, what) ((f)->coverage[COVER_##what]++)

struct figures *figures_new(const struct vprof_plan *plan, uint64_t *coverage)
{
	struct figures *f = calloc(1, sizeof *f);

	if (!f)
		abort();
	f->plan = plan;
	f->coverage = coverage;
	f->nodes = sim_grow(f->nodes, 0, &f->cap_nodes, sizeof *f->nodes);
	f->nodes[f->n_nodes++] = (struct node){ .result = NO_RESULT };
	return f;
}

void figures_free(struct figures *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_nodes; i++)
		free((void *)f->nodes[i].name);
	free(f->nodes);
	free(f->entries);
	free(f->noise);
	free(f);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static size_t child(struct figures *f, size_t parent, const struct truth_node *is)
{
	for (size_t i = parent + 1; i < f->n_nodes; i++) {
		const struct node *n = &f->nodes[i];

		if (n->parent == parent && n->class == is->class && n->level == is->level &&
		    (is->class != TRUTH_FRAME || n->code == is->code) &&
		    (is->class != TRUTH_BLOCKED || same_text(n->name, is->name)))
			return i;
	}
	f->nodes = sim_grow(f->nodes, f->n_nodes, &f->cap_nodes, sizeof *f->nodes);
	f->nodes[f->n_nodes++] = (struct node){ .parent = parent,
						.class = is->class,
						.code = is->code,
						.level = is->level,
						.name = is->class == TRUTH_BLOCKED ? strdup(is->name) : NULL,
						.result = NO_RESULT };
	return f->n_nodes - 1;
}

static void add_noise(void *arg, size_t a, bool is_body_a, size_t b, bool is_body_b, long double ticks2)
{
	struct figures *f = arg;

	f->noise = sim_grow(f->noise, f->n_noise, &f->cap_noise, sizeof *f->noise);
	f->noise[f->n_noise++] =
		(struct noise){ f->at[a], f->at[b], is_body_a, is_body_b, ticks2 * f->ns_per_tick * f->ns_per_tick };
}

void figures_add(struct figures *f, const struct truth *t, double ns_per_tick)
{
	size_t *at = calloc(t->n_nodes, sizeof *at);
	int64_t *ticks = calloc(t->n_nodes, sizeof *ticks);

	for (size_t i = t->n_nodes; i-- > 0;) { /* children come after their parents */
		ticks[i] += t->nodes[i].ticks;
		if (i)
			ticks[t->nodes[i].parent] += ticks[i];
	}
	for (size_t i = 0; i < t->n_nodes; i++) {
		long double ns = (long double)ticks[i] * (long double)ns_per_tick;

		at[i] = i ? child(f, at[t->nodes[i].parent], &t->nodes[i]) : 0;
		f->nodes[at[i]].total += ns;
		f->entries = sim_grow(f->entries, f->n_entries, &f->cap_entries, sizeof *f->entries);
		f->entries[f->n_entries++] = (struct entry){ at[i], f->n_intervals, ns };
	}
	f->n_intervals++;
	f->at = at;
	f->ns_per_tick = (long double)ns_per_tick;
	sampling_noise(t, add_noise, f);
	free(at);
	free(ticks);
}

size_t figures_count(const struct figures *f)
{
	return f->n_intervals;
}

static void say(struct figures *f, const char *what, size_t at, long double is, long double found)
{
	const struct vprof_node *n = f->r->nodes;
	char path[600] = "", longer[600];

	f->is_different = true;
	for (size_t i = at; i; i = n[i].parent) {
		snprintf(longer, sizeof longer, "/%s%.500s", n[i].name, path);
		memcpy(path, longer, sizeof path);
	}
	f->say(f->arg, "%s of %s is %.18Lg, %.18Lg in the results", what, *path ? path : "the interval", is, found);
}

static bool is_near(long double a, long double b, long double tolerance)
{
	return fabsl(a - b) <= tolerance;
}

/* Is it this kind of node? `parent`: of the truth. */
static bool may_be(const struct figures *f, const struct vprof_node *found, const struct node *is)
{
	char name[16];

	if (found->is_blame != (is->level > 0))
		return false;
	switch (is->class) {
	case TRUTH_BLOCKED:
		return found->kind == VPROF_NODE_WAIT && !strcmp(found->name, is->name);
	case TRUTH_DELAY:
		return found->kind == VPROF_NODE_QUEUED && !strcmp(found->name, "queued");
	case TRUTH_PREEMPTED:
		return found->kind == VPROF_NODE_PREEMPTED && !strcmp(found->name, "preempted");
	case TRUTH_FRAME:
		if (found->code != is->code)
			return false;
		if (is->code >= VP_CODE_SITE)
			return found->kind == VPROF_NODE_SITE &&
			       !strcmp(found->name, sim_site_names[is->code - VP_CODE_SITE - 1]);
		snprintf(name, sizeof name, "f%u", is->code - VP_CODE_FUNCTION);
		return found->kind == VPROF_NODE_FUNCTION && !strcmp(found->name, name);
	default:
		return false;
	}
	(void)f;
}

/* The truth's child that corresponds to the node of the results; of two that differ only in their level, the one with
 * the closer mean. */
static size_t find_child(const struct figures *f, size_t parent, const struct vprof_node *found)
{
	size_t best = NO_RESULT;
	long double least = 0;

	for (size_t i = parent + 1; i < f->n_nodes; i++) {
		const struct node *n = &f->nodes[i];
		long double off = fabsl(n->total / (long double)f->n_intervals - found->mean_ns);

		if (n->parent != parent || n->result != NO_RESULT || !may_be(f, found, n))
			continue;
		if (best == NO_RESULT || off < least) {
			best = i;
			least = off;
		}
	}
	return best;
}

/* A node that took no time in any interval may be in the results or not. */
static size_t add_empty(struct figures *f, size_t parent, const struct vprof_node *found)
{
	uint32_t level = f->nodes[parent].level;
	struct truth_node empty = { .code = found->code, .name = found->name };

	empty.class = found->kind == VPROF_NODE_WAIT	  ? TRUTH_BLOCKED :
		      found->kind == VPROF_NODE_QUEUED	  ? TRUTH_DELAY :
		      found->kind == VPROF_NODE_PREEMPTED ? TRUTH_PREEMPTED :
							    TRUTH_FRAME;
	empty.level = found->is_blame && !level ? 1 : level;
	return child(f, parent, &empty);
}

/* Gives the truth's children of a node their places in the results. */
static void place_children(struct figures *f, size_t node)
{
	size_t at = f->nodes[node].result, first = f->r->nodes[at].first_child, n = f->r->nodes[at].n_children;

	for (size_t i = first; i < first + n; i++) {
		const struct vprof_node *found = &f->r->nodes[i];
		size_t is;

		if (found->kind == VPROF_NODE_BODY) {
			if (i + 1 < first + n)
				say(f, "place among its parent's children", i, (long double)(first + n - 1),
				    (long double)i);
			continue;
		}
		is = find_child(f, node, found);
		if (is == NO_RESULT && found->mean_ns == 0 && found->var_ns2 == 0)
			is = add_empty(f, node, found);
		if (is == NO_RESULT) {
			say(f, "mean (no such node)", i, 0, found->mean_ns);
			continue;
		}
		f->nodes[is].result = i;
		f->nodes[node].has_children = true;
		f->nodes[node].is_explained |= f->nodes[is].level > f->nodes[node].level;
		place_children(f, is);
	}
}

static void place_nodes(struct figures *f)
{
	f->nodes[0].result = 0;
	place_children(f, 0);
	for (size_t i = 1; i < f->n_nodes; i++)
		if (f->nodes[i].result == NO_RESULT && f->nodes[i].total != 0 &&
		    f->nodes[f->nodes[i].parent].result != NO_RESULT)
			say(f, "mean of a missing child", f->nodes[f->nodes[i].parent].result,
			    f->nodes[i].total / (long double)f->n_intervals, 0);
}

/* The times of all nodes and bodies in all intervals. */
static void fill_times(struct figures *f)
{
	const struct vprof_node *n = f->r->nodes;

	f->ns = calloc(f->r->n_nodes * f->n_intervals + 1, sizeof *f->ns);
	for (size_t i = 0; i < f->n_entries; i++) {
		const struct entry *e = &f->entries[i];
		size_t at = f->nodes[e->node].result;
		size_t parent = at == NO_RESULT || !at ? 0 : n[at].parent, body;

		if (at == NO_RESULT)
			continue;
		f->ns[at * f->n_intervals + e->interval] += e->ns;
		if (n[at].n_children)
			f->ns[(n[at].first_child + n[at].n_children - 1) * f->n_intervals + e->interval] += e->ns;
		if (!at)
			continue;
		body = n[parent].first_child + n[parent].n_children - 1;
		f->ns[body * f->n_intervals + e->interval] -= e->ns;
	}
}

static void describe_figures(struct figures *f)
{
	f->figures = calloc(f->r->n_nodes, sizeof *f->figures);
	for (size_t i = 0; i < f->n_nodes; i++) {
		const struct node *is = &f->nodes[i];
		const struct vprof_node *found = is->result == NO_RESULT ? NULL : &f->r->nodes[is->result];
		struct figure *out;

		if (!found)
			continue;
		out = &f->figures[is->result];
		out->parent = found->parent;
		out->first_child = found->first_child;
		out->n_children = found->n_children;
		out->class = is->class;
		out->code = is->code;
		out->is_blame = is->level > 0;
		out->name = found->name;
		if (!found->n_children)
			continue;
		out = &f->figures[found->first_child + found->n_children - 1];
		out->parent = is->result;
		out->is_body = true;
		out->class = is->class;
		out->is_unexplained = is->class == TRUTH_DELAY || is->is_explained;
		out->is_blame = is->level > 0 || out->is_unexplained;
		out->name = f->r->nodes[found->first_child + found->n_children - 1].name;
	}
}

static const long double *row(const struct figures *f, size_t at)
{
	return f->ns + at * f->n_intervals;
}

static size_t place_of(const struct figures *f, size_t node, bool is_body)
{
	const struct vprof_node *found = &f->r->nodes[f->nodes[node].result];

	return is_body ? found->first_child + found->n_children - 1 : f->nodes[node].result;
}

static int noise_order(const void *a, const void *b)
{
	const struct noise *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* One sum for each pair of places in the results. A body of a leaf is the leaf: it is left out. */
static void place_noise(struct figures *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_noise; i++) {
		struct noise x = f->noise[i];

		if ((x.is_body_a && !f->r->nodes[f->nodes[x.a].result].n_children) ||
		    (x.is_body_b && !f->r->nodes[f->nodes[x.b].result].n_children))
			continue;
		x.a = place_of(f, f->noise[i].a, x.is_body_a);
		x.b = place_of(f, f->noise[i].b, x.is_body_b);
		f->noise[n++] = x.a <= x.b ? x : (struct noise){ .a = x.b, .b = x.a, .ns2 = x.ns2 };
	}
	if (n)
		qsort(f->noise, n, sizeof *f->noise, noise_order);
	f->n_noise = 0;
	for (size_t i = 0; i < n; i++) {
		if (f->n_noise && !noise_order(&f->noise[f->n_noise - 1], &f->noise[i]))
			f->noise[f->n_noise - 1].ns2 += f->noise[i].ns2;
		else
			f->noise[f->n_noise++] = f->noise[i];
	}
}

/* Mean over the intervals. */
static long double noise_of(const struct figures *f, size_t a, size_t b)
{
	const struct noise key = { .a = a, .b = b };
	const struct noise *found = f->n_noise ? bsearch(&key, f->noise, f->n_noise, sizeof key, noise_order) : NULL;

	if (found)
		COVER_FIGURE(f, NOISY);
	return found ? found->ns2 / (long double)f->n_intervals : 0;
}

/* Two passes; n - 1. What sampling adds is subtracted. */
static long double covariance(const void *figures, size_t a, size_t b, long double *tolerance)
{
	const struct figures *f = figures;
	const struct figure *x = &f->figures[a], *y = &f->figures[b];
	long double sum = 0, noise;

	for (size_t i = 0; i < f->n_intervals; i++)
		sum += (row(f, a)[i] - x->mean) * (row(f, b)[i] - y->mean);
	sum = f->n_intervals > 1 ? sum / (long double)(f->n_intervals - 1) : 0;
	noise = noise_of(f, a, b);
	*tolerance = FIGURES_ROUNDING *
		     (fabsl(x->mean * y->mean) + sqrtl(x->var) * sqrtl(y->var) + fabsl(sum) + fabsl(noise));
	return sum - noise;
}

static void compare_nodes(struct figures *f)
{
	long double n = (long double)f->n_intervals, total;

	for (size_t i = 0; i < f->r->n_nodes; i++) {
		struct figure *is = &f->figures[i];

		is->ns = row(f, i);
		for (size_t k = 0; k < f->n_intervals; k++)
			is->mean += is->ns[k];
		is->mean /= n;
		is->var = covariance(f, i, i, &is->tolerance);
		is->tolerance = FIGURES_ROUNDING * (is->mean * is->mean + fabsl(is->var) + 2 * noise_of(f, i, i));
		is->var = is->var > 0 ? is->var : 0;
	}
	total = f->figures[0].var;
	for (size_t i = 0; i < f->r->n_nodes; i++) {
		const struct figure *is = &f->figures[i];
		const struct vprof_node *found = &f->r->nodes[i];

		COVER_FIGURE(f, FIGURES);
		if (!is_near(is->mean, found->mean_ns, FIGURES_ROUNDING * fabsl(f->figures[is->parent].mean)))
			say(f, "mean", i, is->mean, found->mean_ns);
		if (!is_near(is->var, found->var_ns2, is->tolerance))
			say(f, "variance", i, is->var, found->var_ns2);
		if (!is_near(noise_of(f, i, i), found->noise_ns2, FIGURES_ROUNDING * noise_of(f, i, i)))
			say(f, "noise", i, noise_of(f, i, i), found->noise_ns2);
		if (total > f->figures[0].tolerance &&
		    !is_near(is->var / total, found->share,
			     (is->tolerance + is->var / total * f->figures[0].tolerance) / total + FIGURES_ROUNDING))
			say(f, "share", i, is->var / total, found->share);
		if (i + 1 < f->r->n_nodes && i && !is->is_body && !f->figures[i + 1].is_body &&
		    found->parent == f->r->nodes[i + 1].parent && found->mean_ns < f->r->nodes[i + 1].mean_ns)
			say(f, "mean after a smaller one", i + 1, f->figures[i + 1].mean, found->mean_ns);
	}
}

static void compare_covariances(struct figures *f)
{
	long double total = f->figures[0].var;
	size_t n = 0;

	for (size_t i = 0; i < f->r->n_nodes; i++) {
		const struct vprof_node *node = &f->r->nodes[i];

		for (size_t a = node->first_child; a < node->first_child + node->n_children; a++) {
			for (size_t b = a + 1; b < node->first_child + node->n_children; b++, n++) {
				const struct vprof_covariance *found = &f->r->covariances[n];
				long double tolerance, is = covariance(f, a, b, &tolerance);

				COVER_FIGURE(f, COVARIANCES);
				if (n >= f->r->n_covariances || found->a != a || found->b != b) {
					say(f, "place of a covariance", a, (long double)n, (long double)n);
					return;
				}
				if (!is_near(is, found->cov_ns2, tolerance))
					say(f, "covariance", a, is, found->cov_ns2);
				if (total > f->figures[0].tolerance &&
				    !is_near(2 * is / total, found->share,
					     (2 * tolerance + fabsl(2 * is / total) * f->figures[0].tolerance) / total +
						     FIGURES_ROUNDING))
					say(f, "share of a covariance", a, 2 * is / total, found->share);
			}
		}
	}
	if (n != f->r->n_covariances)
		say(f, "number of covariances", 0, (long double)n, (long double)f->r->n_covariances);
}

static void compare_interval(struct figures *f)
{
	const struct figure *is = &f->figures[0];
	long double low = is->ns[0], high = is->ns[0];

	for (size_t i = 1; i < f->n_intervals; i++) {
		low = is->ns[i] < low ? is->ns[i] : low;
		high = is->ns[i] > high ? is->ns[i] : high;
	}
	if (!is_near(is->mean, f->r->mean_ns, FIGURES_ROUNDING * is->mean))
		say(f, "mean latency", 0, is->mean, f->r->mean_ns);
	if (!is_near(is->var, f->r->var_ns2, is->tolerance))
		say(f, "variance of the latency", 0, is->var, f->r->var_ns2);
	if (!is_near(is->var, (long double)f->r->sd_ns * f->r->sd_ns, 4 * is->tolerance))
		say(f, "standard deviation", 0, sqrtl(is->var), f->r->sd_ns);
	if (!is_near(low, f->r->min_ns, FIGURES_ROUNDING * low))
		say(f, "shortest latency", 0, low, f->r->min_ns);
	if (!is_near(high, f->r->max_ns, FIGURES_ROUNDING * high))
		say(f, "longest latency", 0, high, f->r->max_ns);
}

void figures_compare(struct figures *f, const struct vprof_results *r, figures_say *tell, void *arg)
{
	struct figure_table table = { .plan = f->plan,
				      .r = r,
				      .n = r->n_nodes,
				      .n_intervals = f->n_intervals,
				      .covariance = covariance,
				      .figures = f,
				      .coverage = f->coverage,
				      .say = tell,
				      .arg = arg };

	f->r = r;
	f->say = tell;
	f->arg = arg;
	if (!f->n_intervals)
		return;
	if (!r->n_nodes) {
		tell(arg, "the results of %zu intervals have no nodes", f->n_intervals);
		return;
	}
	place_nodes(f);
	if (f->is_different)
		return;
	fill_times(f);
	place_noise(f);
	describe_figures(f);
	table.has_noise = f->n_noise > 0;
	compare_nodes(f);
	compare_covariances(f);
	compare_interval(f);
	table.v = f->figures;
	if (!f->is_different)
		ranking_compare(&table);
	if (!f->is_different && f->figures[0].var > f->figures[0].tolerance)
		sums_compare(&table);
	COVER_FIGURE(f, ANALYSES);
	free(f->figures);
	free(f->ns);
	f->figures = NULL;
	f->ns = NULL;
}
