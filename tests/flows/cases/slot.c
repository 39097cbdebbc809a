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

int main(void)
{
	pass_all(put, get);
	truth("put", "get", N_ITEMS);
	return checked(N_ITEMS);
}
