/* SPDX-License-Identifier: Apache-2.0 */
/* poll, select and epoll. A poll that ends with ready channels waited for the first of them to be written to. */
#define _GNU_SOURCE
#include "runtime/wrappers/io.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#define N_POLLED 16    /* descriptors of one poll that are looked at */
#define N_WATCHED 4096 /* channels in epoll sets */
#define N_PLACES 8     /* in which a descriptor may be, from the one that its hash says */

/* The descriptors, + 1, that are in an epoll set, each in the one that took it last; by a hash of the set and of what
 * epoll_wait will return for it. A server changes its sets for each connection: no search is longer than N_PLACES, and
 * what finds no room is not watched. */
static _Atomic uint16_t watched[N_WATCHED];

/* The channels of the ready descriptors; none when any of them has no channel, since that may have been the first. */
struct ready {
	uint64_t keys[N_POLLED];
	int n;
};

static void ready_add(struct ready *found, int fd, bool in)
{
	uint64_t key = in && found->n >= 0 && found->n < N_POLLED ? rt_channel(fd, RT_CHANNEL_IN) : RT_CHANNEL_NONE;

	if (key == RT_CHANNEL_NONE)
		found->n = -1;
	else
		found->keys[found->n++] = key;
}

RT_HOT static void poll_record(enum vp_call call, const struct ready *found, int64_t object, uint64_t start,
			       uint64_t end, int result)
{
	int saved = errno;
	struct rt_thread *th = rt_thread();

	if (found->n <= 0 || result <= 0) {
		rt_io_record(call, VP_WAIT_POLL, object, start, end, result);
	} else if (th) {
		rt_wait_record(th, VP_WAIT_POLL, VP_FLAG_SHARED | VP_FLAG_CHANNEL, found->keys[0], 0, start, end,
			       (uint64_t)call | (uint64_t)result << 16);
		for (int i = 1; i < found->n; i++) {
			struct vp_unit units[2] = { { end, VP_W(VP_KIND_READY, 0) }, { found->keys[i], 0 } };

			rt_write(th, units, 2);
		}
	}
	errno = saved;
}

static struct ready ready(const struct pollfd *fds, nfds_t n, int result)
{
	struct ready found = { .n = 0 };

	for (nfds_t i = 0; result > 0 && i < n && result; i++) {
		if (!fds[i].revents)
			continue;
		ready_add(&found, fds[i].fd, fds[i].revents & POLLIN);
		result--;
	}
	return found;
}

static struct ready selected(int n, const fd_set *in, const fd_set *out, const fd_set *bad, int result)
{
	struct ready found = { .n = 0 };

	for (int fd = 0; result > 0 && fd < n; fd++) {
		bool is_in = in && FD_ISSET(fd, in), other = (out && FD_ISSET(fd, out)) || (bad && FD_ISSET(fd, bad));

		if (is_in || other)
			ready_add(&found, fd, !other);
		result -= is_in + (out && FD_ISSET(fd, out)) + (bad && FD_ISSET(fd, bad));
	}
	return found;
}

/* `found`: of what the call returned in r. */
#define POLL(name, parameters, arguments, call, found, object)                                                         \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		uint64_t start, end;                                                                                   \
		int r;                                                                                                 \
		if (!rt_active())                                                                                      \
			return REAL(name) arguments;                                                                   \
		start = rt_now();                                                                                      \
		r = REAL(name) arguments;                                                                              \
		end = rt_now();                                                                                        \
		if (end - start >= rt_process.io_ticks) {                                                              \
			int saved = errno;                                                                             \
			struct ready found_ = found;                                                                   \
			errno = saved;                                                                                 \
			poll_record(VP_CALL_##call, &found_, object, start, end, r);                                   \
		}                                                                                                      \
		return r;                                                                                              \
	}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room);

