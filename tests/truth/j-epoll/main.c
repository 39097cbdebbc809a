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

static const char *const names[N_FACTORS] = { "expand_row", "parse", "match_route", "encode" };

/* Takes a request from the socket before its interval begins; the client closing its end stops the loop. */
static void on_readable(struct connection *conn)
{
	char byte;

	if (read(conn->request.fd, &byte, 1) == 1)
		on_request(conn);
	else
		loop_stop();
}

/* The reply goes out after the interval's end, so that the client's thread never reads half an account. */
static void on_due(struct connection *conn)
{
	char byte = 1;

	on_timer(conn);
	if (write(conn->request.fd, &byte, 1) != 1)
		loop_stop();
}

static int open_connection(int epoll_fd, struct connection *conn)
{
	int sockets[2], pipes[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || pipe(pipes))
		return -1;
	conn->client_fd = sockets[0];
	conn->pipe_in = pipes[1];
	conn->request = (struct source){ sockets[1], on_readable, conn };
	conn->lookup = (struct source){ pipes[0], on_lookup, conn };
	conn->timer = (struct source){ timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), on_due, conn };
	return loop_add(epoll_fd, &conn->request) || loop_add(epoll_fd, &conn->lookup) ||
	       loop_add(epoll_fd, &conn->timer);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 800);
	struct truth_answer answer = { .a = "expand_row", .is_complete = 1 };
	static struct connection connections[N_CONNECTIONS];
	int epoll_fd = epoll_create1(0);
	struct client client;
	struct truth truth;
	pthread_t thread;

	truth_open(&truth, N_FACTORS, names, o.n);
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
	answer.share = truth_share(&truth, EXPAND_ROW);
	return truth_write(&truth, &answer);
}
