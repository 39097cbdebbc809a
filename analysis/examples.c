/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of the path are shown as they are; calls over all that a thread did in one go, so that a call which waits is
 * one rectangle. What is too much is thinned by length while it is gathered: the shorter half goes whenever the array
 * is full. */
#include "analysis/examples.h"

#include <stdio.h>

#include "analysis/paths/critical_path.h"
#include "analysis/paths/wait_states.h"
#include "analysis/timeline/calls.h"

#define GATHER_MAX 8192
#define CALLS_BYTES ((size_t)32 << 20)
#define DEPTH_MAX 64 /* calls beneath are not shown */

struct shown {
	uint64_t from, to;	/* ticks */
	uint32_t thread, index; /* index of the piece, or code of the call */
	uint16_t depth;
	uint8_t is_call, is_blame;
	uint8_t state; /* enum vprof_wait_state, of a wait */
};

struct gather {
	struct shown v[GATHER_MAX];
	size_t n;
	uint64_t least; /* shorter ones are left out */
	uint64_t n_left_out;
};

struct examples {
	struct vprof_results *r;
	struct vprof_source *sources;
	size_t n_sources;
	const struct vprof_source *source; /* of the example at hand; its timeline, intervals and so on: */
	const struct vprof_timeline *timeline;
	const struct vprof_intervals *intervals;
	struct vprof_path *path;
	const struct vprof_plan *plan;
	struct vprof_calls *calls;
	uint64_t n_calls_read;
	struct gather *g;
	VPROF_ARRAY(struct vprof_piece) own; /* of the interval at hand, by parent and time */
	VPROF_ARRAY(uint16_t) depth, depth_before;
	uint32_t **thread_place; /* [n_sources][n_threads] index in r->threads plus one */
};