/* The header declares that poll only writes the array. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
POLL(poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout), POLL, ready(fds, n, r), 0)
POLL(__poll_chk, (struct pollfd * fds, nfds_t n, int timeout, size_t room), (fds, n, timeout, room), POLL,
     ready(fds, n, r), 0)
POLL(ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
     (fds, n, timeout, mask), PPOLL, ready(fds, n, r), 0)
POLL(__ppoll_chk, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room),
     (fds, n, timeout, mask, room), PPOLL, ready(fds, n, r), 0)
POLL(select, (int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout), (n, in, out, bad, timeout), SELECT,
     selected(n, in, out, bad, r), 0)
POLL(pselect, (int n, fd_set *in, fd_set *out, fd_set *bad, const struct timespec *timeout, const sigset_t *mask),
     (n, in, out, bad, timeout, mask), SELECT, selected(n, in, out, bad, r), 0)

/* epoll. */

static unsigned first_place(int set, uint64_t data)
{
	return (unsigned)(rt_channel_key(data, (uint64_t)set, RT_CHANNEL_BYTES) >> 32);
}

RT_HOT void rt_poll_forget(int fd)
{
	unsigned place = atomic_load_explicit(&rt_fds[fd].watched, memory_order_relaxed);

	if (!place)
		return;
	atomic_store_explicit(&rt_fds[fd].watched, 0, memory_order_relaxed);
	if (atomic_load_explicit(&watched[place - 1], memory_order_relaxed) == fd + 1)
		atomic_store_explicit(&watched[place - 1], 0, memory_order_relaxed);
}

RT_HOT static void watch(int set, int fd, uint64_t data)
{
	unsigned first = first_place(set, data);

	atomic_store_explicit(&rt_fds[fd].set, set, memory_order_relaxed);
	atomic_store_explicit(&rt_fds[fd].data, data, memory_order_relaxed);
	for (unsigned i = 0; i < N_PLACES; i++) {
		unsigned place = (first + i) % N_WATCHED;
		uint16_t none = 0;

		if (!atomic_compare_exchange_strong(&watched[place], &none, (uint16_t)(fd + 1)))
			continue;
		atomic_store_explicit(&rt_fds[fd].watched, (uint16_t)(place + 1), memory_order_relaxed);
		return;
	}
}

/* epoll returns the ready descriptors in the order in which they became ready. */
RT_HOT static struct ready first_ready(int set, const struct epoll_event *events, int result)
{
	struct ready found = { .n = 0 };
	unsigned first;

	if (result <= 0 || !(events[0].events & EPOLLIN))
		return found;
	first = first_place(set, events[0].data.u64);
	for (unsigned i = 0; i < N_PLACES; i++) {
		unsigned n = atomic_load_explicit(&watched[(first + i) % N_WATCHED], memory_order_acquire);
		struct rt_fd *f = &rt_fds[n ? n - 1 : 0];
		uint64_t key = n ? atomic_load_explicit(&f->channel[RT_CHANNEL_IN], memory_order_relaxed) : 0;

		if (key > RT_CHANNEL_NONE && atomic_load_explicit(&f->set, memory_order_relaxed) == set &&
		    atomic_load_explicit(&f->data, memory_order_relaxed) == events[0].data.u64) {
			found.keys[found.n++] = key;
			break;
		}
	}
	return found;
}

RT_NEXT(epoll_ctl);
RT_HOT RT_EXPORT int epoll_ctl(int set, int what, int fd, struct epoll_event *event)
{
	int result = REAL(epoll_ctl)(set, what, fd, event);

	if (result || !rt_active() || rt_channel(fd, RT_CHANNEL_IN) == RT_CHANNEL_NONE)
		return result;
	rt_poll_forget(fd); /* it has a channel, so it is below RT_FDS */
	if (what != EPOLL_CTL_DEL && event && event->events & EPOLLIN)
		watch(set, fd, event->data.u64);
	return 0;
}

extern __typeof__(epoll_wait) epoll_wait RT_HOT;
POLL(epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout), EPOLL_WAIT,
     first_ready(fd, events, r), fd)
POLL(epoll_pwait, (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask),
     (fd, events, n, timeout, mask), EPOLL_PWAIT, first_ready(fd, events, r), fd)
POLL(epoll_pwait2, (int fd, struct epoll_event *events, int n, const struct timespec *timeout, const sigset_t *mask),
     (fd, events, n, timeout, mask), EPOLL_PWAIT, first_ready(fd, events, r), fd)
