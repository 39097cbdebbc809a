/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench/switches: what it costs a target that its threads' switches are recorded. Two threads take turns; one turn of
 * both is a round trip. The same program without, with, and with a limit as `vprof run` sets it, in turn in every
 * round.
 *
 *   bench_switches [--json] [--rounds N] [--trips N] [--limit N]
 *
 * Figures are medians over the rounds, ratios those of one round. It never fails on time; exit status 77: switches
 * cannot be recorded here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "trace/collector.h"
#include "trace/clock.h"

#define ROUNDS_MAX 1000
#define SKIPPED 77

enum way { OFF, ON, LIMITED, N_WAYS };
static const char *const way_names[N_WAYS] = { "off", "on", "auto" };

static const struct shape {
	const char *name;
	int is_futex, n_cpus;
	long work_ns; /* of each thread in each trip */
	int divisor;  /* of the number of trips: they are longer */
} shapes[] = {
	{ "pipe, one processor", 0, 1, 0, 1 },
	{ "futex, one processor", 1, 1, 0, 1 },
	{ "pipe, two processors", 0, 2, 0, 10 },
	{ "pipe, two processors, 50 us of work a turn", 0, 2, 50000, 30 },
};
#define N_SHAPES (sizeof shapes / sizeof *shapes)

/* The target. */

static const struct shape *shape;
static int there[2], back[2], word, cpus[2];
static long n_trips;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void work(void)
{
	double until = shape->work_ns ? (double)vprof_clock_monotonic_ns() + (double)shape->work_ns : 0;

	while (until > 0 && (double)vprof_clock_monotonic_ns() < until)
		;
}

