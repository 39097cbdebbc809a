/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removing more edges never connects anything again. So the number of edges after which a knot falls apart is found by
 * bisection over its edges sorted by weight, instead of searching for components after each of them. */
#include "analysis/waits/knots.h"

#include "analysis/waits/components.h"
#include "common/radix.h"
#include "common/search.h"

struct part {		   /* of the graph: to be searched, to be refined, or in the background */
	uint32_t first, n; /* in `pool` */
	uint32_t depth;
	uint32_t last; /* edge without which it fell apart; VPROF_NONE: it is the whole graph */
};

typedef VPROF_ARRAY(struct part) parts;

struct knot_search {
	const struct vprof_waits_graph *graph;
	const struct vprof_waits_knot_options *options;
	struct vprof_waits_knots *out;
	uint32_t *first_edge;
	unsigned char *is_removed;
	struct vprof_waits_components components;
	VPROF_ARRAY(uint32_t) pool; /* vertices of parts */
	parts to_search;
	parts background, terminal;   /* of the part that is being searched */
	VPROF_ARRAY(uint32_t) sorted; /* edges of the knot under refinement, by weight */
};

static void find_components(struct knot_search *k, const uint32_t *vertices, size_t n)
{
	const struct vprof_waits_part part = { k->graph, k->first_edge, k->is_removed, vertices, n };

	vprof_waits_components_find(&k->components, &part);
}

/* Does an edge lead out of the component, to another one of the part? */
static int is_terminal(const struct knot_search *k, uint32_t component)
{
	const struct vprof_waits_components *c = &k->components;

	for (uint32_t i = c->first.v[component]; i < c->first.v[component + 1]; i++) {
		uint32_t v = c->order.v[i];

		for (uint32_t e = k->first_edge[v]; e < k->first_edge[v + 1]; e++) {
			uint32_t to = c->of[k->graph->edges.v[e].to];

			if (!k->is_removed[e] && to != VPROF_NONE && to != component)
				return 0;
		}
	}
	return 1;
}

static int is_device(const struct knot_search *k, uint32_t v)
{
	const struct vprof_waits_vertex *x = &k->graph->vertices.v[v];

	/* of an interface of unknown speed nothing is known but that data came: no edges lead from it */
	return x->kind == VPROF_WAITS_DISK || (x->kind == VPROF_WAITS_NETWORK && x->has_speed);
}

static struct vprof_waits_knot describe(const struct knot_search *k, const uint32_t *vertices, uint32_t n)
{
	struct vprof_waits_knot knot = { .n_vertices = n };

	for (uint32_t i = 0; i < n; i++) {
		const struct vprof_waits_vertex *v = &k->graph->vertices.v[vertices[i]];

		knot.has_device |= (uint8_t)is_device(k, vertices[i]);
		knot.busy_ns += v->running_ns + v->runnable_ns;
		knot.runnable_ns += v->runnable_ns;
	}
	return knot;
}

/* A device by itself is in the background when it is idle for longer than an edge may weigh that is cut off. */
static int is_background(const struct knot_search *k, const struct vprof_waits_knot *knot, const uint32_t *vertices)
{
	double length_ns = (double)k->graph->length_ns;

	if (knot->has_device)
		return knot->n_vertices == 1 &&
		       (double)k->graph->vertices.v[vertices[0]].idle_ns > k->options->threshold * length_ns;
	return (double)knot->busy_ns < k->options->background_cpus * length_ns;
}

/* With the edges between its vertices that are left. */
static int report(struct knot_search *k, const uint32_t *vertices, uint32_t n, uint32_t depth, enum vprof_waits_end end)
{
	struct vprof_waits_knot knot = describe(k, vertices, n), *added;

	knot.end = (uint8_t)end;
	knot.depth = depth;
	knot.first_vertex = (uint32_t)k->out->vertices.n;
	knot.first_edge = (uint32_t)k->out->edges.n;
	if (VPROF_ROOM(&k->out->vertices, k->out->vertices.n + n))
		return VPROF_ERR_NOMEM;
	memcpy(k->out->vertices.v + k->out->vertices.n, vertices, n * sizeof *vertices);
	k->out->vertices.n += n;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t e = k->first_edge[vertices[i]]; e < k->first_edge[vertices[i] + 1]; e++) {
			if (k->is_removed[e] ||
			    !bsearch(&k->graph->edges.v[e].to, vertices, n, sizeof *vertices, vprof_compare_u32))
				continue;
			if (VPROF_ROOM(&k->out->edges, k->out->edges.n + 1))
				return VPROF_ERR_NOMEM;
			k->out->edges.v[k->out->edges.n++] = e;
			knot.n_edges++;
		}
	}
	knot.is_sink = n == 1 && !knot.n_edges;
	added = VPROF_PUSH(&k->out->knots);
	if (added)
		*added = knot;
	return added ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Copies vertices, which may lie in the pool themselves, to its end. */
