/* SPDX-License-Identifier: Apache-2.0 */
/* Records: reserved in the thread's chunk and filled in, or dropped and counted.
 *
 *  - A probe reserves with one instruction, so a signal handler's probe takes other units.
 *  - The slow path blocks signals. A probe that was interrupted between reservation and store finds, when it goes on,
 *    that its address lies in the spill zone (1 KiB at the chunk's end) of this chunk, in a chunk that was full
 *    meanwhile, or in its parent's, when the handler forked.
 */
#define _GNU_SOURCE
#include "runtime/chunk.h"

#define RETRY_EVERY 32 /* dropped records between two looks for a free chunk */

/* The session that this process had joined is over. Where the collector died, probes may still be open: the gate of
 * 0 keeps them from asking. */
static void leave(struct rt_thread *th)
{
	bool has_died = atomic_load_explicit(&rt_process.shm->owner, memory_order_relaxed) & VP_OWNER_DIED;
	uint64_t mask = rt_signals_block();

	if (rt_thread_is_current(th)) {
		rt_chunks_hand_over(th);
		rt_leave();
	}
	rt_thread_rest(th, has_died ? 0 : ~UINT64_C(0));
	rt_signals_restore(mask);
}

/* Nothing is recorded any more: probes find their gates closed as frames are left, wrappers pass through. */
static void recording_ended(struct rt_thread *th)
{
	if (rt_process.is_visit) {
		leave(th);
		return;
	}
	th->probe.gate = 0;
	atomic_store_explicit(&rt_process.active, 0, memory_order_relaxed);
}

static void drop(struct rt_thread *th)
{
	if (atomic_load_explicit(&th->state, memory_order_relaxed) != RT_THREAD_LIVE)
		return;
	th->n_dropped++;
	atomic_fetch_add_explicit(&rt_process.shm->n_dropped, 1, memory_order_relaxed);
	if (atomic_load_explicit(&rt_process.shm->stopped, memory_order_relaxed))
		recording_ended(th);
}

/* With no chunk: is it time to look for one? `next` stays as it is, since a handler may take a chunk at any moment
 * until signals are blocked: every look that fails sets it back, long before the sink's end. */
static bool retry_due(struct rt_thread *th)
{
	return atomic_load_explicit(&th->state, memory_order_relaxed) == RT_THREAD_LIVE &&
	       th->n_retries++ % RETRY_EVERY == 0;
}

/* Units whose reserved address is not below the limit. */
static bool write_slow(struct rt_thread *th, unsigned long address, const struct vp_unit *u, unsigned n)
{
	unsigned long n_bytes = n * VP_UNIT_BYTES;
	bool written = true;
	uint64_t mask;
	int i;

	if (RT_UNLIKELY(!rt_thread_is_current(th))) { /* it is of another session */
		rt_attach(0);
		return false;
	}
	if (!th->chunk && !th->n_pending && !retry_due(th)) {
		if (!rt_chunk_is_parents(address))
			drop(th);
		return false;
	}
	mask = rt_signals_block();
	for (i = 0; i < th->n_pending; i++)
		if (rt_chunk_contains(th->pending[i], address, n_bytes))
			break;
	if (RT_UNLIKELY(rt_chunk_is_parents(address))) { /* looked at only now: until here a handler may fork */
		written = false;
	} else if (i < th->n_pending) {
		rt_units_store(address, u, n);
	} else if (rt_chunk_contains(th->chunk, address, n_bytes)) {
		rt_units_store(address, u, n);
		if (th->probe.next >= th->probe.limit)
			rt_chunk_take(th);
	} else if ((th->chunk && th->probe.next + n_bytes <= th->probe.limit) || rt_chunk_take(th)) {
		rt_units_append(th, u, n);
	} else {
		drop(th);
		written = false;
	}
	rt_signals_restore(mask);
	return written;
}

void rt_full(struct vp_thread *thread, unsigned long address, vp_u64 t, vp_u64 w)
{
	struct vp_unit unit = { t, w };

	write_slow((struct rt_thread *)thread, address, &unit, 1);
}

/* Nobody reads any more: what comes next finds no chunk, and the gates close. */
static void give_up(struct rt_thread *th)
{
	uint64_t mask;

	if (rt_process.is_visit) {
		leave(th);
		return;
	}
	if (!atomic_load_explicit(&rt_process.shm->stopped, memory_order_relaxed))
		atomic_store_explicit(&rt_process.shm->stopped, 1, memory_order_relaxed);
	if (!th->chunk)
		return;
	mask = rt_signals_block();
	rt_chunks_hand_over(th);
	rt_signals_restore(mask);
}

RT_HOT bool rt_write(struct rt_thread *th, const struct vp_unit *units, unsigned n)
{
	unsigned long address;

	if (RT_UNLIKELY(!rt_thread_is_current(th))) {
		rt_attach(0);
		return false;
	}
	if (RT_UNLIKELY(rt_is_over())) {
		give_up(th);
		if (!rt_thread_is_current(th))
			return false;
	}
#if defined(__x86_64__)
	address = n * VP_UNIT_BYTES;
	__asm__ volatile("xaddq %0, %1" : "+r"(address), "+m"(th->probe.next) : : "cc", "memory");
#else
	address = __atomic_fetch_add(&th->probe.next, n * VP_UNIT_BYTES, __ATOMIC_RELAXED);
#endif
	if (RT_UNLIKELY(address >= th->probe.limit))
		return write_slow(th, address, units, n);
	rt_units_store(address, units, n);
	return true;
}

/* No call of memcpy, which may be a sanitizer's. */
static void bytes_store(volatile uint64_t *to, const unsigned char *bytes, size_t n_bytes)
{
	uint64_t word;
	size_t i = 0;

	for (; i + sizeof(word) <= n_bytes; i += sizeof(word)) {
		__builtin_memcpy(&word, bytes + i, sizeof(word));
		*to++ = word;
	}
	for (word = 0; i < n_bytes; i++)
		word |= (uint64_t)bytes[i] << i % sizeof(word) * 8;
	if (n_bytes % sizeof(word))
		*to = word;
}

bool rt_write_long(struct rt_thread *th, const struct vp_unit *head, unsigned n_head, const void *bytes, size_t n_bytes)
{
	size_t n_total = n_head * VP_UNIT_BYTES + (n_bytes + VP_UNIT_BYTES - 1) / VP_UNIT_BYTES * VP_UNIT_BYTES;
	bool written = false;
	uint64_t mask;

	if (RT_UNLIKELY(!rt_thread_is_current(th))) {
		rt_attach(0);
		return false;
	}
	if (!th->chunk && !retry_due(th)) {
		drop(th);
		return false;
	}
	mask = rt_signals_block();
	if (!th->chunk || th->probe.next + n_total > th->probe.limit)
		rt_chunk_take(th);
	if (th->chunk) {
		volatile uint64_t *to = (volatile uint64_t *)th->probe.next;

		th->probe.next += n_total;
		to[1] = head[0].w;
		for (unsigned i = 1; i < n_head; i++) {
			to[2 * i] = head[i].t;
			to[2 * i + 1] = head[i].w;
		}
		bytes_store(to + 2 * n_head, bytes, n_bytes);
		__atomic_store_n(to, head[0].t, __ATOMIC_RELEASE);
		written = true;
	} else {
		drop(th);
	}
	rt_signals_restore(mask);
	return written;
}
