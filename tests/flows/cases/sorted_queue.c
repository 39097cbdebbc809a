/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list sorted by value: the producer reads the items that wait already, and looks at the one before the new item once
 * more after that. It finds them where they wait, so they are handed over nevertheless. */
#include "flow_case.h"

#define AT_ONCE 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static struct item *first_item;

/* The item before it, or NULL. */
static NOINLINE struct item *insert_sorted(struct item *item)
{
	struct item **at = &first_item, *before = NULL;

	pthread_mutex_lock(&lock);
	while (*at && (*at)->value < item->value) {
		before = *at;
		at = &before->next;
	}
	item->next = *at;
	*at = item;
	pthread_mutex_unlock(&lock);
	return before;
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
	for (unsigned first = 1; first <= N_ITEMS; first += AT_ONCE) {
		for (unsigned k = 0; k < AT_ONCE; k++) {
			unsigned value = first + k * 7 % AT_ONCE;
			struct item *before = insert_sorted(item_new(value));

			if (before && before->value >= value) /* nobody takes it before all have met */
				abort();
		}
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
	pthread_t a, b;

	if (pthread_barrier_init(&turn, NULL, 2))
		abort();
	a = start(producer);
	b = start(consumer);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	truth("insert_sorted", "take_smallest", N_ITEMS);
	return checked(N_ITEMS);
}
