/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (w) Three processes, one behind the other, over TCP. Only the first one's requests are annotated: what varies is
 * how long `rebuild_page` sleeps in the third. */
#ifndef TIERS_H
#define TIERS_H

#include "plant.h"

enum { REQUEST, PARSE, RENDER, FRONT_WAIT, PRICE, ORDERS_WAIT, LOOK_UP, REBUILD, NANOSLEEP, N_FACTORS };

enum { ORDERS, STORE, N_SERVERS };

struct job {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
	uint64_t front_from, front_to, orders_from, orders_to; /* readings around the waits for replies */
	long front_interruptions, orders_interruptions;
};

struct shared { /* by all three */
	size_t n;
	struct job *jobs;
	struct plant_log price, look_up, rebuild;
};

void run_front(struct shared *s, int orders);
void run_orders(struct shared *s, int front, int store);
void run_store(struct shared *s, int orders);
/* Ends the process unless a number went through. */
void say(int connection, uint64_t number);

#endif