static int add_part(struct knot_search *k, parts *to, const uint32_t *vertices, uint32_t n, uint32_t depth,
		    uint32_t last)
{
	size_t in_pool = k->pool.v && vertices >= k->pool.v && vertices < k->pool.v + k->pool.n ?
				 (size_t)(vertices - k->pool.v) :
				 SIZE_MAX;
	struct part *part = VPROF_PUSH(to);

	if (!part || VPROF_ROOM(&k->pool, k->pool.n + n + 1))
		return VPROF_ERR_NOMEM;
	memmove(k->pool.v + k->pool.n, in_pool == SIZE_MAX ? vertices : k->pool.v + in_pool, n * sizeof *vertices);
	*part = (struct part){ (uint32_t)k->pool.n, n, depth, last };
	k->pool.n += n;
	return VPROF_OK;
}

/* The knot's edges, lightest first. Edges are in the order of their vertices, and the sort is stable. */
static int sort_edges(struct knot_search *k, const uint32_t *vertices, uint32_t n)
{
	VPROF_ARRAY(struct vprof_keyed) keyed = { NULL, 0, 0 };
	uint32_t own = k->components.of[vertices[0]];
	int ret = VPROF_OK;

	k->sorted.n = 0;
	for (uint32_t i = 0; i < n && !ret; i++) {
		for (uint32_t e = k->first_edge[vertices[i]]; e < k->first_edge[vertices[i] + 1] && !ret; e++) {
			if (k->is_removed[e] || k->components.of[k->graph->edges.v[e].to] != own)
				continue;
			if (VPROF_ROOM(&keyed, keyed.n + 1))
				ret = VPROF_ERR_NOMEM;
			else
				keyed.v[keyed.n++] = (struct vprof_keyed){ k->graph->edges.v[e].weight_ns, e };
		}
	}
	if (!ret && (vprof_radix_sort(keyed.v, keyed.n) || VPROF_ROOM(&k->sorted, keyed.n + 1)))
		ret = VPROF_ERR_NOMEM;
	for (size_t i = 0; i < keyed.n && !ret; i++)
		k->sorted.v[k->sorted.n++] = keyed.v[i].item;
	VPROF_ARRAY_RELEASE(&keyed);
	return ret;
}

static void remove_edges(struct knot_search *k, size_t n)
{
	for (size_t i = 0; i < k->sorted.n; i++)
		k->is_removed[k->sorted.v[i]] = i < n;
}

static int falls_apart(struct knot_search *k, const uint32_t *vertices, uint32_t n, size_t n_removed)
{
	remove_edges(k, n_removed);
	find_components(k, vertices, n);
	return k->components.first.n > 2;
}

/* A component that no edge leaves: reports it, or leaves what it falls into to be searched. */
static int refine(struct knot_search *k, const struct part *part)
{
	double threshold = k->options->threshold * (double)k->graph->length_ns;
	const uint32_t *vertices = k->pool.v + part->first;
	size_t n_light, n_apart, n_end;
	uint32_t n = part->n;
	int is_cycle;

	if (n == 1)
		return report(k, vertices, n, part->depth, VPROF_WAITS_VERTEX);
	find_components(k, vertices, n);
	if (sort_edges(k, vertices, n))
		return VPROF_ERR_NOMEM;
	n_light = VPROF_BISECT(k->sorted.n, i, (double)k->graph->edges.v[k->sorted.v[i]].weight_ns <= threshold);
	n_apart = 1 + VPROF_BISECT(k->sorted.n - 1, i, !falls_apart(k, vertices, n, i + 1));
	/* strongly connected, with as many edges as vertices: a simple cycle, which the next removal opens */
	is_cycle = n_apart == k->sorted.n - n + 1;
	n_end = is_cycle && n_apart - 1 <= n_light ? n_apart - 1 : n_light;
	if (n_end >= n_apart) {
		remove_edges(k, n_apart);
		return add_part(k, &k->to_search, vertices, n, part->depth + 1, k->sorted.v[n_apart - 1]);
	}
	remove_edges(k, n_end);
	return report(k, vertices, n, part->depth,
		      is_cycle && n_end == n_apart - 1 ? VPROF_WAITS_CYCLE : VPROF_WAITS_HEAVY);
}

/* Sorts the components that no edge leaves into those in the background and the others; true when it found any of the
 * former, whose vertices are then no longer among the n at `left`. */
