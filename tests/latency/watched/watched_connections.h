/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the servers have in common: a port of their own, clients in another process that ask in turns, and the work of
 * an answer.
 */
#ifndef WATCHED_CONNECTIONS_H
#define WATCHED_CONNECTIONS_H

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUEST_BYTES 64
#define MOST_CONNECTIONS 64

static struct sockaddr_in server_address;

static int listen_here(void)
{
	socklen_t size = sizeof server_address;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	server_address.sin_family = AF_INET;
	server_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&server_address, size) || listen(fd, MOST_CONNECTIONS) ||
	    getsockname(fd, (struct sockaddr *)&server_address, &size))
		exit(1);
	return fd;
}

/* Each turn asks on every connection, and then waits for all replies. */
static void ask(int n, int n_requests)
{
	char bytes[REQUEST_BYTES] = { 0 };
	int fds[MOST_CONNECTIONS];

	for (int i = 0; i < n; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fds[i], (struct sockaddr *)&server_address, sizeof server_address))
			exit(1);
	}
	for (int r = 0; r < n_requests; r++) {
		for (int i = 0; i < n; i++)
			if (write(fds[i], bytes, sizeof bytes) != sizeof bytes)
				exit(1);
		for (int i = 0; i < n; i++)
			if (recv(fds[i], bytes, sizeof bytes, MSG_WAITALL) != sizeof bytes)
				exit(1);
	}
}

static void start_clients(int listener, int n, int n_requests)
{
	if (fork())
		return;
	close(listener);
	ask(n, n_requests);
	_exit(0);
}

static int wait_for_clients(void)
{
	int status = 1;

	wait(&status);
	return status != 0;
}

static __attribute__((noinline)) void answer(char *request)
{
	for (int round = 0; round < 200; round++)
		for (int i = 0; i < REQUEST_BYTES; i++)
			request[i] = (char)(request[i] * 31 + round);
}

#endif
