/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (t) The cause is rebuild_index, which holds a lock for five times as long as a recording window lasts: nearly always
 * it was under way when the window opened in which a request waits for it. */
#ifndef INDEX_H
#define INDEX_H

#include <pthread.h>

#include "plant.h"

#define HOLD_NS 100000000u
#define N_FIELDS 8

struct request {
	uint64_t id;
	uint32_t fields[N_FIELDS];
	int needs_index;
	struct plant_time waited;
};

extern pthread_mutex_t index_lock;
extern volatile int is_over;

void serve(struct request *q);
void *indexer_main(void *arg);

#endif
