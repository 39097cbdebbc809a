/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces come with their parents before them, so a piece's chain is its parent's and itself. Sums are of whole ticks:
 * they do not depend on who adds them. */
#include "analysis/join/knot_times.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/paths/critical_path.h"
#include "analysis/timeline/edges/wake_class.h"
#include "common/parallel.h"
#include "common/search.h"

#define BATCH 256
#define ALL UINT32_MAX /* ticks' unit of a fraction: 2^32 - 1 of it are the whole */

struct piece_state {
	uint32_t chain;			     /* knots that its chain passes through, a bit each */
	uint32_t part[VPROF_KNOT_TIMES_MAX]; /* of ALL: of its own ticks, where the chain does not tell */
	uint64_t children;		     /* ticks that pieces beneath explain */
};

struct walker {
	struct vprof_path *path;
	VPROF_ARRAY(struct piece_state) states;
	vprof_knot_waits waits; /* by name and object */
};

struct filling {
	struct vprof_knot_times *out;
	const struct vprof_waits *waits;
	const struct vprof_source *source;
	uint32_t *knots_of_vertex; /* [n vertices] a bit for each */
	uint32_t *entity_of;	   /* [n threads of the timeline]; VPROF_NONE: not in the history */
	struct walker *walkers;
};

/* The entity that has its segments: itself, or the virtual thread that it became part of; VPROF_NONE: none. */
static uint32_t merged(const struct vprof_waits_history *h, uint32_t entity)
{
	if (entity >= h->entities.n)
		return VPROF_NONE;
	return h->entities.v[entity].merged_into ? h->entities.v[entity].merged_into - 1 : entity;
}

static uint32_t knots_of_entity(const struct filling *f, uint32_t entity)
{
	uint32_t at = merged(f->waits->history, entity), vertex;

	if (at == VPROF_NONE)
		return 0;
	vertex = f->waits->graph.vertex_of[at];
	return vertex < f->waits->graph.vertices.n ? f->knots_of_vertex[vertex] : 0;
}

static uint32_t knots_of_thread(const struct filling *f, uint32_t thread)
{
	return thread < f->source->timeline->n_threads ? knots_of_entity(f, f->entity_of[thread]) : 0;
}

/* A wait that no thread of the timeline ended: the history tells who ended each part of it. */
static void look_up(const struct filling *f, const struct vprof_piece *p, struct piece_state *s)
{
	const struct vprof_waits_history *h = f->waits->history;
	const struct vprof_trace *trace = f->source->timeline->trace;
	uint32_t entity = merged(h, f->entity_of[p->thread]);
	uint64_t from = vprof_waits_time(vprof_trace_ns(trace, p->from)),
		 to = vprof_waits_time(vprof_trace_ns(trace, p->to));
	uint64_t ns[VPROF_KNOT_TIMES_MAX] = { 0 };
	const struct vprof_waits_entity *e;
	size_t i;

	if (entity == VPROF_NONE || from >= to)
		return;
	e = &h->entities.v[entity];
	i = VPROF_BISECT(e->segments.n, k, e->segments.v[k].to <= from);
	for (; i < e->segments.n && e->segments.v[i].from < to; i++) {
		const struct vprof_waits_segment *g = &e->segments.v[i];
		uint64_t a = g->from > from ? g->from : from, b = g->to < to ? g->to : to;
		uint32_t knots = g->state == VPROF_WAITS_BLOCKED ? knots_of_entity(f, g->waker) : 0;

		for (size_t k = 0; k < f->out->n_knots; k++)
			ns[k] += knots >> k & 1 ? b - a : 0;
	}
	for (size_t k = 0; k < f->out->n_knots; k++)
		s->part[k] = (uint32_t)((double)ns[k] / (double)(to - from) * (double)ALL);
}

static void judge_piece(const struct filling *f, const struct vprof_piece *p, const struct piece_state *parent,
			struct piece_state *s)
{
	const struct vprof_wait *w;

	*s = (struct piece_state){ .chain = parent ? parent->chain | knots_of_thread(f, p->thread) : 0 };
	if (p->kind == VPROF_PIECE_QUEUED)
		s->chain |= knots_of_thread(f, p->thread); /* the one that takes the interval up */
	if (p->kind != VPROF_PIECE_WAIT)
		return;
	w = &f->source->timeline->threads[p->thread].waits.v[p->wait];
	if (w->waker != VPROF_NONE)
		s->chain |= knots_of_thread(f, w->waker);
	else
		look_up(f, p, s);
}

