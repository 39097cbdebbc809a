/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A random system of tiers: servers that call one another, sessions that load them, and the truth of each call. */
#ifndef RANDOM_TIERS_H
#define RANDOM_TIERS_H

#include "analysis/requests/history/socket_history.h"

enum tier_model {
	TIER_WORKERS,	 /* each worker receives its requests itself */
	TIER_DISPATCHER, /* one thread receives, workers do the rest */
	TIER_STAGES,	 /* a worker calls, and another one replies */
};

struct tiers_options {
	uint64_t seed;
	uint32_t n_tiers, n_servers; /* of each tier; a server calls those of later tiers, and rarely of its own or
					earlier ones */
	uint32_t n_workers;	     /* of each server */
	uint32_t n_sessions, n_requests;
	uint32_t n_calls_most; /* of a visit */
	enum tier_model model;
	int shares_connections; /* a server's workers take any idle connection; else each has its own */
	int records_wakes, records_clients, shifts_clocks;
};

struct true_call { /* the n-th exchange of a connection was made for that of another; VPROF_NONE: it is a request */
	uint32_t client, server; /* sockets; the client's is VPROF_NONE where it is not recorded */
	uint32_t nth;
	uint32_t parent_server, parent_nth;
	uint64_t begin, end; /* at the server: its request is there; its reply is sent */
};

struct random_tiers {
	struct vprof_socket_history history;
	VPROF_ARRAY(struct true_call) truth;
	uint32_t n_requests;
};

void random_tiers_make(struct random_tiers *r, const struct tiers_options *o);
/* What a host's clock shows at a true time: an hour ahead for each, and host x 10 ppm fast. */
#define TIERS_DRIFT_EACH 100000
uint64_t random_tiers_clock(const struct tiers_options *o, uint32_t host, uint64_t t);

void random_tiers_release(struct random_tiers *r);

#endif
