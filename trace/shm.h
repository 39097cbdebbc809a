/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of the shared memory between the threads that record and the collector. C11; used by the runtime.
 *
 *   struct vp_shm | slots[n_slots] | states[n_chunks] | chunks[n_chunks]
 *
 * Chunks are aligned to their size, VP_CHUNK_BYTES, so that each begins on a page of its own (pages have 4 to 64 KiB).
 *
 * Ownership of a chunk is its state word alone, so a process killed at any moment corrupts nothing:
 *   FREE  -> TAKEN by the thread whose compare-and-swap succeeds; it fills in the chunk header (n_bytes = 0)
 *   TAKEN -> FULL  by its thread (chunk full, thread exit), n_bytes set before (release); or by the program that its
 *                  process became by exec, n_bytes then 0: the end is found as in a dead process's
 *   FULL  -> FREE  by the collector, after it wrote the units and zeroed them
 * The collector also takes TAKEN chunks of dead processes; it finds their end by the units that are not zero.
 * Chunks are all zero (header too) when FREE.
 */
#ifndef VPROF_TRACE_SHM_H
#define VPROF_TRACE_SHM_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/format.h"

#define VP_SHM_MAGIC UINT64_C(0x414d48535056) /* "VPSHMA"; changes with the layout */
#define VP_SLOT_COUNT 131072u		      /* words: two for each object, see below */

#define VP_WATCHED_COUNT 16u
#define VP_EVERY_CALL_MAX 256u
#define VP_PROCESS_COUNT 4096u
#define VP_OWNER_DIED 0x40000000u /* the kernel's FUTEX_OWNER_DIED */

enum vp_chunk_state { VP_CHUNK_FREE = 0, VP_CHUNK_TAKEN = 1, VP_CHUNK_FULL = 2 };

struct vp_shm {
	uint64_t magic;
	uint32_t version; /* VP_FORMAT_VERSION */
	uint32_t clock;	  /* enum vp_clock, chosen by the collector */
	uint64_t total_bytes;
	uint32_t n_slots, n_chunks;
	uint64_t slots_offset, states_offset, chunks_offset;
	uint64_t nonce; /* random: by it a process that was asked to join knows the memory that was meant */
	uint32_t collector_pid;
	_Atomic uint32_t next_thread_seq, next_process_seq; /* start at 1 */
	uint32_t sample_after; /* calls of a function in one stretch of work before they are sampled; 0: never */
	/* codes that are never sampled, in ascending order; none while they are changed */
	_Atomic uint32_t n_every_call, every_call[VP_EVERY_CALL_MAX];
	/* What is read for each record, in one cache line, to which hardly anybody writes. */
	_Alignas(64) _Atomic uint32_t stopped; /* 1: record nothing any more */
	/* A robust futex of the collector's thread: its thread id, in which the kernel sets VP_OWNER_DIED when the
	 * thread is killed, whatever namespace it lived in. */
	_Atomic uint32_t owner;
	_Atomic uint32_t closed;    /* 0: a recording window is open; else the number of the pause between two */
	uint32_t stack_samples;	    /* stacks to sample per thread and enum vp_stack */
	uint32_t records_hosts;	    /* 1: connections to other hosts are channels, too */
	uint32_t watches_intervals; /* 1: longest_ticks and `watched` are kept */
	_Atomic uint32_t n_changes; /* processes that attached or were forked, modules that were loaded */
	_Alignas(64) _Atomic uint64_t n_dropped; /* records dropped for want of a chunk */
	_Atomic uint64_t longest_ticks; /* of the watched intervals that ended; the collector sets it back to 0 */
	struct {
		_Atomic uint64_t who; /* pid | process_seq << 32; 0: free; below 2^32: being filled in */
		_Atomic uint64_t pid_namespace;
		_Atomic uint32_t parent_seq; /* of the process that it is a copy of; 0: a program that was executed */
	} processes[VP_PROCESS_COUNT];
	struct {
		_Atomic uint64_t id, begin; /* ticks; 0: free */
	} watched[VP_WATCHED_COUNT];	    /* some open intervals, by id; lost updates are harmless */
};

/* An object's slot is two words. First: arrivals (monotonic) in the high 40 bits, waiting in the low 24. Second: the
 * number of the lock's last release in the low 24 bits, stored by the lock's holder. */
#define VP_SLOT_WAITING(v) ((uint32_t)((v) & 0xffffffu))
#define VP_SLOT_ARRIVALS(v) ((uint32_t)((v) >> 24))
#define VP_SLOT_OF_ARRIVALS(n) ((uint64_t)(uint32_t)(n) << 24)
#define VP_SLOT_ARRIVE ((UINT64_C(1) << 24) + 1)

#endif
