/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (j) An epoll loop: a request runs in three callbacks of its connection (its socket, a pipe, a timer) with time for
 * others in between. The cause is expand_row in the second. */
#ifndef GATEWAY_H
#define GATEWAY_H

#include "plant.h"

#define N_CONNECTIONS 4
#define TIMER_NS 200000

enum { REQUEST, ON_REQUEST, ON_LOOKUP, ON_TIMER, QUEUED, PARSE, MATCH_ROUTE, EXPAND_ROW, ENCODE, N_FACTORS };

struct connection;
typedef void (*callback)(struct connection *conn);

struct source {
	int fd;
	callback call;
	struct connection *conn;
};

struct connection {
	int client_fd; /* the client's end of the socket */
	int pipe_in;   /* writing here makes `lookup` readable */
	struct source request, lookup, timer;
	uint32_t ns[N_FACTORS]; /* of the request in hand */
	struct plant_time took[N_FACTORS];
	uint64_t begin; /* ticks, before on_request */
	uint64_t first; /* within it */
};

void on_request(struct connection *conn);
void on_lookup(struct connection *conn);
void on_timer(struct connection *conn);

int loop_add(int epoll_fd, struct source *source);
/* Runs callbacks until a connection's client hangs up. */
void loop_run(int epoll_fd);
void loop_stop(void);

/* Sends the requests, one at a time; the truth gets a row for each. */
struct client {
	struct connection *connections;
	struct truth *truth;
	size_t n;
	uint64_t random;
};
void *client_main(void *client);

#endif
