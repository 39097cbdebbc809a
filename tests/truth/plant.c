/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clocks, rows and logs of the ground-truth programs; nothing here runs inside an interval. Their account:
 * plant_truth.c.
 */
#define _GNU_SOURCE
#include "plant.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_SEED 20170423u
#define CALIBRATION_NS 20000000u

#define DRIVEN_TICKS_PER_NS 0.1 /* so that recorded runs are short; shares do not depend on it */

double plant_ticks_per_ns = 1;
uint64_t plant_start_unix_ns, plant_clock_ticks, plant_away_ticks;

#ifndef PLANT_DRIVEN
struct reading {
	uint64_t ns, ticks;
};
#endif

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#ifdef PLANT_DRIVEN
static void calibrate(void)
{
	plant_driven_ns = clock_ns(CLOCK_MONOTONIC);
	plant_ticks_per_ns = DRIVEN_TICKS_PER_NS;
}
#else
/* Both clocks at once: of many tries the one that took least, so that nothing came between. */
static struct reading read_clocks(void)
{
	struct reading best = { 0, 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t before = PLANT_NOW(), ns = clock_ns(CLOCK_MONOTONIC), after = PLANT_NOW();

		if (after - before < least) {
			least = after - before;
			best = (struct reading){ ns, before + least / 2 };
		}
	}
	return best;
}

static void calibrate(void)
{
	struct reading from = read_clocks(), to;

	while (clock_ns(CLOCK_MONOTONIC) - from.ns < CALIBRATION_NS)
		;
	to = read_clocks();
	plant_ticks_per_ns = (double)(to.ticks - from.ticks) / (double)(to.ns - from.ns);
	plant_away_ticks = (uint64_t)(1000 * plant_ticks_per_ns);

	plant_clock_ticks = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		uint64_t ticks = PLANT_NOW();

		ticks = PLANT_NOW() - ticks;
		if (ticks < plant_clock_ticks)
			plant_clock_ticks = ticks;
	}
}
#endif

