/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Algorithm 2 without recursion: an outer loop follows the interval backwards from segment to segment, and a stack
 * of windows holds the wakers' time that is still to be cut into pieces. */
#include "analysis/paths/critical_path.h"

#include "analysis/timeline/lock_holders.h"

#define DEPTH_MAX 64	  /* of waits beneath waits */
#define LOOK_BACK_MAX 16  /* queue events of one item, or of one thread, that are considered */
#define SEGMENTS_MAX 256  /* segments of the instance that are considered as predecessor */
#define STILL_HOPS_MAX 64 /* steps of the walk that do not go back in time */
#define CONVOY_MAX 64	  /* waiters of one object that are looked through, one behind the other */

struct enqueue {
	uint64_t item, t;
	uint64_t gone; /* from here on as many were dequeued as enqueued: it cannot be dequeued any more */
	uint32_t process, thread;
	uint32_t place;	     /* in the thread's queue events */
	uint32_t is_dequeue; /* only while `gone` is found out */
};

struct window {
	uint64_t from, to;
	uint32_t thread, parent;
	uint32_t convoy; /* waits for the parent's own object that lie between the parent and this thread */
};

struct vprof_path {
	const struct vprof_timeline *timeline;
	const struct vprof_intervals *iv;
	struct enqueue *enqueues; /* by (item, t) */
	size_t n_enqueues, cap_enqueues;
	int is_shared;	   /* the enqueues belong to another walker */
	size_t *wait_hint; /* [n_threads] */
	size_t hold_hint;
	VPROF_ARRAY(struct vprof_piece) pieces;
	VPROF_ARRAY(struct window) windows;
};

/* where the walk goes on */
struct origin {
	uint64_t t;
	uint32_t thread;
	uint32_t segment; /* labelled with the instance, or VPROF_NONE */
	int found;
};

