/* SPDX-License-Identifier: Apache-2.0 */
/* The empty function whose calls bench/probe counts, once for each way of measuring it. Never inlined: a file of
 * its own. BENCH_OPEN and BENCH_CLOSED come with `-include probe.h`.
 */
#if defined(BENCH_OPEN)
#define PROBE VP_FUNCTION(0x100, 0xffffffffffffffffUL, 1)
#elif defined(BENCH_CLOSED)
#define PROBE VP_FUNCTION(0x100, 0x4UL, 3)
#elif defined(BENCH_FLOOR)
/* The least that a record {start, duration} can cost: two readings of the clock and 16 bytes stored in a ring. */
#define RING_BYTES 65536ul
#define PROBE floor_record();
static unsigned char ring[RING_BYTES] __attribute__((aligned(64)));
static unsigned long at;

static inline __attribute__((always_inline)) unsigned long long ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	unsigned long long now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
#endif
}

static inline __attribute__((always_inline)) void floor_record(void)
{
	unsigned long long start = ticks(), end = ticks();
	unsigned long long *to = (unsigned long long *)(ring + at);

	((volatile unsigned long long *)to)[0] = start;
	((volatile unsigned long long *)to)[1] = end - start;
	at = (at + 16) % RING_BYTES;
}
#else
#define PROBE
#endif

void callee(void);

void callee(void)
{
	PROBE
	__asm__ volatile("");
}
