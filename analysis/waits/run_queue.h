/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of a replay that want a CPU. Turns are taken in the order in which threads come. Threads that count share
 * theirs: whichever of them is furthest behind in the recording has the next one. For a thread that no longer waits
 * for others runs ahead of them, and would delay, in a strict order, those whose work the rest still waits for.
 */
#ifndef VPROF_RUN_QUEUE_H
#define VPROF_RUN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct vprof_run_queue_entry {
	uint64_t at; /* how far the thread is in the recording, ns; of equal ones, who came first */
	uint64_t order;
	uint32_t thread;
};

struct vprof_run_queue {
	uint32_t *turns; /* a ring: a thread, or VPROF_NONE: one that counts */
	size_t size, first, n;
	struct vprof_run_queue_entry *counted; /* a heap */
	size_t n_counted;
	uint64_t n_made;
};

/* Room for n threads, each queued at most once. OK or NOMEM; to be released in any case. */
int vprof_run_queue_init(struct vprof_run_queue *q, size_t n);
void vprof_run_queue_release(struct vprof_run_queue *q);

/* O(log n) each. */
void vprof_run_queue_add(struct vprof_run_queue *q, uint32_t thread, uint64_t at, int counts);
/* The queue must not be empty. */
uint32_t vprof_run_queue_take(struct vprof_run_queue *q);

#endif
