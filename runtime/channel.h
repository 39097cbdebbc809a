/* SPDX-License-Identifier: Apache-2.0 */
/* Channels: what a write by one thread lets another read from, with the same key in every process of the session.
 *
 *   pipe, FIFO        device and inode
 *   socketpair        the kernel's cookies of both ends, noted when the pair is made
 *   eventfd           a random number, noted when it is made (all eventfds share one inode)
 *   message queues    the queue's id, or the inode of a POSIX queue
 *
 * Children inherit the notes with the descriptors. Descriptors that came by exec or SCM_RIGHTS have no notes, other
 * sockets no key: no edges. A write without a waiter costs two loads; it is recorded when somebody waits, and always once
 * the channel has been polled, since a poll waits for many.
 */
#ifndef VPROF_RUNTIME_CHANNEL_H
#define VPROF_RUNTIME_CHANNEL_H

#include "runtime/runtime.h"

#define RT_CHANNEL_FDS 4096 /* higher descriptors have no channel */
#define RT_CHANNEL_NONE 1u

enum rt_channel_side { RT_CHANNEL_IN, RT_CHANNEL_OUT };

extern _Atomic uint64_t rt_channels[RT_CHANNEL_FDS][2]; /* 0: not looked up, RT_CHANNEL_NONE: none */
uint64_t rt_channel_find(int fd);
uint64_t rt_channel_key(uint64_t a, uint64_t b);
void rt_channel_forget(int fd);
void rt_channel_pair(const int fds[2]);
void rt_channel_event(int fd);
void rt_channel_copy(int from, int to);
void rt_channel_polled(uint64_t key);

struct rt_channel_wait {
	_Atomic uint64_t *slot; /* null: no channel */
	uint64_t key, start;
	uint32_t ticket;
};

struct rt_channel_wake {
	_Atomic uint64_t *slot; /* null: no channel */
	uint64_t key, before;
};

void rt_channel_wake_record(const struct rt_channel_wake *w, uint64_t after, unsigned kind, uint64_t start, uint64_t end);

/* RT_CHANNEL_NONE or the key. */
static inline uint64_t rt_channel(int fd, enum rt_channel_side side)
{
	uint64_t key;

	if (RT_UNLIKELY((unsigned)fd >= RT_CHANNEL_FDS))
		return RT_CHANNEL_NONE;
	key = atomic_load_explicit(&rt_channels[fd][side], memory_order_relaxed);
	return RT_LIKELY(key) ? key : rt_channel_find(fd);
}

static inline _Atomic uint64_t *rt_channel_slot(uint64_t key)
{
	return &rt_process.slots[2 * (key * UINT64_C(0x9e3779b97f4a7c15) >> rt_process.slot_shift)];
}

static inline void rt_channel_wait_begin(struct rt_channel_wait *w, uint64_t key)
{
	w->slot = NULL;
	if (key != RT_CHANNEL_NONE) {
		w->key = key;
		w->slot = rt_channel_slot(key);
		w->ticket = rt_arrive(w->slot);
	}
	w->start = rt_now();
}

static inline void rt_channel_wait_end(const struct rt_channel_wait *w)
{
	if (w->slot)
		rt_leave_slot(w->slot);
}

static inline void rt_channel_wake_begin(struct rt_channel_wake *w, uint64_t key)
{
	w->slot = NULL;
	if (key != RT_CHANNEL_NONE) {
		w->key = key;
		w->slot = rt_channel_slot(key);
		w->before = atomic_load(w->slot);
	}
}

static inline void rt_channel_wake_end(const struct rt_channel_wake *w, unsigned kind, uint64_t start, uint64_t end)
{
	uint64_t after = atomic_load(w->slot);

	if (VP_SLOT_WAITING(w->before) || VP_SLOT_ARRIVALS(after) != VP_SLOT_ARRIVALS(w->before) ||
	    atomic_load_explicit(w->slot + 1, memory_order_relaxed) & VP_SLOT_POLLED)
		rt_channel_wake_record(w, after, kind, start, end);
}

#endif
