/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/causes/cause_text.h"

#include <math.h>

#include "common/search.h"
#include "common/text.h"

#define NAMED_MAX 3   /* callees that vary together, in the name */
#define COUNTED 0.02  /* of the cause's variance: functions below are not worth breaking down for it */
#define PROBES_MAX 64 /* told apart */
#define COVERED 0.5   /* of a factor's variance that causes explain: it folds into the one that explains most */

static int is_end(const struct vprof_cause_drafts *d, const struct vprof_cause_draft *draft, uint32_t node)
{
	uint32_t unit = draft->cluster->end;

	if (unit == VPROF_UNIT_QUEUED)
		return d->r->nodes[node].kind == VPROF_NODE_QUEUED;
	if (unit == VPROF_UNIT_PREEMPTED)
		return vprof_node_is_unit(&d->r->nodes[node]);
	return d->units->function[node] != VPROF_NONE && d->units->function[node] == d->units->units.v[unit].function;
}

uint32_t vprof_cause_end(const struct vprof_cause_drafts *d, const struct vprof_cause_draft *draft, uint32_t node)
{
	while (node && !is_end(d, draft, node))
		node = d->r->nodes[node].parent;
	return node;
}

/* Where most of it is. */
static uint32_t main_end(const struct vprof_cause_drafts *d, const struct vprof_cause_draft *draft)
{
	const struct vprof_cause *c = &draft->cause;
	uint32_t best = c->nodes[0];

	for (size_t i = 1; i < c->n_nodes; i++)
		if (d->r->nodes[c->nodes[i]].var_ns2 > d->r->nodes[best].var_ns2)
			best = c->nodes[i];
	return vprof_cause_end(d, draft, best);
}

static int count_places(const struct vprof_cause_drafts *d, struct vprof_cause_draft *draft)
{
	struct vprof_cause *c = &draft->cause;
	uint32_t *ends = malloc((c->n_nodes + 1) * sizeof *ends);

	if (!ends)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < c->n_nodes; i++)
		ends[i] = vprof_cause_end(d, draft, c->nodes[i]);
	qsort(ends, c->n_nodes, sizeof *ends, vprof_compare_u32);
	for (size_t i = 0; i < c->n_nodes; i++)
		c->n_places += !i || ends[i] != ends[i - 1];
	free(ends);
	return 0;
}

/* A wait is made by the call around it: one step. */
static int is_call_of_wait(const struct vprof_results *r, uint32_t site, uint32_t beneath)
{
	const struct vprof_node *a = &r->nodes[site], *b = &r->nodes[beneath];

	return a->kind == VPROF_NODE_SITE && b->kind == VPROF_NODE_WAIT && !strcmp(a->name, b->name);
}

static void fill_step(const struct vprof_results *r, struct vprof_step *step, uint32_t node)
{
	const struct vprof_node *n = &r->nodes[node], *at = n;

	if (is_call_of_wait(r, n->parent, node))
		at = &r->nodes[n->parent];
	*step = (struct vprof_step){ .kind = n->kind == VPROF_NODE_SITE && *n->object ? VPROF_NODE_WAIT : n->kind,
				     .is_blame = n->is_blame,
				     .name = n->display,
				     .file = at->file,
				     .line = at->line,
				     .object = n->object,
				     .awaited = "",
				     .node = node };
}

/* Bodies and the scheduler are no steps, nor is the interval. */
static int is_step(const struct vprof_results *r, uint32_t node, uint32_t beneath)
{
	const struct vprof_node *n = &r->nodes[node];

	return node && n->kind != VPROF_NODE_BODY && n->kind != VPROF_NODE_PREEMPTED &&
	       !(beneath && is_call_of_wait(r, node, beneath));
}

static int fill_steps(const struct vprof_results *r, struct vprof_cause *c, uint32_t end)
{
	struct vprof_step *steps = calloc(r->nodes[end].depth + 1, sizeof *steps);
	size_t n = 0;

	if (!steps)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = end, beneath = 0; i; beneath = i, i = r->nodes[i].parent)
		n += (size_t)is_step(r, i, beneath);
	c->n_steps = n;
	for (uint32_t i = end, beneath = 0; i; beneath = i, i = r->nodes[i].parent)
		if (is_step(r, i, beneath))
			fill_step(r, &steps[--n], i);
	c->steps = steps;
	return 0;
}

/* The name of a function's factor: the same in all places. */
static const char *function_name(const struct vprof_cause_drafts *d, uint32_t unit)
{
	const struct vprof_node *n = &d->r->nodes[d->units->units.v[unit].node];

	return n->factor ? d->r->factors[n->factor - 1].name : n->name;
}

