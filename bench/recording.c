/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench/recording: what it costs a program that the kernel's events are recorded. Threads take turns in round trips;
 * their CPU time and how many trips a second they make are compared with and without the recorder: of scheduling (on),
 * of sends and receives (paths), of both, and with stacks, in turn in every round.
 *
 *   bench_recording [--json] [--rounds N] [--trips N] [--shape NAME] [--way NAME]
 *
 * In most shapes two threads share a CPU. In those with "a CPU each" a client and a server are processes on CPUs of
 * their own, which the recorder needs, too; the client has a thread for each connection, the server likewise.
 *
 * Figures are medians over the rounds; ratios are those of one round, with the order statistics that enclose their
 * median with 95 % or more. It never fails on time; exit status 77: the kernel's events cannot be recorded here.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <getopt.h>
#include <math.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "recorder/recorder.h"
#include "recorder/requirements.h"
#include "trace/records_file.h"

#define ROUNDS_MAX 1000
#define SKIPPED 77
#define LOOK_EVERY_US 25000 /* whether the target is over, without a recorder */
#define CONNECTIONS_MAX 50

enum way { OFF, ON, PATHS, BOTH, STACKS, N_WAYS };
static const char *const way_names[N_WAYS] = { "off", "on", "paths", "both", "stacks" };

static const struct shape {
	const char *name;
	int is_tcp;
	long work_ns;	   /* of each thread in each trip */
	int n_connections; /* of a client and a server with a CPU each; 0: two threads on one CPU */
} shapes[] = {
	{ "pipe", 0, 0, 0 },
	{ "tcp", 1, 0, 0 },
	{ "pipe, 10 us of work a turn", 0, 10000, 0 },
	{ "tcp, 10 us of work a turn", 1, 10000, 0 },
	{ "tcp, a CPU each", 1, 0, 1 },
	{ "tcp, a CPU each, 50 threads", 1, 0, 50 },
};
#define N_SHAPES (sizeof shapes / sizeof *shapes)

/* The target. */

