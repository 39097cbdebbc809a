/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the watches of a connection have in common is only what all connections share: which request an event is about
 * is found by a number. */
#include <stdint.h>

#include "server.h"

struct watched {
	struct server *server;
	void (*call)(struct server *, uint32_t);
	uint32_t number;
};

struct server {
	int fds[N_CLIENTS], behind[N_CLIENTS], far_ends[N_CLIENTS];
};

static struct server server;

static NOINLINE void from_client(struct server *s, uint32_t number)
{
	check(take_byte(s->fds[number]));
	give_byte(s->far_ends[number]);
}

static NOINLINE void from_behind(struct server *s, uint32_t number)
{
	check(take_byte(s->behind[number]));
	give_byte(s->fds[number]);
}

static void handle(void *what)
{
	struct watched *w = what;

	w->call(w->server, w->number);
}

static void serve_fd(int i, int fd)
{
	static struct watched front[N_CLIENTS], back[N_CLIENTS];
	int ends[2];

	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	server.fds[i] = fd;
	server.behind[i] = ends[0];
	server.far_ends[i] = ends[1];
	front[i] = (struct watched){ &server, from_client, (uint32_t)i };
	back[i] = (struct watched){ &server, from_behind, (uint32_t)i };
	watch(EPOLL_CTL_ADD, fd, EPOLLIN, &front[i]);
	watch(EPOLL_CTL_ADD, ends[0], EPOLLIN, &back[i]);
}

int main(void)
{
	serve_all(serve_fd, handle);
	truth("open", "common", 0);
	return 0;
}