/* The part of a factor's key that says what it is, its own or beneath waits. */
static const char *subject_key(const struct vprof_cause_drafts *d, uint32_t unit)
{
	const struct vprof_node *n = &d->r->nodes[d->units->units.v[unit].node];
	const char *key = n->factor ? d->r->factors[n->factor - 1].key : "v:";
	static const char beneath[] = "v:beneath:";

	return strncmp(key, beneath, sizeof beneath - 1) ? key + 2 : key + sizeof beneath - 1;
}

static int text_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "(a, b and 2 more)", the largest first; the key has all in their order. */
static int name_group(struct vprof_cause_drafts *d, struct vprof_cause_draft *draft)
{
	const struct vprof_cluster *cluster = draft->cluster;
	struct vprof_text name = VPROF_TEXT_INIT, key = VPROF_TEXT_INIT;
	const char **keys = malloc(cluster->n_units * sizeof *keys);

	if (!keys)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < cluster->n_units; i++) {
		keys[i] = subject_key(d, cluster->units[i]);
		if (i < NAMED_MAX)
			vprof_text_addf(&name, "%s%s", i ? ", " : "(", function_name(d, cluster->units[i]));
	}
	if (cluster->n_units > NAMED_MAX)
		vprof_text_addf(&name, " and %zu more", cluster->n_units - NAMED_MAX);
	vprof_text_add(&name, ")");
	qsort(keys, cluster->n_units, sizeof *keys, text_order);
	for (size_t i = 0; i < cluster->n_units; i++)
		vprof_text_addf(&key, "%s%s", i ? "|" : "c:", keys[i]);
	free(keys);
	draft->cause.name = vprof_results_text(d->r, &name);
	draft->cause.key = vprof_results_text(d->r, &key);
	return draft->cause.name && draft->cause.key ? 0 : VPROF_ERR_NOMEM;
}

/* A function's, or that of undivided time. */
static int name_function(struct vprof_cause_drafts *d, struct vprof_cause_draft *draft)
{
	struct vprof_text key = VPROF_TEXT_INIT;

	draft->cause.name = function_name(d, draft->cluster->end);
	vprof_text_addf(&key, "v:%s", subject_key(d, draft->cluster->end));
	draft->cause.key = vprof_results_text(d->r, &key);
	return draft->cause.key ? 0 : VPROF_ERR_NOMEM;
}

static int name_cause(struct vprof_cause_drafts *d, struct vprof_cause_draft *draft)
{
	struct vprof_cause *c = &draft->cause;

	switch (draft->cluster->end) {
	case VPROF_UNIT_OUTSIDE:
		c->kind = VPROF_CAUSE_OUTSIDE;
		c->name = d->r->interval;
		c->key = "outside";
		return 0;
	case VPROF_UNIT_QUEUED:
		c->kind = VPROF_CAUSE_QUEUED;
		c->name = "queued";
		c->key = "v:queued";
		return 0;
	case VPROF_UNIT_PREEMPTED:
		c->kind = VPROF_CAUSE_PREEMPTED;
		c->name = "preempted";
		c->key = "v:preempted";
		return 0;
	default:
		c->kind = draft->cluster->is_group			      ? VPROF_CAUSE_TOGETHER :
			  d->units->units.v[draft->cluster->end].is_undivided ? VPROF_CAUSE_UNDIVIDED :
										VPROF_CAUSE_WORK;
		return draft->cluster->is_group ? name_group(d, draft) : name_function(d, draft);
	}
}

/* Functions of it that are not broken down. */
static void count_breakable(const struct vprof_cause_drafts *d, struct vprof_cause *c, uint32_t index)
{
	const struct vprof_results *r = d->r;
	uint32_t seen[PROBES_MAX];
	size_t n_seen = 0;

	for (uint32_t i = 1; i < r->n_nodes; i++) {
		const struct vprof_probe *probe;
		uint32_t at = i;
		size_t k = 0;

		if (d->of_node[i] != index || r->nodes[i].n_children ||
		    !(r->nodes[i].var_ns2 >= COUNTED * c->share * r->nodes[0].var_ns2))
			continue;
		while (at && !vprof_node_is_unit(&r->nodes[at]))
			at = r->nodes[at].parent;
		probe = at && r->nodes[at].kind == VPROF_NODE_FUNCTION ? vprof_plan_probe(d->plan, r->nodes[at].code) :
									 NULL;
		if (!probe || probe->broken_down || !probe->n_children)
			continue;
		while (k < n_seen && seen[k] != probe->code)
			k++;
		if (k < n_seen || n_seen == PROBES_MAX)
			continue;
		seen[n_seen++] = probe->code;
		c->can_break_down = 1;
		c->n_unmeasured += probe->n_children;
	}
}

