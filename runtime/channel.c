/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors, and the channel of each. See channel.h. */
#define _GNU_SOURCE
#include "runtime/channel.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RT_SO_NETNS_COOKIE 71 /* SO_NETNS_COOKIE, which older headers lack */

struct rt_fd rt_fds[RT_FDS];

RT_HOT uint64_t rt_channel_key(uint64_t a, uint64_t b, enum rt_channel_unit unit)
{
	uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ b;

	h = (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
	return ((h ^ h >> 29) & ~(uint64_t)RT_CHANNEL_UNIT_MASK) | unit; /* neither 0 nor RT_CHANNEL_NONE */
}

static void set(int fd, uint64_t in, uint64_t out)
{
	if ((unsigned)fd >= RT_FDS)
		return;
	atomic_store_explicit(&rt_fds[fd].channel[RT_CHANNEL_IN], in, memory_order_relaxed);
	atomic_store_explicit(&rt_fds[fd].channel[RT_CHANNEL_OUT], out, memory_order_relaxed);
}

struct address {
	uint64_t host[2]; /* IPv6, or IPv4 mapped to it */
	uint64_t port;
};

/* 0: it is none of TCP's. */
static int read_address(struct address *a, const struct sockaddr_storage *from)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *four = (const struct sockaddr_in *)from;
	uint8_t bytes[16] = { [10] = 0xff, [11] = 0xff };

	if (from->ss_family == AF_INET)
		__builtin_memcpy(bytes + 12, &four->sin_addr, 4);
	else if (from->ss_family == AF_INET6)
		__builtin_memcpy(bytes, &six->sin6_addr, 16);
	else
		return 0;
	__builtin_memcpy(a->host, bytes, sizeof(bytes));
	a->port = from->ss_family == AF_INET ? four->sin_port : six->sin6_port;
	return 1;
}

static int is_loopback(const struct address *a)
{
	const uint8_t *bytes = (const uint8_t *)a->host;

	return (a->host[0] == 0 && bytes[12] == 127 && bytes[10] == 0xff) ||
	       (a->host[0] == 0 && bytes[15] == 1 && !(bytes[10] | bytes[11] | bytes[12] | bytes[13] | bytes[14]));
}

static uint64_t direction_key(const struct address *from, const struct address *to, uint64_t network,
			      enum rt_channel_unit unit)
{
	uint64_t a = rt_channel_key(from->host[0] ^ network, from->host[1], RT_CHANNEL_BYTES);
	uint64_t b = rt_channel_key(to->host[0], to->host[1], RT_CHANNEL_BYTES);

	return rt_channel_key(rt_channel_key(a, b, RT_CHANNEL_BYTES), from->port << 16 | to->port, unit);
}

/* Of the connection of `fd` between these addresses; 0: it is none within this host, and others are not recorded. The
 * numbers of network namespaces are a host's own: at the other end they may differ. */
static int connection_keys(int fd, const struct sockaddr_storage *own, const struct sockaddr_storage *other,
			   uint64_t keys[2])
{
	socklen_t bytes = sizeof(uint64_t);
	enum rt_channel_unit unit = RT_CHANNEL_BYTES;
	struct address local, remote;
	uint64_t network = 0;

	if (!read_address(&local, own) || !read_address(&remote, other))
		return 0;
	if (!is_loopback(&local) && __builtin_memcmp(local.host, remote.host, sizeof(local.host)) != 0) {
		if (!rt_active() || !rt_process.shm->records_hosts)
			return 0;
		unit = RT_CHANNEL_BYTES_BETWEEN_HOSTS;
	} else if (getsockopt(fd, SOL_SOCKET, RT_SO_NETNS_COOKIE, &network, &bytes)) {
		network = 0;
	}
	keys[RT_CHANNEL_IN] = direction_key(&remote, &local, network, unit);
	keys[RT_CHANNEL_OUT] = direction_key(&local, &remote, network, unit);
	return 1;
}

