/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lock that is taken so often that its sections are recorded no more when, beneath it and under a lock of its own,
 * the first item is handed over. And a number that many threads change under the busy lock, which is handed to nobody.
 */
#include "flow_case.h"

#include <semaphore.h>

#define N_BEFORE 8000

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *list;
static uint64_t n_steps, *last_step;
static sem_t filled;

static NOINLINE void push(struct item *item)
{
	pthread_mutex_lock(&lock);
	item->next = list;
	list = item;
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *pop(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	item = list;
	list = item->next;
	pthread_mutex_unlock(&lock);
	return item;
}

static NOINLINE void step(struct item *item)
{
	pthread_mutex_lock(&busy);
	n_steps++;
	last_step = &n_steps;
	if (item)
		push(item);
	pthread_mutex_unlock(&busy);
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct item *item;

		while (sem_wait(&filled))
			;
		step(NULL);
		item = pop();
		item_use(item);
		free(item);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	sem_init(&filled, 0, 0);
	t = start(consumer);
	for (unsigned i = 0; i < N_BEFORE; i++)
		step(NULL);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		step(item_new(i));
		sem_post(&filled);
	}
	pthread_join(t, NULL);
	truth("push", "pop", N_ITEMS);
	return checked(N_ITEMS);
}
