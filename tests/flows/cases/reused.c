/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Under one lock a record of the thread's own is released, and an item handed on that malloc puts where the record lay:
 * the pointers are equal, the objects are not. In the second half, a record that another thread left is released under
 * the lock, and what lies there is used afterwards: nothing is handed over. */
#include "flow_case.h"

#include <semaphore.h>

struct record {
	struct record *next;
	uint64_t number;
	char rest[48];
};

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct record *records, *left;
static struct item *slot, *kept[N_ITEMS];
static unsigned n_equal, n_left_equal;
static sem_t is_left, is_dropped;

static NOINLINE void keep_record(uint64_t number)
{
	struct record *r = malloc(sizeof *r);

	if (!r)
		abort();
	r->number = number;
	pthread_mutex_lock(&own);
	r->next = records;
	records = r;
	pthread_mutex_unlock(&own);
}

static NOINLINE uintptr_t drop_record(void)
{
	struct record *r = records;

	records = r->next;
	free(r);
	return (uintptr_t)r;
}

static NOINLINE void hand_on(struct item *i)
{
	pthread_mutex_lock(&lock);
	while (slot)
		pthread_cond_wait(&changed, &lock);
	slot = i;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *fetch(void)
{
	struct item *i;

	pthread_mutex_lock(&lock);
	while (!slot)
		pthread_cond_wait(&changed, &lock);
	i = slot;
	slot = NULL;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return i;
}

static NOINLINE void replace(uint64_t value)
{
	struct item *i;
	uintptr_t was;

	pthread_mutex_lock(&own);
	was = drop_record();
	i = item_new(value);
	n_equal += (uintptr_t)i == was;
	hand_on(i);
	pthread_mutex_unlock(&own);
}

static NOINLINE void leave_record(uint64_t number)
{
	struct record *r = malloc(sizeof *r);

	if (!r)
		abort();
	r->number = number;
	pthread_mutex_lock(&own);
	left = r;
	pthread_mutex_unlock(&own);
}

static NOINLINE void drop_left(uint64_t value)
{
	uintptr_t was;
	struct item *i;

	pthread_mutex_lock(&own);
	was = (uintptr_t)left;
	free(left);
	left = NULL;
	i = item_new(value);
	pthread_mutex_unlock(&own);
	n_left_equal += (uintptr_t)i == was;
	item_use(i);
	kept[value - N_ITEMS - 1] = i; /* released, it would be given before the next record's memory */
}

static void *consumer(void *arg)
{
	for (unsigned n = 0; n < N_ITEMS; n++) {
		struct item *i = fetch();

		item_use(i);
		free(i);
	}
	return arg;
}

/* A thread of its own: it has released nothing yet that malloc would give first. */
static void *dropper(void *arg)
{
	for (unsigned n = 1; n <= N_ITEMS; n++) {
		while (sem_wait(&is_left))
			;
		drop_left(N_ITEMS + n);
		sem_post(&is_dropped);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	sem_init(&is_left, 0, 0);
	sem_init(&is_dropped, 0, 0);
	t = start(consumer);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		keep_record(i);
		replace(i);
	}
	pthread_join(t, NULL);
	t = start(dropper);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		leave_record(i);
		sem_post(&is_left);
		while (sem_wait(&is_dropped))
			;
	}
	pthread_join(t, NULL);
	if (n_equal < N_ITEMS / 2 || n_left_equal < N_ITEMS / 2) {
		printf("malloc did not use memory again: %u and %u of %u\n", n_equal, n_left_equal, N_ITEMS);
		return 1;
	}
	truth("hand_on", "fetch", N_ITEMS);
	return checked(2 * N_ITEMS);
}
