/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work in numbered items, spread over threads. */
#ifndef VPROF_PARALLEL_H
#define VPROF_PARALLEL_H

#include <pthread.h>
#include <stddef.h>

#define VPROF_PARALLEL_MAX 256

/* Threads to use for a wanted (0: one for each CPU that this process may run on). */
int vprof_parallel_count(int wanted);

/* Calls work(arg, worker, item) for every item, in rising order of items as threads become free; worker < n_workers
 * tells them apart. After an error no further item is begun; returns the first error, or 0. One worker: in this thread.
 */
int vprof_parallel_run(int n_workers, size_t n_items, int (*work)(void *arg, int worker, size_t item), void *arg);

/* One piece of work in a thread of its own, beside whatever the caller does meanwhile. */
struct vprof_background {
	int (*work)(void *arg);
	void *arg;
	int ret, is_started;
	pthread_t id;
};

/* With one worker, or without a thread, the work is done here and now. */
void vprof_background_begin(struct vprof_background *background, int n_workers, int (*work)(void *arg), void *arg);
int vprof_background_end(struct vprof_background *background); /* waits; what the work returned */

#endif
