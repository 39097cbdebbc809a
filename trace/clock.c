/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choice and calibration of the clock.
 *
 * A pair (ticks, ns) is as good as the time between the two readings of CLOCK_MONOTONIC that enclose the reading of the
 * counter: of several tries the tightest is kept, so that a preemption in between does no harm. 30 ns of error at each
 * end are 6 ppm over the 10 ms of the start and 0.6 ppm over 100 ms, which is why the later calibration wins.
 */
#include "trace/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define CALIBRATION_TRIES 16
#define START_CALIBRATION_NS 10000000u
#define TRUSTED_CALIBRATION_NS 100000000u

uint64_t vprof_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t vprof_clock_monotonic_ns(void)
{
	return vprof_clock_ns(CLOCK_MONOTONIC);
}

#if defined(__x86_64__)
static int tsc_is_invariant(void)
{
	unsigned int a, b, c, d;
	char source[32] = "";
	FILE *f;

	/* Advanced power management leaf, EDX bit 8: constant rate in every P-, C- and T-state. */
	if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & (1u << 8)))
		return 0;
	/* The kernel compares the CPUs' counters at boot; what it rejects we do not use either. */
	f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (!f)
		return 0;
	if (!fgets(source, sizeof source, f))
		source[0] = 0;
	fclose(f);
	source[strcspn(source, "\n")] = 0;
	return !strcmp(source, "tsc");
}
#endif

enum vp_clock vprof_clock_choose(void)
{
	const char *wanted = getenv("VPROF_CLOCK");

	if (wanted && !strcmp(wanted, "monotonic"))
		return VP_CLOCK_MONOTONIC;
#if defined(__x86_64__)
	return tsc_is_invariant() ? VP_CLOCK_TSC : VP_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
	return VP_CLOCK_CNTVCT;
#else
	return VP_CLOCK_MONOTONIC;
#endif
}

uint64_t vprof_clock_ticks(enum vp_clock kind)
{
	switch (kind) {
	case VP_CLOCK_MONOTONIC:
		return vprof_clock_monotonic_ns();
	case VP_CLOCK_TSC: {
#if defined(__x86_64__)
		uint64_t t;

		_mm_lfence();
		t = __rdtsc();
		_mm_lfence();
		return t;
#else
		return 0;
#endif
	}
	case VP_CLOCK_CNTVCT: {
#if defined(__aarch64__)
		uint64_t t;

		__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t) : : "memory");
		return t;
#else
		return 0;
#endif
	}
	}
	return 0;
}

static void read_pair(enum vp_clock kind, uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	if (kind == VP_CLOCK_MONOTONIC) {
		*ticks = *ns = vprof_clock_monotonic_ns();
		return;
	}
	for (int i = 0; i < CALIBRATION_TRIES; i++) {
		uint64_t before = vprof_clock_monotonic_ns();
		uint64_t t = vprof_clock_ticks(kind);
		uint64_t after = vprof_clock_monotonic_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		*ticks = t;
		*ns = before + best / 2;
	}
}

static void set_rate(struct vprof_clock *c)
{
	if (c->kind != VP_CLOCK_MONOTONIC && c->now_ticks > c->start_ticks && c->now_ns > c->start_ns)
		c->ns_per_tick = (double)(c->now_ns - c->start_ns) / (double)(c->now_ticks - c->start_ticks);
}

void vprof_clock_start(struct vprof_clock *c, enum vp_clock kind)
{
	struct timespec pause = { 0, START_CALIBRATION_NS };

	memset(c, 0, sizeof *c);
	c->kind = kind;
	c->ns_per_tick = 1.0;
	read_pair(kind, &c->start_ticks, &c->start_ns);
	c->start_realtime_ns = vprof_clock_ns(CLOCK_REALTIME) - (vprof_clock_monotonic_ns() - c->start_ns);
	c->now_ticks = c->start_ticks;
	c->now_ns = c->start_ns;
	if (kind == VP_CLOCK_MONOTONIC)
		return;
	nanosleep(&pause, NULL);
	read_pair(kind, &c->now_ticks, &c->now_ns);
	set_rate(c);
}

void vprof_clock_calibrate(struct vprof_clock *c)
{
	read_pair(c->kind, &c->now_ticks, &c->now_ns);
	if (c->now_ns - c->start_ns > TRUSTED_CALIBRATION_NS)
		set_rate(c);
}
