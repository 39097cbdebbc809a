/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (c) A dispatcher submits bursts to a queue, workers render: the delay in the queue is the cause, and the service
 * time must be told apart from it. Annotated by calls in the code. */
#ifndef RENDER_H
#define RENDER_H

#include <pthread.h>

#include "annotate_or_not.h"
#include "plant.h"

#define N_WORKERS 2

enum { QUEUED, RENDER_PAGE, LOAD_TEMPLATE, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	uint64_t took[N_FACTORS];
	uint64_t begin, enqueued, end; /* ticks */
	struct request *next;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct request *first, **last;
	int closed;
};

void queue_init(struct queue *q);
void queue_push(struct queue *q, struct request *r);
struct request *queue_pop(struct queue *q); /* NULL when closed and empty */
void queue_close(struct queue *q);

void dispatch_all(struct queue *q, struct request *requests, size_t n, uint64_t random);
void *worker_main(void *queue);

#endif