static int take_background(struct knot_search *k, uint32_t *left, uint32_t *n, uint32_t depth, int *ret)
{
	const struct vprof_waits_components *c = &k->components;
	size_t n_background = k->background.n;
	uint32_t n_left = 0;

	find_components(k, left, *n);
	k->terminal.n = 0;
	for (uint32_t i = 0; i + 1 < c->first.n && !*ret; i++) {
		const uint32_t *vertices = c->order.v + c->first.v[i];
		uint32_t n_vertices = c->first.v[i + 1] - c->first.v[i];
		struct vprof_waits_knot knot;

		if (!is_terminal(k, i))
			continue;
		knot = describe(k, vertices, n_vertices);
		if (!is_background(k, &knot, vertices)) {
			*ret = add_part(k, &k->terminal, vertices, n_vertices, depth, VPROF_NONE);
			continue;
		}
		*ret = add_part(k, &k->background, vertices, n_vertices, depth, VPROF_NONE);
		for (uint32_t v = 0; v < n_vertices; v++)
			c->index[vertices[v]] = VPROF_NONE; /* to be left out */
	}
	if (k->background.n == n_background || *ret)
		return 0;
	for (uint32_t i = 0; i < *n; i++)
		if (c->index[left[i]] != VPROF_NONE)
			left[n_left++] = left[i];
	*n = n_left;
	return 1;
}

static int search(struct knot_search *k, const struct part *part)
{
	uint32_t *left = malloc((part->n + 1) * sizeof *left), n = part->n;
	int ret = left ? VPROF_OK : VPROF_ERR_NOMEM;

	k->background.n = k->terminal.n = 0;
	if (left)
		memcpy(left, k->pool.v + part->first, part->n * sizeof *left);
	while (!ret && n && take_background(k, left, &n, part->depth, &ret))
		;
	free(left);
	if (!ret && !n && part->last != VPROF_NONE) {
		k->is_removed[part->last] = 0;
		return report(k, k->pool.v + part->first, part->n, part->depth - 1, VPROF_WAITS_PARTS);
	}
	for (size_t i = 0; i < k->background.n && !ret; i++)
		ret = report(k, k->pool.v + k->background.v[i].first, k->background.v[i].n, part->depth,
			     VPROF_WAITS_BACKGROUND);
	for (size_t i = 0; i < k->terminal.n && !ret && n; i++)
		ret = refine(k, &k->terminal.v[i]);
	return ret;
}

static int search_all(struct knot_search *k)
{
	size_t n = k->graph->vertices.n;
	int ret = VPROF_OK;

	if (VPROF_RESERVE(&k->pool, n + 1))
		return VPROF_ERR_NOMEM;
	for (uint32_t v = 0; v < n; v++)
		k->pool.v[v] = v;
	k->pool.n = n;
	for (size_t e = 0, v = 0; v <= n; v++) {
		k->first_edge[v] = (uint32_t)e;
		while (e < k->graph->edges.n && k->graph->edges.v[e].from == v)
			e++;
	}
	if (n)
		ret = add_part(k, &k->to_search, k->pool.v, (uint32_t)n, 0, VPROF_NONE);
	while (k->to_search.n && !ret) {
		struct part part = k->to_search.v[--k->to_search.n];

		ret = search(k, &part);
	}
	return ret;
}

int vprof_waits_knots_find(struct vprof_waits_knots *knots, const struct vprof_waits_graph *graph,
			   const struct vprof_waits_knot_options *options, struct vprof_error *err)
{
	struct knot_search k = { .graph = graph, .options = options, .out = knots };
	int ret;

	memset(knots, 0, sizeof *knots);
	k.first_edge = malloc((graph->vertices.n + 2) * sizeof *k.first_edge);
	k.is_removed = calloc(graph->edges.n + 1, 1);
	ret = vprof_waits_components_init(&k.components, graph->vertices.n);
	if (!ret && (!k.first_edge || !k.is_removed))
		ret = VPROF_ERR_NOMEM;
	if (!ret)
		ret = search_all(&k);
	vprof_waits_components_release(&k.components);
	free(k.first_edge);
	free(k.is_removed);
	VPROF_ARRAY_RELEASE(&k.pool);
	VPROF_ARRAY_RELEASE(&k.to_search);
	VPROF_ARRAY_RELEASE(&k.background);
	VPROF_ARRAY_RELEASE(&k.terminal);
	VPROF_ARRAY_RELEASE(&k.sorted);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_waits_knots_release(struct vprof_waits_knots *knots)
{
	VPROF_ARRAY_RELEASE(&knots->knots);
	VPROF_ARRAY_RELEASE(&knots->vertices);
	VPROF_ARRAY_RELEASE(&knots->edges);
}