static int enqueue_order(const void *a, const void *b)
{
	const struct enqueue *x = a, *y = b;

	if (x->item != y->item)
		return x->item < y->item ? -1 : 1;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Puts all queue events in order, finds out until when each item can be dequeued, and keeps the enqueues. An item that
 * is in several queues at once keeps all its enqueues until the last one is gone: which is which is not known. */
static int find_gone(struct vprof_path *p, size_t n)
{
	size_t first = 0, open = 0; /* enqueues since all were gone; those not dequeued yet */

	if (vprof_array_sort(p->enqueues, n, sizeof *p->enqueues, enqueue_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct enqueue e = p->enqueues[i];

		if (i && p->enqueues[i - 1].item != e.item) {
			first = p->n_enqueues;
			open = 0;
		}
		if (!e.is_dequeue) {
			p->enqueues[p->n_enqueues] = e;
			p->enqueues[p->n_enqueues++].gone = UINT64_MAX;
			open++;
		} else if (open && --open == 0) {
			while (first < p->n_enqueues)
				p->enqueues[first++].gone = e.t;
		}
	}
	return 0;
}

int vprof_path_new(struct vprof_path **out, const struct vprof_timeline *timeline,
		   const struct vprof_intervals *intervals, struct vprof_error *err)
{
	struct vprof_path *p = calloc(1, sizeof *p);
	size_t n = 0;

	*out = NULL;
	for (size_t i = 0; i < timeline->n_threads; i++)
		n += timeline->threads[i].queue_events.n;
	if (p) {
		p->timeline = timeline;
		p->iv = intervals;
		p->enqueues = vprof_array_room(NULL, &p->cap_enqueues, n + 1, sizeof *p->enqueues);
		p->wait_hint = calloc(timeline->n_threads + 1, sizeof *p->wait_hint);
	}
	if (!p || !p->enqueues || !p->wait_hint) {
		vprof_path_free(p);
		return vprof_error_set(err, VPROF_ERR_NOMEM,
				       "not enough memory for the trace's queue events: "
				       "record a shorter run");
	}
	n = 0;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_thread_timeline *line = &timeline->threads[i];

		for (size_t k = 0; k < line->queue_events.n; k++) {
			const struct vprof_queue_event *q = &line->queue_events.v[k];

			p->enqueues[n++] = (struct enqueue){ q->item,		q->t,	     0,
							     line->process_seq, (uint32_t)i, (uint32_t)k,
							     q->is_dequeue };
		}
	}
	if (find_gone(p, n)) {
		vprof_path_free(p);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the trace's queue events");
	}
	*out = p;
	return 0;
}

int vprof_path_share(struct vprof_path **out, const struct vprof_path *of)
{
	struct vprof_path *p = calloc(1, sizeof *p);

	*out = NULL;
	if (!p)
		return VPROF_ERR_NOMEM;
	p->timeline = of->timeline;
	p->iv = of->iv;
	p->enqueues = of->enqueues;
	p->n_enqueues = of->n_enqueues;
	p->is_shared = 1;
	p->wait_hint = calloc(of->timeline->n_threads + 1, sizeof *p->wait_hint);
	if (!p->wait_hint) {
		vprof_path_free(p);
		return VPROF_ERR_NOMEM;
	}
	*out = p;
	return 0;
}

void vprof_path_free(struct vprof_path *p)
{
	if (!p)
		return;
	if (!p->is_shared)
		vprof_array_free(p->enqueues, p->cap_enqueues, sizeof *p->enqueues);
	free(p->wait_hint);
	VPROF_ARRAY_RELEASE(&p->pieces);
	VPROF_ARRAY_RELEASE(&p->windows);
	free(p);
}

static int add_piece(struct vprof_path *p, struct vprof_piece piece)
{
	struct vprof_piece *slot = VPROF_PUSH(&p->pieces);

	if (!slot)
		return VPROF_ERR_NOMEM;
	piece.depth = piece.parent == VPROF_NONE ? 0 : (uint8_t)(p->pieces.v[piece.parent].depth + 1);
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

	vprof_lock_holders_walk_begin(&walk, p->timeline, thread, w, from, to, &p->hold_hint);
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

	if (add_piece(p, (struct vprof_piece){ from, to, thread, wait, parent, VPROF_PIECE_WAIT, 0 }))
		return VPROF_ERR_NOMEM;
	if (w->waker == VPROF_NONE || circle)
		return 0;
	return add_blame(p, thread, w, from, to, (uint32_t)p->pieces.n - 1, 0);
}

static int is_same_line(uint8_t a, uint8_t b)
{
	const uint8_t r = VP_WAIT_RWLOCK_READ, w = VP_WAIT_RWLOCK_WRITE;

	return a == b || ((a == r || a == w) && (b == r || b == w));
}

/* Does the wait explain nothing but that its thread stood in the same line as the waiter that it is to explain? Then
 * whoever held the object meanwhile is to blame directly. */
static int is_convoy(const struct vprof_path *p, const struct window *in, const struct vprof_wait *w)
{
	const struct vprof_piece *parent = in->parent == VPROF_NONE ? NULL : &p->pieces.v[in->parent];
	const struct vprof_wait *waiter;

	if (!parent || parent->kind != VPROF_PIECE_WAIT || w->waker == VPROF_NONE || w->wake_t <= w->t0 ||
	    in->convoy >= CONVOY_MAX)
		return 0;
	waiter = &p->timeline->threads[parent->thread].waits.v[parent->wait];
	return is_same_line(w->kind, waiter->kind) && w->object == waiter->object &&
	       ((w->flags & VP_FLAG_SHARED) ||
		p->timeline->threads[in->thread].process_seq == p->timeline->threads[parent->thread].process_seq);
}

/* Cuts a window of a thread at its waits. */
static int cut(struct vprof_path *p, struct window in)
{
	uint32_t thread = in.thread, parent = in.parent;
	uint64_t from = in.from, to = in.to;
	const struct vprof_thread_timeline *line = &p->timeline->threads[thread];
	size_t i = vprof_time_search(line->waits.v, sizeof *line->waits.v, line->waits.n, from, p->wait_hint[thread]);
	uint64_t t = from;

	p->wait_hint[thread] = i;
	if (i)
		i--; /* the last wait that began at or before `from` may reach into the window */
	for (; i < line->waits.n && line->waits.v[i].t0 < to; i++) {
		const struct vprof_wait *w = &line->waits.v[i];
		uint64_t a = w->t0 > t ? w->t0 : t, b = w->t1 < to ? w->t1 : to;

		if (b <= a)
			continue;
		if (a > t && add_piece(p, (struct vprof_piece){ t, a, thread, VPROF_NONE, parent, VPROF_PIECE_RUN, 0 }))
			return VPROF_ERR_NOMEM;
		if (is_convoy(p, &in, w) ? add_blame(p, thread, w, a, b, parent, in.convoy + 1) :
					   add_wait(p, thread, (uint32_t)i, a, b, parent))
			return VPROF_ERR_NOMEM;
		t = b;
	}
	if (t < to)
		return add_piece(p, (struct vprof_piece){ t, to, thread, VPROF_NONE, parent, VPROF_PIECE_RUN, 0 });
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
	if (add_piece(p, (struct vprof_piece){ from, to, thread, VPROF_NONE, VPROF_NONE, VPROF_PIECE_QUEUED, 0 }))
		return VPROF_ERR_NOMEM;
	return add_window(p, thread, from, to, (uint32_t)p->pieces.n - 1, 0);
}

/* The ENQUEUE that a DEQUEUE of `item` at t belongs to: the last one before t that was not dequeued before; one that
 * was made while working for the instance is preferred, and so is the own process (item addresses repeat in forked
 * processes). */
static struct origin find_enqueue(const struct vprof_path *p, uint64_t item, uint64_t t, uint32_t process,
				  uint32_t instance)
{
	const struct enqueue probe = { item, t, 0, 0, VPROF_NONE, VPROF_NONE, 0 };
	struct origin best = { 0, 0, VPROF_NONE, 0 };
	size_t low = 0, high = p->n_enqueues;
	int best_rank = -1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (enqueue_order(&p->enqueues[middle], &probe) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (int n = 0; low > 0 && p->enqueues[low - 1].gone >= t && n < LOOK_BACK_MAX; n++) {
		const struct enqueue *e = &p->enqueues[--low];
		uint32_t segment;
		int rank;

		if (e->item != item)
			break;
		segment = vprof_intervals_segment_of(p->iv, e->thread, e->t, instance);
		rank = 2 * (segment != VPROF_NONE) + (e->process == process);
		if (rank > best_rank) {
			best = (struct origin){ e->t, e->thread, segment, 1 };
			best_rank = rank;
		}
	}
	return best;
}

/* How far back a thread's events may explain a segment. */
struct floors {
	uint64_t any;		     /* begin of its last segment before */
	uint64_t own;		     /* begin of its last segment of this instance before: at most `any` */
	uint64_t own_end, own_again; /* its end, and the last RESUME within it */
};

/* Did the thread enqueue again what it dequeued, before `start`? Then it did not take it up. */
static int is_handed_on(const struct vprof_thread_timeline *line, size_t dequeue, uint64_t start)
{
	const struct vprof_queue_event *q = line->queue_events.v;

	for (size_t i = dequeue + 1; i < line->queue_events.n && q[i].t < start && i - dequeue <= LOOK_BACK_MAX; i++)
		if (q[i].item == q[dequeue].item && !q[i].is_dequeue)
			return 1;
	return 0;
}

/* Of the items that a segment begun at `begin` dequeued, is it the first? No more than one is taken in. */
static int is_first_within(const struct vprof_thread_timeline *line, size_t dequeue, uint64_t begin)
{
	const struct vprof_queue_event *q = line->queue_events.v;

	for (size_t i = dequeue; i-- > 0 && q[i].t > begin;)
		if ((q[i].is_dequeue && !q[i].is_message) || dequeue - i >= LOOK_BACK_MAX)
			return 0;
	return 1;
}

/* Creation edge of a segment that begins at `start`: by the last DEQUEUE before it with no other segment's begin
 * in between; by an earlier one, since the thread last worked for the instance, of an item that was enqueued for this
 * instance (a thread may take several items and serve them one by one); or by a DEQUEUE within it of an item that was
 * enqueued for this instance before it began. Only without any of these: by the last DEQUEUE before it, of an item that
 * others enqueued. */
static struct origin find_creation(const struct vprof_path *p, uint32_t instance, uint32_t thread, struct floors floors,
				   uint64_t start, uint64_t stop)
{
	const struct vprof_thread_timeline *line = &p->timeline->threads[thread];
	uint64_t begin = p->iv->instances.v[instance].begin;
	struct origin best = { 0, 0, VPROF_NONE, 0 };
	size_t after =
		vprof_time_search(line->queue_events.v, sizeof *line->queue_events.v, line->queue_events.n, start, 0);

	for (size_t i = after, n = 0, n_messages = 0; i-- > 0 && n < LOOK_BACK_MAX && n_messages < LOOK_BACK_MAX;) {
		const struct vprof_queue_event *q = &line->queue_events.v[i];
		struct origin o;

		if (q->t < floors.own)
			break;
		if (!q->is_dequeue || (q->is_message && q->t < floors.any) || is_handed_on(line, i, start))
			continue;
		o = find_enqueue(p, q->item, q->t, line->process_seq, instance);
		n += !q->is_message;
		n_messages += q->is_message;
		if (!o.found || o.t < begin)
			continue;
		if (q->t <= floors.own_again ||
		    /* that segment took it in */
		    (q->t <= floors.own_end && o.t <= floors.own && is_first_within(line, i, floors.own)))
			continue;
		if (o.segment != VPROF_NONE)
			return o;
		/* only the last one may have been enqueued by somebody who worked for no interval */
		if (n == 1 && !q->is_message && q->t >= floors.any)
			best = o;
	}
	for (size_t i = after, n = 0; i < line->queue_events.n && n < LOOK_BACK_MAX; i++, n++) {
		const struct vprof_queue_event *q = &line->queue_events.v[i];
		struct origin o;

		if (q->t > stop)
			break;
		if (!q->is_dequeue)
			continue;
		o = find_enqueue(p, q->item, q->t, line->process_seq, instance);
		if (o.found && o.segment != VPROF_NONE && o.t >= begin && o.t <= start)
			return o;
		if (!q->is_message)
			break;
	}
	return best;
}

/* A hand-over that nobody annotated: the thread waited just before, and was woken by one that worked for us. */
static struct origin find_handover(const struct vprof_path *p, uint32_t instance, uint32_t thread, uint64_t floor,
				   uint64_t start)
{
	const struct vprof_thread_timeline *line = &p->timeline->threads[thread];
	struct origin none = { 0, 0, VPROF_NONE, 0 };
	size_t i = vprof_time_search(line->waits.v, sizeof *line->waits.v, line->waits.n, start, p->wait_hint[thread]);

	i -= i && line->waits.v[i - 1].t1 > start; /* not over yet */
	for (int n = 0; i-- > 0 && n < LOOK_BACK_MAX; n++) {
		const struct vprof_wait *w = &line->waits.v[i];
		uint32_t segment;

		if (w->t1 < floor)
			break;
		if (w->waker == VPROF_NONE)
			continue;
		segment = vprof_intervals_segment_of(p->iv, w->waker, w->wake_t, instance);
		if (segment != VPROF_NONE && w->wake_t >= p->iv->instances.v[instance].begin)
			return (struct origin){ w->wake_t, w->waker, segment, 1 };
	}
	return none;
}

/* A thread that is still labelled with the instance at t, though another one went on with it: it handed over before
 * it blocked. */
static uint64_t active_until(const struct vprof_path *p, const struct vprof_segment *s, uint64_t t)
{
	const struct vprof_thread_timeline *line = &p->timeline->threads[s->thread];
	size_t i = vprof_time_search(line->waits.v, sizeof *line->waits.v, line->waits.n, t, p->wait_hint[s->thread]);

	if (i && line->waits.v[i - 1].t1 >= t && line->waits.v[i - 1].t0 > s->t0)
		return line->waits.v[i - 1].t0;
	return t;
}

/* Number of the instance's segments that began at or before t. */
static uint32_t segments_until(const struct vprof_path *p, uint32_t instance, uint64_t t)
{
	const struct vprof_instance *inst = &p->iv->instances.v[instance];
	const uint32_t *list = p->iv->by_instance + inst->first_segment;
	uint32_t low = 0, high = inst->n_segments;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->iv->segments.v[list[middle]].t0 <= t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct origin find_segment(const struct vprof_path *p, uint32_t instance, uint32_t thread, uint32_t current,
				  uint64_t t, int same_thread)
{
	const uint32_t *list = p->iv->by_instance + p->iv->instances.v[instance].first_segment;
	struct origin ended = { 0, 0, VPROF_NONE, 0 }, open = ended;
	uint32_t place = segments_until(p, instance, t);

	for (int n = 0; place > 0 && n < SEGMENTS_MAX; n++) {
		uint32_t s = list[--place];
		const struct vprof_segment *segment = &p->iv->segments.v[s];

		if (s == current || (current != VPROF_NONE && s > current) ||
		    (same_thread && segment->thread != thread))
			continue;
		if (segment->t1 <= t) {
			if (!ended.found || segment->t1 > ended.t)
				ended = (struct origin){ segment->t1, segment->thread, s, 1 };
		} else if (segment->thread != thread && !open.found) {
			open = (struct origin){ active_until(p, segment, t), segment->thread, s, 1 };
		}
	}
	return ended.found ? ended : open;
}

/* Events before the begin of the labelled stretch before place `t` on the thread belong to that one. The last one of
 * this instance is looked for among the instance's: the thread may have had many others since. */
static struct floors find_floors(const struct vprof_path *p, uint32_t instance, uint32_t thread, uint32_t current,
				 uint64_t t)
{
	const struct vprof_instance *inst = &p->iv->instances.v[instance];
	const uint32_t *list = p->iv->by_instance + inst->first_segment;
	uint32_t place = vprof_intervals_segment_before(p->iv, thread, t), first = p->iv->thread_first[thread];
	uint32_t i = segments_until(p, instance, t);
	struct floors f = { 0, 0, 0, 0 };

	if (place == VPROF_NONE)
		return f;
	while (current != VPROF_NONE && p->iv->by_thread[place] >= current) {
		if (place-- == first)
			return f;
	}
	f.any = p->iv->segments.v[p->iv->by_thread[place]].t0;
	f.own = inst->begin < f.any ? inst->begin : f.any;
	for (int n = 0; i-- > 0; n++) {
		const struct vprof_segment *s = &p->iv->segments.v[list[i]];

		if (n == SEGMENTS_MAX) {
			f.own = s->t0 < f.any ? s->t0 : f.any;
			break;
		}
		if (s->thread != thread || (current != VPROF_NONE && list[i] >= current))
			continue;
		f.own = s->t0;
		f.own_end = s->t1;
		f.own_again = s->t_again;
		break;
	}
	return f;
}

static struct origin find_predecessor(const struct vprof_path *p, uint32_t instance, uint32_t thread, uint32_t current,
				      uint64_t t)
{
	struct floors floors = find_floors(p, instance, thread, current, t);
	uint64_t stop = current == VPROF_NONE ? t : p->iv->segments.v[current].t1;
	struct origin cause = find_creation(p, instance, thread, floors, t, stop), before;

	if (!cause.found)
		cause = find_handover(p, instance, thread, floors.any, t);
	before = find_segment(p, instance, thread, current, t, cause.found);
	if (cause.found && (!before.found || cause.t >= before.t))
		return cause;
	return before;
}

static int walk(struct vprof_path *p, uint32_t instance)
{
	const struct vprof_instance *inst = &p->iv->instances.v[instance];
	uint32_t thread = inst->end_thread;
	uint32_t segment = vprof_intervals_segment_of(p->iv, thread, inst->end, instance);
	uint64_t t = inst->end, last_t = UINT64_MAX;
	int n_still = 0;

	for (;;) {
		struct origin o;
		uint64_t from;

		if (segment != VPROF_NONE) {
			from = p->iv->segments.v[segment].t0;
			from = from < inst->begin ? inst->begin : from > t ? t : from;
			if (from < t && cut(p, (struct window){ from, t, thread, VPROF_NONE, 0 }))
				return VPROF_ERR_NOMEM;
			t = from;
		}
		if (t <= inst->begin)
			return cut_windows(p);
		o = find_predecessor(p, instance, thread, segment, t);
		n_still = t < last_t ? 0 : n_still + 1;
		last_t = t;
		if (!o.found || o.t < inst->begin || n_still > STILL_HOPS_MAX)
			o = (struct origin){ inst->begin, thread, VPROF_NONE, 1 };
		if (o.t > t)
			o.t = t;
		if (add_queued(p, thread, o.t, t) || cut_windows(p))
			return VPROF_ERR_NOMEM;
		t = o.t;
		thread = o.thread;
		segment = o.segment;
	}
}

int vprof_path_walk(struct vprof_path *p, uint32_t instance, const struct vprof_piece **pieces, size_t *n_pieces)
{
	int ret;

	p->pieces.n = p->windows.n = 0;
	ret = walk(p, instance);
	*pieces = p->pieces.v;
	*n_pieces = p->pieces.n;
	return ret;
}
