/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See edges.h. How an instance came to a thread is told by what the thread dequeued or waited for just before; all
 * searches look at a bounded number of events, so that one step of a walk costs O(log n). */
#include "analysis/timeline/edges/edges.h"

#include "analysis/timeline/edges/queues.h"

#define LOOK_BACK_MAX VPROF_QUEUE_LOOK_BACK_MAX
#define SEGMENTS_MAX 256 /* segments of the instance that are considered as predecessor */

struct vprof_edges {
	const struct vprof_timeline *timeline;
	const struct vprof_intervals *intervals;
	struct vprof_queues *queues;
};

int vprof_edges_new(struct vprof_edges **out, const struct vprof_timeline *timeline,
		    const struct vprof_intervals *intervals, struct vprof_error *err)
{
	struct vprof_edges *e = calloc(1, sizeof *e);

	*out = NULL;
	if (e) {
		e->timeline = timeline;
		e->intervals = intervals;
		e->queues = vprof_queues_new(timeline);
	}
	if (!e || !e->queues) {
		vprof_edges_free(e);
		return vprof_error_set(err, VPROF_ERR_NOMEM,
				       "not enough memory for the trace's queue events: record a shorter run");
	}
	*out = e;
	return 0;
}

void vprof_edges_free(struct vprof_edges *e)
{
	if (!e)
		return;
	vprof_queues_free(e->queues);
	free(e);
}

const struct vprof_timeline *vprof_edges_timeline(const struct vprof_edges *e)
{
	return e->timeline;
}

const struct vprof_intervals *vprof_edges_intervals(const struct vprof_edges *e)
{
	return e->intervals;
}

static int is_found(const struct vprof_edge *edge)
{
	return edge->kind != VPROF_EDGE_NONE;
}

/* From when on a thread's events may explain a segment: events before the begin of an earlier segment of the thread
 * belong to that one. */
struct earliest {
	uint64_t any;		       /* begin of the thread's last segment before */
	uint64_t own;		       /* begin of its last segment of this instance before: at most `any` */
	uint64_t own_end, own_resumed; /* the end of that one, and the last RESUME within it */
};

/* Did the thread enqueue again what it dequeued, before `start`? Then it did not take it up. */
static int is_passed_on(const struct vprof_thread_timeline *thr, size_t dequeue, uint64_t start)
{
	const struct vprof_queue_event *q = thr->queue_events.v;

	for (size_t i = dequeue + 1; i < thr->queue_events.n && q[i].t < start && i - dequeue <= LOOK_BACK_MAX; i++)
		if (q[i].item == q[dequeue].item && !q[i].is_dequeue)
			return 1;
	return 0;
}

/* Of the items that a segment begun at `begin` dequeued, is it the first? A segment takes in one at most. */
static int is_first_within(const struct vprof_thread_timeline *thr, size_t dequeue, uint64_t begin)
{
	const struct vprof_queue_event *q = thr->queue_events.v;

	for (size_t i = dequeue; i-- > 0 && q[i].t > begin;)
		if ((q[i].is_dequeue && !q[i].is_message) || dequeue - i >= LOOK_BACK_MAX)
			return 0;
	return 1;
}

static struct vprof_edge origin_of(const struct vprof_edges *e, const struct vprof_thread_timeline *thr,
				   const struct vprof_queue_event *dequeue, uint32_t instance)
{
	return vprof_queues_origin(e->queues, e->intervals, dequeue->item, dequeue->t, thr->process_seq, instance);
}

/* Dequeues before the segment: the last one of an item that was enqueued for this instance, since the thread last
 * worked for it (a thread may take several items and serve them one by one). Without one: the last of all, unless
 * another segment began in between, of an item that others enqueued. */
