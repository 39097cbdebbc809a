/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop of poll(), which tells descriptors only; the program finds their connections. */
#include <poll.h>

#include "server.h"

struct connection {
	int fd, number;
};

static struct connection connections[N_CLIENTS];
static struct pollfd polled[N_CLIENTS];

static NOINLINE void answer(struct connection *c)
{
	polled[c->number].events = POLLIN;
	give_byte(c->fd);
}

static NOINLINE void ask(struct connection *c)
{
	check(take_byte(c->fd));
	polled[c->number].events = POLLOUT;
}

static void serve_fd(int i, int fd)
{
	connections[i] = (struct connection){ fd, i };
	polled[i] = (struct pollfd){ fd, POLLIN, 0 };
}

int main(void)
{
	start_clients(serve_fd);
	while (n_clients_left > 0) {
		if (poll(polled, N_CLIENTS, 20) <= 0)
			continue;
		for (int i = 0; i < N_CLIENTS; i++) {
			if (polled[i].revents & POLLOUT)
				answer(&connections[i]);
			else if (polled[i].revents & POLLIN)
				ask(&connections[i]);
		}
	}
	join_clients();
	truth("begin", "ask", N_CLIENTS * N_REQUESTS);
	truth("end", "answer", N_CLIENTS * N_REQUESTS);
	truth("id", "c", 0);
	return 0;
}
