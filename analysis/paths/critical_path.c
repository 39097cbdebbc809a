/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Algorithm 2 without recursion: an outer loop follows the interval backwards over edges (edges.h) from segment to
 * segment, and a stack of windows has the wakers' time that is still to be cut into pieces. */
#include "analysis/paths/critical_path.h"

#include "analysis/timeline/edges/lock_holders.h"

#define DEPTH_MAX 64	  /* of waits beneath waits */
#define STILL_HOPS_MAX 64 /* steps of the walk that do not go back in time */
#define CONVOY_MAX 64	  /* waiters of one lock, one behind the other, that are skipped on the way to its holder */

struct window {
	uint64_t from, to;
	uint32_t thread, parent;
	uint32_t convoy; /* waits for the parent's own lock between the parent and this thread */
};

struct vprof_path {
	const struct vprof_edges *edges;
	const struct vprof_timeline *timeline;
	const struct vprof_intervals *intervals;
	size_t *wait_hint; /* [n_threads] */
	size_t holder_hint;
	VPROF_ARRAY(struct vprof_piece) pieces;
	VPROF_ARRAY(struct window) windows;
	VPROF_ARRAY(struct vprof_hop) hops;
};

int vprof_path_new(struct vprof_path **out, const struct vprof_edges *edges, struct vprof_error *err)
{
	struct vprof_path *p = calloc(1, sizeof *p);

	*out = NULL;
	if (p) {
		p->edges = edges;
		p->timeline = vprof_edges_timeline(edges);
		p->intervals = vprof_edges_intervals(edges);
		p->wait_hint = calloc(p->timeline->n_threads + 1, sizeof *p->wait_hint);
	}
	if (!p || !p->wait_hint) {
		vprof_path_free(p);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory to follow critical paths");
	}
	*out = p;
	return 0;
}

void vprof_path_free(struct vprof_path *p)
{
	if (!p)
		return;
	free(p->wait_hint);
	VPROF_ARRAY_RELEASE(&p->pieces);
	VPROF_ARRAY_RELEASE(&p->windows);
	VPROF_ARRAY_RELEASE(&p->hops);
	free(p);
}

static int add_piece(struct vprof_path *p, struct vprof_piece piece)
{
	struct vprof_piece *slot = VPROF_PUSH(&p->pieces);

	if (!slot)
		return VPROF_ERR_NOMEM;
	piece.depth = piece.parent == VPROF_NONE ? 0 : (uint8_t)(p->pieces.v[piece.parent].depth + 1);
	piece.hop = (uint32_t)p->hops.n - 1;
	*slot = piece;
	return 0;
}

static int add_window(struct vprof_path *p, uint32_t thread, uint64_t from, uint64_t to, uint32_t parent,
		      uint32_t convoy)
{
	struct window *w;

	if (from >= to || p->pieces.v[parent].depth + 1 >= DEPTH_MAX)
		return 0;
	w = VPROF_PUSH(&p->windows);
	if (!w)
		return VPROF_ERR_NOMEM;
	*w = (struct window){ from, to, thread, parent, convoy };
	return 0;
}

/* What others did from..to while the thread waited: each part by the one that held the object up to its end. */
static int add_blame(struct vprof_path *p, uint32_t thread, const struct vprof_wait *w, uint64_t from, uint64_t to,
		     uint32_t parent, uint32_t convoy)
{
	struct vprof_lock_holders_walk walk;
	uint32_t holder;
	uint64_t end;

	vprof_lock_holders_walk_begin(&walk, p->timeline, thread, w, from, to, &p->holder_hint);
	while (vprof_lock_holders_walk_next(&walk, &from, &end, &holder))
		if (holder != VPROF_NONE && add_window(p, holder, from, end, parent, convoy))
			return VPROF_ERR_NOMEM;
	return 0;
}

/* Is the wait already being explained further up? Then following it again would go round in a circle. */
static int is_circle(const struct vprof_path *p, uint32_t thread, uint32_t wait, uint32_t parent)
{
	for (uint32_t i = parent; i != VPROF_NONE; i = p->pieces.v[i].parent)
		if (p->pieces.v[i].wait == wait && p->pieces.v[i].thread == thread)
			return 1;
	return 0;
}

static int add_wait(struct vprof_path *p, uint32_t thread, uint32_t wait, uint64_t from, uint64_t to, uint32_t parent)
{
	const struct vprof_wait *w = &p->timeline->threads[thread].waits.v[wait];
	int circle = is_circle(p, thread, wait, parent);

	if (add_piece(p, (struct vprof_piece){ from, to, thread, wait, parent, VPROF_PIECE_WAIT, 0, 0 }))
		return VPROF_ERR_NOMEM;
	if (w->waker == VPROF_NONE || circle)
		return 0;
	return add_blame(p, thread, w, from, to, (uint32_t)p->pieces.n - 1, 0);
}

/* Readers and writers of a lock wait in one queue. */
static int is_same_lock_queue(uint8_t a, uint8_t b)
{
	const uint8_t r = VP_WAIT_RWLOCK_READ, w = VP_WAIT_RWLOCK_WRITE;

	return a == b || ((a == r || a == w) && (b == r || b == w));
}

/* Lock convoy: did the thread of the window only wait in the same lock's queue as the waiter that it is to explain?
 * Then whoever held the lock meanwhile is to blame directly. */
