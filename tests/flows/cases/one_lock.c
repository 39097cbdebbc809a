/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue and the free list of its items under one lock. The threads' roles are disjoint: one only allocates and
 * pushes, the other only pops and frees. */
#include "flow_case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct item *first, **last = &first, *free_list;

static NOINLINE struct item *take_free(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	item = free_list;
	if (item)
		free_list = item->next;
	pthread_mutex_unlock(&lock);
	return item ? item : malloc(sizeof *item);
}

static NOINLINE void give_back(struct item *item)
{
	pthread_mutex_lock(&lock);
	item->next = free_list;
	free_list = item;
	pthread_mutex_unlock(&lock);
}

static NOINLINE void push(struct item *item)
{
	pthread_mutex_lock(&lock);
	item->next = NULL;
	*last = item;
	last = &item->next;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *pop(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	while (!first)
		pthread_cond_wait(&filled, &lock);
	item = first;
	first = item->next;
	if (!first)
		last = &first;
	pthread_mutex_unlock(&lock);
	return item;
}

static void *consumer(void *arg)
{
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct item *item = pop();

		item_use(item);
		give_back(item);
	}
	return arg;
}

int main(void)
{
	pthread_t t = start(consumer);

	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct item *item = take_free();

		item->value = i;
		push(item);
		if (i % 16 == 0)
			usleep(200);
	}
	pthread_join(t, NULL);
	truth("push", "pop", N_ITEMS);
	return checked(N_ITEMS);
}