static int longer(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	uint64_t dx = x->to - x->from, dy = y->to - y->from;

	return dx != dy ? (dx > dy ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

static int by_place(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->is_call != y->is_call)
		return x->is_call - y->is_call;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->depth - y->depth;
}

static void thin(struct gather *g, size_t n)
{
	if (g->n <= n)
		return;
	qsort(g->v, g->n, sizeof *g->v, longer);
	g->least = g->v[n - 1].to - g->v[n - 1].from;
	g->n_left_out += g->n - n;
	g->n = n;
}

static void gather_add(struct gather *g, const struct shown *s)
{
	if (s->to - s->from < g->least) {
		g->n_left_out++;
		return;
	}
	if (g->n == GATHER_MAX)
		thin(g, GATHER_MAX / 2);
	g->v[g->n++] = *s;
}

/* All calls of a thread in [from, to). The depths follow the stretch as its array moves. */
static int gather_calls(struct examples *e, uint32_t thread, uint64_t from, uint64_t to, int is_blame)
{
	struct vprof_stretch s;
	int more;

	if (thread >= e->timeline->n_threads || e->n_calls_read >= VPROF_EXAMPLE_CALLS_READ || from >= to)
		return 0;
	vprof_stretch_begin(&s, e->calls, thread, &e->timeline->threads[thread].calls, from, to);
	while ((more = vprof_stretch_next(&s)) > 0) {
		if (VPROF_ROOM(&e->depth, s.n + 1) || VPROF_ROOM(&e->depth_before, s.n + 1))
			return VPROF_ERR_NOMEM;
		for (size_t i = 0; i < s.n_kept; i++)
			e->depth_before.v[i] = e->depth.v[s.kept[i]];
		for (size_t i = 0; i < s.n_kept; i++)
			e->depth.v[i] = e->depth_before.v[i];
		for (size_t i = s.n_kept; i < s.n; i++) {
			const struct vprof_stretch_call *c = &s.v[i];
			unsigned depth = c->parent == VPROF_NONE ? 0 : e->depth.v[c->parent] + 1u;

			e->depth.v[i] = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
			if (depth < DEPTH_MAX && c->high > c->low)
				gather_add(e->g, &(struct shown){ c->low, c->high, thread, c->code, (uint16_t)depth, 1,
								  (uint8_t)is_blame, 0 });
			else
				e->g->n_left_out++;
		}
		e->n_calls_read += s.n - s.n_kept;
		if (e->n_calls_read >= VPROF_EXAMPLE_CALLS_READ)
			break;
	}
	return more < 0 ? VPROF_ERR_NOMEM : 0;
}

static int piece_order(const void *a, const void *b)
{
	const struct vprof_piece *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* A piece; a wait in stretches of one state. */
static void gather_piece(struct examples *e, const struct vprof_piece *p, uint32_t index)
{
	struct shown shown = { p->from, p->to, p->thread, index, p->depth, 0, p->parent != VPROF_NONE, VPROF_IN_BLOCK };
	struct vprof_wait_walk walk;
	struct vprof_wait_stretch s;

	if (p->kind != VPROF_PIECE_WAIT) {
		gather_add(e->g, &shown);
		return;
	}
	vprof_wait_walk_begin(&walk, e->timeline, p->thread, &e->timeline->threads[p->thread].waits.v[p->wait], p->from,
			      p->to, NULL);
	shown.to = p->from;
	while (vprof_wait_walk_next(&walk, &s)) {
		if (s.state != shown.state || shown.to == p->from) {
			if (shown.to > shown.from)
				gather_add(e->g, &shown);
			shown.from = s.from;
			shown.state = (uint8_t)s.state;
		}
		shown.to = s.to;
	}
	gather_add(e->g, &shown);
}

static int gather_path(struct examples *e, uint32_t instance)
{
	const struct vprof_piece *pieces;
	size_t n, end;
	int ret = vprof_path_walk(e->path, instance, &pieces, &n);

	e->g->n = 0;
	e->g->least = e->g->n_left_out = 0;
	e->own.n = 0;
	if (!ret && VPROF_ROOM(&e->own, n + 1))
		ret = VPROF_ERR_NOMEM;
	if (ret)
		return ret;
	if (n)
		memcpy(e->own.v, pieces, n * sizeof *pieces);
	e->own.n = n;
	if (vprof_array_sort(e->own.v, n, sizeof *e->own.v, piece_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_piece *p = &e->own.v[i];

		if (p->to > p->from)
			gather_piece(e, p, (uint32_t)i);
	}
	for (size_t i = 0; !ret && i < n; i = end) {
		const struct vprof_piece *p = &e->own.v[i];

		for (end = i + 1;
		     end < n && e->own.v[end].parent == p->parent && e->own.v[end].thread == p->thread &&
		     e->own.v[end].kind != VPROF_PIECE_QUEUED && e->own.v[end].from == e->own.v[end - 1].to;
		     end++)
			;
		if (p->kind != VPROF_PIECE_QUEUED)
			ret = gather_calls(e, p->thread, p->from, e->own.v[end - 1].to, p->parent != VPROF_NONE);
		else
			end = i + 1;
	}
	return ret;
}

/* Place of a thread in r->threads; VPROF_NONE without memory. */
static uint32_t thread_of(struct examples *e, uint32_t thread)
{
	const struct vprof_thread_timeline *thr = &e->timeline->threads[thread];
	uint32_t *place = &e->thread_place[e->source - e->sources][thread];
	struct vprof_results *r = e->r;
	char name[64];

	if (*place)
		return *place - 1;
	snprintf(name, sizeof name, thr->pid == thr->tid ? "process %u" : "thread %u", thr->tid);
	r->threads[r->n_threads].name = vprof_results_string(r, name);
	if (!r->threads[r->n_threads].name)
		return VPROF_NONE;
	*place = (uint32_t)++r->n_threads;
	return (uint32_t)r->n_threads - 1;
}

static const char *call_name(struct examples *e, uint32_t code)
{
	const struct vprof_probe *probe = e->plan ? vprof_plan_probe(e->plan, code) : NULL;
	char number[32];

	if (probe && probe->display && *probe->display)
		return vprof_results_string(e->r, probe->display);
	snprintf(number, sizeof number, "code %u", code);
	return vprof_results_string(e->r, number);
}

static int show(struct examples *e, const struct shown *s, uint64_t begin, struct vprof_shown_piece *out)
{
	static const enum vprof_shown_kind kinds[] = {
		[VPROF_PIECE_RUN] = VPROF_SHOWN_RUN, [VPROF_PIECE_QUEUED] = VPROF_SHOWN_QUEUED
	};
	static const enum vprof_shown_kind waits[] = { [VPROF_IN_BLOCK] = VPROF_SHOWN_WAIT,
						       [VPROF_IN_KERNEL] = VPROF_SHOWN_KERNEL,
						       [VPROF_IN_IO] = VPROF_SHOWN_IO,
						       [VPROF_IN_PREEMPTED] = VPROF_SHOWN_PREEMPTED };
	const struct vprof_piece *p = s->is_call ? NULL : &e->own.v[s->index];
	const struct vprof_thread_timeline *thr =
		s->thread < e->timeline->n_threads ? &e->timeline->threads[s->thread] : NULL;
	const char *name = "";
	char object[32] = "";

	*out = (struct vprof_shown_piece){ .from_ns = (double)(s->from - begin) * e->timeline->ns_per_tick,
					   .to_ns = (double)(s->to - begin) * e->timeline->ns_per_tick,
					   .kind = !p			       ? VPROF_SHOWN_CALL :
						   p->kind == VPROF_PIECE_WAIT ? waits[s->state] :
										 kinds[p->kind],
					   .depth = s->depth,
					   .is_blame = s->is_blame };
	if (thr && (!p || p->kind != VPROF_PIECE_QUEUED)) {
		out->thread = thread_of(e, s->thread);
		if (out->thread == VPROF_NONE)
			return VPROF_ERR_NOMEM;
	}
	if (s->is_call) {
		name = call_name(e, s->index);
	} else if (p->kind == VPROF_PIECE_WAIT && thr && p->wait < thr->waits.n) {
		const struct vprof_wait *w = &thr->waits.v[p->wait];

		if (w->name < e->timeline->n_names)
			name = vprof_results_string(e->r, e->timeline->names[w->name]);
		if (w->object && w->waker != VPROF_NONE)
			snprintf(object, sizeof object, "0x%llx", (unsigned long long)w->object);
	}
	out->name = name;
	out->object = vprof_results_string(e->r, object);
	return out->name && out->object ? 0 : VPROF_ERR_NOMEM;
}

static int add(struct examples *e, enum vprof_example_why why, unsigned rank, uint32_t instance)
{
	const struct vprof_instance *inst = &e->intervals->instances.v[instance];
	struct vprof_results *r = e->r;
	struct vprof_example *x = &r->examples[r->n_examples];
	struct vprof_shown_piece *room;
	int ret = gather_path(e, instance);

	if (ret)
		return ret;
	thin(e->g, VPROF_EXAMPLE_PIECES);
	qsort(e->g->v, e->g->n, sizeof *e->g->v, by_place);
	room = realloc(r->pieces, (r->n_pieces + e->g->n + 1) * sizeof *room);
	if (!room)
		return VPROF_ERR_NOMEM;
	r->pieces = room;
	*x = (struct vprof_example){
		.why = why,
		.rank = rank,
		.latency_ns = (double)(inst->end - inst->begin) * e->timeline->ns_per_tick,
		.at_ns = e->source->from_ns +
			 (inst->begin > e->source->start ?
				  (double)(inst->begin - e->source->start) * e->timeline->ns_per_tick :
				  0),
		.type = inst->type_kind ? vprof_type_name(r, e->timeline, inst->type_kind, inst->type) : "",
		.first_piece = (uint32_t)r->n_pieces,
		.n_left_out = e->g->n_left_out
	};
	if (!x->type)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; !ret && i < e->g->n; i++)
		ret = show(e, &e->g->v[i], inst->begin, &r->pieces[r->n_pieces++]);
	x->n_pieces = (uint32_t)(r->n_pieces - x->first_piece);
	r->n_examples++;
	return ret;
}

static const struct pick {
	enum vprof_example_why why;
	double at; /* part of the intervals that are slower */
	unsigned n;
} picks[] = { { VPROF_EXAMPLE_SLOWEST, 0, 8 },
	      { VPROF_EXAMPLE_P99, 0.01, 3 },
	      { VPROF_EXAMPLE_P90, 0.1, 3 },
	      { VPROF_EXAMPLE_MEDIAN, 0.5, 3 },
	      { VPROF_EXAMPLE_FASTEST, 1, 1 } };

#define N_PICKS (sizeof picks / sizeof *picks)
#define EXAMPLES_MAX 18

/* The interval's source becomes the one at hand; its instance, VPROF_NONE without memory. */
static uint32_t turn_to(struct examples *e, size_t interval)
{
	struct vprof_source *s = e->sources;

	while (interval >= s->first + s->chosen.n)
		s++;
	if (e->source != s) {
		vprof_calls_free(e->calls);
		vprof_path_free(e->path);
		e->path = NULL;
		e->calls = vprof_calls_new(s->timeline->n_threads, CALLS_BYTES);
		if (!e->calls || vprof_source_connect(s, NULL) || vprof_path_new(&e->path, s->edges, NULL))
			return VPROF_NONE;
		e->source = s;
		e->timeline = s->timeline;
		e->intervals = s->intervals;
	}
	return s->chosen.v[interval - s->first];
}

static int add_picks(struct examples *e, const struct vprof_interval_attributes *t)
{
	size_t taken = 0; /* intervals before this one are shown already */

	for (size_t w = 0; w < N_PICKS; w++) {
		size_t first = (size_t)(picks[w].at * (double)(t->n - 1));

		first = first + picks[w].n > t->n ? (t->n > picks[w].n ? t->n - picks[w].n : 0) : first;
		for (unsigned k = 0; k < picks[w].n && first + k < t->n; k++) {
			uint32_t instance;

			if (first + k < taken)
				continue;
			instance = turn_to(e, t->slowest[first + k]);
			if (instance == VPROF_NONE || add(e, picks[w].why, k + 1, instance))
				return VPROF_ERR_NOMEM;
			taken = first + k + 1;
		}
	}
	return 0;
}

int vprof_examples_fill(struct vprof_results *r, struct vprof_source *sources, size_t n_sources,
			const struct vprof_plan *plan, const struct vprof_interval_attributes *attributes)
{
	struct examples e = { .r = r, .sources = sources, .n_sources = n_sources, .plan = plan };
	size_t n_threads = 0;
	int ret = VPROF_ERR_NOMEM;

	e.g = malloc(sizeof *e.g);
	e.thread_place = calloc(n_sources + 1, sizeof(uint32_t *));
	for (size_t i = 0; i < n_sources && e.thread_place; i++) {
		e.thread_place[i] = calloc(sources[i].timeline->n_threads + 1, sizeof(uint32_t));
		if (!e.thread_place[i])
			goto out;
		n_threads += sources[i].timeline->n_threads;
	}
	r->examples = calloc(EXAMPLES_MAX, sizeof *r->examples);
	r->pieces = calloc(1, sizeof *r->pieces);
	r->threads = calloc(n_threads + 1, sizeof *r->threads);
	if (!e.g || !e.thread_place || !r->examples || !r->pieces || !r->threads)
		goto out;
	ret = attributes->n ? add_picks(&e, attributes) : 0;
out:
	for (size_t i = 0; i < n_sources && e.thread_place; i++)
		free(e.thread_place[i]);
	free(e.thread_place);
	vprof_calls_free(e.calls);
	vprof_path_free(e.path);
	free(e.g);
	VPROF_ARRAY_RELEASE(&e.own);
	VPROF_ARRAY_RELEASE(&e.depth);
	VPROF_ARRAY_RELEASE(&e.depth_before);
	return ret;
}
