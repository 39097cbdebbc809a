/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptors that one thread registers and another handles: the pointer registered for an event is what the handler is
 * called with. Each is armed for one event, handled, and then removed. */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "flow_case.h"

struct connection {
	uint64_t value;
	int fd;
	void (*call)(struct connection *);
	char rest[48];
};

static int epoll;
static _Atomic unsigned n_handled;

static NOINLINE void arm(struct connection *c)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = c };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e))
		abort();
}

static NOINLINE void on_event(struct connection *c)
{
	atomic_fetch_add_explicit(&sum, c->value, memory_order_relaxed);
	close(c->fd);
	free(c);
	atomic_fetch_add_explicit(&n_handled, 1, memory_order_relaxed);
}

static NOINLINE void dispatch(struct connection *c)
{
	c->call(c);
}

static void *loop(void *arg)
{
	struct epoll_event events[8];

	while (atomic_load_explicit(&n_handled, memory_order_relaxed) < N_ITEMS) {
		int n = epoll_wait(epoll, events, 8, -1);

		for (int i = 0; i < n; i++)
			dispatch(events[i].data.ptr);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	epoll = epoll_create1(0);
	t = start(loop);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct connection *c = calloc(1, sizeof *c);

		if (!c)
			abort();
		*c = (struct connection){ .value = i, .fd = eventfd(1, 0), .call = on_event };
		if (c->fd < 0)
			abort();
		arm(c);
	}
	pthread_join(t, NULL);
	truth("arm", "dispatch", N_ITEMS);
	return checked(N_ITEMS);
}
