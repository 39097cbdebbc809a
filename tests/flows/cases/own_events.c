/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that handles what it registered itself, again and again: handlers, but nothing is handed to another thread.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "flow_case.h"

#define N_CONNECTIONS 5

struct connection {
	uint64_t value;
	int fd;
	char rest[52];
};

static struct connection connections[N_CONNECTIONS];

static NOINLINE void watch(int epoll, struct connection *c)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e))
		abort();
}

static NOINLINE unsigned on_ready(struct connection *c)
{
	uint64_t n;

	if (read(c->fd, &n, sizeof n) != sizeof n)
		return 0;
	sum += c->value;
	return 1;
}

int main(void)
{
	int epoll = epoll_create1(0);

	for (unsigned i = 0; i < N_CONNECTIONS; i++) {
		connections[i] = (struct connection){ .value = 1, .fd = eventfd(0, 0) };
		watch(epoll, &connections[i]);
	}
	for (unsigned done = 0; done < N_ITEMS;) {
		struct epoll_event events[N_CONNECTIONS];
		uint64_t one = 1;
		int n;

		if (write(connections[done % N_CONNECTIONS].fd, &one, sizeof one) != sizeof one)
			abort();
		n = epoll_wait(epoll, events, N_CONNECTIONS, -1);
		for (int i = 0; i < n; i++)
			done += on_ready(events[i].data.ptr);
	}
	truth_none();
	return sum != N_ITEMS;
}