static const struct shape *shape;
static int mine[2], theirs[2]; /* read from [0], write to [1] */
static long n_trips;
static double *played_ns; /* how long the trips took, as the target says */

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work(void)
{
	double until = shape->work_ns ? now_ns(CLOCK_THREAD_CPUTIME_ID) + (double)shape->work_ns : 0;

	while (shape->work_ns && now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

static void *answer(void *unused)
{
	char c;

	for (long i = 0; i < n_trips; i++) {
		if (read(theirs[0], &c, 1) != 1)
			abort();
		work();
		if (write(theirs[1], &c, 1) != 1)
			abort();
	}
	return unused;
}

static int connect_pipes(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		return 1;
	mine[0] = back[0];
	mine[1] = there[1];
	theirs[0] = there[0];
	theirs[1] = back[1];
	return 0;
}

static int listen_tcp(struct sockaddr_in *address)
{
	socklen_t size = sizeof *address;
	int listening = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (bind(listening, (struct sockaddr *)address, size) || listen(listening, SOMAXCONN) ||
	    getsockname(listening, (struct sockaddr *)address, &size))
		return -1;
	return listening;
}

static int without_delay(int fd)
{
	int one = 1;

	return fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static int connect_to(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return without_delay(fd) || connect(fd, (const struct sockaddr *)address, sizeof *address) ? -1 : fd;
}

static int connect_tcp(void)
{
	struct sockaddr_in address;
	int listening = listen_tcp(&address);

	mine[0] = mine[1] = listening < 0 ? -1 : connect_to(&address);
	if (mine[0] < 0)
		return 1;
	theirs[0] = theirs[1] = accept(listening, NULL, NULL);
	return without_delay(theirs[0]);
}

static void run_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void *ask(void *fd)
{
	long n = n_trips / shape->n_connections;
	char c = 'x';

	for (long i = 0; i < n; i++)
		if (write((int)(intptr_t)fd, &c, 1) != 1 || read((int)(intptr_t)fd, &c, 1) != 1)
			abort();
	return NULL;
}

static void *echo(void *fd)
{
	char c;

	while (read((int)(intptr_t)fd, &c, 1) == 1)
		if (write((int)(intptr_t)fd, &c, 1) != 1)
			abort();
	return NULL;
}

/* Each connection by a thread. 0, or 1 if there were none. */
static int run_threads(void *(*run)(void *), const int *fds, int n)
{
	pthread_t threads[CONNECTIONS_MAX];

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)fds[i]))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int serve(int listening)
{
	int fds[CONNECTIONS_MAX];

	run_on_cpu(1);
	for (int i = 0; i < shape->n_connections; i++) {
		fds[i] = accept(listening, NULL, NULL);
		if (without_delay(fds[i]))
			return 1;
	}
	return run_threads(echo, fds, shape->n_connections);
}

static int play_apart(void)
{
	int fds[CONNECTIONS_MAX], status, failed;
	struct sockaddr_in address;
	int listening = listen_tcp(&address);
	double begin;
	pid_t server;

	if (listening < 0)
		return 1;
	server = fork();
	if (!server)
		_exit(serve(listening));
	run_on_cpu(0);
	for (int i = 0; i < shape->n_connections; i++)
		if ((fds[i] = connect_to(&address)) < 0)
			return 1;
	begin = now_ns(CLOCK_MONOTONIC);
	failed = run_threads(ask, fds, shape->n_connections);
	*played_ns = now_ns(CLOCK_MONOTONIC) - begin;
	for (int i = 0; i < shape->n_connections; i++)
		close(fds[i]);
	return waitpid(server, &status, 0) != server || status || failed;
}

/* Both threads on one CPU: each turn is two context switches and two wake-ups. */
static int play(void)
{
	pthread_t thread;
	double begin;
	char c = 'x';

	if (shape->n_connections)
		return play_apart();
	run_on_cpu(0);
	if ((shape->is_tcp ? connect_tcp() : connect_pipes()) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	begin = now_ns(CLOCK_MONOTONIC);
	for (long i = 0; i < n_trips; i++) {
		if (write(mine[1], &c, 1) != 1 || read(mine[0], &c, 1) != 1)
			return 1;
		work();
	}
	*played_ns = now_ns(CLOCK_MONOTONIC) - begin;
	pthread_join(thread, NULL);
	return 0;
}

/* The measuring side. */

struct measured {
	double cpu_ns; /* of the target, a trip */
	double rate;   /* trips a second */
	double events; /* a trip */
	uint64_t n_lost;
};

static int store(void *file, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	return vprof_records_append(file, h, units);
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_recording: %s\n", what);
	exit(1);
}

static struct vprof_recorder *start_recorder(struct vprof_records_file *file, const char *folder, enum way way,
					     pid_t pid)
{
	struct vprof_recorder_options o = { .kinds = way == PATHS ?
							     VP_KERNEL_SOCKETS :
							     VP_KERNEL_USUAL | (way == STACKS ? VP_KERNEL_STACKS : 0) |
								     (way == BOTH ? VP_KERNEL_SOCKETS : 0),
					    .store = store,
					    .arg = file };
	struct vprof_recorder *recorder = NULL;
	struct vprof_error err = { "" };

	vprof_clock_start(&file->clock, vprof_clock_choose());
	o.clock = file->clock.kind;
	o.ns_per_tick = file->clock.ns_per_tick;
	if (vprof_records_open(file, folder, 0, VPROF_COMPRESS_OFF, &err) || vprof_recorder_open(&recorder, &o, &err) ||
	    vprof_recorder_add(recorder, pid, &err) < 0)
		fail(err.message);
	return recorder;
}

static struct measured measure(enum way way)
{
	char folder[] = "/tmp/vprof-bench-XXXXXX", nothing;
	struct vprof_records_file file = { .fd = -1 };
	struct vprof_recorder *recorder = NULL;
	struct vprof_recorder_state state = { 0 };
	struct measured m = { 0, 0, 0, 0 };
	struct rusage usage;
	int go[2], status;
	pid_t pid;

	if (!mkdtemp(folder) || pipe(go))
		fail("no folder");
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &nothing, 1) < 0 || play());
	}
	close(go[0]);
	if (way != OFF)
		recorder = start_recorder(&file, folder, way, pid);
	close(go[1]);
	while (wait4(pid, &status, WNOHANG, &usage) != pid) {
		if (recorder)
			usleep((useconds_t)(vprof_recorder_pause_ns(recorder, vprof_recorder_drain(recorder)) / 1000));
		else
			usleep(LOOK_EVERY_US);
	}
	if (status)
		fail("the target failed");
	m.cpu_ns = ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
		    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3) /
		   (double)n_trips;
	m.rate = (double)n_trips / *played_ns * 1e9;
	if (recorder) {
		vprof_recorder_stop(recorder);
		vprof_recorder_look(recorder, &state);
		vprof_records_finish(&file);
		vprof_recorder_close(recorder);
		vprof_records_release(&file);
	}
	m.events = (double)state.n_events / (double)n_trips;
	m.n_lost = state.n_lost;
	vprof_dir_remove(folder, NULL);
	return m;
}

