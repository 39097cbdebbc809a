/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/layer_describe.h"

#include <stdlib.h>

#define LAYER_MIN 0.005 /* of the calls' time or variance: contexts that surely have less are left out, ... */
#define WIDE_MIN 0.05	/* ... but for those that may have this share of the time */
#define LAYERS_MOST 120 /* beneath one call */

static struct vprof_layer *push(struct vprof_results *r)
{
	struct vprof_layer *v = realloc(r->layers, (r->n_layers + 1) * sizeof *v);

	if (!v)
		return NULL;
	r->layers = v;
	v[r->n_layers] = (struct vprof_layer){ .key = "" };
	return &v[r->n_layers++];
}

static int is_large(const struct vprof_call_context *c, const struct vprof_call_context *all)
{
	return c->n && (c->low_ns >= LAYER_MIN * all->high_ns || c->share_low >= LAYER_MIN ||
			c->high_ns >= WIDE_MIN * all->high_ns);
}

static enum vprof_layer_kind kind_of(uint8_t layer)
{
	return layer == VPROF_LATENCY_KERNEL  ? VPROF_LAYER_KERNEL :
	       layer == VPROF_LATENCY_LIBRARY ? VPROF_LAYER_LIBRARY :
						VPROF_LAYER_PROGRAM;
}

int vprof_layers_describe(struct vprof_results *r, const struct vprof_call_sums *s, const char *key, uint64_t n_calls,
			  uint64_t n_unplaced)
{
	uint32_t *place = malloc(s->tree.nodes.n * sizeof *place + 1);
	size_t first = r->n_layers;
	int ret = place ? VPROF_OK : VPROF_ERR_NOMEM;

	for (uint32_t x = 1; x < s->tree.nodes.n && s->n_calls && !ret; x++) {
		const struct vprof_call_context *c = &s->contexts[x];
		const struct vprof_latency_function *f = &s->history->functions.v[s->tree.nodes.v[x].function];
		uint32_t parent = s->tree.nodes.v[x].parent;
		struct vprof_layer *to;

		place[x] = VPROF_NONE;
		if (x > 1 && (place[parent] == VPROF_NONE || !is_large(c, &s->contexts[1]) ||
			      r->n_layers - first >= LAYERS_MOST))
			continue;
		to = push(r);
		if (!to) {
			ret = VPROF_ERR_NOMEM;
			break;
		}
		place[x] = (uint32_t)r->n_layers - 1;
		*to = (struct vprof_layer){
			.kind = x == 1 ? VPROF_LAYER_MEASURED : kind_of(f->layer),
			.parent = x == 1 ? place[x] : place[parent],
			.key = vprof_results_string(r, x == 1 ? key : ""),
			.name = vprof_results_string(r, vprof_latency_function_display(f)),
			.file = vprof_results_string(r, f->file),
			.n_calls = x == 1 ? n_calls : c->n,
			.n_whole = s->n_calls,
			.n_unplaced = x == 1 ? n_unplaced : 0,
			.low_ns = c->low_ns,
			.high_ns = c->high_ns,
			.own_low_ns = c->own_low_ns,
			.own_high_ns = c->own_high_ns,
			.share_low = c->share_low,
			.share_high = c->share_high,
		};
		ret = to->key && to->name && to->file ? VPROF_OK : VPROF_ERR_NOMEM;
	}
	free(place);
	return ret;
}
