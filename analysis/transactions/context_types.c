/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/transactions/context_types.h"

#include <string.h>

#include "analysis/transactions/context_walk.h"
#include "analysis/transactions/contexts_describe.h"

/* a route that was met in the source, and the type that it became */
struct known_route {
	uint32_t n, stages[VPROF_STAGES_MAX];
	uint64_t type;
};

struct typing {
	struct vprof_results *r;
	struct vprof_source *source;
	size_t number; /* of the source */
	const struct vprof_call_paths *call_paths;
	struct vprof_path *path;
	VPROF_ARRAY(uint32_t) stages;
	VPROF_ARRAY(struct known_route) routes;
	struct vprof_hash_index by_stages;
};

/* The type of a route. OK or NOMEM. */
static int type_of(struct typing *t, const uint32_t *stages, uint32_t n, uint64_t *type)
{
	uint64_t hash = n;
	struct known_route *route;
	const char *name;
	size_t at;

	for (uint32_t i = 0; i < n; i++)
		hash = vprof_mix(hash ^ stages[i]);
	if (vprof_hash_index_room(&t->by_stages, 1))
		return VPROF_ERR_NOMEM;
	VPROF_HASH_EACH(&t->by_stages, hash, at, i)
	{
		route = &t->routes.v[i];
		if (route->n == n && !memcmp(route->stages, stages, n * sizeof *stages)) {
			*type = route->type;
			return VPROF_OK;
		}
	}
	name = vprof_context_name(t->r, t->call_paths, stages, n);
	route = name ? VPROF_PUSH(&t->routes) : NULL;
	if (!route || vprof_timeline_add_string(t->source->timeline, name, &route->type))
		return VPROF_ERR_NOMEM;
	route->n = n;
	memcpy(route->stages, stages, n * sizeof *stages);
	*type = route->type;
	vprof_hash_index_put(&t->by_stages, at, hash, (uint32_t)t->routes.n - 1);
	return VPROF_OK;
}

static int set_type(struct typing *t, uint32_t instance)
{
	struct vprof_instance *inst = &t->source->intervals->instances.v[instance];
	uint32_t stages[VPROF_STAGES_MAX], n;
	const struct vprof_piece *pieces;
	const struct vprof_hop *hops;
	size_t n_pieces, n_hops;

	if (vprof_path_walk(t->path, instance, &pieces, &n_pieces))
		return VPROF_ERR_NOMEM;
	hops = vprof_path_hops(t->path, &n_hops);
	if (VPROF_ROOM(&t->stages, n_hops + 1))
		return VPROF_ERR_NOMEM;
	n = vprof_context_route(t->call_paths, t->number, hops, n_hops, t->stages.v, stages);
	inst->type_kind = 2;
	return type_of(t, stages, n, &inst->type);
}

static int set_types(struct typing *t, uint64_t name)
{
	const struct vprof_intervals *v = t->source->intervals;
	int ret = vprof_path_new(&t->path, t->source->edges, NULL);

	for (uint32_t i = 0; i < v->instances.n && !ret; i++)
		if (v->instances.v[i].name == name && v->instances.v[i].state == VPROF_INSTANCE_COMPLETE)
			ret = set_type(t, i);
	vprof_path_free(t->path);
	VPROF_ARRAY_RELEASE(&t->stages);
	VPROF_ARRAY_RELEASE(&t->routes);
	vprof_hash_index_release(&t->by_stages);
	return ret;
}

int vprof_context_types_set(struct vprof_results *r, struct vprof_source *sources, size_t n_sources, uint64_t name,
			    struct vprof_error *err)
{
	struct vprof_call_paths call_paths;
	int ret = vprof_call_paths_find(&call_paths, sources, n_sources);

	for (size_t s = 0; s < n_sources && !ret; s++) {
		struct typing t = { .r = r, .source = &sources[s], .number = s, .call_paths = &call_paths };

		ret = vprof_source_connect(&sources[s], err);
		ret = ret ? ret : set_types(&t, name);
	}
	vprof_call_paths_release(&call_paths);
	return ret ? vprof_error_set(err, ret,
				     "not enough memory for the contexts of intervals: record a shorter run") :
		     VPROF_OK;
}
