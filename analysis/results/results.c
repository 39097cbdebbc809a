/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Storage of results: everything hangs on one struct; strings are interned, so that ten thousand nodes of the same
 * function share one name. */
#include "analysis/results/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "common/hash/string_set.h"
#include "common/utf8.h"

struct vprof_results_private {
	struct vprof_strings strings;
};

struct vprof_results *vprof_results_new(void)
{
	struct vprof_results *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->private = calloc(1, sizeof *r->private);
	if (!r->private) {
		free(r);
		return NULL;
	}
	r->interval = r->run = r->no_switches = "";
	return r;
}

void vprof_results_free(struct vprof_results *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->factors && i < r->n_factors; i++)
		free((void *)r->factors[i].nodes);
	for (size_t i = 0; r->causes && i < r->n_causes; i++) {
		free((void *)r->causes[i].steps);
		free((void *)r->causes[i].splits);
		free((void *)r->causes[i].factors);
		free((void *)r->causes[i].nodes);
	}
	for (size_t i = 0; r->crosstalk && i < r->n_crosstalk; i++) {
		for (size_t k = 0; r->crosstalk[i].locks && k < r->crosstalk[i].n_locks; k++)
			free((void *)r->crosstalk[i].locks[k].holder_calls);
		free((void *)r->crosstalk[i].locks);
	}
	for (size_t i = 0; r->contexts && i < r->n_contexts; i++) {
		free((void *)r->contexts[i].stages);
		free((void *)r->contexts[i].profile);
		free((void *)r->contexts[i].sampled);
	}
	for (size_t i = 0; r->warnings && i < r->n_warnings; i++)
		free(r->warnings[i]);
	vprof_strings_release(&r->private->strings);
	free(r->private);
	free(r->nodes);
	free(r->covariances);
	free(r->factors);
	free(r->causes);
	for (size_t i = 0; r->knots && i < r->n_knots; i++)
		free((void *)r->knots[i].locks);
	free(r->knots);
	for (size_t i = 0; r->tiers && i < r->n_tiers; i++) {
		free((void *)r->tiers[i].factors);
		free((void *)r->tiers[i].causes);
	}
	free(r->tiers);
	free(r->layers);
	free(r->parties);
	free(r->crosstalk);
	free(r->contexts);
	free(r->types);
	free(r->contributions);
	free(r->work);
	free(r->closed);
	free(r->common_frames);
	free(r->histogram);
	free(r->periods);
	free(r->examples);
	free(r->pieces);
	free(r->threads);
	free(r->warnings);
	free(r);
}

int vprof_object_is_several(const char *object)
{
	return !strcmp(object, VPROF_OBJECT_SEVERAL);
}

const char *vprof_results_string(struct vprof_results *r, const char *s)
{
	if (!vprof_utf8_is_valid(s)) {
		struct vprof_text clean = VPROF_TEXT_INIT;
		const char *interned;

		vprof_text_add_utf8(&clean, s);
		interned = clean.failed ? NULL : vprof_results_string(r, clean.s);
		vprof_text_release(&clean);
		return interned;
	}
	return vprof_strings_keep(&r->private->strings, s);
}

const char *vprof_results_text(struct vprof_results *r, struct vprof_text *text)
{
	const char *s = text->failed ? NULL : vprof_results_string(r, text->s);

	vprof_text_release(text);
	return s;
}

const struct vprof_tier *vprof_results_tier_of(const struct vprof_results *r, size_t cause)
{
	for (size_t i = 0; i < r->n_tiers; i++)
		for (size_t k = 0; k < r->tiers[i].n_causes; k++)
			if (r->tiers[i].causes[k] == cause)
				return &r->tiers[i];
	return NULL;
}

uint32_t vprof_node_body_of(const struct vprof_results *r, uint32_t node)
{
	const struct vprof_node *n = &r->nodes[node];
	uint32_t body = node;

	for (uint32_t c = n->first_child; c < n->first_child + n->n_children; c++) {
		if (r->nodes[c].kind == VPROF_NODE_BODY)
			body = c;
		else if (r->nodes[c].kind != VPROF_NODE_PREEMPTED)
			return node;
	}
	return body;
}

size_t vprof_results_covariance(const struct vprof_results *r, uint32_t a, uint32_t b)
{
	const struct vprof_covariance *c = r->covariances;

	return VPROF_BISECT(r->n_covariances, i, c[i].a < a || (c[i].a == a && c[i].b < b));
}

static double functions_share(const struct vprof_results *r, const struct vprof_node *n)
{
	double share = 0;

	for (uint32_t c = n->first_child; c < n->first_child + n->n_children && c < r->n_nodes; c++) {
		if (vprof_node_kind_is_code(r->nodes[c].kind))
			share += r->nodes[c].share;
	}
	return share;
}

int vprof_factor_is_explained(const struct vprof_results *r, const struct vprof_factor *f)
{
	double share = 0;

	if (f->kind != VPROF_FACTOR_VARIANCE ||
	    (f->node_kind != VPROF_NODE_WAIT && f->node_kind != VPROF_NODE_QUEUED && f->node_kind != VPROF_NODE_SITE))
		return 0;
	for (size_t i = 0; i < f->n_nodes; i++)
		share += functions_share(r, &r->nodes[f->nodes[i]]);
	return share > 0 && share >= 0.5 * f->share;
}

int vprof_factor_is_unexplained(const struct vprof_results *r, const struct vprof_factor *f)
{
	const struct vprof_covariance *pair;

	if (!f->n_nodes)
		return 0;
	if (f->kind == VPROF_FACTOR_VARIANCE)
		return r->nodes[f->nodes[0]].is_unexplained;
	pair = &r->covariances[f->nodes[0]];
	return r->nodes[pair->a].is_unexplained || r->nodes[pair->b].is_unexplained;
}

void vprof_results_probe_cost_bounds(const struct vprof_results *r, double *low, double *high)
{
	double gap = r->mean_ns - r->baseline_mean_ns;

	/* Errors of independent runs add in squares. */
	*low = gap - hypot(r->mean_ns - r->mean_low, r->baseline_high - r->baseline_mean_ns);
	*high = gap + hypot(r->mean_high - r->mean_ns, r->baseline_mean_ns - r->baseline_low);
}

size_t vprof_results_cause_of(const struct vprof_results *r, size_t factor)
{
	for (size_t i = 0; i < r->n_causes; i++)
		for (size_t j = 0; j < r->causes[i].n_factors; j++)
			if (r->causes[i].factors[j] == factor)
				return i;
	return r->n_causes;
}
