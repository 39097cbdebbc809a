/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of values that all threads look up, and one fills: state, whoever stored it. */
#include "flow_case.h"

#define BUCKETS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *table[BUCKETS];

static NOINLINE void cache_insert(struct item *item)
{
	pthread_mutex_lock(&lock);
	item->next = table[item->value % BUCKETS];
	table[item->value % BUCKETS] = item;
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *cache_find(uint64_t value)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	for (item = table[value % BUCKETS]; item && item->value != value; item = item->next)
		;
	pthread_mutex_unlock(&lock);
	return item;
}

static void *reader(void *arg)
{
	for (unsigned i = 0; i < 20 * N_ITEMS; i++) {
		struct item *item = cache_find(1 + i * 7919 % N_ITEMS);

		if (item)
			item_use(item);
	}
	return arg;
}

int main(void)
{
	pthread_t a, b;

	for (unsigned i = 1; i <= N_ITEMS / 2; i++)
		cache_insert(item_new(i));
	a = start(reader);
	b = start(reader);
	for (unsigned i = N_ITEMS / 2 + 1; i <= N_ITEMS; i++)
		cache_insert(item_new(i));
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	truth_none();
	return 0;
}