static int is_asked(enum way way, const char *only)
{
	return way == OFF || !only || !strcmp(way_names[way], only);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The first of the sorted values' order statistics that enclose the distribution's median with 95 % or more; the other
 * is as far from the end. */
static int bound(int n)
{
	double one = exp2(-n), below = one; /* that k of n fall on one side; that at most k do */
	int k = 0;

	for (;;) {
		one *= (double)(n - k) / (k + 1);
		if (2 * (below + one) > 0.05 || k + 1 >= n / 2)
			return k;
		below += one;
		k++;
	}
}

/* A figure of each way in each round, and its ratio to that without a recorder. */
struct figure {
	double v[N_WAYS][ROUNDS_MAX], ratio[N_WAYS][ROUNDS_MAX];
};

struct summary {
	double median, ratio, low, high;
};

static struct summary summarize(struct figure *f, enum way way, int rounds)
{
	struct summary s;

	s.ratio = median(f->ratio[way], rounds); /* sorts */
	s.low = f->ratio[way][bound(rounds)];
	s.high = f->ratio[way][rounds - 1 - bound(rounds)];
	s.median = median(f->v[way], rounds);
	return s;
}

static void show(const struct shape *s, enum way way, const struct summary *cpu, const struct summary *rate,
		 const struct measured *last, uint64_t n_lost, int json)
{
	if (json)
		printf("{\"shape\": \"%s\", \"way\": \"%s\", \"cpu_ns\": %.0f, \"ratio\": %.3f, \"ratio_low\": %.3f, "
		       "\"ratio_high\": %.3f, \"rate\": %.0f, \"rate_ratio\": %.3f, \"rate_ratio_low\": %.3f, "
		       "\"rate_ratio_high\": %.3f, \"events\": %.1f, \"lost\": %llu}",
		       s->name, way_names[way], cpu->median, cpu->ratio, cpu->low, cpu->high, rate->median, rate->ratio,
		       rate->low, rate->high, last->events, (unsigned long long)n_lost);
	else
		printf("%-28s %-7s %8.0f ns a trip  %.3f (%.3f .. %.3f)  %7.0f trips/s  %.3f (%.3f .. %.3f)  %.1f events a "
		       "trip, %llu lost\n",
		       s->name, way_names[way], cpu->median, cpu->ratio, cpu->low, cpu->high, rate->median, rate->ratio,
		       rate->low, rate->high, last->events, (unsigned long long)n_lost);
}

static void bench(const struct shape *s, int rounds, int json, const char *only, int *n_told)
{
	static struct figure cpu, rate;
	struct measured last[N_WAYS];
	uint64_t n_lost[N_WAYS] = { 0 };

	shape = s;
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < N_WAYS; i++) {
			enum way way = (enum way)((i + round) % N_WAYS);

			if (!is_asked(way, only))
				continue;
			last[way] = measure(way);
			cpu.v[way][round] = last[way].cpu_ns;
			rate.v[way][round] = last[way].rate;
			n_lost[way] += last[way].n_lost;
		}
		for (int way = 0; way < N_WAYS; way++) {
			cpu.ratio[way][round] = cpu.v[way][round] / cpu.v[OFF][round];
			rate.ratio[way][round] = rate.v[way][round] / rate.v[OFF][round];
		}
	}
	for (int way = 0; way < N_WAYS; way++) {
		struct summary of_cpu, of_rate;

		if (!is_asked((enum way)way, only))
			continue;
		of_cpu = summarize(&cpu, (enum way)way, rounds);
		of_rate = summarize(&rate, (enum way)way, rounds);
		if (json && (*n_told)++)
			printf(",\n");
		show(s, (enum way)way, &of_cpu, &of_rate, &last[way], n_lost[way], json);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },	   { "rounds", required_argument, NULL, 'r' },
		{ "trips", required_argument, NULL, 't' }, { "shape", required_argument, NULL, 's' },
		{ "way", required_argument, NULL, 'w' },   { 0 }
	};
	const char *only_shape = NULL, *only_way = NULL;
	int json = 0, rounds = 9, n_told = 0, c;
	struct vprof_error err = { "" };

	n_trips = 100000;
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'j')
			json = 1;
		else if (c == 'r')
			rounds = atoi(optarg);
		else if (c == 't')
			n_trips = atol(optarg);
		else if (c == 's')
			only_shape = optarg;
		else if (c == 'w')
			only_way = optarg;
		else
			return 2;
	}
	if (rounds < 1 || rounds > ROUNDS_MAX || n_trips < 1)
		return 2;
	played_ns = mmap(NULL, sizeof *played_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (played_ns == MAP_FAILED)
		fail("no memory");
	if (vprof_recorder_require(&err)) {
		printf("skipped: %s\n", err.message);
		return SKIPPED;
	}
	if (json)
		printf("[");
	for (size_t i = 0; i < N_SHAPES; i++)
		if (!only_shape || !strcmp(shapes[i].name, only_shape))
			bench(&shapes[i], rounds, json, only_way, &n_told);
	if (json)
		printf("]\n");
	return 0;
}
