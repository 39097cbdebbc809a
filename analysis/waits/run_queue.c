/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/waits/run_queue.h"

#include <stdlib.h>

#include "common/array.h"
#include "common/error.h"

int vprof_run_queue_init(struct vprof_run_queue *q, size_t n)
{
	*q = (struct vprof_run_queue){ .size = n + 1 };
	q->turns = calloc(q->size, sizeof *q->turns);
	q->counted = calloc(q->size, sizeof *q->counted);
	return q->turns && q->counted ? VPROF_OK : VPROF_ERR_NOMEM;
}

void vprof_run_queue_release(struct vprof_run_queue *q)
{
	free(q->turns);
	free(q->counted);
}

static int is_before(const struct vprof_run_queue_entry *a, const struct vprof_run_queue_entry *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void vprof_run_queue_add(struct vprof_run_queue *q, uint32_t thread, uint64_t at, int counts)
{
	const struct vprof_run_queue_entry e = { at, q->n_made++, thread };
	size_t i = q->n_counted, turn = q->first + q->n++;

	q->turns[turn < q->size ? turn : turn - q->size] = counts ? VPROF_NONE : thread;
	if (!counts)
		return;
	q->n_counted++;
	for (; i && is_before(&e, &q->counted[(i - 1) / 2]); i = (i - 1) / 2)
		q->counted[i] = q->counted[(i - 1) / 2];
	q->counted[i] = e;
}

static uint32_t take_counted(struct vprof_run_queue *q)
{
	const uint32_t thread = q->counted[0].thread;
	const struct vprof_run_queue_entry last = q->counted[--q->n_counted];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < q->n_counted) {
		child += child + 1 < q->n_counted && is_before(&q->counted[child + 1], &q->counted[child]);
		if (!is_before(&q->counted[child], &last))
			break;
		q->counted[i] = q->counted[child];
		i = child;
	}
	q->counted[i] = last;
	return thread;
}

uint32_t vprof_run_queue_take(struct vprof_run_queue *q)
{
	uint32_t thread = q->turns[q->first];

	q->first = q->first + 1 < q->size ? q->first + 1 : 0;
	q->n--;
	return thread == VPROF_NONE ? take_counted(q) : thread;
}
