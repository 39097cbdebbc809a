/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of shared memory that a thread records into: taken from the ring, handed over when full.
 *
 * A thread owns one chunk at a time and reserves units in it by adding to `next`. A full chunk in which a reserved unit
 * is still unwritten (a signal handler interrupted its probe) stays pending with its thread, so that nobody writes to a
 * chunk that the collector may have given away.
 *
 * Without a free chunk `limit` is 0 and `next` points into a sink that nobody reads. A handler that interrupts a probe
 * there may take a chunk. Since the sinks lie above all chunks, the probe then finds that its address is not below the
 * limit either, and its record goes into that chunk.
 *
 * Everything here is called with signals blocked, unless it says otherwise.
 */
#ifndef VPROF_RUNTIME_CHUNK_H
#define VPROF_RUNTIME_CHUNK_H

#include "runtime/join/memory.h" /* RT_SINKS, of VP_CHUNK_BYTES: each for one generation of processes */
#include "runtime/runtime.h"

#define RT_SPILL_BYTES 1024u /* at a chunk's end: room for the records of nested signal handlers */

/* ThreadSanitizer sees the probes' stores, which are the program's code, but neither our atomics nor the collector: it
 * is told when memory passes from thread to thread. */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

bool rt_chunk_take(struct rt_thread *th); /* and retires the one before it; false: there is none, or nobody listens */
void rt_chunks_hand_over(struct rt_thread *th);		  /* all that the thread has; it takes no other */
void rt_chunks_reclaim(void);				  /* those that this process had before its exec */
void rt_chunks_join(void);				  /* the ring is that of another session */
void rt_sink_use(struct rt_thread *th);			  /* signals need not be blocked */
void rt_chunk_tell_tsan(const struct vp_chunk_header *c); /* its thread is about to end */

/* Around a fork: right before it, in the child, and in the child for the thread that forked. */
void rt_chunks_fork(struct rt_thread *th);
void rt_chunks_inherit(void);
void rt_chunks_forked(struct rt_thread *th);

/* Was this place reserved before the fork that made this process? Then the parent writes that record. Signals need not
 * be blocked. */
bool rt_chunk_is_parents(unsigned long address);

static inline unsigned long rt_chunk_data(const struct vp_chunk_header *c)
{
	return (unsigned long)c + sizeof(*c);
}

static inline unsigned long rt_chunk_end(const struct vp_chunk_header *c)
{
	return (unsigned long)c + VP_CHUNK_BYTES;
}

static inline bool rt_chunk_contains(const struct vp_chunk_header *c, unsigned long address, unsigned long n_bytes)
{
	return c && address >= rt_chunk_data(c) && address + n_bytes <= rt_chunk_end(c);
}

/* The first unit's t last: then the record is whole. */
static inline void rt_units_store(unsigned long address, const struct vp_unit *u, unsigned n)
{
	volatile uint64_t *to = (volatile uint64_t *)address;

	to[1] = u[0].w;
	for (unsigned i = 1; i < n; i++) {
		to[2 * i] = u[i].t;
		to[2 * i + 1] = u[i].w;
	}
	__atomic_store_n(to, u[0].t, __ATOMIC_RELEASE);
}

/* At the place that comes next; the caller knows that there is room. */
static inline void rt_units_append(struct rt_thread *th, const struct vp_unit *u, unsigned n)
{
	rt_units_store(th->probe.next, u, n);
	th->probe.next += n * VP_UNIT_BYTES;
}

#endif
