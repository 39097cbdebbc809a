/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Servers with queues, simulated event by event: threads sleep and are woken, are late, take what another was woken
 * for, or find the next job without having slept. Each server calls those after it. Nothing rests on time or chance but
 * what the seed says.
 */
#ifndef SIMULATED_SERVERS_H
#define SIMULATED_SERVERS_H

#include "random_tiers.h"

enum served_by {
	SERVED_BY_WORKERS,    /* a thread for each connection */
	SERVED_BY_DISPATCHER, /* one thread receives, workers do the rest */
	SERVED_BY_HANDOFF,    /* two pools; calls are made in both, the second one replies */
	SERVED_BY_STAGES,     /* three pools; calls are made in the second, the third one replies */
	SERVED_BY_SHARED,     /* two stages, and one pool and queue for both */
	SERVED_BY_LOOP,	      /* an event loop: what it receives it works on at once */
	SERVED_BY_BATCHES,    /* an event loop that receives all that is there first */
	SERVED_BYS
};

struct served_options {
	uint64_t seed;
	enum served_by model;
	uint32_t n_servers, n_workers, n_sessions, n_requests; /* requests of all sessions */
	uint32_t n_calls_most;				       /* of a visit */
	int knows_places;   /* wake-ups are recorded with the place where the thread slept */
	int has_locks;	    /* threads wake one another at a lock, too */
	int loses_wakes;    /* one wake-up of fifty is not recorded */
	int is_in_disorder; /* batches are worked on in any order */
};

/* To be released with random_tiers_release(). */
void simulated_servers_make(struct random_tiers *r, const struct served_options *o);

#endif
