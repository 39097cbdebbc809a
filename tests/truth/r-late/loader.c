/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

#define LAST_NS 200000 /* of a load: meanwhile the archiver comes */

static int is_stopped(struct holders *h)
{
	return __atomic_load_n(&h->stop, __ATOMIC_ACQUIRE);
}

static NOINLINE void load_chunk(struct holders *h, uint32_t ns)
{
	struct plant_time took = { 0, 0 };

	h->loads.stretches[h->loads.n].from = PLANT_NOW();
	PLANT_SPIN(ns, took);
	__atomic_store_n(&h->state, NEARLY_LOADED, __ATOMIC_RELEASE);
	PLANT_SPIN(LAST_NS, took);
	h->loads.stretches[h->loads.n].to = PLANT_NOW();
}

static void *loader_main(void *arg)
{
	struct holders *h = arg;

	while (!is_stopped(h) && h->loads.n < h->loads.capacity) {
		uint32_t ns = plant_uniform(&h->load_random, 300000, 3000000);

		plant_sleep_us(plant_uniform(&h->load_random, 2500, 3500));
		pthread_mutex_lock(&table_lock);
		__atomic_store_n(&h->state, LOADING, __ATOMIC_RELEASE);
		PLANT_LOG(&h->loads, load_chunk(h, ns));
		pthread_mutex_unlock(&table_lock);
		__atomic_store_n(&h->state, AWAY, __ATOMIC_RELEASE);
	}
	return NULL;
}

static NOINLINE void await_loader(struct holders *h)
{
	while (__atomic_load_n(&h->state, __ATOMIC_ACQUIRE) != NEARLY_LOADED && !is_stopped(h))
		plant_sleep_us(50);
}

static NOINLINE void archive_rows(struct holders *h, uint32_t ns)
{
	PLANT_STRETCH(&h->archives, ns);
}

static void *archiver_main(void *arg)
{
	struct holders *h = arg;

	while (!is_stopped(h) && h->archives.n < h->archives.capacity) {
		uint32_t ns = plant_uniform(&h->archive_random, 100000, 2500000);
		struct plant_time took = { 0, 0 };

		await_loader(h);
		while (pthread_mutex_trylock(&table_lock))
			PLANT_SPIN(500, took);
		PLANT_LOG(&h->archives, archive_rows(h, ns));
		pthread_mutex_unlock(&table_lock);
	}
	return NULL;
}

void holders_start(struct holders *h, uint64_t random, size_t max_runs)
{
	*h = (struct holders){ .load_random = random, .archive_random = random + 1 };
	h->loads.capacity = h->archives.capacity = max_runs;
	h->loads.stretches = calloc(max_runs, sizeof *h->loads.stretches);
	h->archives.stretches = calloc(max_runs, sizeof *h->archives.stretches);
	if (!h->loads.stretches || !h->archives.stretches || pthread_create(&h->loader, NULL, loader_main, h) ||
	    pthread_create(&h->archiver, NULL, archiver_main, h)) {
		fputs("cannot start loader and archiver\n", stderr);
		exit(1);
	}
}

void holders_stop(struct holders *h)
{
	__atomic_store_n(&h->stop, 1, __ATOMIC_RELEASE);
	pthread_join(h->loader, NULL);
	pthread_join(h->archiver, NULL);
}
