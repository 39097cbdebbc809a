/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A number is registered, and the handlers are given it beside what all connections share: which of the two stands for
 * the request is not seen. */
#include "server.h"

struct server {
	int is_asked[1024];
};

static struct server server;

static void watch_number(int operation, int fd, unsigned events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };

	check(!epoll_ctl(epoll_fd, operation, fd, &e));
}

static NOINLINE void answer(struct server *s, int fd)
{
	s->is_asked[fd] = 0;
	watch_number(EPOLL_CTL_MOD, fd, EPOLLIN);
	give_byte(fd);
}

static NOINLINE void ask(struct server *s, int fd)
{
	check(take_byte(fd));
	s->is_asked[fd] = 1;
	watch_number(EPOLL_CTL_MOD, fd, EPOLLOUT);
}

static void serve_fd(int i, int fd)
{
	(void)i;
	watch_number(EPOLL_CTL_ADD, fd, EPOLLIN);
}

int main(void)
{
	epoll_fd = epoll_create1(0);
	start_clients(serve_fd);
	while (n_clients_left > 0) {
		struct epoll_event events[4];
		int n = epoll_wait(epoll_fd, events, 4, 20);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (server.is_asked[fd])
				answer(&server, fd);
			else
				ask(&server, fd);
		}
	}
	join_clients();
	truth("open", "several", 0);
	return 0;
}
