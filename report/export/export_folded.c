/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded stacks: "outer;inner;innermost WEIGHT" on each line (flamegraph.pl, inferno, speedscope). */
#include <inttypes.h>
#include <stdlib.h>

#include "report/export/context_stacks.h"
#include "report/export/export.h"
#include "report/export/put_text.h"
#include "report/export/stacks.h"

/* Semicolons part frames, and no frame may be empty. */
static int put_stack(FILE *to, const struct vprof_results *r, const struct vprof_weighed *w, uint32_t *path)
{
	uint32_t node = w->node;
	size_t n = 0;

	for (; node; node = r->nodes[node].parent)
		path[n++] = node;
	path[n++] = 0;
	while (n--) {
		char *label = vprof_stacks_label(r, path[n]);

		if (!label)
			return VPROF_ERR_NOMEM;
		vprof_put_plain(to, label, ";", ':');
		free(label);
		if (n)
			putc(';', to);
	}
	fprintf(to, "%s %" PRIu64 "\n", w->is_together ? ";" VPROF_TOGETHER : "", w->weight);
	return 0;
}

static int put_stacks(struct vprof_export *e, int (*weigh)(struct vprof_stacks *, const struct vprof_results *),
		      struct vprof_error *err)
{
	uint32_t *path = calloc(e->results->n_nodes + 1, sizeof *path);
	struct vprof_stacks stacks = { 0 };
	int ret = path ? weigh(&stacks, e->results) : VPROF_ERR_NOMEM;

	for (size_t i = 0; !ret && i < stacks.v.n; i++)
		ret = put_stack(e->to, e->results, &stacks.v.v[i], path);
	vprof_stacks_release(&stacks);
	free(path);
	return ret ? vprof_error_set(err, ret, "not enough memory for the stacks of %zu nodes", e->results->n_nodes) :
		     0;
}

/* The steps of a cause and one of its parts: the weights of its parts sum to its if_constant. */
static void put_cause_part(FILE *to, const struct vprof_results *r, const struct vprof_cause *c,
			   const struct vprof_split *part, uint64_t weight)
{
	vprof_put_plain(to, r->interval && *r->interval ? r->interval : "interval", ";", ':');
	for (size_t i = 0; i < c->n_steps; i++) {
		const struct vprof_step *s = &c->steps[i];

		putc(';', to);
		vprof_put_plain(to, *s->awaited ? s->awaited : *s->name ? s->name : "?", ";", ':');
	}
	if (!c->n_steps) {
		putc(';', to);
		vprof_put_plain(to, *c->name ? c->name : "?", ";", ':');
	}
	if (part && *part->name) {
		putc(';', to);
		vprof_put_plain(to, part->name, ";", ':');
	}
	fprintf(to, " %" PRIu64 "\n", weight);
}

int vprof_export_folded_causes(struct vprof_export *e, struct vprof_error *err)
{
	const struct vprof_results *r = e->results;

	(void)err;
	for (size_t i = 0; i < r->n_causes; i++) {
		const struct vprof_cause *c = &r->causes[i];

		for (size_t k = 0; k < (c->n_splits ? c->n_splits : 1); k++) {
			const struct vprof_split *part = c->n_splits ? &c->splits[k] : NULL;
			double weight = 1e6 * c->if_constant * (part ? part->part : 1);

			if (weight >= 0.5 && weight < 1e15)
				put_cause_part(e->to, r, c, part, (uint64_t)(weight + 0.5));
		}
	}
	return 0;
}

int vprof_export_folded_time(struct vprof_export *e, struct vprof_error *err)
{
	return put_stacks(e, vprof_stacks_of_time, err);
}

int vprof_export_folded_variance(struct vprof_export *e, struct vprof_error *err)
{
	return put_stacks(e, vprof_stacks_of_variance, err);
}

static int put_context_stack(void *arg, const struct vprof_context_stack *s)
{
	FILE *to = arg;

	vprof_put_plain(to, *s->context->name ? s->context->name : "?", ";", ':');
	for (uint32_t i = 0; i < s->n; i++) {
		const struct vprof_profile_node *n = s->frames[i];

		putc(';', to);
		if (n->kind == VPROF_NODE_INTERVAL)
			putc('[', to);
		vprof_put_plain(to, *n->name ? n->name : "?", ";", ':');
		if (n->kind == VPROF_NODE_INTERVAL)
			putc(']', to);
	}
	fprintf(to, " %" PRIu64 "\n", s->own_ns);
	return 0;
}

int vprof_export_folded_contexts(struct vprof_export *e, struct vprof_error *err)
{
	(void)err;
	return vprof_context_stacks(e->results, put_context_stack, e->to);
}

/* The function at `last`, after those around it. */
static void put_sampled_stack(FILE *to, const struct vprof_context *x, const size_t *around, size_t last)
{
	vprof_put_plain(to, *x->name ? x->name : "?", ";", ':');
	for (uint32_t d = 0; d <= x->sampled[last].depth; d++) {
		const char *name = x->sampled[around[d]].name;

		putc(';', to);
		vprof_put_plain(to, *name ? name : "?", ";", ':');
	}
	fprintf(to, " %" PRIu64 "\n", x->sampled[last].n_own);
}

int vprof_export_folded_samples(struct vprof_export *e, struct vprof_error *err)
{
	const struct vprof_results *r = e->results;
	size_t most = 0, *around;

	for (size_t c = 0; c < r->n_contexts; c++)
		most = r->contexts[c].n_sampled > most ? r->contexts[c].n_sampled : most;
	around = calloc(most + 1, sizeof *around); /* of each depth, the last function there */
	if (!around)
		return vprof_error_no_memory(err);
	for (size_t c = 0; c < r->n_contexts; c++)
		for (size_t i = 0; i < r->contexts[c].n_sampled; i++) {
			around[r->contexts[c].sampled[i].depth] = i;
			if (r->contexts[c].sampled[i].n_own)
				put_sampled_stack(e->to, &r->contexts[c], around, i);
		}
	free(around);
	return 0;
}