static struct vprof_knot_wait *find_wait(vprof_knot_waits *waits, uint32_t name, uint64_t object)
{
	const struct vprof_knot_wait *v = waits->v;
	size_t at = VPROF_BISECT(waits->n, i, v[i].name < name || (v[i].name == name && v[i].object < object));
	struct vprof_knot_wait *slot;

	if (at < waits->n && v[at].name == name && v[at].object == object)
		return &waits->v[at];
	if (!VPROF_PUSH(waits))
		return NULL;
	slot = &waits->v[at];
	memmove(slot + 1, slot, (waits->n - 1 - at) * sizeof *slot);
	*slot = (struct vprof_knot_wait){ .name = name, .object = object };
	return slot;
}

/* The piece of the interval's own thread that a piece lies beneath: waits are told by these. */
static int count_wait(const struct filling *f, struct walker *walker, const struct vprof_piece *pieces, size_t i,
		      const uint64_t *through, uint64_t own)
{
	const struct vprof_piece *p;
	struct vprof_knot_wait *wait;
	uint32_t name = VPROF_NONE;
	uint64_t object = 0;

	while (pieces[i].parent != VPROF_NONE)
		i = pieces[i].parent;
	p = &pieces[i];
	if (p->kind == VPROF_PIECE_RUN)
		return VPROF_OK;
	if (p->kind == VPROF_PIECE_WAIT) {
		const struct vprof_wait *w = &f->source->timeline->threads[p->thread].waits.v[p->wait];

		name = w->name;
		object = vprof_wait_has_waker(w->kind) ? w->object : 0;
	}
	wait = find_wait(&walker->waits, name, object);
	if (!wait)
		return VPROF_ERR_NOMEM;
	wait->ticks += own;
	for (size_t k = 0; k < f->out->n_knots; k++)
		wait->through_ticks[k] += (int64_t)through[k];
	return VPROF_OK;
}

static int add_interval(struct filling *f, struct walker *w, size_t interval)
{
	size_t n_knots = f->out->n_knots, n;
	uint64_t through[VPROF_KNOT_TIMES_MAX] = { 0 }, own[VPROF_KNOT_TIMES_MAX] = { 0 };
	double ns_per_tick = f->source->timeline->ns_per_tick;
	const struct vprof_piece *pieces;
	int ret = vprof_path_walk(w->path, f->source->chosen.v[interval], &pieces, &n);

	w->states.n = 0;
	if (ret || VPROF_ROOM(&w->states, n))
		return ret ? ret : VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_piece *p = &pieces[i];
		struct piece_state *parent = p->parent == VPROF_NONE ? NULL : &w->states.v[p->parent];

		if (parent)
			parent->children += p->to - p->from;
		judge_piece(f, p, parent, &w->states.v[i]);
	}
	for (size_t i = 0; i < n && !ret; i++) {
		const struct piece_state *s = &w->states.v[i];
		uint64_t all = pieces[i].to - pieces[i].from, ticks = all > s->children ? all - s->children : 0;
		uint64_t passed[VPROF_KNOT_TIMES_MAX] = { 0 };
		uint32_t members = pieces[i].parent == VPROF_NONE && pieces[i].kind == VPROF_PIECE_RUN ?
					   knots_of_thread(f, pieces[i].thread) :
					   0;

		for (size_t k = 0; k < n_knots; k++) {
			passed[k] = s->chain >> k & 1 ? ticks :
							(uint64_t)((double)ticks * (double)s->part[k] / (double)ALL);
			through[k] += passed[k];
			own[k] += members >> k & 1 ? ticks : 0;
		}
		ret = count_wait(f, w, pieces, i, passed, ticks);
	}
	for (size_t k = 0; k < n_knots; k++) {
		f->out->through_ns[interval * n_knots + k] = (double)through[k] * ns_per_tick;
		f->out->own_ns[interval * n_knots + k] = (double)own[k] * ns_per_tick;
	}
	return ret;
}

