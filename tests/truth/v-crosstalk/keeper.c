/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

static NOINLINE void archive_orders(struct section *s, uint32_t ns)
{
	struct plant_time took = { 0, 0, 0 };

	s->held.from = PLANT_NOW();
	PLANT_SPIN(ns, took);
	s->held.to = PLANT_NOW();
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;

	while (!__atomic_load_n(&k->stop, __ATOMIC_ACQUIRE) && k->sections.n < k->sections.capacity) {
		struct section *s = &k->sections.v[k->sections.n];
		uint32_t ns = plant_uniform(&k->random, 1000000, 3000000);

		plant_sleep_us(plant_uniform(&k->random, 5000, 9000));
		pthread_mutex_lock(&order_lock);
		s->type = KEEPER;
		s->held.before = PLANT_NOW();
		archive_orders(s, ns);
		pthread_mutex_unlock(&order_lock);
		s->held.after = PLANT_NOW();
		k->sections.n++;
	}
	return NULL;
}

void keeper_start(struct keeper *k, uint64_t random, size_t max_runs)
{
	*k = (struct keeper){ .random = random };
	sections_make(&k->sections, max_runs);
	if (pthread_create(&k->thread, NULL, keeper_main, k)) {
		fputs("cannot start the keeper\n", stderr);
		exit(1);
	}
}

void keeper_stop(struct keeper *k)
{
	__atomic_store_n(&k->stop, 1, __ATOMIC_RELEASE);
	pthread_join(k->thread, NULL);
}
