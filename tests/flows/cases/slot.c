/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One slot, handed over by condition variables both ways. */
#include "flow_case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct item *slot;

static NOINLINE void put(struct item *item)
{
	pthread_mutex_lock(&lock);
	while (slot)
		pthread_cond_wait(&changed, &lock);
	slot = item;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *get(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	while (!slot)
		pthread_cond_wait(&changed, &lock);
	item = slot;
	slot = NULL;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return item;
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct item *item = get();

		item_use(item);
		free(item);
	}
	return arg;
}

int main(void)
{
	pthread_t t = start(consumer);

	for (unsigned i = 1; i <= N_ITEMS; i++)
		put(item_new(i));
	pthread_join(t, NULL);
	truth("put", "get", N_ITEMS);
	return checked(N_ITEMS);
}