int vprof_cause_describe(struct vprof_cause_drafts *d, struct vprof_cause_draft *draft)
{
	struct vprof_cause *c = &draft->cause;
	uint32_t end = main_end(d, draft);

	c->note = c->file = "";
	if (draft->cluster->end >= VPROF_UNIT_FUNCTIONS) {
		c->file = d->r->nodes[end].file;
		c->line = d->r->nodes[end].line;
	}
	if (name_cause(d, draft) || count_places(d, draft) || fill_steps(d->r, c, end))
		return VPROF_ERR_NOMEM;
	if (c->kind != VPROF_CAUSE_UNDIVIDED) {
		count_breakable(d, c, (uint32_t)(draft - d->drafts.v));
	} else if (d->r->nodes[c->nodes[0]].factor) { /* every call of the hot functions would have to be recorded */
		const struct vprof_factor *f = &d->r->factors[d->r->nodes[c->nodes[0]].factor - 1];

		c->can_break_down = f->can_break_down;
		c->n_unmeasured = f->n_unmeasured;
	}
	return 0;
}

/* what of each variance factor lies in each cause: variances of the cause's nodes at or beneath its nodes, and of its
 * nodes beneath the cause's */
struct folding {
	struct vprof_cause_drafts *d;
	double *within; /* [n_factors * n causes] */
	double *all;	/* [n_factors] of its nodes */
};

static void fold_above(struct folding *f, uint32_t cause, uint32_t node)
{
	const struct vprof_results *r = f->d->r;
	double var = r->nodes[node].var_ns2;

	for (uint32_t i = node; i; i = r->nodes[i].parent) {
		uint32_t factor = r->nodes[i].factor, above = r->nodes[i].parent;

		while (above && r->nodes[above].factor != factor)
			above = r->nodes[above].parent;
		if (!above && factor) /* of recursive nodes the outermost */
			f->within[(factor - 1) * f->d->drafts.n + cause] += var;
	}
}

static void take_within(struct folding *f)
{
	const struct vprof_results *r = f->d->r;

	for (uint32_t k = 0; k < f->d->drafts.n; k++)
		for (size_t i = 0; i < f->d->drafts.v[k].cause.n_nodes; i++)
			fold_above(f, k, f->d->drafts.v[k].cause.nodes[i]);
	for (uint32_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *factor = &r->factors[i];

		for (size_t k = 0; k < factor->n_nodes && factor->kind == VPROF_FACTOR_VARIANCE; k++) {
			uint32_t node = factor->nodes[k], cause = f->d->of_node[node];

			f->all[i] += r->nodes[node].var_ns2;
			if (cause != VPROF_NONE && node && f->d->of_node[r->nodes[node].parent] == cause)
				f->within[i * f->d->drafts.n + cause] += r->nodes[node].var_ns2;
		}
	}
}

/* The cause of a variance factor, or of a covariance's two. */
static uint32_t cause_of(const struct folding *f, const struct vprof_factor *factor, uint32_t index)
{
	const struct vprof_results *r = f->d->r;
	uint32_t a = index, b = VPROF_NONE, best = VPROF_NONE;
	double covered = 0, all, most = 0;

	if (factor->kind == VPROF_FACTOR_COVARIANCE) {
		a = r->nodes[r->covariances[factor->nodes[0]].a].factor - 1;
		b = r->nodes[r->covariances[factor->nodes[0]].b].factor - 1;
	}
	all = f->all[a] + (b != VPROF_NONE ? f->all[b] : 0);
	for (uint32_t k = 0; k < f->d->drafts.n; k++) {
		double within =
			f->within[a * f->d->drafts.n + k] + (b != VPROF_NONE ? f->within[b * f->d->drafts.n + k] : 0);

		covered += within;
		if (within > most) {
			most = within;
			best = k;
		}
	}
	return covered >= COVERED * all ? best : VPROF_NONE;
}

static int fold_into(struct vprof_cause *c, uint32_t factor)
{
	uint32_t *list = realloc((void *)c->factors, (c->n_factors + 1) * sizeof *list);

	if (!list)
		return VPROF_ERR_NOMEM;
	list[c->n_factors++] = factor;
	c->factors = list;
	return 0;
}

int vprof_causes_fold(struct vprof_cause_drafts *d)
{
	const struct vprof_results *r = d->r;
	struct folding f = { .d = d };
	int ret = VPROF_ERR_NOMEM;

	f.within = calloc(r->n_factors * d->drafts.n + 1, sizeof *f.within);
	f.all = calloc(r->n_factors + 1, sizeof *f.all);
	if (!f.within || !f.all)
		goto out;
	take_within(&f);
	ret = 0;
	for (uint32_t i = 0; i < r->n_factors && !ret; i++) {
		const struct vprof_factor *factor = &r->factors[i];
		uint32_t cause;

		if (!(factor->share > r->threshold) || !factor->n_nodes || vprof_factor_is_unexplained(r, factor))
			continue;
		cause = cause_of(&f, factor, i);
		if (cause != VPROF_NONE)
			ret = fold_into(&d->drafts.v[cause].cause, i);
	}
out:
	free(f.within);
	free(f.all);
	return ret;
}
