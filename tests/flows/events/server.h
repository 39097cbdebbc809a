/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server that waits for events, and says on standard output what is true of its requests: the functions in which they
 * begin, go on and end, and how often; or that these cannot be told. Each program is one way to write such a server.
 * Its clients are threads that take turns, so that requests of several connections overlap. */
#ifndef SERVER_H
#define SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_CLIENTS 3
#define N_REQUESTS 40 /* of each */
#define NOINLINE __attribute__((noinline))

static int epoll_fd;
static int closes; /* clients close their connections */
static atomic_int n_clients_left = N_CLIENTS;

static inline void truth(const char *kind, const char *function, int n)
{
	printf("%s %s %d\n", kind, function, n);
}

static inline void check(int ok)
{
	if (!ok)
		abort();
}

static inline void watch(int operation, int fd, unsigned events, void *what)
{
	struct epoll_event e = { .events = events, .data.ptr = what };

	check(!epoll_ctl(epoll_fd, operation, fd, &e));
}

/* Reads until the client has nothing more to say; 0 when it has gone. */
static inline int take_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

static inline void give_byte(int fd)
{
	char byte = 1;

	check(write(fd, &byte, 1) == 1);
}

static inline void *client_main(void *arg)
{
	int fd = *(int *)arg;

	for (int i = 0; i < N_REQUESTS; i++) {
		give_byte(fd);
		check(take_byte(fd));
	}
	n_clients_left--;
	if (closes)
		close(fd); /* the server learns so that it has gone */
	return NULL;
}

static pthread_t client_threads[N_CLIENTS];

/* serve_fd(i, fd) has the server take connection i. */
static inline void start_clients(void (*serve_fd)(int i, int fd))
{
	static int ends[N_CLIENTS][2];

	for (int i = 0; i < N_CLIENTS; i++) {
		check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]));
		serve_fd(i, ends[i][0]);
	}
	for (int i = 0; i < N_CLIENTS; i++)
		check(!pthread_create(&client_threads[i], NULL, client_main, &ends[i][1]));
}

static inline void join_clients(void)
{
	for (int i = 0; i < N_CLIENTS; i++)
		pthread_join(client_threads[i], NULL);
}

/* Returns when all clients have been served. */
static inline void serve_all(void (*serve_fd)(int i, int fd), void (*handle)(void *what))
{
	epoll_fd = epoll_create1(0);
	start_clients(serve_fd);
	while (n_clients_left > 0) {
		struct epoll_event events[4];
		int n = epoll_wait(epoll_fd, events, 4, 20);

		for (int i = 0; i < n; i++)
			handle(events[i].data.ptr);
	}
	join_clients();
}

#endif
