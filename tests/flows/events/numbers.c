/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is registered is the descriptor's number, and that is what the handlers are given. */
#include "server.h"

static int is_asked[1024];

static void watch_number(int operation, int fd, unsigned events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };

	check(!epoll_ctl(epoll_fd, operation, fd, &e));
}

static NOINLINE void answer(int fd)
{
	is_asked[fd] = 0;
	watch_number(EPOLL_CTL_MOD, fd, EPOLLIN);
	give_byte(fd);
}

static NOINLINE void ask(int fd)
{
	check(take_byte(fd));
	is_asked[fd] = 1;
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

			if (is_asked[fd])
				answer(fd);
			else
				ask(fd);
		}
	}
	join_clients();
	truth("begin", "ask", N_CLIENTS * N_REQUESTS);
	truth("end", "answer", N_CLIENTS * N_REQUESTS);
	truth("id", "fd", 0);
	return 0;
}
