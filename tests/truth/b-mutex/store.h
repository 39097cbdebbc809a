/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (b) Requests wait for a mutex that a background thread holds while it compacts. */
#ifndef STORE_H
#define STORE_H

#include <pthread.h>

#include "plant.h"

enum { REQUEST, PARSE, UPDATE_TABLE, REPLY, LOCK_WAIT, WRITE_ROW, COMPACTION, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
	uint64_t wait_from, wait_to; /* ticks */
	long interruptions;	     /* meanwhile */
};

extern pthread_mutex_t table_lock;

void handle_request(struct request *r);

/* The compactor thread; its log is to be read after it was joined. */
struct compactor {
	pthread_t thread;
	uint64_t random;
	int stop; /* atomic */
	struct plant_log log;
};

void compactor_start(struct compactor *c, uint64_t random, size_t max_runs);
void compactor_stop(struct compactor *c);

#endif
