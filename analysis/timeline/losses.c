/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline/losses.h"

static int loss_order(const void *a, const void *b)
{
	const struct vprof_loss *x = a, *y = b;

	return x->t0 < y->t0 ? -1 : x->t0 > y->t0;
}

int vprof_losses_gather(struct vprof_timeline *timeline)
{
	size_t n = 0;

	for (size_t i = 0; i < timeline->n_threads; i++) {
		for (size_t k = 0; k < timeline->threads[i].losses.n; k++) {
			struct vprof_loss *loss = VPROF_PUSH(&timeline->losses);

			if (!loss)
				return VPROF_ERR_NOMEM;
			*loss = timeline->threads[i].losses.v[k];
		}
	}
	if (!timeline->losses.n)
		return 0;
	if (vprof_array_sort(timeline->losses.v, timeline->losses.n, sizeof *timeline->losses.v, loss_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 1; i < timeline->losses.n; i++) {
		struct vprof_loss *last = &timeline->losses.v[n], *loss = &timeline->losses.v[i];

		if (loss->t0 > last->t1)
			timeline->losses.v[++n] = *loss;
		else if (loss->t1 > last->t1)
			last->t1 = loss->t1;
	}
	timeline->losses.n = n + 1;
	return 0;
}

int vprof_losses_touch(const struct vprof_timeline *timeline, uint64_t t0, uint64_t t1)
{
	size_t i = VPROF_TIME_SEARCH(&timeline->losses, t1, 0);

	return i && timeline->losses.v[i - 1].t1 >= t0;
}

uint64_t vprof_losses_first(const struct vprof_timeline *timeline)
{
	return timeline->losses.n ? timeline->losses.v[0].t0 : UINT64_MAX;
}

/* Did the thread get anything from a channel after the first loss, and in [from, to]? */
static int has_received(const struct vprof_timeline *timeline, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct vprof_thread_timeline *thr = &timeline->threads[thread];
	uint64_t first = vprof_losses_first(timeline);
	size_t i = VPROF_TIME_SEARCH(&thr->messages, to, 0);

	from = from > first ? from : first;
	while (i-- > 0 && thr->messages.v[i].t >= from)
		if (thr->messages.v[i].is_receive)
			return 1;
	return 0;
}

/* Did the thread enqueue anything in [from, to]? */
static int has_enqueued(const struct vprof_thread_timeline *thr, uint64_t from, uint64_t to)
{
	size_t i = VPROF_TIME_SEARCH(&thr->queue_events, to, 0);

	while (i-- > 0 && thr->queue_events.v[i].t >= from)
		if (!thr->queue_events.v[i].is_dequeue && !thr->queue_events.v[i].is_message)
			return 1;
	return 0;
}

static int is_lossy(const struct vprof_timeline *timeline, const struct vprof_intervals *iv,
		    const struct vprof_instance *inst)
{
	if (inst->end < vprof_losses_first(timeline))
		return 0;
	if (vprof_losses_touch(timeline, inst->begin, inst->end) ||
	    has_received(timeline, inst->end_thread, inst->begin, inst->end))
		return 1;
	/* a dispatcher may have got it from a channel and enqueued it */
	for (size_t i = 0; i < timeline->n_threads; i++)
		if (has_received(timeline, (uint32_t)i, inst->begin, inst->end) &&
		    has_enqueued(&timeline->threads[i], inst->begin, inst->end))
			return 1;
	for (uint32_t i = 0; i < inst->n_segments; i++) {
		const struct vprof_segment *s = &iv->segments.v[iv->by_instance[inst->first_segment + i]];

		if (has_received(timeline, s->thread, inst->begin, s->t1 < inst->end ? s->t1 : inst->end))
			return 1;
	}
	return 0;
}

void vprof_losses_mark(const struct vprof_timeline *timeline, struct vprof_intervals *intervals)
{
	for (size_t i = 0; i < intervals->instances.n && timeline->losses.n; i++)
		intervals->instances.v[i].is_lossy = (uint8_t)is_lossy(timeline, intervals, &intervals->instances.v[i]);
}
