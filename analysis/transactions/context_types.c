/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of stages depend on what other stages there are: first all routes are found, then they are named. */
#include "analysis/transactions/context_types.h"

#include <string.h>

#include "analysis/transactions/context_walk.h"
#include "analysis/transactions/contexts_describe.h"

struct known_route {
	uint32_t n, stages[VPROF_STAGES_MAX];
};

/* an interval of a source, and its route */
struct routed {
	uint32_t source, instance, route;
};

struct typing {
	const struct vprof_call_paths *call_paths;
	struct vprof_path *path;
	VPROF_ARRAY(uint32_t) stages;
	VPROF_ARRAY(struct known_route) routes;
	struct vprof_hash_index by_stages;
	VPROF_ARRAY(struct routed) routed;
};

/* Its number; VPROF_NONE without memory. */
static uint32_t route_number(struct typing *t, const uint32_t *stages, uint32_t n)
{
	uint64_t hash = n;
	struct known_route *route;
	size_t at;

	for (uint32_t i = 0; i < n; i++)
		hash = vprof_mix(hash ^ stages[i]);
	if (vprof_hash_index_room(&t->by_stages, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&t->by_stages, hash, at, i)
	if (t->routes.v[i].n == n && !memcmp(t->routes.v[i].stages, stages, n * sizeof *stages))
		return i;
	route = VPROF_PUSH(&t->routes);
	if (!route)
		return VPROF_NONE;
	route->n = n;
	memcpy(route->stages, stages, n * sizeof *stages);
	vprof_hash_index_put(&t->by_stages, at, hash, (uint32_t)t->routes.n - 1);
	return (uint32_t)t->routes.n - 1;
}

static int find_route(struct typing *t, uint32_t source, uint32_t instance)
{
	uint32_t stages[VPROF_STAGES_MAX], n;
	int is_cut;
	const struct vprof_piece *pieces;
	struct routed *routed;
	const struct vprof_hop *hops;
	size_t n_pieces, n_hops;

	if (vprof_path_walk(t->path, instance, &pieces, &n_pieces))
		return VPROF_ERR_NOMEM;
	hops = vprof_path_hops(t->path, &n_hops);
	routed = VPROF_PUSH(&t->routed);
	if (!routed || VPROF_ROOM(&t->stages, n_hops + 1))
		return VPROF_ERR_NOMEM;
	n = vprof_context_route(t->call_paths, source, hops, n_hops, t->stages.v, stages, &is_cut);
	*routed = (struct routed){ source, instance, route_number(t, stages, n) };
	return routed->route == VPROF_NONE ? VPROF_ERR_NOMEM : VPROF_OK;
}

static int find_routes(struct typing *t, const struct vprof_source *s, uint32_t source, uint64_t name)
{
	const struct vprof_intervals *v = s->intervals;
	int ret = vprof_path_new(&t->path, s->edges, NULL);

	for (uint32_t i = 0; i < v->instances.n && !ret; i++)
		if (v->instances.v[i].name == name && v->instances.v[i].state == VPROF_INSTANCE_COMPLETE)
			ret = find_route(t, source, i);
	vprof_path_free(t->path);
	t->path = NULL;
	return ret;
}

static int name_stages(struct typing *t, struct vprof_call_paths *call_paths)
{
	uint8_t *is_stage = calloc(call_paths->paths.n + 1, 1);
	int ret;

	if (!is_stage)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < t->routes.n; i++)
		for (uint32_t k = 0; k < t->routes.v[i].n; k++)
			is_stage[t->routes.v[i].stages[k]] = 1;
	ret = vprof_call_paths_name(call_paths, is_stage);
	free(is_stage);
	return ret;
}

static int set_types(const struct typing *t, struct vprof_results *r, struct vprof_source *sources)
{
	for (size_t i = 0; i < t->routed.n; i++) {
		const struct routed *routed = &t->routed.v[i];
		struct vprof_source *s = &sources[routed->source];
		struct vprof_instance *inst = &s->intervals->instances.v[routed->instance];
		const struct known_route *route = &t->routes.v[routed->route];
		const char *name = vprof_context_name(r, t->call_paths, route->stages, route->n);

		if (!name || vprof_timeline_add_string(s->timeline, name, &inst->type))
			return VPROF_ERR_NOMEM;
		inst->type_kind = 2;
	}
	return VPROF_OK;
}

/* The edges' own messages say what failed; all else that can is memory. */
int vprof_context_types_set(struct vprof_results *r, struct vprof_source *sources, size_t n_sources,
			    struct vprof_call_paths *call_paths, uint64_t name, struct vprof_error *err)
{
	struct typing t = { .call_paths = call_paths };
	int ret = VPROF_OK, is_told = 0;

	for (size_t s = 0; s < n_sources && !ret; s++) {
		ret = vprof_source_connect(&sources[s], err);
		is_told = ret != VPROF_OK;
		ret = ret ? ret : find_routes(&t, &sources[s], (uint32_t)s, name);
	}
	ret = ret ? ret : name_stages(&t, call_paths);
	ret = ret ? ret : set_types(&t, r, sources);
	VPROF_ARRAY_RELEASE(&t.stages);
	VPROF_ARRAY_RELEASE(&t.routes);
	VPROF_ARRAY_RELEASE(&t.routed);
	vprof_hash_index_release(&t.by_stages);
	if (ret && !is_told)
		vprof_error_set(err, ret, "not enough memory for the contexts of intervals: record a shorter run");
	return ret;
}
