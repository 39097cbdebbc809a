/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The connection itself is registered; it says which function handles its next event. */
#include "server.h"

struct connection {
	void (*turn)(struct connection *);
	int fd;
};

static struct connection connections[N_CLIENTS];

static void ask(struct connection *c);

static NOINLINE void answer(struct connection *c)
{
	c->turn = ask;
	watch(EPOLL_CTL_MOD, c->fd, EPOLLIN, c);
	give_byte(c->fd);
}

static NOINLINE void ask(struct connection *c)
{
	check(take_byte(c->fd));
	c->turn = answer;
	watch(EPOLL_CTL_MOD, c->fd, EPOLLOUT, c);
}

static void handle(void *what)
{
	struct connection *c = what;

	c->turn(c);
}

static void serve_fd(int i, int fd)
{
	connections[i] = (struct connection){ ask, fd };
	watch(EPOLL_CTL_ADD, fd, EPOLLIN, &connections[i]);
}

int main(void)
{
	serve_all(serve_fd, handle);
	truth("begin", "ask", N_CLIENTS * N_REQUESTS);
	truth("end", "answer", N_CLIENTS * N_REQUESTS);
	return 0;
}