static struct vprof_edge creation_before(const struct vprof_edges *e, uint32_t instance, uint32_t thread,
					 const struct earliest *earliest, size_t after, uint64_t start)
{
	const struct vprof_thread_timeline *thr = &e->timeline->threads[thread];
	uint64_t begin = e->intervals->instances.v[instance].begin;
	struct vprof_edge by_others = vprof_no_edge;

	for (size_t i = after, n = 0, n_messages = 0; i-- > 0 && n < LOOK_BACK_MAX && n_messages < LOOK_BACK_MAX;) {
		const struct vprof_queue_event *q = &thr->queue_events.v[i];
		struct vprof_edge edge;

		if (q->t < earliest->own)
			break;
		if (!q->is_dequeue || (q->is_message && q->t < earliest->any) || is_passed_on(thr, i, start))
			continue;
		edge = origin_of(e, thr, q, instance);
		n += !q->is_message;
		n_messages += q->is_message;
		if (!is_found(&edge) || edge.t < begin)
			continue;
		if (q->t <= earliest->own_resumed ||
		    /* that segment took it in */
		    (q->t <= earliest->own_end && edge.t <= earliest->own && is_first_within(thr, i, earliest->own)))
			continue;
		if (edge.segment != VPROF_NONE)
			return edge;
		/* only the last one may have been enqueued by somebody who worked for no interval */
		if (n == 1 && !q->is_message && q->t >= earliest->any)
			by_others = edge;
	}
	return by_others;
}

/* A dequeue within the segment, of an item that was enqueued for this instance before the segment began. */
static struct vprof_edge creation_within(const struct vprof_edges *e, uint32_t instance, uint32_t thread, size_t after,
					 uint64_t start, uint64_t stop)
{
	const struct vprof_thread_timeline *thr = &e->timeline->threads[thread];

	for (size_t i = after, n = 0; i < thr->queue_events.n && n < LOOK_BACK_MAX; i++, n++) {
		const struct vprof_queue_event *q = &thr->queue_events.v[i];
		struct vprof_edge edge;

		if (q->t > stop)
			break;
		if (!q->is_dequeue)
			continue;
		edge = origin_of(e, thr, q, instance);
		if (is_found(&edge) && edge.segment != VPROF_NONE && edge.t <= start &&
		    edge.t >= e->intervals->instances.v[instance].begin)
			return edge;
		if (!q->is_message)
			break;
	}
	return vprof_no_edge;
}

/* By an item that was enqueued for this instance and dequeued before or within the segment [start, stop]; without one,
 * by the last item dequeued before it. */
static struct vprof_edge find_creation(const struct vprof_edges *e, uint32_t instance, uint32_t thread,
				       const struct earliest *earliest, uint64_t start, uint64_t stop)
{
	const struct vprof_thread_timeline *thr = &e->timeline->threads[thread];
	size_t after = VPROF_TIME_SEARCH(&thr->queue_events, start, 0);
	struct vprof_edge before = creation_before(e, instance, thread, earliest, after, start), within;

	if (is_found(&before) && before.segment != VPROF_NONE)
		return before;
	within = creation_within(e, instance, thread, after, start, stop);
	return is_found(&within) ? within : before;
}

/* A hand-over that nobody annotated: the thread waited just before, and was woken by one that worked for the instance.
 */
static struct vprof_edge find_handover(const struct vprof_edges *e, uint32_t instance, uint32_t thread,
				       uint64_t earliest, uint64_t start, const size_t *wait_hint)
{
	const struct vprof_thread_timeline *thr = &e->timeline->threads[thread];
	size_t i = VPROF_TIME_SEARCH(&thr->waits, start, wait_hint[thread]);

	i -= i && thr->waits.v[i - 1].t1 > start; /* not over yet */
	for (int n = 0; i-- > 0 && n < LOOK_BACK_MAX; n++) {
		const struct vprof_wait *w = &thr->waits.v[i];
		uint32_t segment;

		if (w->t1 < earliest)
			break;
		if (w->waker == VPROF_NONE)
			continue;
		segment = vprof_intervals_segment_of(e->intervals, w->waker, w->wake_t, instance);
		if (segment != VPROF_NONE && w->wake_t >= e->intervals->instances.v[instance].begin)
			return (struct vprof_edge){ w->wake_t, w->waker, segment, VPROF_EDGE_HANDOVER };
	}
	return vprof_no_edge;
}

/* A thread that is still labelled with the instance at t, though another one went on with it, handed it over before it
 * blocked. */
static uint64_t active_until(const struct vprof_edges *e, const struct vprof_segment *s, uint64_t t,
			     const size_t *wait_hint)
{
	const struct vprof_thread_timeline *thr = &e->timeline->threads[s->thread];
	size_t i = VPROF_TIME_SEARCH(&thr->waits, t, wait_hint[s->thread]);

	if (i && thr->waits.v[i - 1].t1 >= t && thr->waits.v[i - 1].t0 > s->t0)
		return thr->waits.v[i - 1].t0;
	return t;
}

