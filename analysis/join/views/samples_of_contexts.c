/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/views/views.h"

#include <string.h>

#include "analysis/join/context_samples.h"
#include "analysis/transactions/context_walk.h"
#include "analysis/transactions/contexts_describe.h"
#include "common/hash/hash_index.h"

struct known_route {
	uint32_t n, stages[VPROF_STAGES_MAX], context;
};

struct finding {
	struct vprof_results *r;
	const struct vprof_source *source;
	const struct vprof_call_paths *call_paths;
	struct vprof_path *path;
	VPROF_ARRAY(uint32_t) stages;
	VPROF_ARRAY(struct known_route) routes;
	struct vprof_hash_index by_stages;
	VPROF_ARRAY(struct vprof_worked) worked;
};

static uint64_t to_ns(const struct finding *f, uint64_t ticks)
{
	return vprof_latency_time(vprof_trace_ns(f->source->timeline->trace, ticks));
}

/* Interned: equal names are one. n_contexts: one of the lighter contexts, which are not told; NONE without memory. */
static uint32_t context_called(const struct finding *f, const uint32_t *stages, uint32_t n)
{
	const char *name = vprof_context_name(f->r, f->call_paths, stages, n);
	uint32_t context = 0;

	while (context < f->r->n_contexts && f->r->contexts[context].name != name)
		context++;
	return name ? context : VPROF_NONE;
}

static int find_context(struct finding *f, uint32_t *context)
{
	uint32_t stages[VPROF_STAGES_MAX], n;
	const struct vprof_hop *hops;
	struct known_route *route;
	size_t n_hops, at;
	uint64_t hash;
	int is_cut;

	hops = vprof_path_hops(f->path, &n_hops);
	if (VPROF_ROOM(&f->stages, n_hops + 1) || vprof_hash_index_room(&f->by_stages, 1))
		return VPROF_ERR_NOMEM;
	hash = n = vprof_context_route(f->call_paths, 0, hops, n_hops, f->stages.v, stages, &is_cut);
	for (uint32_t i = 0; i < n; i++)
		hash = vprof_mix(hash ^ stages[i]);
	VPROF_HASH_EACH(&f->by_stages, hash, at, i)
	{
		route = &f->routes.v[i];
		*context = route->context;
		if (route->n == n && !memcmp(route->stages, stages, n * sizeof *stages))
			return VPROF_OK;
	}
	route = VPROF_PUSH(&f->routes);
	*context = route ? context_called(f, stages, n) : VPROF_NONE;
	if (*context == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	route->n = n;
	route->context = *context;
	memcpy(route->stages, stages, n * sizeof *stages);
	vprof_hash_index_put(&f->by_stages, at, hash, (uint32_t)f->routes.n - 1);
	return VPROF_OK;
}

static int add_interval(struct finding *f, uint32_t instance)
{
	const struct vprof_piece *pieces;
	uint32_t context;
	size_t n_pieces;
	int ret = vprof_path_walk(f->path, instance, &pieces, &n_pieces);

	ret = ret ? ret : find_context(f, &context);
	if (ret || context == f->r->n_contexts)
		return ret;
	for (size_t i = 0; i < n_pieces; i++) {
		const struct vprof_piece *p = &pieces[i];
		struct vprof_worked *w;

		if (p->parent != VPROF_NONE || p->from >= p->to ||
		    (p->kind != VPROF_PIECE_RUN && p->kind != VPROF_PIECE_WAIT))
			continue;
		w = VPROF_PUSH(&f->worked);
		if (!w)
			return VPROF_ERR_NOMEM;
		*w = (struct vprof_worked){ f->source->timeline->threads[p->thread].tid, context, to_ns(f, p->from),
					    to_ns(f, p->to) };
	}
	return VPROF_OK;
}

int vprof_samples_of_contexts_fill(struct vprof_results *r, struct vprof_source *source,
				   const struct vprof_call_paths *call_paths,
				   const struct vprof_latency_history *events, struct vprof_error *err)
{
	struct finding f = { .r = r, .source = source, .call_paths = call_paths };
	int ret;

	if (!r->n_contexts || !source->chosen.n)
		return VPROF_OK;
	ret = vprof_source_connect(source, err);
	ret = ret ? ret : vprof_path_new(&f.path, source->edges, err);
	for (size_t i = 0; i < source->chosen.n && !ret; i++)
		ret = add_interval(&f, source->chosen.v[i]);
	ret = ret ? ret : vprof_context_samples_fill(r, f.worked.v, f.worked.n, events);
	vprof_path_free(f.path);
	VPROF_ARRAY_RELEASE(&f.stages);
	VPROF_ARRAY_RELEASE(&f.routes);
	vprof_hash_index_release(&f.by_stages);
	VPROF_ARRAY_RELEASE(&f.worked);
	return ret == VPROF_ERR_NOMEM ? vprof_error_no_memory(err) : VPROF_OK;
}
