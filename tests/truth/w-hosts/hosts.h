/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (w) Two programs on two hosts. Only the front's requests are annotated: what varies is how long `rebuild_page` sleeps
 * in the store. The store tells the front what it did and when, by the processor's counter: the hosts of the test share
 * one machine, which vprof does not know. */
#ifndef HOSTS_H
#define HOSTS_H

#include "plant.h"

enum { REQUEST, PARSE, FRONT_WAIT, LOOK_UP, REBUILD, NANOSLEEP, N_FACTORS };

struct asked {
	uint64_t id;
	uint32_t look_up_ns, rebuild_ns;
};

struct told { /* what was done before this reply, but for the last request's the sends themselves */
	uint64_t id;
	struct plant_stretch look_up, rebuild;
};

struct job {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
	struct told told;
	uint64_t from, to; /* readings around the wait for the reply */
	long interruptions;
};

/* Each ends the process unless all goes as it should. */
void run_front(struct job *jobs, size_t n, int store);
void run_store(int front);

#endif