static int option_of(int fd, int name)
{
	socklen_t bytes = sizeof(int);
	int value = 0;

	return getsockopt(fd, SOL_SOCKET, name, &value, &bytes) ? 0 : value;
}

/* A connection of TCP. It is looked up again as long as it is not made yet. */
static void find_connection(int fd, bool is_accepted)
{
	struct sockaddr_storage own, other;
	socklen_t own_bytes = sizeof(own), other_bytes = sizeof(other);
	uint64_t keys[2] = { RT_CHANNEL_NONE, RT_CHANNEL_NONE };

	if ((is_accepted || option_of(fd, SO_TYPE) == SOCK_STREAM) &&
	    getsockname(fd, (struct sockaddr *)&own, &own_bytes) == 0 &&
	    (own.ss_family == AF_INET || own.ss_family == AF_INET6) && (is_accepted || !option_of(fd, SO_ACCEPTCONN))) {
		if (getpeername(fd, (struct sockaddr *)&other, &other_bytes))
			return;
		connection_keys(fd, &own, &other, keys);
	}
	set(fd, keys[RT_CHANNEL_IN], keys[RT_CHANNEL_OUT]);
}

/* What an earlier connection between the same ports left unread never comes: a SEND of nothing says that. */
void rt_channel_connect(int fd, const struct sockaddr *to, socklen_t to_bytes, uint64_t start)
{
	struct sockaddr_storage own, other = { .ss_family = AF_UNSPEC };
	socklen_t own_bytes = sizeof(own);
	int saved = errno;
	uint64_t keys[2];

	if ((unsigned)fd >= RT_FDS || !to || to_bytes > sizeof(other))
		return;
	__builtin_memcpy(&other, to, to_bytes);
	if (other.ss_family == AF_UNIX)
		return;
	set(fd, 0, 0);
	if (option_of(fd, SO_TYPE) == SOCK_STREAM && getsockname(fd, (struct sockaddr *)&own, &own_bytes) == 0 &&
	    own.ss_family == other.ss_family && connection_keys(fd, &own, &other, keys)) {
		rt_channel_moved(VP_KIND_SEND, keys[RT_CHANNEL_IN], 0, start, start);
		rt_channel_moved(VP_KIND_SEND, keys[RT_CHANNEL_OUT], 0, start, start);
	}
	errno = saved;
}

uint64_t rt_channel_find(int fd, enum rt_channel_side side)
{
	int saved = errno;
	uint64_t key = RT_CHANNEL_NONE;
	bool is_accepted = atomic_load_explicit(&rt_fds[fd].kind, memory_order_relaxed) & RT_FD_ACCEPTED;
	struct stat st = { .st_mode = 0 };

	if (is_accepted || (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))) {
		find_connection(fd, is_accepted);
		key = atomic_load_explicit(&rt_fds[fd].channel[side], memory_order_relaxed);
		key = key ? key : RT_CHANNEL_NONE;
	} else {
		if (S_ISFIFO(st.st_mode))
			key = rt_channel_key(st.st_dev, st.st_ino, RT_CHANNEL_BYTES);
		set(fd, key, key);
	}
	errno = saved;
	return key;
}

RT_HOT void rt_fd_forget_known(int fd)
{
	atomic_store_explicit(&rt_fds[fd].kind, 0, memory_order_relaxed);
	set(fd, 0, 0);
	rt_poll_forget(fd);
}

void rt_fds_forget(void)
{
	for (int fd = 0; fd < RT_FDS; fd++)
		rt_fd_forget(fd);
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
	if ((unsigned)from < RT_FDS && (unsigned)to < RT_FDS)
		set(to, atomic_load_explicit(&rt_fds[from].channel[RT_CHANNEL_IN], memory_order_relaxed),
		    atomic_load_explicit(&rt_fds[from].channel[RT_CHANNEL_OUT], memory_order_relaxed));
}

void __attribute__((noinline, hot)) rt_channel_moved(unsigned kind, uint64_t key, uint64_t amount, uint64_t start,
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
