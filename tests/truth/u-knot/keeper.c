/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>

/* Asleep: the workers keep the two processors that they need. */
static NOINLINE void evict_entries(struct keeper *k, uint32_t us)
{
	struct plant_stretch *s = &k->log.stretches[k->log.n];

	s->from = PLANT_NOW();
	plant_sleep_us(us);
	s->to = PLANT_NOW();
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;

	while (!__atomic_load_n(&k->stop, __ATOMIC_ACQUIRE) && k->log.n < k->log.capacity) {
		uint32_t us = plant_uniform(&k->random, 500, 4000);

		plant_sleep_us(plant_uniform(&k->random, 8000, 12000));
		if (pthread_mutex_trylock(&cache_lock))
			continue;
		PLANT_LOG(&k->log, evict_entries(k, us));
		pthread_mutex_unlock(&cache_lock);
	}
	return NULL;
}

void keeper_start(struct keeper *k, uint64_t random, size_t max_runs)
{
	*k = (struct keeper){ .random = random, .log = { .capacity = max_runs } };
	k->log.stretches = calloc(max_runs, sizeof *k->log.stretches);
	if (!k->log.stretches || pthread_create(&k->thread, NULL, keeper_main, k)) {
		fputs("cannot start the keeper\n", stderr);
		exit(1);
	}
}

void keeper_stop(struct keeper *k)
{
	__atomic_store_n(&k->stop, 1, __ATOMIC_RELEASE);
	pthread_join(k->thread, NULL);
}
