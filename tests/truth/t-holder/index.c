/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index.h"

#define N_SEGMENTS 4

pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
volatile int is_over;

static NOINLINE void merge_segment(uint32_t ns)
{
	struct plant_time took = { 0, 0 };

	PLANT_SPIN(ns, took);
}

static NOINLINE void write_manifest(void)
{
	struct plant_time took = { 0, 0 };

	PLANT_SPIN(20000, took);
}

static NOINLINE void rebuild_index(void)
{
	pthread_mutex_lock(&index_lock);
	for (int i = 0; i < N_SEGMENTS; i++)
		merge_segment(HOLD_NS / N_SEGMENTS);
	pthread_mutex_unlock(&index_lock);
}

/* A task's thread: what it calls it calls for the first time, perhaps in a pause. */
static void *rebuild_main(void *arg)
{
	(void)arg;
	rebuild_index();
	write_manifest();
	return 0;
}

void *indexer_main(void *arg)
{
	uint64_t random = *(const uint64_t *)arg;

	while (!is_over) {
		pthread_t task;

		if (pthread_create(&task, 0, rebuild_main, 0))
			return 0;
		pthread_join(task, 0);
		plant_sleep_us(plant_uniform(&random, 30000, 80000));
	}
	return 0;
}
