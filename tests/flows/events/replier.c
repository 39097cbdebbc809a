/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop receives, a thread of its own replies. */
#include "server.h"

struct connection {
	int fd;
	atomic_int is_asked;
};

static struct connection connections[N_CLIENTS];

static NOINLINE void receive(struct connection *c)
{
	check(take_byte(c->fd));
	c->is_asked = 1;
}

static void *reply_main(void *arg)
{
	(void)arg;
	while (n_clients_left > 0)
		for (int i = 0; i < N_CLIENTS; i++)
			if (atomic_exchange(&connections[i].is_asked, 0))
				give_byte(connections[i].fd);
	return NULL;
}

static void handle(void *what)
{
	receive(what);
}

static void serve_fd(int i, int fd)
{
	connections[i].fd = fd;
	watch(EPOLL_CTL_ADD, fd, EPOLLIN, &connections[i]);
}

int main(void)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, reply_main, NULL));
	serve_all(serve_fd, handle);
	pthread_join(thread, NULL);
	truth("open", "threads", 0);
	return 0;
}
