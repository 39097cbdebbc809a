/* The orders: a hash table with chains, one lock for all. */
#include <stdlib.h>

#include "server.h"

#define N_BUCKETS 16384u
#define SUM_MAX 200u

pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;

static struct order *buckets[N_BUCKETS];

static struct order **find(uint32_t id)
{
	struct order **at = &buckets[id * 2654435761u % N_BUCKETS];

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static int set(uint32_t id, uint32_t quantity, uint32_t price)
{
	struct order **at = find(id);

	if (!*at) {
		*at = calloc(1, sizeof **at);
		if (!*at)
			return -1;
		(*at)->id = id;
	}
	(*at)->quantity = quantity;
	(*at)->price = price;
	return 0;
}

int store_open(size_t n_orders)
{
	for (size_t i = 0; i < n_orders; i++)
		if (set((uint32_t)i, (uint32_t)(i % 97 + 1), (uint32_t)(i * 7919 % 10000)))
			return -1;
	return 0;
}

void store_close(void)
{
	for (uint32_t i = 0; i < N_BUCKETS; i++) {
		struct order *order;

		while ((order = buckets[i])) {
			buckets[i] = order->next;
			free(order);
		}
	}
}

int store_put(uint32_t id, uint32_t quantity, uint32_t price)
{
	int failed;

	pthread_mutex_lock(&store_lock);
	failed = set(id, quantity, price);
	if (!failed)
		journal_append(id, quantity, price);
	pthread_mutex_unlock(&store_lock);
	return failed;
}

int store_get(uint32_t id, uint32_t *quantity, uint32_t *price)
{
	const struct order *order;

	pthread_mutex_lock(&store_lock);
	order = *find(id);
	if (order) {
		*quantity = order->quantity;
		*price = order->price;
	}
	pthread_mutex_unlock(&store_lock);
	return order != NULL;
}

uint64_t store_sum(uint32_t first, uint32_t last)
{
	uint64_t sum = 0;

	pthread_mutex_lock(&store_lock);
	for (uint32_t i = 0; i < SUM_MAX && first + i <= last; i++) {
		const struct order *order = *find(first + i);

		if (order)
			sum += (uint64_t)order->quantity * order->price;
	}
	pthread_mutex_unlock(&store_lock);
	return sum;
}

void store_each(void (*visit)(const struct order *order, void *arg), void *arg)
{
	for (uint32_t i = 0; i < N_BUCKETS; i++)
		for (const struct order *order = buckets[i]; order; order = order->next)
			visit(order, arg);
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
