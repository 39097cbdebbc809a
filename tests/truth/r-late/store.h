/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (r) Requests wait for a mutex that a loader holds. When the loader releases it, an archiver, which had slept, is
 * quicker than the request and takes it for a while, without having waited: each is to blame for its own time. */
#ifndef STORE_H
#define STORE_H

#include <pthread.h>

#include "plant.h"

enum { REQUEST, PARSE, UPDATE_TABLE, REPLY, LOCK_WAIT, WRITE_ROW, LOAD, ARCHIVE, N_FACTORS };
enum { AWAY, LOADING, NEARLY_LOADED }; /* what the loader is at */

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
	uint64_t wait_from, wait_to; /* ticks */
	long interruptions;	     /* meanwhile */
};

extern pthread_mutex_t table_lock;

void handle_request(struct request *r);

/* Loader and archiver; their logs are to be read after they were joined. */
struct holders {
	pthread_t loader, archiver;
	uint64_t load_random, archive_random;
	int stop, state; /* atomic */
	struct plant_log loads, archives;
};

void holders_start(struct holders *h, uint64_t random, size_t max_runs);
void holders_stop(struct holders *h);

#endif
