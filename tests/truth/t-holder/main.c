/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_WORKERS 16
#define BATCH 50
#define PAUSE_US 1000
#define ONE_IN 9000 /* requests of a worker need the index: one in 200 ms or so */

static uint64_t seed;

/* Requests that come whether or not earlier ones are answered: most workers do not wait. */
static void *worker(void *arg)
{
	uint64_t number = (uint64_t)(uintptr_t)arg + 1, random = seed ^ number << 40, n = 0;

	while (!is_over) {
		for (int i = 0; i < BATCH; i++) {
			struct request q = { .id = number << 40 | ++n,
					     .needs_index = !plant_uniform(&random, 0, ONE_IN) };

			serve(&q);
		}
		plant_sleep_us(PAUSE_US);
	}
	return NULL;
}

/* Arguments: [SECONDS [SEED]]. */
int main(int argc, char **argv)
{
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 3;
	char *seeds[] = { argv[0], "10", argc > 2 ? argv[2] : NULL };
	struct plant_options o = plant_start(argc > 2 ? 3 : 1, seeds, 10);
	pthread_t threads[N_WORKERS + 1];
	int n = 0;

	seed = o.random;
	if (pthread_create(&threads[n++], NULL, indexer_main, &seed))
		return 1;
	while (n <= N_WORKERS) {
		if (pthread_create(&threads[n], NULL, worker, (void *)(uintptr_t)n))
			return 1;
		n++;
	}
	for (; seconds > 0; seconds--)
		plant_sleep_us(1000000);
	is_over = 1;
	while (n-- > 0)
		pthread_join(threads[n], NULL);
	return 0;
}
