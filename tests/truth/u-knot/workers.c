/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER, cache_lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void parse(struct request *r)
{
	struct plant_time took = { 0, 0 };

	PLANT_SPIN(r->parse_ns, took);
}

static NOINLINE void ask_cache(struct request *r)
{
	r->cache_interruptions = -PLANT_INTERRUPTIONS();
	r->cache_from = PLANT_NOW();
	pthread_mutex_lock(&cache_lock);
	r->cache_to = PLANT_NOW();
	r->cache_interruptions += PLANT_INTERRUPTIONS();
	pthread_mutex_unlock(&cache_lock);
}

static NOINLINE void update_rows(struct worker *w, struct request *r)
{
	PLANT_STRETCH(&w->log, r->update_ns);
}

static NOINLINE void update_table(struct worker *w, struct request *r)
{
	r->table_interruptions = -PLANT_INTERRUPTIONS();
	r->table_from = PLANT_NOW();
	pthread_mutex_lock(&table_lock);
	r->table_to = PLANT_NOW();
	r->table_interruptions += PLANT_INTERRUPTIONS();
	PLANT_LOG(&w->log, update_rows(w, r));
	pthread_mutex_unlock(&table_lock);
}

NOINLINE void handle_request(struct worker *w, struct request *r)
{
	uint64_t from = PLANT_NOW();

	parse(r);
	if (r->is_cached)
		ask_cache(r);
	update_table(w, r);
	r->took[REQUEST].low += PLANT_NOW() - from;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	for (size_t i = 0; i < w->n; i++)
		PLANT_CALL(w->requests[i].took[REQUEST], handle_request(w, &w->requests[i]));
	return NULL;
}

void worker_start(struct worker *w)
{
	w->log.capacity = w->n;
	w->log.stretches = calloc(w->n, sizeof *w->log.stretches);
	if (!w->log.stretches || pthread_create(&w->thread, NULL, worker_main, w)) {
		fputs("cannot start a worker\n", stderr);
		exit(1);
	}
}
