/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/record_cost.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 32
#define CALLS 2000
#define BUFFER_BYTES VP_CHUNK_BYTES

struct recorder {
	enum vp_clock clock;
	unsigned long next; /* offset into the buffer */
	char *buffer;
	uint64_t inside; /* ticks */
};

static inline uint64_t now(enum vp_clock clock)
{
#if defined(__x86_64__)
	if (clock == VP_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (clock == VP_CLOCK_CNTVCT) {
		uint64_t t;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
		return t;
	}
#endif
	return clock == VP_CLOCK_MONOTONIC ? vprof_clock_monotonic_ns() : 0;
}

__attribute__((noinline)) static void record(struct recorder *r)
{
	uint64_t begin = now(r->clock), end;
	struct vp_unit unit;
	unsigned long at;

	end = now(r->clock);
	at = __atomic_fetch_add(&r->next, sizeof unit, __ATOMIC_RELAXED) % BUFFER_BYTES;
	unit = (struct vp_unit){ begin, VP_W(VP_CODE_FUNCTION, end - begin) };
	memcpy(r->buffer + at, &unit, sizeof unit);
	r->inside += end - begin;
}

void vprof_record_cost_measure(struct vprof_record_cost *cost, const struct vprof_clock *clock)
{
	struct recorder r = { .clock = clock->kind, .buffer = calloc(1, BUFFER_BYTES) };

	*cost = (struct vprof_record_cost){ 0, 0 };
	for (int round = 0; r.buffer && round < ROUNDS; round++) {
		uint64_t begin = vprof_clock_monotonic_ns();
		double ns, inside_ns;

		r.inside = 0;
		for (int i = 0; i < CALLS; i++)
			record(&r);
		ns = (double)(vprof_clock_monotonic_ns() - begin) / CALLS;
		inside_ns = (double)r.inside * clock->ns_per_tick / CALLS;
		if (round && ns >= cost->ns)
			continue;
		cost->ns = ns;
		cost->inside_ns = inside_ns < ns ? inside_ns : ns;
	}
	free(r.buffer);
}
