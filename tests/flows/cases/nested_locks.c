/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue with a lock of its own, to which one side comes while it holds another: the producer the first half of the
 * items, the consumer the second. The outer lock is never held by both, so it is the inner one through which they pass;
 * and the consumer takes one item late in a long section of its outer lock, which it has held since before the item was
 * stored. */
#include "flow_case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER,
		       other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct item *first, **last = &first;
static uint64_t n_stored, n_looked;

static NOINLINE void add_item(struct item *i)
{
	pthread_mutex_lock(&lock);
	*last = i;
	last = &i->next;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *next_item(void)
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

/* What it does besides under its own lock is a reason to hold it. */
static NOINLINE void store(struct item *i, int beneath)
{
	if (beneath)
		pthread_mutex_lock(&outer);
	n_stored++;
	add_item(i);
	if (beneath)
		pthread_mutex_unlock(&outer);
}

static NOINLINE struct item *fetch(int beneath)
{
	struct item *i;

	if (beneath)
		pthread_mutex_lock(&other);
	n_looked++;
	i = next_item();
	if (beneath)
		pthread_mutex_unlock(&other);
	return i;
}

static void *consumer(void *arg)
{
	for (unsigned n = 0; n < N_ITEMS; n++) {
		struct item *i = fetch(n >= N_ITEMS / 2);

		item_use(i);
		free(i);
	}
	return arg;
}

int main(void)
{
	pthread_t t = start(consumer);

	for (unsigned i = 1; i <= N_ITEMS; i++)
		store(item_new(i), i <= N_ITEMS / 2);
	pthread_join(t, NULL);
	truth("add_item", "next_item", N_ITEMS);
	return n_stored == n_looked ? checked(N_ITEMS) : 1;
}
