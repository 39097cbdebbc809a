/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Servers whose requests pass through several pools of threads, with queues between them. The last pool replies; calls
 * are also made by threads that never reply. Annotated with vprof.h, which means nothing unless vprof builds it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "vprof.h"
#include "vapp.h"

#define STAGES_MOST 3
#define JOBS_MOST 4096

struct job {
	int client;
	uint64_t n_calls, n_made;
	size_t length;
	char path[MESSAGE_MAX];
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	struct job *jobs[JOBS_MOST];
	size_t first, n;
};

enum calls { NONE, HALF, ALL }; /* that are left, which a stage makes */

static const struct stage {
	int n_threads; /* 0: as many as there are workers */
	enum calls calls;
} handoff[] = { { 0, HALF }, { 0, ALL } }, stages[] = { { 2, NONE }, { 0, ALL }, { 2, NONE } };

struct place { /* of a thread */
	struct vapp_worker *w;
	const struct stage *stage;
	struct queue *from, *to; /* to: NULL: the last one */
};

static struct queue queues[STAGES_MOST];
static const struct vapp_server *own;

static void push(struct queue *q, struct job *job)
{
	pthread_mutex_lock(&q->lock);
	if (q->n == JOBS_MOST)
		vapp_die("vapp: queue");
	vprof_enqueue(job);
	q->jobs[(q->first + q->n++) % JOBS_MOST] = job;
	pthread_cond_signal(&q->not_empty);
	pthread_mutex_unlock(&q->lock);
}

static struct job *pop(struct queue *q)
{
	struct job *job;

	pthread_mutex_lock(&q->lock);
	while (!q->n)
		pthread_cond_wait(&q->not_empty, &q->lock);
	job = q->jobs[q->first];
	q->first = (q->first + 1) % JOBS_MOST;
	q->n--;
	pthread_mutex_unlock(&q->lock);
	vprof_dequeue(job);
	return job;
}

static void take(int fd)
{
	struct job *job = calloc(1, sizeof *job);

	if (!job)
		vapp_die("vapp: memory");
	vprof_begin("request", job);
	job->client = fd;
	job->n_calls = UINT64_MAX;
	job->length = strlen(own->name);
	memcpy(job->path, own->name, job->length);
	push(&queues[0], job);
	vprof_suspend("request", job);
}

static void work(struct place *p, struct job *job)
{
	uint64_t until;

	if (job->n_calls == UINT64_MAX)
		job->n_calls = vapp_calls(p->w);
	until = p->stage->calls == ALL ? job->n_calls : p->stage->calls == HALF ? (job->n_calls + 1) / 2 : 0;
	vapp_compute(p->w);
	for (; job->n_made < until; job->n_made++) {
		job->path[job->length++] = job->n_made ? ' ' : '(';
		job->length = vapp_call(p->w, job->path, job->length);
		vapp_compute(p->w);
	}
}

static void finish(struct place *p, struct job *job)
{
	if (job->n_calls)
		job->path[job->length++] = ')';
	vapp_reply(p->w, job->client, job->path, job->length);
	vprof_end("request", job);
	free(job);
}

static void *run(void *place)
{
	struct place *p = place;

	for (;;) {
		struct job *job = pop(p->from);

		vprof_resume("request", job);
		work(p, job);
		if (!p->to) {
			finish(p, job);
			continue;
		}
		push(p->to, job);
		vprof_suspend("request", job);
	}
	return NULL;
}

void vapp_stages(const struct vapp *app, int number)
{
	const struct stage *all = app->model == VAPP_HANDOFF ? handoff : stages;
	int n = app->model == VAPP_HANDOFF ? 2 : 3;

	own = &app->servers[number];
	for (int i = 0; i < n; i++) {
		pthread_mutex_init(&queues[i].lock, NULL);
		pthread_cond_init(&queues[i].not_empty, NULL);
	}
	for (int i = 0; i < n; i++)
		for (int k = 0; k < (all[i].n_threads ? all[i].n_threads : app->n_workers); k++) {
			struct place *p = calloc(1, sizeof *p);

			if (!p)
				vapp_die("vapp: memory");
			*p = (struct place){ vapp_worker_make(app, own, 100 * i + k), &all[i], &queues[i],
					     i + 1 < n ? &queues[i + 1] : NULL };
			vapp_start(run, p);
		}
	vapp_dispatch(own, take);
}
