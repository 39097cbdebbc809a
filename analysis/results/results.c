/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Storage of results: everything hangs on one struct; strings are interned, so that ten thousand nodes of the same
 * function share one name. */
#include "analysis/results/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/files.h"
#include "common/utf8.h"

struct vprof_results_private {
	char **slots; /* [n_slots], a power of two */
	size_t n_slots, n;
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
	for (size_t i = 0; r->warnings && i < r->n_warnings; i++)
		free(r->warnings[i]);
	for (size_t i = 0; i < r->private->n_slots; i++)
		free(r->private->slots[i]);
	free(r->private->slots);
	free(r->private);
	free(r->nodes);
	free(r->covariances);
	free(r->factors);
	free(r->types);
	free(r->contributions);
	free(r->work);
	free(r->common_frames);
	free(r->histogram);
	free(r->periods);
	free(r->examples);
	free(r->pieces);
	free(r->threads);
	free(r->warnings);
	free(r);
}

static size_t slot_of(char *const *slots, size_t n_slots, const char *s)
{
	size_t i = vprof_mix(vprof_hash(VPROF_HASH_SEED, s, strlen(s))) & (n_slots - 1);

	while (slots[i] && strcmp(slots[i], s))
		i = (i + 1) & (n_slots - 1);
	return i;
}

static int grow(struct vprof_results_private *p)
{
	size_t n = p->n_slots ? p->n_slots * 2 : 128;
	char **slots = calloc(n, sizeof *slots);

	if (!slots)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < p->n_slots; i++)
		if (p->slots[i])
			slots[slot_of(slots, n, p->slots[i])] = p->slots[i];
	free(p->slots);
	p->slots = slots;
	p->n_slots = n;
	return 0;
}

const char *vprof_results_string(struct vprof_results *r, const char *s)
{
	struct vprof_results_private *p = r->private;
	size_t i;

	if (!vprof_utf8_is_valid(s)) {
		struct vprof_text clean = VPROF_TEXT_INIT;
		const char *interned;

		vprof_text_add_utf8(&clean, s);
		interned = clean.failed ? NULL : vprof_results_string(r, clean.s);
		vprof_text_release(&clean);
		return interned;
	}
	if (2 * p->n >= p->n_slots && grow(p))
		return NULL;
	i = slot_of(p->slots, p->n_slots, s);
	if (!p->slots[i]) {
		p->slots[i] = strdup(s);
		p->n += p->slots[i] != NULL;
	}
	return p->slots[i];
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

size_t vprof_results_covariance(const struct vprof_results *r, uint32_t a, uint32_t b)
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
	return low;
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
