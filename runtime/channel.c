/* SPDX-License-Identifier: Apache-2.0 */
/* The channel of each descriptor. See channel.h. */
#define _GNU_SOURCE
#include "runtime/channel.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic uint64_t rt_channels[RT_CHANNEL_FDS][2];

uint64_t rt_channel_key(uint64_t a, uint64_t b, enum rt_channel_unit unit)
{
	uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ b;

	h = (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
	return ((h ^ h >> 29) & ~(uint64_t)RT_CHANNEL_UNIT_MASK) | unit; /* neither 0 nor RT_CHANNEL_NONE */
}

static void set(int fd, uint64_t in, uint64_t out)
{
	if ((unsigned)fd >= RT_CHANNEL_FDS)
		return;
	atomic_store_explicit(&rt_channels[fd][RT_CHANNEL_IN], in, memory_order_relaxed);
	atomic_store_explicit(&rt_channels[fd][RT_CHANNEL_OUT], out, memory_order_relaxed);
}

uint64_t rt_channel_find(int fd)
{
	int saved = errno;
	uint64_t key = RT_CHANNEL_NONE;
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		key = rt_channel_key(st.st_dev, st.st_ino, RT_CHANNEL_BYTES);
	set(fd, key, key);
	errno = saved;
	return key;
}

void rt_channel_forget(int fd)
{
	if ((unsigned)fd < RT_CHANNEL_FDS && atomic_load_explicit(&rt_channels[fd][0], memory_order_relaxed))
		set(fd, 0, 0);
}

/* What arrives at one end is what the other wrote. */
void rt_channel_pair(const int fds[2], int type)
{
	enum rt_channel_unit unit = (type & 0xf) == SOCK_STREAM ? RT_CHANNEL_BYTES : RT_CHANNEL_MESSAGES;
	uint64_t cookies[2] = { 0, 0 };
	int saved = errno;

	for (int i = 0; i < 2; i++) {
		socklen_t n = sizeof(cookies[i]);

		if (getsockopt(fds[i], SOL_SOCKET, SO_COOKIE, &cookies[i], &n))
			cookies[i] = 0;
		if (cookies[i])
			cookies[i] = rt_channel_key(cookies[i], 's', unit);
	}
	if (cookies[0] && cookies[1]) {
		set(fds[0], cookies[0], cookies[1]);
		set(fds[1], cookies[1], cookies[0]);
	}
	errno = saved;
}

void rt_channel_event(int fd, unsigned value)
{
	static _Atomic uint32_t n_events;
	uint64_t now = rt_now(), key;

	if (fd < 0)
		return;
	key = rt_channel_key((uint64_t)syscall(SYS_getpid) << 32 | atomic_fetch_add(&n_events, 1), now,
			     RT_CHANNEL_VALUES);
	set(fd, key, key);
	if (value)
		rt_channel_moved(VP_KIND_SEND, key, value, now, now);
}

void rt_channel_copy(int from, int to)
{
	if ((unsigned)from < RT_CHANNEL_FDS && (unsigned)to < RT_CHANNEL_FDS)
		set(to, atomic_load_explicit(&rt_channels[from][RT_CHANNEL_IN], memory_order_relaxed),
		    atomic_load_explicit(&rt_channels[from][RT_CHANNEL_OUT], memory_order_relaxed));
}

void __attribute__((noinline)) rt_channel_moved(unsigned kind, uint64_t key, uint64_t amount, uint64_t start,
						uint64_t end)
{
	uint64_t took = end > start ? end - start : 0;
	struct vp_unit units[2] = { { kind == VP_KIND_SEND ? start : end,
				      VP_W(kind, took < VP_PAYLOAD_MAX ? took : VP_PAYLOAD_MAX) },
				    { key, amount } };
	int saved = errno;
	struct rt_thread *th = rt_thread();

	if (th)
		rt_write(th, units, 2);
	errno = saved;
}
