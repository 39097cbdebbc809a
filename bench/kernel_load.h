/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording of a machine that never was: threads of a simulated server whose context switches, wake-ups and disk
 * requests become a trace as the recorder would have written it, of any length. What it does depends on the options
 * alone.
 *
 * Groups of ten threads: five clients send requests and wait for the answers; four servers wait for requests, take a
 * lock, and now and then flush to the disk while they hold it; one thread sleeps most of the time. Threads share the
 * processors through one queue, in order.
 */
#ifndef BENCH_KERNEL_LOAD_H
#define BENCH_KERNEL_LOAD_H

#include <stdint.h>

#include "common/error.h"

struct bench_kernel_load {
	uint64_t n_events;  /* at least as many */
	uint32_t n_threads; /* at least 10 */
	uint32_t n_cpus;
	uint32_t n_stacks; /* user stacks; 0: none are recorded */
};

/* Writes FOLDER/trace/records.vpt. */
int bench_kernel_load_write(const struct bench_kernel_load *load, const char *folder, struct vprof_error *err);

#endif