/* Number of the instance's segments that began at or before t. */
static uint32_t segments_until(const struct vprof_intervals *intervals, uint32_t instance, uint64_t t)
{
	const struct vprof_instance *inst = &intervals->instances.v[instance];
	const uint32_t *list = intervals->by_instance + inst->first_segment;

	return (uint32_t)VPROF_BISECT(inst->n_segments, i, intervals->segments.v[list[i]].t0 <= t);
}

/* The instance's segment that ended last before t; without one, one that another thread still has open. */
static struct vprof_edge find_continuation(const struct vprof_edges *e, uint32_t instance, uint32_t thread,
					   uint32_t current, uint64_t t, int same_thread, const size_t *wait_hint)
{
	const uint32_t *list = e->intervals->by_instance + e->intervals->instances.v[instance].first_segment;
	struct vprof_edge ended = vprof_no_edge, open = vprof_no_edge;
	uint32_t place = segments_until(e->intervals, instance, t);

	for (int n = 0; place > 0 && n < SEGMENTS_MAX; n++) {
		uint32_t s = list[--place];
		const struct vprof_segment *segment = &e->intervals->segments.v[s];

		if (s == current || (current != VPROF_NONE && s > current) ||
		    (same_thread && segment->thread != thread))
			continue;
		if (segment->t1 <= t) {
			if (!is_found(&ended) || segment->t1 > ended.t)
				ended = (struct vprof_edge){ segment->t1, segment->thread, s, VPROF_EDGE_CONTINUATION };
		} else if (segment->thread != thread && !is_found(&open)) {
			open = (struct vprof_edge){ active_until(e, segment, t, wait_hint), segment->thread, s,
						    VPROF_EDGE_CONTINUATION };
		}
	}
	return is_found(&ended) ? ended : open;
}

/* The thread's last segment of this instance is looked for among the instance's, since the thread may have had many
 * others since. */
static struct earliest find_earliest(const struct vprof_intervals *intervals, uint32_t instance, uint32_t thread,
				     uint32_t current, uint64_t t)
{
	const struct vprof_instance *inst = &intervals->instances.v[instance];
	const uint32_t *list = intervals->by_instance + inst->first_segment;
	uint32_t place = vprof_intervals_segment_before(intervals, thread, t), first = intervals->thread_first[thread];
	uint32_t i = segments_until(intervals, instance, t);
	struct earliest f = { 0, 0, 0, 0 };

	if (place == VPROF_NONE)
		return f;
	while (current != VPROF_NONE && intervals->by_thread[place] >= current) {
		if (place-- == first)
			return f;
	}
	f.any = intervals->segments.v[intervals->by_thread[place]].t0;
	f.own = inst->begin < f.any ? inst->begin : f.any;
	for (int n = 0; i-- > 0; n++) {
		const struct vprof_segment *s = &intervals->segments.v[list[i]];

		if (n == SEGMENTS_MAX) {
			f.own = s->t0 < f.any ? s->t0 : f.any;
			break;
		}
		if (s->thread != thread || (current != VPROF_NONE && list[i] >= current))
			continue;
		f.own = s->t0;
		f.own_end = s->t1;
		f.own_resumed = s->t_again;
		break;
	}
	return f;
}

struct vprof_edge vprof_edges_into(const struct vprof_edges *e, uint32_t instance, uint32_t thread, uint32_t segment,
				   uint64_t t, const size_t *wait_hint)
{
	struct earliest earliest = find_earliest(e->intervals, instance, thread, segment, t);
	uint64_t stop = segment == VPROF_NONE ? t : e->intervals->segments.v[segment].t1;
	struct vprof_edge cause = find_creation(e, instance, thread, &earliest, t, stop), previous;

	if (!is_found(&cause))
		cause = find_handover(e, instance, thread, earliest.any, t, wait_hint);
	previous = find_continuation(e, instance, thread, segment, t, is_found(&cause), wait_hint);
	if (is_found(&cause) && (!is_found(&previous) || cause.t >= previous.t))
		return cause;
	return previous;
}