static void await_word(int wanted)
{
	int seen;

	while ((seen = __atomic_load_n(&word, __ATOMIC_ACQUIRE)) != wanted)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void set_word(int value)
{
	__atomic_store_n(&word, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void give(int fd, int value)
{
	if (shape->is_futex)
		set_word(value);
	else if (write(fd, "", 1) != 1)
		_exit(1);
}

static void take(int fd, int value)
{
	char byte;

	if (shape->is_futex)
		await_word(value);
	else if (read(fd, &byte, 1) != 1)
		_exit(1);
}

static void *answer(void *arg)
{
	(void)arg;
	pin(cpus[shape->n_cpus - 1]);
	for (long i = 0; i < n_trips; i++) {
		take(there[0], 1);
		work();
		give(back[1], 0);
	}
	return NULL;
}

/* argv: shape, trips, two processors. Prints ns per trip. */
static int be_target(char **argv)
{
	pthread_t thread;
	double start;

	shape = &shapes[atoi(argv[1])];
	n_trips = atol(argv[2]);
	cpus[0] = atoi(argv[3]);
	cpus[1] = atoi(argv[4]);
	if (pipe(there) || pipe(back))
		return 1;
	pin(cpus[0]);
	pthread_create(&thread, NULL, answer, NULL);
	start = (double)vprof_clock_monotonic_ns();
	for (long i = 0; i < n_trips; i++) {
		work();
		give(there[1], 1);
		take(back[0], 0);
	}
	printf("%.1f\n", ((double)vprof_clock_monotonic_ns() - start) / (double)n_trips);
	pthread_join(thread, NULL);
	return 0;
}

/* The driver. */

static char folder[] = "/tmp/vprof-bench-switches-XXXXXX";

static void remove_folder(void)
{
	vprof_dir_remove(folder, NULL);
}

static int become_target(int go, int out, int which, long trips)
{
	char numbers[4][24], nothing;

	snprintf(numbers[0], sizeof numbers[0], "%d", which);
	snprintf(numbers[1], sizeof numbers[1], "%ld", trips / shapes[which].divisor + 1);
	snprintf(numbers[2], sizeof numbers[2], "%d", cpus[0]);
	snprintf(numbers[3], sizeof numbers[3], "%d", cpus[1]);
	while (read(go, &nothing, 1) < 0 && errno == EINTR)
		;
	dup2(out, STDOUT_FILENO);
	execl("/proc/self/exe", "bench_switches", numbers[0], numbers[1], numbers[2], numbers[3], (char *)NULL);
	_exit(127);
}

/* ns per trip; exits with the reason when it cannot be measured. */
static double measure(int which, enum way way, long trips, uint32_t limit)
{
	struct vprof_collector_options options = { .trace_dir = folder, .memory_bytes = 8 << 20 };
	const struct timespec pause = { 0, 5000000 };
	struct vprof_collector *collector = NULL;
	struct vprof_error err = { "" };
	int go[2], out[2], status;
	char text[64] = "";
	pid_t pid;

	if (vprof_collector_open(&collector, &options, &err) || pipe2(go, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
		fprintf(stderr, "bench_switches: %s\n", *err.message ? err.message : strerror(errno));
		exit(1);
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		become_target(go[0], out[1], which, trips);
	}
	if (way != OFF && vprof_collector_watch(collector, pid, way == ON ? 0 : limit, &err)) {
		fprintf(stderr, "bench_switches: nothing to measure: %s\n", err.message);
		vprof_collector_close(collector, NULL, NULL);
		exit(SKIPPED); /* the target finds its pipe closed, runs and ends */
	}
	close(go[0]);
	close(go[1]);
	close(out[1]);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		vprof_collector_drain(collector);
		nanosleep(&pause, NULL);
	}
	if (read(out[0], text, sizeof text - 1) <= 0 || status) {
		fprintf(stderr, "bench_switches: the target failed\n");
		exit(1);
	}
	close(out[0]);
	vprof_collector_close(collector, NULL, NULL);
	return atof(text);
}

static int number_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const double *v, size_t n)
{
	double sorted[ROUNDS_MAX];

	memcpy(sorted, v, n * sizeof *v);
	qsort(sorted, n, sizeof *sorted, number_order);
	return (sorted[n / 2] + sorted[(n - 1) / 2]) / 2;
}

static void report(int json, int which, double (*ns)[ROUNDS_MAX], size_t n)
{
	double ratio[ROUNDS_MAX], of[N_WAYS], at[N_WAYS];

	for (int way = 0; way < N_WAYS; way++) {
		for (size_t i = 0; i < n; i++)
			ratio[i] = ns[way][i] / ns[OFF][i];
		of[way] = median(ratio, n);
		at[way] = median(ns[way], n);
	}
	if (json)
		printf("%s\n {\"target\": \"%s\", \"ns_off\": %.1f, \"ns_on\": %.1f, \"ns_auto\": %.1f, \"ratio_on\": %.4f, "
		       "\"ratio_auto\": %.4f}",
		       which ? "," : "[", shapes[which].name, at[OFF], at[ON], at[LIMITED], of[ON], of[LIMITED]);
	else
		printf("| %s | %.2f | %.2f | %.3f | %.2f | %.3f |\n", shapes[which].name, at[OFF] / 1e3, at[ON] / 1e3,
		       of[ON], at[LIMITED] / 1e3, of[LIMITED]);
	fflush(stdout);
}

static void choose_processors(void)
{
	cpu_set_t allowed;
	int n = 0;

	sched_getaffinity(0, sizeof allowed, &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[n++] = cpu;
	if (n < 2)
		cpus[1] = cpus[0];
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' },
						 { "rounds", required_argument, NULL, 'r' },
						 { "trips", required_argument, NULL, 't' },
						 { "limit", required_argument, NULL, 'l' },
						 { NULL, 0, NULL, 0 } };
	static double ns[N_WAYS][ROUNDS_MAX];
	long rounds = 10, trips = 400000, limit = 10000;
	int json = 0, option;

	if (argc == 5 && *argv[1] != '-')
		return be_target(argv);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			return 2;
		json |= option == 'j';
		rounds = option == 'r' ? atol(optarg) : rounds;
		trips = option == 't' ? atol(optarg) : trips;
		limit = option == 'l' ? atol(optarg) : limit;
	}
	if (rounds < 1 || rounds > ROUNDS_MAX || trips < 1 || limit < 1 || !mkdtemp(folder)) {
		fprintf(stderr, "bench_switches: 1 to %d rounds, at least one trip and a limit of one\n", ROUNDS_MAX);
		return 2;
	}
	atexit(remove_folder);
	choose_processors();
	if (!json)
		printf("| two threads take turns | us a trip, %s | %s | ratio | %s | ratio |\n|---|---|---|---|---|---|\n",
		       way_names[OFF], way_names[ON], way_names[LIMITED]);
	for (size_t which = 0; which < N_SHAPES; which++) {
		for (long i = 0; i < rounds; i++)
			for (int k = 0; k < N_WAYS; k++) {
				int way = (int)((i + k) % N_WAYS);

				ns[way][i] = measure((int)which, (enum way)way, trips, (uint32_t)limit);
			}
		report(json, (int)which, ns, (size_t)rounds);
	}
	if (json)
		puts("\n]");
	return 0;
}
