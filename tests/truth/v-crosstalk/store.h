/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (v) Requests of three types and two locks: searches read the items under item_lock, confirmations write items and
 * then orders under order_lock, the home page reads orders. A keeper, which works for no request, takes order_lock,
 * too. So a search waits for confirmations at item_lock and for nobody at order_lock, and so on: who waits for whom,
 * where, and how long, is in the program's own logs. */
#ifndef STORE_H
#define STORE_H

#include <pthread.h>

#include "plant.h"

#define N_WORKERS 3

enum type { SEARCH, CONFIRM, HOME, KEEPER, N_TYPES };
enum lock { ITEMS, ORDERS, N_LOCKS };

/* A time at which a thread held a lock. */
struct section {
	struct plant_stretch held;
	uint64_t since; /* from when on the thread surely worked for the request; 0: it never works for one */
	enum type type;
};

struct sections {
	size_t n, capacity;
	struct section *v;
};

/* ticks: around the acquire, and how often the kernel took the CPU meanwhile */
struct acquire {
	uint64_t from, to;
	long interruptions;
};

struct request {
	uint64_t id, from, to, begun; /* begun: read inside */
	enum type type;
	uint32_t parse_ns, items_ns, orders_ns;
	struct acquire acquires[N_LOCKS]; /* to 0: not taken */
};

struct worker {
	pthread_t thread;
	size_t n;
	struct request *requests;
	struct sections sections[N_LOCKS];
};

struct keeper {
	pthread_t thread;
	uint64_t random;
	int stop; /* atomic */
	struct sections sections;
};

extern pthread_mutex_t item_lock, order_lock;

void sections_make(struct sections *s, size_t capacity);
void worker_start(struct worker *w);
void keeper_start(struct keeper *k, uint64_t random, size_t max_runs);
void keeper_stop(struct keeper *k);

/* Writes TRUTH_OUT; main's exit status. */
int account_write(const struct worker *workers, const struct keeper *keeper);

#endif
