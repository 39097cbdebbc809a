/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server takes a request and then says that it works for it; a handler is called since there is something to be
 * taken, says so, and takes it. So what was taken last before the mark comes first, then what is taken first after it;
 * neither beyond the neighbouring marks. */
#include "analysis/timeline/edges/received.h"

#include "analysis/timeline/edges/queues.h"

/* Who sent what was taken at the event; *is_known: whether anybody is known to have. */
static int add(struct vprof_thread_timeline *thr, const struct vprof_queues *queues, size_t mark, size_t event,
	       int *is_known)
{
	const struct vprof_queue_event *q = &thr->queue_events.v[event];
	struct vprof_edge edge = vprof_queues_origin(queues, NULL, q->item, q->t, thr->process_seq, VPROF_NONE);
	struct vprof_received *r;

	*is_known = edge.kind != VPROF_EDGE_NONE;
	if (!*is_known)
		return VPROF_OK;
	r = VPROF_PUSH(&thr->received);
	if (!r)
		return VPROF_ERR_NOMEM;
	*r = (struct vprof_received){ mark, edge.t, edge.thread };
	return VPROF_OK;
}

static uint64_t mark_time(const struct vprof_thread_timeline *thr, size_t mark, int step)
{
	do
		mark += (size_t)step;
	while (mark < thr->marks.n && thr->marks.v[mark].kind == VP_KIND_TYPE);
	return mark < thr->marks.n ? thr->marks.v[mark].t : step < 0 ? 0 : UINT64_MAX;
}

static int find(struct vprof_thread_timeline *thr, const struct vprof_queues *queues, size_t mark)
{
	uint64_t from = mark_time(thr, mark, -1), to = mark_time(thr, mark, 1);
	size_t after = VPROF_TIME_SEARCH(&thr->queue_events, thr->marks.v[mark].t, 0), last = after;
	int is_known = 0;

	/* a message that is received in parts, its head and then the rest, was taken with the first of them */
	for (size_t i = after; i-- > 0 && thr->queue_events.v[i].t >= from && !is_known;) {
		if (!thr->queue_events.v[i].is_dequeue)
			continue;
		last = last == after ? i : last;
		if (thr->queue_events.v[i].item != thr->queue_events.v[last].item)
			break;
		if (add(thr, queues, mark, i, &is_known))
			return VPROF_ERR_NOMEM;
	}
	for (size_t i = after; i < thr->queue_events.n && thr->queue_events.v[i].t <= to; i++)
		if (thr->queue_events.v[i].is_dequeue)
			return add(thr, queues, mark, i, &is_known);
	return VPROF_OK;
}

static int is_wanted(const struct vprof_mark *m)
{
	return m->kind == VP_KIND_RESUME && m->id == VP_ID_RECEIVED;
}

int vprof_received_find(struct vprof_timeline *timeline, struct vprof_error *err)
{
	struct vprof_queues *queues = NULL;
	int ret = VPROF_OK;

	for (size_t i = 0; i < timeline->n_threads && !ret; i++) {
		struct vprof_thread_timeline *thr = &timeline->threads[i];

		for (size_t k = 0; k < thr->marks.n && !ret; k++) {
			if (!is_wanted(&thr->marks.v[k]))
				continue;
			queues = queues ? queues : vprof_queues_new(timeline);
			ret = queues ? find(thr, queues, k) : VPROF_ERR_NOMEM;
		}
	}
	vprof_queues_free(queues);
	return ret ? vprof_error_set(err, ret, "not enough memory for the trace's messages: record a shorter run") :
		     VPROF_OK;
}
