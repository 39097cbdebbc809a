/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All enqueues of the trace lie in one array by (item, time), so a dequeue finds its own by one search. */
#include "analysis/timeline/edges/queues.h"

struct enqueue {
	uint64_t item, t;
	uint64_t ended; /* from here on as many were dequeued as enqueued: it cannot be dequeued any more */
	uint32_t process, thread;
	uint32_t place;	     /* in the thread's queue events */
	uint32_t is_dequeue; /* only while `ended` is worked out */
};

struct vprof_queues {
	struct enqueue *enqueues; /* by (item, t) */
	size_t n, cap;
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

/* Sorts all n queue events, works out when each enqueue ends, and keeps the enqueues. */
static int find_ends(struct vprof_queues *q, size_t n)
{
	size_t first = 0, open = 0; /* enqueues since all had ended; those not dequeued yet */

	if (vprof_array_sort(q->enqueues, n, sizeof *q->enqueues, enqueue_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct enqueue e = q->enqueues[i];

		if (i && q->enqueues[i - 1].item != e.item) {
			first = q->n;
			open = 0;
		}
		if (!e.is_dequeue) {
			q->enqueues[q->n] = e;
			q->enqueues[q->n++].ended = UINT64_MAX;
			open++;
		} else if (open && --open == 0) {
			while (first < q->n)
				q->enqueues[first++].ended = e.t;
		}
	}
	return 0;
}

struct vprof_queues *vprof_queues_new(const struct vprof_timeline *timeline)
{
	struct vprof_queues *q = calloc(1, sizeof *q);
	size_t n = 0;

	for (size_t i = 0; i < timeline->n_threads; i++)
		n += timeline->threads[i].queue_events.n;
	if (q)
		q->enqueues = vprof_array_room(NULL, &q->cap, n + 1, sizeof *q->enqueues);
	if (!q || !q->enqueues) {
		vprof_queues_free(q);
		return NULL;
	}
	n = 0;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &timeline->threads[i];

		for (size_t k = 0; k < thr->queue_events.n; k++) {
			const struct vprof_queue_event *e = &thr->queue_events.v[k];

			q->enqueues[n++] = (struct enqueue){ .item = e->item,
							     .t = e->t,
							     .process = thr->process_seq,
							     .thread = (uint32_t)i,
							     .place = (uint32_t)k,
							     .is_dequeue = e->is_dequeue };
		}
	}
	if (!find_ends(q, n))
		return q;
	vprof_queues_free(q);
	return NULL;
}

void vprof_queues_free(struct vprof_queues *q)
{
	if (!q)
		return;
	vprof_array_free(q->enqueues, q->cap, sizeof *q->enqueues);
	free(q);
}

struct vprof_edge vprof_queues_origin(const struct vprof_queues *q, const struct vprof_intervals *intervals,
				      uint64_t item, uint64_t t, uint32_t process_seq, uint32_t instance)
{
	const struct enqueue probe = { .item = item, .t = t, .thread = VPROF_NONE, .place = VPROF_NONE };
	struct vprof_edge best = vprof_no_edge;
	size_t low = VPROF_BISECT(q->n, i, enqueue_order(&q->enqueues[i], &probe) <= 0);
	int best_rank = -1;

	for (int n = 0; low > 0 && q->enqueues[low - 1].ended >= t && n < VPROF_QUEUE_LOOK_BACK_MAX; n++) {
		const struct enqueue *e = &q->enqueues[--low];
		uint32_t segment;
		int rank;

		if (e->item != item)
			break;
		segment = intervals ? vprof_intervals_segment_of(intervals, e->thread, e->t, instance) : VPROF_NONE;
		rank = 2 * (segment != VPROF_NONE) + (e->process == process_seq);
		if (rank > best_rank) {
			best = (struct vprof_edge){ e->t, e->thread, segment, VPROF_EDGE_CREATION };
			best_rank = rank;
		}
	}
	return best;
}
