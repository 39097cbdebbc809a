/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index.h"

#include <stdio.h>
#include <stdlib.h>

#define N_WORKERS 16
#define BATCH 50
#define PAUSE_US 1000
#define ONE_IN 9000 /* requests of a worker need the index: one in 200 ms or so */

enum { REQUEST, WAIT, N_FACTORS };

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "serve", -1, 0 },
	[WAIT] = { "pthread_mutex_lock", REQUEST, TRUTH_WAIT },
};

struct worker {
	pthread_t id;
	uint64_t number, random;
	size_t n;
	struct plant_time (*took)[N_FACTORS]; /* [n] */
};

/* Requests that come whether or not earlier ones are answered: most workers do not wait. */
static void *worker_main(void *arg)
{
	struct worker *w = arg;

	for (size_t i = 0; i < w->n; i++) {
		struct request q = { .id = w->number << 40 | (i + 1),
				     .needs_index = !plant_uniform(&w->random, 0, ONE_IN) };

		PLANT_CALL(w->took[i][REQUEST], serve(&q));
		w->took[i][REQUEST].low = w->took[i][REQUEST].high;
		w->took[i][WAIT] = q.waited;
		if (i % BATCH == BATCH - 1)
			plant_sleep_us(PAUSE_US);
	}
	return NULL;
}

static void start(pthread_t *id, void *(*run)(void *), void *arg)
{
	if (pthread_create(id, NULL, run, arg)) {
		perror("pthread_create");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1500000);
	struct worker workers[N_WORKERS];
	struct truth_answer answer = { .interval = "request" };
	struct truth truth;
	pthread_t indexer;

	truth_open(&truth, N_FACTORS, columns, o.n);
	start(&indexer, indexer_main, &o.random);
	for (uint64_t i = 0; i < N_WORKERS; i++) {
		workers[i] =
			(struct worker){ .number = i + 1, .random = o.random ^ (i + 1) << 40, .n = o.n / N_WORKERS };
		workers[i].took = calloc(workers[i].n + 1, sizeof *workers[i].took);
		if (!workers[i].took) {
			perror("calloc");
			exit(1);
		}
		start(&workers[i].id, worker_main, &workers[i]);
	}
	for (size_t i = 0; i < N_WORKERS; i++)
		pthread_join(workers[i].id, NULL);
	is_over = 1;
	pthread_join(indexer, NULL);
	for (size_t i = 0; i < N_WORKERS; i++) {
		for (size_t k = 0; k < workers[i].n; k++)
			truth_add(&truth, workers[i].took[k]);
		free(workers[i].took);
	}
	return truth_write(&truth, &answer);
}
