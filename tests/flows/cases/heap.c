/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A priority queue: both ends move other items around (the paper's section 3.2). */
#include "flow_case.h"

#define CAPACITY 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct item *heap[CAPACITY];
static unsigned n;

static void swap(unsigned i, unsigned k)
{
	struct item *item = heap[i];

	heap[i] = heap[k];
	heap[k] = item;
}

static NOINLINE void heap_push(struct item *item)
{
	pthread_mutex_lock(&lock);
	while (n == CAPACITY)
		pthread_cond_wait(&changed, &lock);
	heap[n] = item;
	for (unsigned i = n++; i && heap[(i - 1) / 2]->value < heap[i]->value; i = (i - 1) / 2)
		swap(i, (i - 1) / 2);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *heap_pop(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	while (n < CAPACITY / 2)
		pthread_cond_wait(&changed, &lock);
	item = heap[0];
	heap[0] = heap[--n];
	for (unsigned i = 0, k; (k = 2 * i + 1) < n; i = k) {
		k += k + 1 < n && heap[k + 1]->value > heap[k]->value;
		if (heap[i]->value >= heap[k]->value)
			break;
		swap(i, k);
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return item;
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++)
		item_use(heap_pop());
	return arg;
}

int main(void)
{
	pthread_t t = start(consumer);

	for (unsigned i = 1; i <= N_ITEMS + CAPACITY / 2; i++)
		heap_push(item_new(i * 7919 % 1000));
	pthread_join(t, NULL);
	truth("heap_push", "heap_pop", N_ITEMS);
	return 0;
}
