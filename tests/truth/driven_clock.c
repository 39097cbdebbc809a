/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of a driven program (plant.h), read by the program itself and, in its place of the C library's, by vprof's
 * runtime inside it. Two readings of a thread never give the same time. In a library that nobody instruments, with
 * driven_threads.c. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__thread uint64_t plant_driven_ns; /* of the calling thread; 0: the program has not started */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC || !plant_driven_ns)
		return (int)syscall(SYS_clock_gettime, clock, t);
	plant_driven_ns++;
	*t = (struct timespec){ (time_t)(plant_driven_ns / 1000000000u), (long)(plant_driven_ns % 1000000000u) };
	return 0;
}
