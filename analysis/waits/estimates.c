/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See estimates.h. Knots never wait for one another, so each has a throughput of its own: how long its own work takes
 * in the replay. Replays of different edges run side by side; one more for each knot is the recording as it was. */
#include "analysis/waits/estimates.h"

#include <math.h>
#include <stdatomic.h>

#include "analysis/waits/foreign.h"
#include "analysis/waits/replay_scope.h"
#include "analysis/waits/wait_replay.h"
#include "common/parallel.h"
#include "common/search.h"

/* Shares of its time that a thread may wait for what the recording does not explain: outside of knots; and in one,
 * where a thread that waits so for more does next to nothing else. */
#define PACED_MAX 0.2
#define PACED_KNOT_MAX 0.95

enum { CHANGES = 3 }; /* at most, of one edge */

struct item { /* one replay */
	uint32_t group;
	struct vprof_waits_change change;
	struct vprof_waits_replayed replayed;
};

struct group { /* a knot and who waits for it */
	uint32_t knot;
	unsigned char *counts, *matters; /* [n entities] */
};

struct estimation {
	struct vprof_waits_estimates *out;
	const struct vprof_waits_program *program;
	const struct vprof_waits_history *history;
	const struct vprof_waits_graph *graph;
	const struct vprof_waits_reasons *reasons;
	const struct vprof_waits_knots *knots;
	unsigned char *in_knot; /* [n vertices] of any */
	VPROF_ARRAY(struct group) groups;
	struct item *items;
	size_t n_items, first_item; /* first_item: of those that are being replayed */
	double most_off;	    /* fidelity; INFINITY: whatever it is */
	_Atomic int is_off;	    /* further than that, in some knot: nothing more needs to be replayed */
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
static int choose_edge(struct vprof_waits_estimates *out, const struct vprof_waits_graph *graph, uint32_t edge,
		       uint32_t knot)
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
	out->v.v[at] = (struct vprof_waits_estimate){ edge, knot, NAN, NAN, NAN };
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
			 const struct vprof_waits_knots *knots, uint32_t number)
{
	const struct vprof_waits_knot *knot = &knots->knots.v[number];

	for (uint32_t i = 0; i < knot->n_vertices; i++) {
		uint32_t v = knots->vertices.v[knot->first_vertex + i];
		size_t e = VPROF_BISECT(graph->edges.n, k, graph->edges.v[k].from < v);

		for (; e < graph->edges.n && graph->edges.v[e].from == v; e++)
			if (vprof_waits_is_sleep(graph, (uint32_t)e) && choose_edge(out, graph, (uint32_t)e, number))
				return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

static int choose_edges(struct vprof_waits_estimates *out, const struct vprof_waits_graph *graph,
			const struct vprof_waits_knots *knots)
{
	for (uint32_t k = 0; k < knots->knots.n; k++) {
		const struct vprof_waits_knot *knot = &knots->knots.v[k];

		if (choose_sleeps(out, graph, knots, k))
			return VPROF_ERR_NOMEM;
		for (uint32_t i = 0; i < knot->n_edges && knot->end != VPROF_WAITS_BACKGROUND; i++) {
			uint32_t e = knots->edges.v[knot->first_edge + i];

			if (!graph->edges.v[e].is_idle && choose_edge(out, graph, e, k))
				return VPROF_ERR_NOMEM;
		}
	}
	return out->v.n && vprof_array_sort(out->v.v, out->v.n, sizeof *out->v.v, by_edge) ? VPROF_ERR_NOMEM : VPROF_OK;
}

static int is_of_disk(const struct vprof_waits_graph *graph, uint32_t edge)
{
	return graph->vertices.v[graph->edges.v[edge].to].kind == VPROF_WAITS_DISK;
}

/* Marks the vertices of the knot by 2, and by 1 those that wait for it, directly or not, for a share of the recording
 * that matters. Vertices of other knots are left out: they wait for nobody else. */
static void mark_dependants(unsigned char *mark, const struct estimation *g, const struct vprof_waits_knot *knot)
{
	const struct vprof_waits_graph *graph = g->graph;
	double least_ns = VPROF_WAITS_FOREIGN_SHARE * (double)graph->length_ns;
	int is_new = 1;

	memset(mark, 0, graph->vertices.n);
	for (uint32_t i = 0; i < knot->n_vertices; i++)
		mark[g->knots->vertices.v[knot->first_vertex + i]] = 2;
	while (is_new) { /* as often as the longest chain is long */
		is_new = 0;
		for (size_t e = 0; e < graph->edges.n; e++) {
			const struct vprof_waits_edge *x = &graph->edges.v[e];

			if (!mark[x->to] || mark[x->from] || g->in_knot[x->from] || (double)x->own_ns < least_ns)
				continue;
			mark[x->from] = 1;
			is_new = 1;
		}
	}
}

/* Leaves out threads that are paced for more than a share of their time, by what is not explained or by threads that
 * are left out. True when it left out any. */
static int leave_out_paced(unsigned char *counts, const struct estimation *g, const unsigned char *mark,
			   uint64_t *paced_ns)
{
	const struct vprof_waits_program *p = g->program;
	double length = (double)(p->end - g->history->begin);
	int is_new = 0;

	for (size_t e = 0; e < g->history->entities.n; e++)
		paced_ns[e] = p->paced_ns[e] + (counts[e] && mark[g->graph->vertex_of[e]] == 2 ? 0 : p->answered_ns[e]);
	for (size_t i = 0; i < p->waits.n; i++) {
		const struct vprof_waits_wait *w = &p->waits.v[i];

		if (w->ended_by == VPROF_WAITS_BY_THREAD && counts[w->thread] && !counts[w->waker])
			paced_ns[w->thread] += w->length_ns;
	}
	for (size_t e = 0; e < g->history->entities.n; e++) {
		double most;

		if (!counts[e])
			continue;
		most = mark[g->graph->vertex_of[e]] == 2 ? PACED_KNOT_MAX : PACED_MAX;
		if ((double)paced_ns[e] > most * length) {
			counts[e] = 0;
			is_new = 1;
		}
	}
	return is_new;
}

/* Whose work must be done for the end of a replay. */
static int choose_counted(struct group *group, const struct estimation *g)
{
	const struct vprof_waits_history *h = g->history;
	unsigned char *mark = malloc(g->graph->vertices.n + 1);
	uint64_t *paced_ns = malloc((h->entities.n + 1) * sizeof *paced_ns);
	int ret = VPROF_ERR_NOMEM;

	free(group->counts);
	free(group->matters);
	group->counts = calloc(h->entities.n + 1, 1);
	group->matters = calloc(h->entities.n + 1, 1);
	if (mark && paced_ns && group->counts && group->matters) {
		mark_dependants(mark, g, &g->knots->knots.v[group->knot]);
		for (uint32_t e = 0; e < h->entities.n; e++)
			group->counts[e] = h->entities.v[e].segments.n && g->graph->vertex_of[e] != VPROF_NONE &&
					   mark[g->graph->vertex_of[e]];
		while (leave_out_paced(group->counts, g, mark, paced_ns))
			;
		ret = vprof_waits_replay_scope(group->matters, g->program, g->reasons, group->counts);
	}
	free(mark);
	free(paced_ns);
	return ret;
}

/* When all that counts was done in the recording. */
static uint64_t recorded_end(const struct estimation *g, const unsigned char *counts)
{
	const struct vprof_waits_history *h = g->history;
	uint64_t end = h->begin, limit = g->program->end;

	for (uint32_t e = 0; e < h->entities.n; e++) {
		size_t n = counts[e] ? h->entities.v[e].segments.n : 0;

		for (; n && end < limit; n--) {
			const struct vprof_waits_segment *s = &h->entities.v[e].segments.v[n - 1];

			if (s->from < limit && (s->state != VPROF_WAITS_BLOCKED || s->waker != VPROF_NONE)) {
				end = s->to > end ? s->to : end;
				break;
			}
		}
	}
	for (size_t i = 0; i < h->requests.n; i++) {
		const struct vprof_waits_request *r = &h->requests.v[i];

		if (r->thread != VPROF_NONE && counts[r->thread] && r->issue < limit && r->complete > end)
			end = r->complete;
	}
	return end < limit ? end : limit;
}

/* Of the unchanged replay of a group: NaN when nothing counts. */
static double fidelity(const struct estimation *g, size_t group)
{
	const struct vprof_waits_replayed *r = &g->items[group].replayed;
	uint64_t end = recorded_end(g, g->groups.v[group].counts), begin = g->history->begin;

	if (end <= begin)
		return NAN;
	return r->is_stuck ? INFINITY : (double)r->took_ns / (double)(end - begin);
}

static int replay_item(void *arg, int worker, size_t item)
{
	struct estimation *g = arg;
	struct item *x = &g->items[g->first_item + item];
	const struct group *group = &g->groups.v[x->group];
	int ret;

	(void)worker;
	if (atomic_load(&g->is_off))
		return VPROF_OK;
	ret = vprof_waits_replay(&x->replayed, g->program, &x->change, group->counts, group->matters);
	if (!ret && x->change.edge == VPROF_NONE && !isinf(g->most_off) &&
	    fabs(fidelity(g, x->group) - 1) > g->most_off)
		atomic_store(&g->is_off, 1);
	return ret;
}

static void add_item(struct estimation *g, uint32_t group, uint32_t edge, double share, int is_saved)
{
	g->items[g->n_items++] = (struct item){ .group = group, .change = { edge, share, is_saved } };
}

static double gain(const struct vprof_waits_replayed *before, const struct vprof_waits_replayed *after)
{
	if (before->is_stuck || after->is_stuck || !before->took_ns || !after->took_ns)
		return NAN;
	return (double)before->took_ns / (double)after->took_ns - 1;
}

/* Items are in this order: unchanged for each group; of each estimate halved, gone and, of disks, saved. */
static void make_items(struct estimation *g)
{
	g->n_items = 0;
	for (uint32_t i = 0; i < g->groups.n; i++)
		add_item(g, i, VPROF_NONE, 1, 0);
	for (size_t i = 0; i < g->out->v.n; i++) {
		uint32_t edge = g->out->v.v[i].edge, group = 0;

		while (g->groups.v[group].knot != g->out->v.v[i].knot)
			group++;
		add_item(g, group, edge, 0.5, 0);
		add_item(g, group, edge, 0, 0);
		if (is_of_disk(g->graph, edge))
			add_item(g, group, edge, 0, 1);
	}
}

/* The fidelity is that of the knot where it is worst. Knots of which nothing counts, such as a thread that does nothing
 * but sleep, have none, and no gains. */
static void take_fidelity(struct estimation *g)
{
	g->out->fidelity = NAN;
	for (size_t i = 0; i < g->groups.n; i++) {
		double own = fidelity(g, i);

		if (!isnan(own) && !(fabs(own - 1) <= fabs(g->out->fidelity - 1)))
			g->out->fidelity = own;
	}
}

static void take_gains(struct estimation *g)
{
	const struct item *x = g->items + g->groups.n;

	for (size_t i = 0; i < g->out->v.n; i++) {
		struct vprof_waits_estimate *e = &g->out->v.v[i];
		const struct vprof_waits_replayed *before = &g->items[x->group].replayed;

		e->halved = gain(before, &x++->replayed);
		e->gone = gain(before, &x++->replayed);
		if (is_of_disk(g->graph, e->edge))
			e->saved = gain(before, &x++->replayed);
	}
}

static int replay_items(struct estimation *g, size_t first, size_t end, int n_threads)
{
	g->first_item = first;
	return vprof_parallel_run(vprof_parallel_count(n_threads), end - first, replay_item, g);
}

/* Changes are replayed only if the unchanged recording is replayed as true as `most_off` says. */
static int estimate_with(struct estimation *g, size_t max_segments, int n_threads, enum vprof_waits_cpu_model cpus,
			 double most_off, int *is_true)
{
	struct vprof_waits_program program = { 0 };
	int ret = vprof_waits_program_build(&program, g->history, g->graph, max_segments, cpus);

	g->program = &program;
	g->most_off = most_off;
	atomic_store(&g->is_off, 0);
	g->out->cpus = cpus;
	for (size_t i = 0; i < g->groups.n && !ret; i++)
		ret = choose_counted(&g->groups.v[i], g);
	make_items(g);
	if (!ret)
		ret = replay_items(g, 0, g->groups.n, n_threads);
	if (!ret && !atomic_load(&g->is_off))
		take_fidelity(g);
	*is_true = !atomic_load(&g->is_off) && fabs(g->out->fidelity - 1) <= most_off;
	if (!ret && (*is_true || isinf(most_off)))
		ret = replay_items(g, g->groups.n, g->n_items, n_threads);
	if (!ret && (*is_true || isinf(most_off)))
		take_gains(g);
	g->out->replayed = (double)(program.end - g->history->begin) / (double)(g->history->end - g->history->begin);
	vprof_waits_program_release(&program);
	return ret;
}

/* The knots of which there is something to estimate. */
static int find_groups(struct estimation *g)
{
	for (size_t k = 0; k < g->knots->knots.n; k++) {
		const struct vprof_waits_knot *knot = &g->knots->knots.v[k];
		size_t i = 0;

		for (uint32_t v = 0; v < knot->n_vertices; v++)
			g->in_knot[g->knots->vertices.v[knot->first_vertex + v]] = 1;
		while (i < g->out->v.n && g->out->v.v[i].knot != k)
			i++;
		if (i == g->out->v.n)
			continue;
		if (!VPROF_PUSH(&g->groups))
			return VPROF_ERR_NOMEM;
		g->groups.v[g->groups.n - 1].knot = (uint32_t)k;
	}
	g->items = calloc(g->groups.n + CHANGES * g->out->v.n + 1, sizeof *g->items);
	return g->items ? VPROF_OK : VPROF_ERR_NOMEM;
}

int vprof_waits_estimate(struct vprof_waits_estimates *out, const struct vprof_waits_history *h,
			 const struct vprof_waits_reasons *reasons, const struct vprof_waits_graph *graph,
			 const struct vprof_waits_knots *knots, size_t max_segments, int n_threads,
			 struct vprof_error *err)
{
	struct estimation g = { .out = out, .history = h, .reasons = reasons, .graph = graph, .knots = knots };
	int ret = choose_edges(out, graph, knots), is_true = 1;

	out->fidelity = NAN;
	out->replayed = 0;
	out->cpus = VPROF_WAITS_CPUS_NOT;
	g.in_knot = calloc(graph->vertices.n + 1, 1);
	if (!ret)
		ret = g.in_knot ? find_groups(&g) : VPROF_ERR_NOMEM;
	if (!ret && out->v.n) {
		ret = estimate_with(&g, max_segments, n_threads, VPROF_WAITS_CPUS_SIMULATED, VPROF_WAITS_FIDELITY_MAX,
				    &is_true);
		if (!ret && !is_true)
			ret = estimate_with(&g, max_segments, n_threads, VPROF_WAITS_CPUS_AS_RECORDED, INFINITY,
					    &is_true);
	}
	for (size_t i = 0; i < g.groups.n; i++) {
		free(g.groups.v[i].counts);
		free(g.groups.v[i].matters);
	}
	VPROF_ARRAY_RELEASE(&g.groups);
	free(g.in_knot);
	free(g.items);
	return ret ? vprof_error_set(err, ret, "not enough memory to replay the waits: record a shorter run") :
		     VPROF_OK;
}
