/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that holds one lock for all its life, as interpreters do, and hands work over beneath it: through a queue
 * with a lock of its own, then through an atomic pointer. */
#include "flow_case.h"

#include <semaphore.h>

static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct item *first, **last = &first;
static _Atomic(struct item *) box;
static sem_t full, empty;

static NOINLINE void append(struct item *i)
{
	pthread_mutex_lock(&lock);
	*last = i;
	last = &i->next;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *detach(void)
{
	struct item *i;

	pthread_mutex_lock(&lock);
	while (!first)
		pthread_cond_wait(&filled, &lock);
	i = first;
	first = i->next;
	if (!first)
		last = &first;
	pthread_mutex_unlock(&lock);
	return i;
}

static NOINLINE void post(struct item *i)
{
	while (sem_wait(&empty))
		;
	atomic_store_explicit(&box, i, memory_order_release);
	sem_post(&full);
}

static NOINLINE struct item *collect(void)
{
	struct item *i;

	while (sem_wait(&full))
		;
	i = atomic_load_explicit(&box, memory_order_acquire);
	sem_post(&empty);
	return i;
}

static void *consumer(void *arg)
{
	for (unsigned n = 0; n < 2 * N_ITEMS; n++) {
		struct item *i = n < N_ITEMS ? detach() : collect();

		item_use(i);
		free(i);
	}
	return arg;
}

int main(void)
{
	pthread_t t = start(consumer);

	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 1);
	pthread_mutex_lock(&kept);
	for (unsigned i = 1; i <= N_ITEMS; i++)
		append(item_new(i));
	for (unsigned i = N_ITEMS + 1; i <= 2 * N_ITEMS; i++)
		post(item_new(i));
	pthread_join(t, NULL);
	pthread_mutex_unlock(&kept);
	truth("append", "detach", N_ITEMS);
	truth("post", "collect", N_ITEMS);
	return checked(2 * N_ITEMS);
}
