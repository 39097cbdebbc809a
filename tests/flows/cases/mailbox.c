/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An atomic pointer: exchanged in, exchanged out. */
#include "flow_case.h"

static struct item *_Atomic box;

static NOINLINE void mail(struct item *item)
{
	struct item *empty = NULL;

	while (!atomic_compare_exchange_strong(&box, &empty, item)) {
		empty = NULL;
		usleep(10);
	}
}

static NOINLINE struct item *collect(void)
{
	struct item *item;

	while (!(item = atomic_exchange(&box, NULL)))
		usleep(10);
	return item;
}

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct item *item = collect();

		item_use(item);
		free(item);
	}
	return arg;
}

int main(void)
{
	pthread_t t = start(consumer);

	for (unsigned i = 1; i <= N_ITEMS; i++)
		mail(item_new(i));
	pthread_join(t, NULL);
	truth("mail", "collect", N_ITEMS);
	return checked(N_ITEMS);
}
