/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each connection has one to a server behind, and an event that neither receives nor sends in between. What is
 * registered are watches, which lead to the connection, to what all of them share, and to their function. */
#include <sys/eventfd.h>

#include "server.h"

struct connection;

struct watched {
	void *shared;
	void (*call)(struct connection *);
	struct connection *of;
};

struct connection {
	int fd, behind, far_end, step;
	struct watched front, middle, back;
};

static struct connection connections[N_CLIENTS];
static int shared;

static NOINLINE void from_client(struct connection *c)
{
	check(take_byte(c->fd));
	watch(EPOLL_CTL_MOD, c->step, EPOLLOUT | EPOLLONESHOT, &c->middle);
}

/* An eventfd can always be written to. */
static NOINLINE void between(struct connection *c)
{
	give_byte(c->behind);
	check(take_byte(c->far_end)); /* the server behind answers */
	give_byte(c->far_end);
}

static NOINLINE void from_behind(struct connection *c)
{
	check(take_byte(c->behind));
	give_byte(c->fd);
}

static void handle(void *what)
{
	struct watched *w = what;

	if (w->shared == &shared)
		w->call(w->of);
}

static void serve_fd(int i, int fd)
{
	struct connection *c = &connections[i];
	int ends[2];

	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	*c = (struct connection){ .fd = fd, .behind = ends[0], .far_end = ends[1], .step = eventfd(0, 0) };
	c->front = (struct watched){ &shared, from_client, c };
	c->middle = (struct watched){ &shared, between, c };
	c->back = (struct watched){ &shared, from_behind, c };
	watch(EPOLL_CTL_ADD, fd, EPOLLIN, &c->front);
	watch(EPOLL_CTL_ADD, c->step, 0, &c->middle);
	watch(EPOLL_CTL_ADD, c->behind, EPOLLIN, &c->back);
}

int main(void)
{
	serve_all(serve_fd, handle);
	truth("begin", "from_client", N_CLIENTS * N_REQUESTS);
	truth("resume", "between", N_CLIENTS * N_REQUESTS);
	truth("end", "from_behind", N_CLIENTS * N_REQUESTS);
	return 0;
}
