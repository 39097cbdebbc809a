/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libevent: it gives the kernel the descriptor's number, and keeps handler and argument itself. */
#include <event2/event.h>

#include "server.h"

struct connection {
	int fd, n_asked;
	struct event *asks, *answers;
};

static struct event_base *base;
static struct connection connections[N_CLIENTS];

static NOINLINE void ask(evutil_socket_t fd, short what, void *arg)
{
	struct connection *c = arg;

	(void)what;
	if (!take_byte(fd)) {
		event_free(c->asks);
		return;
	}
	c->n_asked++;
	event_add(c->answers, NULL);
}

static NOINLINE void answer(evutil_socket_t fd, short what, void *arg)
{
	struct connection *c = arg;

	(void)what;
	check(c->n_asked > 0);
	give_byte(fd);
}

static void serve_fd(int i, int fd)
{
	struct connection *c = &connections[i];

	c->fd = fd;
	c->asks = event_new(base, fd, EV_READ | EV_PERSIST, ask, c);
	c->answers = event_new(base, fd, EV_WRITE, answer, c);
	event_add(c->asks, NULL);
}

int main(void)
{
	closes = 1;
	base = event_base_new();
	start_clients(serve_fd);
	event_base_dispatch(base);
	join_clients();
	truth("begin", "ask", N_CLIENTS * N_REQUESTS);
	truth("end", "answer", N_CLIENTS * N_REQUESTS);
	truth("id", "arg", 0);
	return 0;
}
