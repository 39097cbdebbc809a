/* SPDX-License-Identifier: Apache-2.0 */
/* What bench/analyze records: for each line "N" on standard input every thread serves N requests of 97 calls, answered
 * by their time in ns on standard output. PROBE and MARK come from the command line's -DBENCH_PROBED with `-include
 * probe.h`; without it the same program is built for a peer.
 *
 *   analyze_load THREADS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef BENCH_PROBED
#define ROOT(code) VP_ROOT(code, 0xffffffffffffffffUL, 2)
#define PROBE(code) VP_FUNCTION(code, 0xffffffffffffffffUL, 2)
#define BEGIN(id) VP_DO_BEGIN("request", id)
#define END(id) VP_DO_END("request", id)
#else
#define ROOT(code)
#define PROBE(code)
#define BEGIN(id) (void)(id)
#define END(id) (void)(id)
#endif
#define KEEP __attribute__((noinline, noclone))

#define THREADS_MAX 64

struct worker {
	pthread_t id;
	unsigned long seed, n_done;
};

static struct worker workers[THREADS_MAX];
static pthread_barrier_t start, done;
static long n_requests; /* of each worker in this burst; negative: leave */

static KEEP void token(struct worker *w)
{
	PROBE(0x102)
	w->seed = w->seed * 6364136223846793005ul + 1442695040888963407ul;
}

static KEEP void parse(struct worker *w)
{
	PROBE(0x103)
	for (int i = 0; i < 10; i++)
		token(w);
}

static KEEP void compare(struct worker *w)
{
	PROBE(0x104)
	for (unsigned long i = w->seed >> 62; i > 0; i--)
		__asm__ volatile("" ::: "memory");
}

static KEEP void lookup(struct worker *w)
{
	PROBE(0x105)
	for (int i = 0; i < 8; i++)
		compare(w);
}

static KEEP void store_word(struct worker *w)
{
	PROBE(0x106)
	w->seed ^= w->seed >> 29;
}

static KEEP void update(struct worker *w)
{
	PROBE(0x107)
	for (int i = 0; i < 5; i++)
		store_word(w);
}

static KEEP void handle(struct worker *w)
{
	PROBE(0x108)
	lookup(w);
	update(w);
}

static KEEP void encode(struct worker *w)
{
	PROBE(0x109)
	w->seed += 0x9e3779b97f4a7c15ul;
}

static KEEP void reply(struct worker *w)
{
	PROBE(0x10a)
	for (int i = 0; i < 20; i++)
		encode(w);
}

static KEEP void request(struct worker *w)
{
	ROOT(0x101)
	parse(w);
	for (int i = 0; i < 4; i++)
		handle(w);
	reply(w);
}

static void *serve(void *arg)
{
	struct worker *w = arg;

	for (;;) {
		pthread_barrier_wait(&start);
		if (n_requests < 0)
			return NULL;
		for (long i = 0; i < n_requests; i++) {
			BEGIN(w);
			request(w);
			END(w);
			w->n_done++;
		}
		pthread_barrier_wait(&done);
	}
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	char line[64];
	ssize_t got;

	if (n < 1 || n > THREADS_MAX)
		return 2;
	pthread_barrier_init(&start, NULL, (unsigned)n + 1);
	pthread_barrier_init(&done, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++) {
		workers[i].seed = (unsigned long)i + 1;
		if (pthread_create(&workers[i].id, NULL, serve, &workers[i]))
			return 1;
	}
	while ((got = read(STDIN_FILENO, line, sizeof(line) - 1)) > 0) {
		double t;

		line[got] = '\0';
		n_requests = atol(line);
		t = now_ns();
		pthread_barrier_wait(&start);
		pthread_barrier_wait(&done);
		got = snprintf(line, sizeof(line), "%.0f\n", now_ns() - t);
		if (write(STDOUT_FILENO, line, (size_t)got) != got)
			return 1;
	}
	n_requests = -1;
	pthread_barrier_wait(&start);
	for (int i = 0; i < n; i++)
		pthread_join(workers[i].id, NULL);
	return 0;
}
