/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server with a process for each connection, which is asked once: a request is a call of serve_connection, which
 * never returns. Usage: watched_forks CONNECTIONS 1
 */
#include <stdlib.h>

#include "watched_connections.h"

static __attribute__((noinline)) void receive_request(int fd, char *request)
{
	if (read(fd, request, REQUEST_BYTES) != REQUEST_BYTES)
		exit(1);
}

static __attribute__((noinline)) void send_reply(int fd, const char *reply)
{
	if (write(fd, reply, REQUEST_BYTES) != REQUEST_BYTES)
		exit(1);
}

static __attribute__((noinline)) void finish(int status)
{
	_exit(status);
}

static __attribute__((noinline)) void serve_connection(int fd)
{
	char request[REQUEST_BYTES];

	receive_request(fd, request);
	answer(request);
	send_reply(fd, request);
	finish(0);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 1, listener = listen_here();

	start_clients(listener, n, 1);
	for (int i = 0; i < n; i++) {
		int fd = accept(listener, NULL, NULL);

		if (!fork())
			serve_connection(fd);
		close(fd);
	}
	for (int i = 0; i < n; i++)
		wait(NULL);
	return wait_for_clients();
}
