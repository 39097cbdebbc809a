/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list sorted by value: whoever inserts reads the items that wait already, its own and the other producer's. They are
 * found where they wait, so they are handed over nevertheless. */
#include "flow_case.h"

#define AT_ONCE 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static struct item *first_item;

static NOINLINE void insert_sorted(struct item *item)
{
	struct item **at = &first_item;

	pthread_mutex_lock(&lock);
	while (*at && (*at)->value < item->value)
		at = &(*at)->next;
	item->next = *at;
	*at = item;
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *take_smallest(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	item = first_item;
	if (item)
		first_item = item->next;
	pthread_mutex_unlock(&lock);
	return item;
}

static void *producer(void *arg)
{
	unsigned first = *(unsigned *)arg;

	for (unsigned i = first; i <= N_ITEMS;) {
		for (unsigned k = 0; k < AT_ONCE / 2; k++, i += 2)
			insert_sorted(item_new(i));
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

static void *consumer(void *arg)
{
	struct item *item;

	for (unsigned n = 0; n < N_ITEMS;) {
		pthread_barrier_wait(&turn);
		for (; (item = take_smallest()); n++)
			item_use(item);
		pthread_barrier_wait(&turn);
	}
	return arg;
}

int main(void)
{
	unsigned odd = 1, even = 2;
	pthread_t a, b, c;

	if (pthread_barrier_init(&turn, NULL, 3) || pthread_create(&a, NULL, producer, &odd) ||
	    pthread_create(&b, NULL, producer, &even))
		abort();
	c = start(consumer);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	truth("insert_sorted", "take_smallest", N_ITEMS);
	return checked(N_ITEMS);
}
