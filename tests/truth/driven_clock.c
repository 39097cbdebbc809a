/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of a driven program (plant.h), read by the program itself and, in its place of the C library's, by vprof's
 * runtime inside it. Two readings never give the same time. Linked as an object that nobody instruments. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern uint64_t plant_driven_ns; /* 0: the program has not started */
extern double plant_ticks_per_ns;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC || !plant_driven_ns)
		return (int)syscall(SYS_clock_gettime, clock, t);
	plant_driven_ns++;
	*t = (struct timespec){ (time_t)(plant_driven_ns / 1000000000u), (long)(plant_driven_ns % 1000000000u) };
	return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	double ns = (double)wanted->tv_sec * 1e9 + (double)wanted->tv_nsec;

	(void)left;
	plant_driven_ns += (uint64_t)(ns * plant_ticks_per_ns);
	return 0;
}
