/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memcached's connection queue: a list with a tail pointer, and a condition variable. */
#include "flow_case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct item *head, *tail;
static int closed;

static NOINLINE void cq_push(struct item *item)
{
	item->next = NULL;
	pthread_mutex_lock(&lock);
	if (!tail)
		head = item;
	else
		tail->next = item;
	tail = item;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *cq_pop(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	while (!head && !closed)
		pthread_cond_wait(&filled, &lock);
	item = head;
	if (item) {
		head = item->next;
		if (!head)
			tail = NULL;
	}
	pthread_mutex_unlock(&lock);
	return item;
}

static void *consumer(void *arg)
{
	struct item *item;

	while ((item = cq_pop())) {
		item_use(item);
		free(item);
	}
	return arg;
}

int main(void)
{
	pthread_t a = start(consumer), b = start(consumer);

	for (unsigned i = 1; i <= N_ITEMS; i++)
		cq_push(item_new(i));
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&filled);
	pthread_mutex_unlock(&lock);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	truth("cq_push", "cq_pop", N_ITEMS);
	return checked(N_ITEMS);
}
