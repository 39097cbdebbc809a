/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See planted.h. */
#define _GNU_SOURCE
#include "planted.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)8 << 20)
#define N_BLOCKS 2
#define PAUSE_NS (5 * MS) /* some disks take longer for a write that does not follow another at once */
#define WRITE_NS (3 * MS) /* that a write shall take at most: few of them, as each costs CPU time */

static struct {
	uint64_t begin, end; /* ns */
	_Atomic uint64_t n_done, planned_ns, took_ns, delayed_ns, flush_cpu_ns;
	int argc;
	char **argv;
	int disk;
	void *block;
	size_t n_bytes;	   /* of a write */
	uint64_t write_ns; /* that it should take */
	_Atomic uint64_t n_written;
	double cpu_s; /* of the machine's CPUs, at the begin */
} own = { .disk = -1 };

struct start {
	char name[16];
	void *(*run)(void *);
	void *arg;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t planted_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void planted_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* What all CPUs have done so far, and what a hypervisor gave to others instead. */
static double machine_cpu_s(void)
{
	unsigned long long user = 0, nice = 0, system = 0, irq = 0, softirq = 0, steal = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (f &&
	    fscanf(f, "cpu %llu %llu %llu %*u %*u %llu %llu %llu", &user, &nice, &system, &irq, &softirq, &steal) != 6)
		user = nice = system = irq = softirq = steal = 0;
	if (f)
		fclose(f);
	return (double)(user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

void planted_start(int argc, char **argv)
{
	/* ahead of what else the machine does: a spin that ends by the clock needs a CPU then */
	sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 1 });
	own.cpu_s = machine_cpu_s();
	own.argc = argc;
	own.argv = argv;
	own.begin = planted_now();
	own.end = own.begin + (uint64_t)planted_option("ms", 2000) * MS;
}

long planted_option(const char *name, long otherwise)
{
	size_t n = strlen(name);

	for (int i = 1; i < own.argc; i++)
		if (!strncmp(own.argv[i], name, n) && own.argv[i][n] == '=')
			return strtol(own.argv[i] + n + 1, NULL, 10);
	return otherwise;
}

int planted_goes_on(void)
{
	return planted_now() < own.end;
}

/* How long the calling thread was runnable without a CPU. */
static void add_delay(void)
{
	unsigned long long delayed = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (f && fscanf(f, "%*u %llu", &delayed) == 1)
		own.delayed_ns += delayed;
	if (f)
		fclose(f);
}

int planted_finish(void)
{
	const char *path = getenv("WAITS_ACCOUNT");
	uint64_t took_ns = planted_now() - own.begin;
	FILE *f = path ? fopen(path, "we") : stdout;
	struct rusage usage, children;
	double others_s;

	add_delay();
	getrusage(RUSAGE_SELF, &usage);
	getrusage(RUSAGE_CHILDREN, &children);
	others_s = machine_cpu_s() - own.cpu_s - seconds(usage.ru_utime) - seconds(usage.ru_stime) -
		   seconds(children.ru_utime) - seconds(children.ru_stime);
	if (!f)
		planted_fail(path);
	fprintf(f,
		"{\"pid\": %d, \"took_s\": %.6f, \"n_done\": %llu, \"planned_s\": %.6f, \"planted_s\": %.6f, "
		"\"delayed_s\": %.6f, \"flush_cpu_s\": %.6f, \"others_s\": %.3f, \"n_switches\": %ld}\n",
		(int)getpid(), (double)took_ns * 1e-9, (unsigned long long)own.n_done, (double)own.planned_ns * 1e-9,
		(double)own.took_ns * 1e-9, (double)own.delayed_ns * 1e-9, (double)own.flush_cpu_ns * 1e-9, others_s,
		usage.ru_nvcsw + usage.ru_nivcsw);
	if (path && fclose(f))
		planted_fail(path);
	return 0;
}

void planted_took(uint64_t planned_ns, uint64_t from_ns)
{
	own.planned_ns += planned_ns;
	own.took_ns += planted_now() - from_ns;
}

void planted_work(uint64_t ns)
{
	uint64_t from = planted_now();

	while (planted_now() - from < ns)
		;
	planted_took(ns, from);
}

void planted_sleep(uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	uint64_t from = planted_now();

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	planted_took(ns, from);
}

void planted_done(uint64_t n)
{
	own.n_done += n;
}

static void *begin_thread(void *arg)
{
	struct start s = *(struct start *)arg;

	free(arg);
	pthread_setname_np(pthread_self(), s.name);
	s.run(s.arg);
	add_delay();
	return NULL;
}

pthread_t planted_thread(const char *name, void *(*run)(void *), void *arg)
{
	struct start *s = calloc(1, sizeof *s);
	pthread_t thread;

	if (!s)
		planted_fail("a thread");
	snprintf(s->name, sizeof s->name, "%s", name);
	s->run = run;
	s->arg = arg;
	errno = pthread_create(&thread, NULL, begin_thread, s);
	if (errno)
		planted_fail("a thread");
	return thread;
}

void planted_join(pthread_t thread)
{
	pthread_join(thread, NULL);
}

static void write_block(void)
{
	off_t at = (off_t)(own.n_written++ % N_BLOCKS * BLOCK_BYTES);

	if (pwrite(own.disk, own.block, own.n_bytes, at) != (ssize_t)own.n_bytes)
		planted_fail("writing");
}

void planted_open_disk(void)
{
	uint64_t from;
	double share;

	own.disk = open("blocks", O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	if (own.disk < 0 || posix_memalign(&own.block, BLOCK_BYTES, BLOCK_BYTES)) {
		fprintf(stderr, "no direct I/O in this folder: %s\n", strerror(errno));
		exit(77);
	}
	unlink("blocks");
	madvise(own.block, BLOCK_BYTES, MADV_HUGEPAGE); /* else most of a write would be finding its pages */
	memset(own.block, 1, BLOCK_BYTES);
	own.n_bytes = BLOCK_BYTES;
	for (int i = 0; i < N_BLOCKS; i++)
		write_block();
	if (fsync(own.disk))
		planted_fail("writing");
	from = planted_now();
	write_block();
	own.write_ns = planted_now() - from;
	share = (double)WRITE_NS / (double)own.write_ns;
	if (share < 1) {
		own.n_bytes = ((size_t)((double)BLOCK_BYTES * share) | 4095) + 1;
		own.write_ns = WRITE_NS;
	}
	own.end += planted_now() - own.begin; /* the time begins anew */
	own.begin = planted_now();
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t planted_write_ns(void)
{
	uint64_t took[40];
	const size_t n = sizeof took / sizeof *took;

	for (size_t i = 0; i < n; i++) {
		uint64_t from = planted_now();

		while (planted_now() - from < PAUSE_NS)
			;
		from = planted_now();
		write_block();
		took[i] = planted_now() - from;
	}
	qsort(took, n, sizeof *took, compare_times);
	return took[n * 9 / 10];
}

void planted_flush(uint64_t ns)
{
	uint64_t from = planted_now(), cpu_from = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	do
		write_block();
	while (planted_now() - from < ns);
	own.flush_cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_from;
	planted_took((ns + own.write_ns - 1) / own.write_ns * own.write_ns, from);
}
