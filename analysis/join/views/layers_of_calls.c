/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/views/views.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/join/measured_calls.h"
#include "analysis/latency/call_sums.h"
#include "analysis/latency/layer_describe.h"

#define TARGETS_MAX 8
#define FACTOR_MIN 0.01 /* of the mean latency, or of the variance: smaller factors are not opened */

struct chosen {
	struct vprof_measured_target targets[TARGETS_MAX];
	const struct vprof_factor *factors[TARGETS_MAX];
	size_t n;
};

/* Nothing measured lies beneath its calls. */
static int is_leaf(const struct vprof_results *r, const struct vprof_factor *f)
{
	for (size_t i = 0; i < f->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[f->nodes[i]];

		for (uint32_t c = n->first_child; c < n->first_child + n->n_children; c++)
			if (vprof_node_kind_is_code(r->nodes[c].kind))
				return 0;
	}
	return 1;
}

/* A place for one more, or NULL: there is one for the same calls. */
static struct vprof_measured_target *add_target(struct chosen *c, const struct vprof_factor *f)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->targets[i].is_wait == (f->node_kind == VPROF_NODE_WAIT) &&
		    !strcmp(c->targets[i].name, f->name_a))
			return NULL;
	c->factors[c->n] = f;
	return &c->targets[c->n++];
}

static int choose(struct chosen *c, const struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_factors && c->n < TARGETS_MAX; i++) {
		const struct vprof_factor *f = &r->factors[i];
		struct vprof_measured_target *t;
		uint32_t *codes;

		if (f->kind != VPROF_FACTOR_VARIANCE ||
		    (!vprof_node_kind_is_code(f->node_kind) && f->node_kind != VPROF_NODE_WAIT) ||
		    !(f->share >= FACTOR_MIN || f->mean_ns >= FACTOR_MIN * r->mean_ns) || !is_leaf(r, f))
			continue;
		t = add_target(c, f);
		if (!t)
			continue;
		t->name = f->name_a;
		t->is_wait = f->node_kind == VPROF_NODE_WAIT;
		t->codes = codes = calloc(f->n_nodes + 1, sizeof *codes);
		if (!codes)
			return VPROF_ERR_NOMEM;
		for (size_t k = 0; !t->is_wait && k < f->n_nodes; k++)
			codes[t->n_codes++] = r->nodes[f->nodes[k]].code;
	}
	return VPROF_OK;
}

static int open_factors(struct vprof_results *r, struct chosen *c, const struct vprof_source *source,
			const struct vprof_plan *plan, const struct vprof_latency_history *events,
			struct vprof_error *err)
{
	int ret = choose(c, r);

	if (!ret && c->n)
		ret = vprof_measured_calls_gather(c->targets, c->n, source->timeline, plan, events);
	for (size_t i = 0; i < c->n && !ret; i++) {
		struct vprof_call_sums sums = { .history = NULL };

		/* what contradicts itself (a damaged trace) says nothing */
		if (!vprof_latency_history_check(&c->targets[i].history, err))
			ret = vprof_call_sums_build(&sums, &c->targets[i].history, err);
		if (!ret && sums.n_calls)
			ret = vprof_layers_describe(r, &sums, c->factors[i]->key, c->targets[i].n_calls,
						    c->targets[i].n_unplaced);
		vprof_call_sums_release(&sums);
	}
	return ret;
}

int vprof_layers_fill(struct vprof_results *r, const struct vprof_source *source, const struct vprof_plan *plan,
		      const struct vprof_latency_history *events, struct vprof_error *err)
{
	struct chosen c = { .n = 0 };
	int ret = open_factors(r, &c, source, plan, events, err);

	for (size_t i = 0; i < c.n; i++) {
		vprof_measured_target_release(&c.targets[i]);
		free((void *)c.targets[i].codes);
	}
	return ret == VPROF_ERR_NOMEM ? vprof_error_no_memory(err) : VPROF_OK;
}
