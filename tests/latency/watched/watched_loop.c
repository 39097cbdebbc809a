/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server with one thread: in each turn it takes a request from every connection (take_request), and replies to all of
 * them after that (reply_to). So a request begins and ends in different calls, and others are received in between.
 * Usage: watched_loop CONNECTIONS REQUESTS
 */
#include <poll.h>
#include <stdlib.h>

#include "watched_connections.h"

struct connection {
	int fd, is_open;
	char request[REQUEST_BYTES];
};

static __attribute__((noinline)) void wait_for_request(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	poll(&p, 1, -1);
}

static __attribute__((noinline)) void take_request(struct connection *c)
{
	c->is_open = read(c->fd, c->request, REQUEST_BYTES) == REQUEST_BYTES;
}

static __attribute__((noinline)) void reply_to(struct connection *c)
{
	answer(c->request);
	if (write(c->fd, c->request, REQUEST_BYTES) != REQUEST_BYTES)
		exit(1);
}

/* How many connections are left. */
static __attribute__((noinline)) int serve_all(struct connection *connections, int n)
{
	int n_open = 0;

	for (int i = 0; i < n; i++) {
		wait_for_request(connections[i].fd);
		take_request(&connections[i]);
	}
	for (int i = 0; i < n; i++)
		if (connections[i].is_open) {
			reply_to(&connections[i]);
			n_open++;
		}
	return n_open;
}

int main(int argc, char **argv)
{
	static struct connection connections[MOST_CONNECTIONS];
	int n = argc > 2 ? atoi(argv[1]) : 1, listener = listen_here();

	start_clients(listener, n, argc > 2 ? atoi(argv[2]) : 1);
	for (int i = 0; i < n; i++)
		connections[i].fd = accept(listener, NULL, NULL);
	while (serve_all(connections, n))
		;
	return wait_for_clients();
}