static int is_convoy(const struct vprof_path *p, const struct window *in, const struct vprof_wait *w)
{
	const struct vprof_piece *parent = in->parent == VPROF_NONE ? NULL : &p->pieces.v[in->parent];
	const struct vprof_wait *waiter;

	if (!parent || parent->kind != VPROF_PIECE_WAIT || w->waker == VPROF_NONE || w->wake_t <= w->t0 ||
	    in->convoy >= CONVOY_MAX)
		return 0;
	waiter = &p->timeline->threads[parent->thread].waits.v[parent->wait];
	return is_same_lock_queue(w->kind, waiter->kind) && w->object == waiter->object &&
	       ((w->flags & VP_FLAG_SHARED) ||
		p->timeline->threads[in->thread].process_seq == p->timeline->threads[parent->thread].process_seq);
}

/* Cuts a window of a thread at its waits. */
static int cut(struct vprof_path *p, struct window in)
{
	uint32_t thread = in.thread, parent = in.parent;
	uint64_t from = in.from, to = in.to;
	const struct vprof_thread_timeline *thr = &p->timeline->threads[thread];
	size_t i = VPROF_TIME_SEARCH(&thr->waits, from, p->wait_hint[thread]);
	uint64_t t = from;

	p->wait_hint[thread] = i;
	if (i)
		i--; /* the last wait that began at or before `from` may reach into the window */
	for (; i < thr->waits.n && thr->waits.v[i].t0 < to; i++) {
		const struct vprof_wait *w = &thr->waits.v[i];
		uint64_t a = w->t0 > t ? w->t0 : t, b = w->t1 < to ? w->t1 : to;

		if (b <= a)
			continue;
		if (a > t &&
		    add_piece(p, (struct vprof_piece){ t, a, thread, VPROF_NONE, parent, VPROF_PIECE_RUN, 0, 0 }))
			return VPROF_ERR_NOMEM;
		if (is_convoy(p, &in, w) ? add_blame(p, thread, w, a, b, parent, in.convoy + 1) :
					   add_wait(p, thread, (uint32_t)i, a, b, parent))
			return VPROF_ERR_NOMEM;
		t = b;
	}
	if (t < to)
		return add_piece(p, (struct vprof_piece){ t, to, thread, VPROF_NONE, parent, VPROF_PIECE_RUN, 0, 0 });
	return 0;
}

static int cut_windows(struct vprof_path *p)
{
	while (p->windows.n) {
		if (cut(p, p->windows.v[--p->windows.n]))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int add_queued(struct vprof_path *p, uint32_t thread, uint64_t from, uint64_t to)
{
	if (from >= to)
		return 0;
	if (add_piece(p, (struct vprof_piece){ from, to, thread, VPROF_NONE, VPROF_NONE, VPROF_PIECE_QUEUED, 0, 0 }))
		return VPROF_ERR_NOMEM;
	return add_window(p, thread, from, to, (uint32_t)p->pieces.n - 1, 0);
}

static int walk(struct vprof_path *p, uint32_t instance)
{
	const struct vprof_instance *inst = &p->intervals->instances.v[instance];
	uint32_t thread = inst->end_thread;
	uint32_t segment = vprof_intervals_segment_of(p->intervals, thread, inst->end, instance);
	uint64_t t = inst->end, last_t = UINT64_MAX;
	int n_still = 0;

	for (;;) {
		struct vprof_hop *hop = VPROF_PUSH(&p->hops);
		struct vprof_edge edge;
		uint64_t from;

		if (!hop)
			return VPROF_ERR_NOMEM;
		*hop = (struct vprof_hop){ t, t, thread, segment, vprof_no_edge };
		if (segment != VPROF_NONE) {
			from = p->intervals->segments.v[segment].t0;
			from = from < inst->begin ? inst->begin : from > t ? t : from;
			if (from < t && cut(p, (struct window){ from, t, thread, VPROF_NONE, 0 }))
				return VPROF_ERR_NOMEM;
			p->hops.v[p->hops.n - 1].from = t = from;
		}
		if (t <= inst->begin)
			return cut_windows(p);
		edge = vprof_edges_into(p->edges, instance, thread, segment, t, p->wait_hint);
		n_still = t < last_t ? 0 : n_still + 1;
		last_t = t;
		if (edge.kind == VPROF_EDGE_NONE || edge.t < inst->begin || n_still > STILL_HOPS_MAX)
			edge = (struct vprof_edge){ .t = inst->begin, .thread = thread, .segment = VPROF_NONE };
		if (edge.t > t)
			edge.t = t;
		p->hops.v[p->hops.n - 1].edge = edge;
		if (add_queued(p, thread, edge.t, t) || cut_windows(p))
			return VPROF_ERR_NOMEM;
		t = edge.t;
		thread = edge.thread;
		segment = edge.segment;
	}
}

int vprof_path_walk(struct vprof_path *p, uint32_t instance, const struct vprof_piece **pieces, size_t *n_pieces)
{
	int ret;

	p->pieces.n = p->windows.n = p->hops.n = 0;
	ret = walk(p, instance);
	*pieces = p->pieces.v;
	*n_pieces = p->pieces.n;
	return ret;
}

const struct vprof_hop *vprof_path_hops(const struct vprof_path *p, size_t *n)
{
	*n = p->hops.n;
	return p->hops.v;
}