/* The calling thread's task clock, which perf counts between the switches themselves; -1 where that is refused. */
static int open_task_clock(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof attr,
					.config = PERF_COUNT_SW_TASK_CLOCK,
					.exclude_kernel = 1,
					.exclude_hv = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int task_clock(void)
{
	static _Thread_local int fd = -2; /* open from the first call on */

	if (fd == -2)
		fd = open_task_clock();
	return fd;
}

int plant_is_cpu_exact(void)
{
	return task_clock() >= 0;
}

double plant_cpu_ns(void)
{
	uint64_t ns;

	if (task_clock() >= 0 && read(task_clock(), &ns, sizeof ns) == sizeof ns)
		return (double)ns;
	return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

double plant_delay_ns(void)
{
	static _Thread_local int fd = -2; /* open from the first call on */
	char text[96];
	ssize_t length;
	double ran, waited;

	if (fd == -2)
		fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	length = pread(fd, text, sizeof text - 1, 0);
	text[length > 0 ? length : 0] = 0;
	return sscanf(text, "%lf %lf", &ran, &waited) == 2 && ran > 0 ? waited : -1;
}

static uint64_t number(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (!*text || *end) {
		fprintf(stderr, "not a number: %s; arguments are [REQUESTS [SEED]]\n", text);
		exit(2);
	}
	return n;
}

struct plant_options plant_start(int argc, char **argv, size_t default_n)
{
	struct plant_options o = { .n = default_n, .random = DEFAULT_SEED };

	plant_start_unix_ns = clock_ns(CLOCK_REALTIME);
	if (argc > 1)
		o.n = number(argv[1]);
	if (argc > 2)
		o.random = number(argv[2]);
	if (o.n < 10 || o.n > 10000000) {
		fprintf(stderr, "between 10 and 10000000 requests, not %zu\n", o.n);
		exit(2);
	}
	/* Best effort: what the program plants shall not drown in what others do on the machine. No verdict rests on
	 * it. */
	if (setpriority(PRIO_PROCESS, 0, -15))
		errno = 0;
	calibrate();
	return o;
}

/* splitmix64 */
uint32_t plant_uniform(uint64_t *random, uint32_t low, uint32_t high)
{
	uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return low + (uint32_t)((z >> 32) * (high - low) >> 32);
}

void *plant_share(size_t n_bytes)
{
	void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

void plant_sleep_us(uint32_t us)
{
	struct timespec ts = { us / 1000000, (long)(us % 1000000) * 1000 };

	nanosleep(&ts, NULL);
}

void truth_open(struct truth *t, int n_columns, const struct truth_column *columns, size_t capacity)
{
	*t = (struct truth){ .n_columns = n_columns, .columns = columns, .capacity = capacity };
	t->rows = calloc(capacity, sizeof *t->rows * (size_t)n_columns);
	t->begins = calloc(capacity, sizeof *t->begins);
	if (!t->rows || !t->begins) {
		perror("truth_open");
		exit(1);
	}
}

static struct plant_time *time_of(const struct truth *t, size_t row, int column)
{
	return &t->rows[row * (size_t)t->n_columns + (size_t)column];
}

/* A function takes at least as long as what it calls. */
static void add_parts(const struct truth *t, size_t row)
{
	for (int i = t->n_columns - 1; i >= 0; i--) {
		struct plant_time *whole = time_of(t, row, i), parts = { 0, 0, 0 };

		for (int j = i + 1; j < t->n_columns; j++)
			if (t->columns[j].parent == i && !(t->columns[j].flags & TRUTH_BLAME)) {
				parts.low += time_of(t, row, j)->low;
				parts.away += time_of(t, row, j)->away;
			}
		whole->away = whole->away ? whole->away : parts.away;
		if (whole->low)
			continue;
		whole->low = parts.low;
		whole->low = whole->low < whole->high ? whole->low : whole->high;
	}
}

void truth_add(struct truth *t, const struct plant_time *row)
{
	if (t->n == t->capacity)
		return;
	memcpy(time_of(t, t->n, 0), row, sizeof *row * (size_t)t->n_columns);
	add_parts(t, t->n++);
}

void truth_add_from(struct truth *t, const struct plant_time *row, uint64_t begin)
{
	if (t->n < t->capacity)
		t->begins[t->n] = begin;
	truth_add(t, row);
}

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	uint64_t begin = a > from ? a : from, end = b < to ? b : to;

	return begin < end ? end - begin : 0;
}

void plant_log_last(const struct plant_log *log, struct plant_time *took)
{
	const struct plant_stretch *last = &log->stretches[log->n - 1];

	took->low += last->to - last->from;
	took->away += last->away;
}

struct plant_time plant_log_overlap(const struct plant_log *log, uint64_t from, uint64_t to)
{
	struct plant_time sum = { 0, 0, 0 };

	for (size_t i = 0; i < log->n && log->stretches[i].before < to; i++) {
		const struct plant_stretch *s = &log->stretches[i];
		uint64_t inside = overlap(s->from, s->to, from, to);

		sum.low += inside;
		sum.high += overlap(s->before, s->after, from, to);
		sum.away += s->away < inside ? s->away : inside;
	}
	return sum;
}

struct plant_time plant_held(struct plant_time held, long interruptions)
{
	held.low = interruptions ? 0 : held.low;
	return held;
}

uint64_t plant_away_waiting(uint64_t all, struct plant_time others)
{
	uint64_t busy = others.low > others.away ? others.low - others.away : 0;

	return all > busy ? all - busy : 0;
}

struct plant_time plant_wait(uint64_t all, struct plant_time held, long interruptions)
{
	int is_sure = held.low && !interruptions;

	return (struct plant_time){ is_sure ? all : 0, all, plant_away_waiting(all, held) };
}
