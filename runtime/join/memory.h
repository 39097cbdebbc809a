/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a process shares with a collector: that of the session it was started for, or of one that it joins
 * by its door (docs/design/attach.md).
 *
 * A session that was joined is left again, and somebody may still be about to write: a thread that was preempted
 * between reserving a unit and storing it, or one that waits for a lock and has counted itself as waiting. So addresses
 * stay valid for ever. The process has two places for shared memory, of fixed size, which take turns; what is left
 * becomes private memory of zeros in the same place, and it takes part in another session there only after a whole
 * session in the other place.
 */
#ifndef VPROF_RUNTIME_MEMORY_H
#define VPROF_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/join/door.h"
#include "trace/shm.h"

#define RT_SINKS 4u /* of VP_CHUNK_BYTES behind the chunks: see chunk.h */

struct rt_memory {
	struct vp_shm *shm;
	unsigned char *sinks;
	size_t n_bytes, n_all; /* of the file; with the sinks */
};

extern struct vp_door rt_door;

/* CLOCK_MONOTONIC, in ns. */
uint64_t rt_monotonic_ns(void);

/* Somebody asks, and was not answered yet. */
static inline bool rt_is_invited(void)
{
	return __builtin_expect(atomic_load_explicit(&rt_door.invited, memory_order_acquire) !=
					atomic_load_explicit(&rt_door.answered, memory_order_relaxed),
				0);
}

/* Of the session that VPROF_SHM names, for good. */
bool rt_memory_map(struct rt_memory *m, const char *path);
void rt_memory_unmap(const struct rt_memory *m);

/* By the door; called by one thread at a time, with signals blocked. False: answered with the reason, or too early for
 * an answer. */
bool rt_memory_join(struct rt_memory *m);
/* The process takes part now (the answer), or cannot after all. */
void rt_memory_joined(void);
void rt_memory_refuse(enum vp_door_answer why);
/* What was joined, or could not be, is private memory from now on. */
void rt_memory_leave(void);

#endif