static int add_batch(void *arg, int worker, size_t batch)
{
	struct filling *f = arg;
	struct walker *w = &f->walkers[worker];
	size_t end = (batch + 1) * BATCH < f->out->n_intervals ? (batch + 1) * BATCH : f->out->n_intervals;
	int ret = w->path ? 0 : vprof_path_new(&w->path, f->source->edges, NULL);

	for (size_t i = batch * BATCH; i < end && !ret; i++)
		ret = add_interval(f, w, i);
	return ret;
}

/* Threads of the kernel's events are known by their number, as long as they live. */
static void find_entities(struct filling *f, int is_kernel)
{
	const struct vprof_timeline *timeline = f->source->timeline;
	const struct vprof_waits_history *h = f->waits->history;

	for (uint32_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &timeline->threads[i];
		double middle = vprof_trace_ns(timeline->trace, thr->t_first + (thr->t_last - thr->t_first) / 2);

		f->entity_of[i] = is_kernel ? VPROF_NONE : i;
		for (uint32_t e = 0; is_kernel && e < h->entities.n; e++) {
			const struct vprof_waits_entity *entity = &h->entities.v[e];

			if (entity->kind == VPROF_WAITS_THREAD && entity->tid == thr->tid && !entity->n_merged &&
			    middle >= (double)entity->born && middle <= (double)entity->ended)
				f->entity_of[i] = e;
		}
	}
}

static int join_waits(struct filling *f, int n_workers)
{
	for (int i = 0; i < n_workers; i++)
		for (size_t k = 0; k < f->walkers[i].waits.n; k++) {
			const struct vprof_knot_wait *from = &f->walkers[i].waits.v[k];
			struct vprof_knot_wait *to = find_wait(&f->out->waits, from->name, from->object);

			if (!to)
				return VPROF_ERR_NOMEM;
			to->ticks += from->ticks;
			for (size_t g = 0; g < VPROF_KNOT_TIMES_MAX; g++)
				to->through_ticks[g] += from->through_ticks[g];
		}
	return VPROF_OK;
}

int vprof_knot_times_fill(struct vprof_knot_times *out, const struct vprof_waits_results *r,
			  const struct vprof_waits *waits, const struct vprof_source *source, int is_kernel,
			  int n_threads)
{
	struct filling f = { .out = out, .waits = waits, .source = source };
	size_t n = source->chosen.n, n_batches = (n + BATCH - 1) / BATCH;
	int n_workers = vprof_parallel_count(n_threads), ret = VPROF_ERR_NOMEM;

	*out = (struct vprof_knot_times){ .n_intervals = n };
	while (out->n_knots < r->n_groups && out->n_knots < VPROF_KNOT_TIMES_MAX &&
	       r->groups[out->n_knots].verdict != VPROF_WAITS_ASIDE)
		out->n_knots++;
	out->through_ns = calloc(n * out->n_knots + 1, sizeof *out->through_ns);
	out->own_ns = calloc(n * out->n_knots + 1, sizeof *out->own_ns);
	f.knots_of_vertex = calloc(waits->graph.vertices.n + 1, sizeof *f.knots_of_vertex);
	f.entity_of = calloc(source->timeline->n_threads + 1, sizeof *f.entity_of);
	f.walkers = calloc((size_t)n_workers, sizeof *f.walkers);
	if (out->through_ns && out->own_ns && f.knots_of_vertex && f.entity_of && f.walkers) {
		for (uint32_t k = 0; k < out->n_knots; k++)
			for (size_t i = 0; i < r->groups[k].n_parties; i++)
				f.knots_of_vertex[r->groups[k].parties[i]] |= UINT32_C(1) << k;
		find_entities(&f, is_kernel);
		ret = vprof_parallel_run(n_workers, n_batches, add_batch, &f);
		ret = ret ? ret : join_waits(&f, n_workers);
	}
	for (int i = 0; i < n_workers && f.walkers; i++) {
		vprof_path_free(f.walkers[i].path);
		VPROF_ARRAY_RELEASE(&f.walkers[i].states);
		VPROF_ARRAY_RELEASE(&f.walkers[i].waits);
	}
	free(f.walkers);
	free(f.knots_of_vertex);
	free(f.entity_of);
	return ret;
}

void vprof_knot_times_release(struct vprof_knot_times *times)
{
	free(times->through_ns);
	free(times->own_ns);
	VPROF_ARRAY_RELEASE(&times->waits);
	*times = (struct vprof_knot_times){ 0 };
}
