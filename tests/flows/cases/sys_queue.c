/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queues of FreeBSD's sys/queue.h, as the paper checked them. A list without a tail is taken from its head. */
#include "flow_case.h"

#include <semaphore.h>
#include <sys/queue.h>

struct job {
	uint64_t value;
	TAILQ_ENTRY(job) tail_link;
	STAILQ_ENTRY(job) single_link;
	SLIST_ENTRY(job) stack_link;
	LIST_ENTRY(job) list_link;
	CIRCLEQ_ENTRY(job) circle_link;
};

static TAILQ_HEAD(, job) tailq = TAILQ_HEAD_INITIALIZER(tailq);
static STAILQ_HEAD(, job) stailq = STAILQ_HEAD_INITIALIZER(stailq);
static SLIST_HEAD(, job) slist;
static LIST_HEAD(, job) list;
static CIRCLEQ_HEAD(, job) circleq = CIRCLEQ_HEAD_INITIALIZER(circleq);
static pthread_mutex_t lock[5] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				   PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static sem_t filled;
static int kind;

static NOINLINE void tailq_push(struct job *job)
{
	pthread_mutex_lock(&lock[0]);
	TAILQ_INSERT_TAIL(&tailq, job, tail_link);
	pthread_mutex_unlock(&lock[0]);
}

static NOINLINE struct job *tailq_pop(void)
{
	struct job *job;

	pthread_mutex_lock(&lock[0]);
	job = TAILQ_FIRST(&tailq);
	if (job)
		TAILQ_REMOVE(&tailq, job, tail_link);
	pthread_mutex_unlock(&lock[0]);
	return job;
}

static NOINLINE void stailq_push(struct job *job)
{
	pthread_mutex_lock(&lock[1]);
	STAILQ_INSERT_TAIL(&stailq, job, single_link);
	pthread_mutex_unlock(&lock[1]);
}

static NOINLINE struct job *stailq_pop(void)
{
	struct job *job;

	pthread_mutex_lock(&lock[1]);
	job = STAILQ_FIRST(&stailq);
	if (job)
		STAILQ_REMOVE_HEAD(&stailq, single_link);
	pthread_mutex_unlock(&lock[1]);
	return job;
}

static NOINLINE void slist_push(struct job *job)
{
	pthread_mutex_lock(&lock[2]);
	SLIST_INSERT_HEAD(&slist, job, stack_link);
	pthread_mutex_unlock(&lock[2]);
}

static NOINLINE struct job *slist_pop(void)
{
	struct job *job;

	pthread_mutex_lock(&lock[2]);
	job = SLIST_FIRST(&slist);
	if (job)
		SLIST_REMOVE_HEAD(&slist, stack_link);
	pthread_mutex_unlock(&lock[2]);
	return job;
}

static NOINLINE void list_push(struct job *job)
{
	pthread_mutex_lock(&lock[3]);
	LIST_INSERT_HEAD(&list, job, list_link);
	pthread_mutex_unlock(&lock[3]);
}

static NOINLINE struct job *list_pop(void)
{
	struct job *job;

	pthread_mutex_lock(&lock[3]);
	job = LIST_FIRST(&list);
	if (job)
		LIST_REMOVE(job, list_link);
	pthread_mutex_unlock(&lock[3]);
	return job;
}

static NOINLINE void circleq_push(struct job *job)
{
	pthread_mutex_lock(&lock[4]);
	CIRCLEQ_INSERT_TAIL(&circleq, job, circle_link);
	pthread_mutex_unlock(&lock[4]);
}

static NOINLINE struct job *circleq_pop(void)
{
	struct job *job = NULL;

	pthread_mutex_lock(&lock[4]);
	if (circleq.cqh_first != (void *)&circleq) {
		job = circleq.cqh_first;
		CIRCLEQ_REMOVE(&circleq, job, circle_link);
	}
	pthread_mutex_unlock(&lock[4]);
	return job;
}

static void (*const push[])(struct job *) = { tailq_push, stailq_push, slist_push, list_push, circleq_push };
static struct job *(*const pop[])(void) = { tailq_pop, stailq_pop, slist_pop, list_pop, circleq_pop };

static void *consumer(void *arg)
{
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct job *job;

		while (sem_wait(&filled))
			;
		job = pop[kind]();
		atomic_fetch_add_explicit(&sum, job->value, memory_order_relaxed);
		free(job);
	}
	return arg;
}

int main(void)
{
	static const char *const names[][2] = { { "tailq_push", "tailq_pop" },
						{ "stailq_push", "stailq_pop" },
						{ "slist_push", "slist_pop" },
						{ "list_push", "list_pop" },
						{ "circleq_push", "circleq_pop" } };

	sem_init(&filled, 0, 0);
	for (kind = 0; kind < 5; kind++) {
		pthread_t t = start(consumer);

		atomic_store(&sum, 0);
		for (unsigned i = 1; i <= N_ITEMS; i++) {
			struct job *job = malloc(sizeof *job);

			if (!job)
				abort();
			job->value = i;
			push[kind](job);
			sem_post(&filled);
		}
		pthread_join(t, NULL);
		truth(names[kind][0], names[kind][1], N_ITEMS);
		if (checked(N_ITEMS))
			return 1;
	}
	return 0;
}
