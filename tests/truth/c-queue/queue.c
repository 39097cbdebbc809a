/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render.h"

void queue_init(struct queue *q)
{
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->filled, NULL);
	q->first = NULL;
	q->last = &q->first;
	q->closed = 0;
}

void queue_push(struct queue *q, struct request *r)
{
	DISCOVERED_AT(r->enqueued.low = PLANT_NOW());
	pthread_mutex_lock(&q->lock);
	ANNOTATED_AT(r->enqueued.low = PLANT_NOW());
	vprof_enqueue(r);
	ANNOTATED_AT(r->enqueued.high = PLANT_NOW());
	r->next = NULL;
	*q->last = r;
	q->last = &r->next;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
	DISCOVERED_AT(r->enqueued.high = PLANT_NOW());
}

struct request *queue_pop(struct queue *q)
{
	struct request *r;

	pthread_mutex_lock(&q->lock);
	while (!q->first && !q->closed)
		pthread_cond_wait(&q->filled, &q->lock);
	r = q->first;
	if (r) {
		q->first = r->next;
		if (!q->first)
			q->last = &q->first;
		vprof_dequeue(r);
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = 1;
	pthread_cond_broadcast(&q->filled);
	pthread_mutex_unlock(&q->lock);
}
