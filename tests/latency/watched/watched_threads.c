/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server with a thread for each connection: a request is a call of handle_request, which receives it and replies.
 * The clients are another process of the same program. Usage: watched_threads CONNECTIONS REQUESTS
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "watched_connections.h"

static __attribute__((noinline)) int receive_request(int fd, char *request)
{
	return read(fd, request, REQUEST_BYTES) == REQUEST_BYTES;
}

static __attribute__((noinline)) void send_reply(int fd, const char *reply)
{
	if (write(fd, reply, REQUEST_BYTES) != REQUEST_BYTES)
		exit(1);
}

static __attribute__((noinline)) int handle_request(int fd)
{
	char request[REQUEST_BYTES];

	if (!receive_request(fd, request))
		return 0;
	answer(request);
	send_reply(fd, request);
	return 1;
}

static __attribute__((noinline)) void wait_for_request(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	poll(&p, 1, -1);
}

static void *serve_connection(void *arg)
{
	int fd = (int)(intptr_t)arg;

	do
		wait_for_request(fd);
	while (handle_request(fd));
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 1, listener = listen_here();
	pthread_t threads[MOST_CONNECTIONS];

	start_clients(listener, n, argc > 2 ? atoi(argv[2]) : 1);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, serve_connection, (void *)(intptr_t)accept(listener, NULL, NULL));
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return wait_for_clients();
}
