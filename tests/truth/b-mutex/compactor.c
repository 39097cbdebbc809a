/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

static NOINLINE void compact_segment(struct compactor *c, uint32_t ns)
{
	PLANT_STRETCH(&c->log, ns);
}

static void *compactor_main(void *arg)
{
	struct compactor *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE) && c->log.n < c->log.capacity) {
		uint32_t ns = plant_uniform(&c->random, 300000, 3000000);

		plant_sleep_us(plant_uniform(&c->random, 500, 1500));
		pthread_mutex_lock(&table_lock);
		PLANT_LOG(&c->log, compact_segment(c, ns));
		pthread_mutex_unlock(&table_lock);
	}
	return NULL;
}

void compactor_start(struct compactor *c, uint64_t random, size_t max_runs)
{
	*c = (struct compactor){ .random = random, .log = { .capacity = max_runs } };
	c->log.stretches = calloc(max_runs, sizeof *c->log.stretches);
	if (!c->log.stretches || pthread_create(&c->thread, NULL, compactor_main, c)) {
		fputs("cannot start the compactor\n", stderr);
		exit(1);
	}
}

void compactor_stop(struct compactor *c)
{
	__atomic_store_n(&c->stop, 1, __ATOMIC_RELEASE);
	pthread_join(c->thread, NULL);
}
