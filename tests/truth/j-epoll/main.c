/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gateway.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "request", -1, 0, 0 },
	[ON_REQUEST] = { HANDLED_BY("on_readable", "on_request"), REQUEST, TRUTH_APART, HANDLED_BY(3, 2) },
	[ON_LOOKUP] = { HANDLED_BY("on_looked_up", "on_lookup"), REQUEST, TRUTH_APART, HANDLED_BY(2, 0) },
	[ON_TIMER] = { HANDLED_BY("on_due", "on_timer"), REQUEST, TRUTH_APART, HANDLED_BY(2, 0) },
	[QUEUED] = { "queued", REQUEST, TRUTH_PLANTED | TRUTH_WAIT | TRUTH_APART, 0 },
	[PARSE] = { "parse", ON_REQUEST, 0, 0 },
	[MATCH_ROUTE] = { "match_route", ON_REQUEST, 0, 0 },
	[EXPAND_ROW] = { "expand_row", ON_LOOKUP, TRUTH_PLANTED, 0 },
	[ENCODE] = { "encode", ON_TIMER, 0, 0 },
};

/* Takes a request from the socket before its interval begins; the client closing its end stops the loop. */
static void on_readable(struct connection *conn)
{
	IN_HANDLER(uint64_t begin = PLANT_NOW());
	char byte;

	IN_HANDLER(conn->first = begin);
	if (read(conn->request.fd, &byte, 1) != 1) {
		loop_stop();
		return;
	}
	IN_CALLBACK(conn->begin = PLANT_NOW());
	CALLED(conn->took[ON_REQUEST], on_request(conn));
	IN_HANDLER(conn->took[ON_REQUEST].low = PLANT_NOW() - begin);
}

static void on_looked_up(struct connection *conn)
{
	IN_HANDLER(uint64_t begin = PLANT_NOW());

	CALLED(conn->took[ON_LOOKUP], on_lookup(conn));
	IN_HANDLER(conn->took[ON_LOOKUP].low = PLANT_NOW() - begin);
}

/* Between the callbacks. */
static void account_for_delays(struct connection *conn)
{
	uint64_t least = 0, most = 0;

	for (int i = ON_REQUEST; i <= ON_TIMER; i++) {
		least += conn->took[i].low;
		most += conn->took[i].high;
	}
	conn->took[QUEUED].low = conn->took[REQUEST].low > most ? conn->took[REQUEST].low - most : 0;
	conn->took[QUEUED].high = conn->took[REQUEST].high - least;
}

void account_for_handler(struct source *source, uint64_t begin)
{
	struct connection *conn = source->conn;
	uint64_t end = PLANT_NOW();

	if (source->column == ON_REQUEST)
		conn->begin = begin;
	conn->took[source->column].high += end - begin;
	if (source->column != ON_TIMER)
		return;
	conn->took[REQUEST].high = end - conn->begin;
	account_for_delays(conn);
	sem_post(&conn->accounted);
}

/* The reply goes out after the interval's end, so that the client's thread never reads half an account. */
static void on_due(struct connection *conn)
{
	IN_HANDLER(uint64_t begin = PLANT_NOW());
	char byte = 1;

	CALLED(conn->took[ON_TIMER], on_timer(conn));
	IN_CALLBACK(conn->took[REQUEST].high = PLANT_NOW() - conn->begin);
	IN_CALLBACK(account_for_delays(conn));
	if (write(conn->request.fd, &byte, 1) != 1)
		loop_stop();
	IN_HANDLER(conn->took[REQUEST].low = PLANT_NOW() - conn->first);
	IN_HANDLER(conn->took[ON_TIMER].low = PLANT_NOW() - begin);
}

static int open_connection(int epoll_fd, struct connection *conn)
{
	int sockets[2], pipes[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || pipe(pipes))
		return -1;
	conn->client_fd = sockets[0];
	conn->pipe_in = pipes[1];
	sem_init(&conn->accounted, 0, 0);
	conn->request = (struct source){ sockets[1], on_readable, conn, ON_REQUEST };
	conn->lookup = (struct source){ pipes[0], on_looked_up, conn, ON_LOOKUP };
	conn->timer = (struct source){ timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), on_due, conn, ON_TIMER };
	return loop_add(epoll_fd, &conn->request) || loop_add(epoll_fd, &conn->lookup) ||
	       loop_add(epoll_fd, &conn->timer);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 300);
	struct truth_answer answer = { .interval = "request" };
	static struct connection connections[N_CONNECTIONS];
	int epoll_fd = epoll_create1(0);
	struct client client;
	struct truth truth;
	pthread_t thread;

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (int i = 0; i < N_CONNECTIONS; i++) {
		if (epoll_fd < 0 || open_connection(epoll_fd, &connections[i])) {
			perror("connection");
			return 1;
		}
	}
	client = (struct client){ connections, &truth, o.n, o.random };
	if (pthread_create(&thread, NULL, client_main, &client)) {
		fputs("cannot start the client\n", stderr);
		return 1;
	}
	loop_run(epoll_fd);
	pthread_join(thread, NULL);
	if (truth.n != o.n) {
		fprintf(stderr, "only %zu of %zu requests were served\n", truth.n, o.n);
		return 1;
	}
	return truth_write(&truth, &answer);
}
