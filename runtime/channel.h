/* SPDX-License-Identifier: Apache-2.0 */
/* Channels connect the writes of one thread with the reads of another. A channel has the same key in every process.
 *
 *   pipe, FIFO        device and inode
 *   socketpair        the kernel's cookies of both ends, stored when the pair is made
 *   eventfd           a random number, stored when it is made (all eventfds share one inode)
 *   TCP               both addresses and ports: the other end has the same ones, on this host, or on another one or in
 *                     another network namespace if such connections are recorded (struct vp_shm, records_hosts)
 *   message queues    the queue's id, or the inode of a POSIX queue, and the message's type or priority
 *
 * Children inherit these keys with the descriptors. Socket pairs and eventfds that came by exec or SCM_RIGHTS have
 * none, nor have other sockets: no edges. Every call that moves data is recorded with
 * its amount, since data comes out in the order in which it went in: counting tells which write a read belongs to,
 * whether or not the reader waited.
 */
#ifndef VPROF_RUNTIME_CHANNEL_H
#define VPROF_RUNTIME_CHANNEL_H

#include <sys/socket.h>

#include "runtime/runtime.h"

#define RT_CHANNEL_NONE 1u

/* A key's low three bits: the unit of its amounts. */
enum rt_channel_unit {
	RT_CHANNEL_BYTES = 2,
	RT_CHANNEL_BYTES_BETWEEN_HOSTS = VP_CHANNEL_BETWEEN_HOSTS,
	RT_CHANNEL_MESSAGES = 4,
	RT_CHANNEL_VALUES = 6,
};
#define RT_CHANNEL_UNIT_MASK 7u

enum rt_channel_side { RT_CHANNEL_IN, RT_CHANNEL_OUT };

/* What is known of a descriptor; all zero: nothing. Two share a cache line. */
struct rt_fd {
	_Alignas(32) _Atomic uint64_t channel[2]; /* by enum rt_channel_side; 0: not looked up, RT_CHANNEL_NONE: none */
	_Atomic uint64_t data;			  /* what epoll_wait returns for it, */
	_Atomic int set;			  /* which waits for this set; */
	_Atomic uint16_t watched;		  /* its place in the index of wrappers/io_poll.c, + 1 */
	_Atomic uint16_t kind;			  /* of its waits, see wrappers/io.c */
};
#define RT_FD_ACCEPTED 0x80u /* in `kind`: a connected socket, of a kind that is listened at */
_Static_assert(sizeof(struct rt_fd) == 32, "no padding");
#define RT_FDS 4096 /* of higher ones nothing is known, and they have no channel */
extern struct rt_fd rt_fds[RT_FDS];

void rt_fd_forget_known(int fd); /* below RT_FDS */
void rt_fds_forget(void);	 /* all: while nobody records, closing one and accepting another are not seen */
void rt_poll_forget(int fd);	 /* wrappers/io_poll.c: no epoll set returns it any more */
uint64_t rt_channel_find(int fd, enum rt_channel_side side);
uint64_t rt_channel_key(uint64_t a, uint64_t b, enum rt_channel_unit unit);
void rt_channel_pair(const int fds[2], int type);
void rt_channel_event(int fd, unsigned value);
/* After connect made, or has begun to make, a connection; start: when it was called. */
void rt_channel_connect(int fd, const struct sockaddr *to, socklen_t to_bytes, uint64_t start);
void rt_channel_copy(int from, int to);

/* kind: VP_KIND_SEND or VP_KIND_RECEIVE. */
void rt_channel_moved(unsigned kind, uint64_t key, uint64_t amount, uint64_t start, uint64_t end);

/* RT_CHANNEL_NONE or the key. */
static inline uint64_t rt_channel(int fd, enum rt_channel_side side)
{
	uint64_t key;

	if (RT_UNLIKELY((unsigned)fd >= RT_FDS))
		return RT_CHANNEL_NONE;
	key = atomic_load_explicit(&rt_fds[fd].channel[side], memory_order_relaxed);
	return RT_LIKELY(key) ? key : rt_channel_find(fd, side);
}

/* It is closed, or newly made. */
static inline void rt_fd_forget(int fd)
{
	const struct rt_fd *f = &rt_fds[(unsigned)fd % RT_FDS];

	if ((unsigned)fd < RT_FDS && (atomic_load_explicit(&f->channel[0], memory_order_relaxed) ||
				      atomic_load_explicit(&f->kind, memory_order_relaxed) ||
				      atomic_load_explicit(&f->watched, memory_order_relaxed)))
		rt_fd_forget_known(fd);
}

/* The amount moved by a call that returned `result`; `data`: the value of an eventfd's read or write, or null. */
static inline uint64_t rt_channel_amount(uint64_t key, int64_t result, const void *data)
{
	uint64_t value = 0;

	if (result < 0)
		return 0;
	switch ((enum rt_channel_unit)(key & RT_CHANNEL_UNIT_MASK)) {
	case RT_CHANNEL_MESSAGES:
		return 1;
	case RT_CHANNEL_VALUES:
		if (data && result >= (int64_t)sizeof(value))
			__builtin_memcpy(&value, data, sizeof(value));
		return value;
	default:
		return (uint64_t)result;
	}
}

#endif
