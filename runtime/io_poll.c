/* SPDX-License-Identifier: Apache-2.0 */
/* poll, select and epoll. A poll that ends with one ready channel waited for it; of several it is not known which came
 * first, but epoll tells them in that order. select's descriptors are not looked at: no edges. */
#define _GNU_SOURCE
#include "runtime/io.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#define N_POLLED 16	/* descriptors of one poll that are looked at */
#define N_WATCHED 1024 /* channels in epoll sets */

/* What epoll_wait will return for a channel. `key` is 0 while the entry is free. */
static struct {
	_Atomic uint64_t key, data;
	_Atomic int set, fd;
} watched[N_WATCHED];
static _Atomic int n_watched; /* entries ever used */

static void poll_record(enum vp_call call, uint64_t key, int64_t object, uint64_t start, uint64_t end, int result)
{
	int saved = errno;
	struct rt_thread *th = rt_thread();

	if (key == RT_CHANNEL_NONE || result <= 0)
		rt_io_record(call, VP_WAIT_POLL, object, start, end, result);
	else if (th)
		rt_wait_record(th, VP_WAIT_POLL, VP_FLAG_SHARED | VP_FLAG_CHANNEL, key, 0, start, end,
			       (uint64_t)call | (uint64_t)result << 16);
	errno = saved;
}

static void polled(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n && i < N_POLLED; i++) {
		uint64_t key = fds[i].fd >= 0 && fds[i].events & POLLIN ? rt_channel(fds[i].fd, RT_CHANNEL_IN) :
									  RT_CHANNEL_NONE;

		if (key != RT_CHANNEL_NONE)
			rt_channel_polled(key);
	}
}

static uint64_t ready(const struct pollfd *fds, nfds_t n, int result)
{
	for (nfds_t i = 0; result == 1 && i < n && i < N_POLLED; i++)
		if (fds[i].revents)
			return fds[i].revents & POLLIN ? rt_channel(fds[i].fd, RT_CHANNEL_IN) : RT_CHANNEL_NONE;
	return RT_CHANNEL_NONE;
}

#define POLL(name, parameters, arguments, call, before, key, object)                                         \
	RT_NEXT(name);                                                                                       \
	RT_EXPORT int name parameters                                                                        \
	{                                                                                                    \
		uint64_t start, end;                                                                         \
		int r;                                                                                       \
		if (!rt_active())                                                                            \
			return REAL(name) arguments;                                                         \
		before;                                                                                      \
		start = rt_now();                                                                            \
		r = REAL(name) arguments;                                                                    \
		end = rt_now();                                                                              \
		if (end - start >= rt_process.io_ticks)                                                      \
			poll_record(VP_CALL_##call, key, object, start, end, r);                             \
		return r;                                                                                    \
	}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room);

/* The header says that poll only writes the array. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
POLL(poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout), POLL, polled(fds, n), ready(fds, n, r), 0)
POLL(__poll_chk, (struct pollfd *fds, nfds_t n, int timeout, size_t room), (fds, n, timeout, room), POLL, polled(fds, n),
     ready(fds, n, r), 0)
POLL(ppoll, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
     (fds, n, timeout, mask), PPOLL, polled(fds, n), ready(fds, n, r), 0)
POLL(__ppoll_chk, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room),
     (fds, n, timeout, mask, room), PPOLL, polled(fds, n), ready(fds, n, r), 0)
WRAP(int, select, (int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout), (n, in, out, bad, timeout),
     SELECT, VP_WAIT_POLL, 0)
WRAP(int, pselect,
     (int n, fd_set *in, fd_set *out, fd_set *bad, const struct timespec *timeout, const sigset_t *mask),
     (n, in, out, bad, timeout, mask), SELECT, VP_WAIT_POLL, 0)

/* epoll. */

static void unwatch(int set, int fd)
{
	for (int i = 0; i < atomic_load(&n_watched); i++)
		if (atomic_load(&watched[i].set) == set && atomic_load(&watched[i].fd) == fd)
			atomic_store(&watched[i].key, 0);
}

static void watch(int set, int fd, uint64_t key, uint64_t data)
{
	rt_channel_polled(key);
	for (int i = 0; i < N_WATCHED; i++) {
		uint64_t none = 0;

		if (atomic_load(&watched[i].key) || !atomic_compare_exchange_strong(&watched[i].key, &none, RT_CHANNEL_NONE))
			continue;
		atomic_store(&watched[i].set, set);
		atomic_store(&watched[i].fd, fd);
		atomic_store(&watched[i].data, data);
		atomic_store(&watched[i].key, key);
		while ((none = (uint64_t)atomic_load(&n_watched)) <= (uint64_t)i) {
			int n = (int)none;

			atomic_compare_exchange_strong(&n_watched, &n, i + 1);
		}
		return;
	}
}

static uint64_t first_ready(int set, const struct epoll_event *events, int result)
{
	int n = result > 0 && events[0].events & EPOLLIN ? atomic_load(&n_watched) : 0;

	for (int i = 0; i < n; i++) {
		uint64_t key = atomic_load(&watched[i].key);

		if (key > RT_CHANNEL_NONE && atomic_load(&watched[i].set) == set &&
		    atomic_load(&watched[i].data) == events[0].data.u64)
			return key;
	}
	return RT_CHANNEL_NONE;
}

RT_NEXT(epoll_ctl);
RT_EXPORT int epoll_ctl(int set, int what, int fd, struct epoll_event *event)
{
	int result = REAL(epoll_ctl)(set, what, fd, event);
	uint64_t key;

	if (result || !rt_active())
		return result;
	key = rt_channel(fd, RT_CHANNEL_IN);
	if (key == RT_CHANNEL_NONE)
		return 0;
	unwatch(set, fd);
	if (what != EPOLL_CTL_DEL && event && event->events & EPOLLIN)
		watch(set, fd, key, event->data.u64);
	return 0;
}

POLL(epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout), EPOLL_WAIT, (void)0,
     first_ready(fd, events, r), fd)
POLL(epoll_pwait, (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask),
     (fd, events, n, timeout, mask), EPOLL_PWAIT, (void)0, first_ready(fd, events, r), fd)
POLL(epoll_pwait2, (int fd, struct epoll_event *events, int n, const struct timespec *timeout, const sigset_t *mask),
     (fd, events, n, timeout, mask), EPOLL_PWAIT, (void)0, first_ready(fd, events, r), fd)
