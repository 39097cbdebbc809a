/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs by value, with a pointer and numbers: assigned in and out. */
#include "flow_case.h"

#define CAPACITY 16

struct job {
	struct item *item;
	uint64_t number, more[3];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job jobs[CAPACITY];
static unsigned in, out;

static NOINLINE void job_push(const struct job *job)
{
	pthread_mutex_lock(&lock);
	while (in - out == CAPACITY)
		pthread_cond_wait(&changed, &lock);
	jobs[in++ % CAPACITY] = *job;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static NOINLINE void job_pop(struct job *job)
{
	pthread_mutex_lock(&lock);
	while (in == out)
		pthread_cond_wait(&changed, &lock);
	*job = jobs[out++ % CAPACITY];
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct job job;

		job_pop(&job);
		item_use(job.item);
		free(job.item);
	}
	return arg;
}

int main(void)
{
	pthread_t t = start(consumer);

	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct job job = { item_new(i), i, { i, i, i } };

		job_push(&job);
	}
	pthread_join(t, NULL);
	truth("job_push", "job_pop", N_ITEMS);
	return checked(N_ITEMS);
}
