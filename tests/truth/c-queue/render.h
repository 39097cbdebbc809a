/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (c) A dispatcher submits bursts to a queue, workers render: the delay in the queue is the cause, and the service
 * time must be told apart from it. Annotated by calls in the code. */
#ifndef RENDER_H
#define RENDER_H

#include <pthread.h>

#include "annotate_or_not.h"
#include "plant.h"

#define N_WORKERS 2

/* When a request is queued: where queue_push says so; of a discovered queue, somewhere in queue_push. */
#ifdef DISCOVERED
#define DISCOVERED_AT(time) time
#define ANNOTATED_AT(time) (void)0
#else
#define DISCOVERED_AT(time) (void)0
#define ANNOTATED_AT(time) time
#endif

enum { REQUEST, QUEUED, SERVE, LOAD_TEMPLATE, RENDER_PAGE, OTHERS_PAGES, OTHERS_TEMPLATES, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
	struct plant_stretch at;	     /* before and after vprof_begin, before and after vprof_end */
	struct plant_time enqueued, resumed; /* when: between these readings */
	int worker;
	struct request *next;
};

/* What a worker renders, one after the other. */
struct worker {
	int number;
	pthread_t thread;
	struct queue *queue;
	struct plant_log pages, templates;
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
void *worker_main(void *worker);

#endif
