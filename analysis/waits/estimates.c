/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See estimates.h. Replays of different edges run side by side; one more is the recording as it was. */
#include "analysis/waits/estimates.h"

#include <math.h>

#include "analysis/waits/wait_replay.h"
#include "common/parallel.h"
#include "common/search.h"

#define PACED_MAX                                                                                                      \
	0.2 /* share of its time that a thread outside knots may wait for what the recording does not explain */
#define PACED_KNOT_MAX 0.95 /* ... of a thread in one: more, and it does next to nothing else */

struct estimation {
	const struct vprof_waits_program *program;
	const struct vprof_waits_estimates *estimates;
	unsigned char *counts;		       /* [n entities] */
	struct vprof_waits_replayed *replayed; /* [1 + 2 x edges]: unchanged; then halved and gone of each edge */
};

static int heavier(const struct vprof_waits_graph *g, uint32_t a, uint32_t b)
{
	uint64_t x = g->edges.v[a].weight_ns, y = g->edges.v[b].weight_ns;

	return x != y ? x > y : a < b;
}

static int by_edge(const void *a, const void *b)
{
	const struct vprof_waits_estimate *x = a, *y = b;

	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Inserts an edge into the heaviest ones so far, which are sorted. */
static int choose_edge(struct vprof_waits_estimates *out, const struct vprof_waits_graph *graph, uint32_t edge)
{
	size_t at = out->v.n;

	for (size_t i = 0; i < out->v.n; i++)
		if (out->v.v[i].edge == edge)
			return VPROF_OK;
	while (at && heavier(graph, edge, out->v.v[at - 1].edge))
		at--;
	if (at >= VPROF_WAITS_ESTIMATES_MAX)
		return VPROF_OK;
	if (out->v.n < VPROF_WAITS_ESTIMATES_MAX && !VPROF_PUSH(&out->v))
		return VPROF_ERR_NOMEM;
	memmove(out->v.v + at + 1, out->v.v + at, (out->v.n - at - 1) * sizeof *out->v.v);
	out->v.v[at] = (struct vprof_waits_estimate){ edge, NAN, NAN };
	return VPROF_OK;
}

int vprof_waits_is_sleep(const struct vprof_waits_graph *graph, uint32_t edge)
{
	const struct vprof_waits_edge *e = &graph->edges.v[edge];
	const struct vprof_waits_vertex *to = &graph->vertices.v[e->to];

	return graph->vertices.v[e->from].kind == VPROF_WAITS_THREAD && to->kind != VPROF_WAITS_THREAD &&
	       to->kind != VPROF_WAITS_DISK && !to->has_speed &&
	       (double)(e->weight_ns - e->own_ns) >= VPROF_WAITS_SLEEP_SHARE * (double)graph->length_ns;
}

/* Edges of a knot's vertices to what sleeps of theirs are for. */
static int choose_sleeps(struct vprof_waits_estimates *out, const struct vprof_waits_graph *graph,
			 const struct vprof_waits_knots *knots, const struct vprof_waits_knot *knot)
{
	for (uint32_t i = 0; i < knot->n_vertices; i++) {
		uint32_t v = knots->vertices.v[knot->first_vertex + i];
		size_t e = VPROF_BISECT(graph->edges.n, k, graph->edges.v[k].from < v);

		for (; e < graph->edges.n && graph->edges.v[e].from == v; e++)
			if (vprof_waits_is_sleep(graph, (uint32_t)e) && choose_edge(out, graph, (uint32_t)e))
				return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

static int choose_edges(struct vprof_waits_estimates *out, const struct vprof_waits_graph *graph,
			const struct vprof_waits_knots *knots)
{
	for (size_t k = 0; k < knots->knots.n; k++) {
		const struct vprof_waits_knot *knot = &knots->knots.v[k];

		if (choose_sleeps(out, graph, knots, knot))
			return VPROF_ERR_NOMEM;
		for (uint32_t i = 0; i < knot->n_edges && knot->end != VPROF_WAITS_BACKGROUND; i++) {
			uint32_t e = knots->edges.v[knot->first_edge + i];

			if (!graph->edges.v[e].is_idle && choose_edge(out, graph, e))
				return VPROF_ERR_NOMEM;
		}
	}
	return out->v.n && vprof_array_sort(out->v.v, out->v.n, sizeof *out->v.v, by_edge) ? VPROF_ERR_NOMEM : VPROF_OK;
}

static int has_sleep(const struct vprof_waits_graph *graph, uint32_t vertex)
{
	size_t e = VPROF_BISECT(graph->edges.n, k, graph->edges.v[k].from < vertex);

	for (; e < graph->edges.n && graph->edges.v[e].from == vertex; e++)
		if (vprof_waits_is_sleep(graph, (uint32_t)e))
			return 1;
	return 0;
}

/* Whose work must be done for the end of a replay. Of a background knot in which one sleeps while others wait for it,
 * all of it. */
static int choose_counted(struct estimation *g, const struct vprof_waits_history *h,
			  const struct vprof_waits_graph *graph, const struct vprof_waits_knots *knots)
{
	double length = (double)(g->program->end - h->begin);
	char *of_vertex = calloc(graph->vertices.n + 1, 1); /* 1: of a knot, 2: in the background */

	if (!of_vertex)
		return VPROF_ERR_NOMEM;
	for (size_t k = 0; k < knots->knots.n; k++) {
		const uint32_t *vertices = knots->vertices.v + knots->knots.v[k].first_vertex;
		int is_background = knots->knots.v[k].end == VPROF_WAITS_BACKGROUND;

		for (uint32_t i = 0; i < knots->knots.v[k].n_vertices && is_background; i++)
			is_background = !has_sleep(graph, vertices[i]);
		for (uint32_t i = 0; i < knots->knots.v[k].n_vertices; i++)
			of_vertex[vertices[i]] = is_background ? 2 : 1;
	}
	for (uint32_t e = 0; e < h->entities.n; e++) {
		uint32_t v = graph->vertex_of[e];
		int is = v == VPROF_NONE ? 2 : of_vertex[v];

		g->counts[e] = h->entities.v[e].segments.n && is < 2 &&
			       (double)g->program->paced_ns[e] <= (is ? PACED_KNOT_MAX : PACED_MAX) * length;
	}
	for (size_t i = 0; i < h->requests.n; i++)
		if (h->requests.v[i].thread != VPROF_NONE && g->counts[h->requests.v[i].thread] &&
		    h->entities.v[h->requests.v[i].thread].segments.n)
			g->counts[h->requests.v[i].device] = 1;
	free(of_vertex);
	return VPROF_OK;
}

static int replay_item(void *arg, int worker, size_t item)
{
	const struct estimation *g = arg;
	uint32_t edge = item ? g->estimates->v.v[(item - 1) / 2].edge : VPROF_NONE;

	(void)worker;
	return vprof_waits_replay(&g->replayed[item], g->program, edge, item % 2 ? 0.5 : 0, g->counts);
}

static double gain(const struct vprof_waits_replayed *before, const struct vprof_waits_replayed *after)
{
	if (before->is_stuck || after->is_stuck || !before->took_ns || !after->took_ns)
		return NAN;
	return (double)before->took_ns / (double)after->took_ns - 1;
}

static int estimate(struct vprof_waits_estimates *out, struct estimation *g, int n_threads)
{
	size_t n = 1 + 2 * out->v.n;
	int ret;

	g->replayed = calloc(n, sizeof *g->replayed);
	ret = g->replayed ? vprof_parallel_run(vprof_parallel_count(n_threads), n, replay_item, g) : VPROF_ERR_NOMEM;
	for (size_t i = 0; i < out->v.n && !ret; i++) {
		out->v.v[i].halved = gain(&g->replayed[0], &g->replayed[1 + 2 * i]);
		out->v.v[i].gone = gain(&g->replayed[0], &g->replayed[2 + 2 * i]);
	}
	if (!ret && !g->replayed[0].is_stuck)
		out->fidelity = (double)g->replayed[0].took_ns / (double)(g->program->end - g->program->history->begin);
	free(g->replayed);
	return ret;
}

static int estimate_with(struct vprof_waits_estimates *out, struct estimation *g, const struct vprof_waits_history *h,
			 const struct vprof_waits_graph *graph, const struct vprof_waits_knots *knots,
			 size_t max_segments, int n_threads, enum vprof_waits_cpu_model cpus)
{
	struct vprof_waits_program program = { 0 };
	int ret;

	g->program = &program;
	out->fidelity = NAN;
	out->cpus = (int)cpus;
	ret = vprof_waits_program_build(&program, h, graph, max_segments, cpus);
	if (!ret)
		ret = choose_counted(g, h, graph, knots);
	if (!ret)
		ret = estimate(out, g, n_threads);
	out->replayed = (double)(program.end - h->begin) / (double)(h->end - h->begin);
	vprof_waits_program_release(&program);
	return ret;
}

int vprof_waits_estimate(struct vprof_waits_estimates *out, const struct vprof_waits_history *h,
			 const struct vprof_waits_graph *graph, const struct vprof_waits_knots *knots,
			 size_t max_segments, int n_threads, struct vprof_error *err)
{
	struct estimation g = { .estimates = out, .counts = calloc(h->entities.n + 1, 1) };
	int ret = g.counts ? choose_edges(out, graph, knots) : VPROF_ERR_NOMEM;

	out->fidelity = NAN;
	out->replayed = 0;
	out->cpus = VPROF_WAITS_CPUS_NOT;
	if (!ret && out->v.n) {
		ret = estimate_with(out, &g, h, graph, knots, max_segments, n_threads, VPROF_WAITS_CPUS_SIMULATED);
		if (!ret && !(fabs(out->fidelity - 1) <= VPROF_WAITS_FIDELITY_MAX)) {
			memset(g.counts, 0, h->entities.n);
			ret = estimate_with(out, &g, h, graph, knots, max_segments, n_threads,
					    VPROF_WAITS_CPUS_AS_RECORDED);
		}
	}
	free(g.counts);
	return ret ? vprof_error_set(err, ret, "not enough memory to replay the waits: record a shorter run") :
		     VPROF_OK;
}
