/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (j) An epoll loop: a request runs in three callbacks of its connection (its socket, a pipe, a timer) with time for
 * others in between. The cause is expand_row in the second. */
#ifndef GATEWAY_H
#define GATEWAY_H

#include <semaphore.h>

#include "plant.h"

#define N_CONNECTIONS 4
#define TIMER_NS 200000

enum { REQUEST, ON_REQUEST, ON_LOOKUP, ON_TIMER, QUEUED, PARSE, MATCH_ROUTE, EXPAND_ROW, ENCODE, N_FACTORS };

/* A request is in the callbacks' hands, as vprof.json says; of a discovered draft, in those of the handlers around
 * them, from the receipt to the reply. */
#ifdef DISCOVERED
#define IN_HANDLER(statement) statement
#define IN_CALLBACK(statement) (void)0
#define CALLED(took, call) call
#define HANDLED_BY(handler, callback) handler
#else
#define IN_HANDLER(statement) (void)0
#define IN_CALLBACK(statement) statement
#define CALLED(took, call) PLANT_CALL(took, call)
#define HANDLED_BY(handler, callback) callback
#endif

struct connection;
typedef void (*callback)(struct connection *conn);

struct source {
	int fd;
	callback call;
	struct connection *conn;
	int column; /* of the account */
};

struct connection {
	int client_fd; /* the client's end of the socket */
	int pipe_in;   /* writing here makes `lookup` readable */
	struct source request, lookup, timer;
	uint32_t ns[N_FACTORS]; /* of the request in hand */
	struct plant_time took[N_FACTORS];
	uint64_t begin;	 /* ticks, before on_request */
	uint64_t first;	 /* within it */
	sem_t accounted; /* of a discovered draft: the reply is part of the request, and the account comes after it */
};

void on_request(struct connection *conn);
void on_lookup(struct connection *conn);
void on_timer(struct connection *conn);

int loop_add(int epoll_fd, struct source *source);
/* Of a discovered draft: what the handler took, as seen from outside. */
void account_for_handler(struct source *source, uint64_t begin);
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
