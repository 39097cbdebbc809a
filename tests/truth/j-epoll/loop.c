/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gateway.h"

#include <errno.h>
#include <sys/epoll.h>

#define MAX_EVENTS 16

static int stopped;

int loop_add(int epoll_fd, struct source *source)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = source };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, source->fd, &e);
}

static void dispatch(struct source *source)
{
	IN_HANDLER(uint64_t begin = PLANT_NOW());
	source->call(source->conn);
	IN_HANDLER(account_for_handler(source, begin));
}

void loop_run(int epoll_fd)
{
	struct epoll_event events[MAX_EVENTS];

	while (!stopped) {
		int n = epoll_wait(epoll_fd, events, MAX_EVENTS, -1);

		if (n < 0 && errno != EINTR)
			return;
		for (int i = 0; i < n; i++)
			dispatch(events[i].data.ptr);
	}
}

void loop_stop(void)
{
	stopped = 1;
}
