/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (u) Two workers contend for table_lock: they are a knot, since they wait for nobody else but now and then for the
 * keeper of the cache, which mostly sleeps and is in the background. What of a request passes through the knot is its
 * wait for table_lock; its wait for cache_lock, which varies as much, does not. */
#ifndef TABLES_H
#define TABLES_H

#include <pthread.h>

#include "plant.h"

#define N_WORKERS 2

enum { REQUEST, TABLE_WAIT, CACHE_WAIT, N_COLUMNS };

struct request {
	uint64_t id;
	int is_cached; /* asks the cache: only requests of the first worker do, so that workers never wait there */
	uint32_t parse_ns, update_ns;
	struct plant_time took[N_COLUMNS];
	uint64_t table_from, table_to, cache_from, cache_to; /* ticks: around the locks */
	long table_interruptions, cache_interruptions;	     /* meanwhile */
};

struct worker {
	pthread_t thread;
	size_t n;
	struct request *requests;
	struct plant_log log; /* when it held table_lock */
};

extern pthread_mutex_t table_lock, cache_lock;

void worker_start(struct worker *w);

/* Holds cache_lock now and then; never waits for it. Its log is to be read after it was stopped. */
struct keeper {
	pthread_t thread;
	uint64_t random;
	int stop; /* atomic */
	struct plant_log log;
};

void keeper_start(struct keeper *k, uint64_t random, size_t max_runs);
void keeper_stop(struct keeper *k);

#endif
