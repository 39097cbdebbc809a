/* SPDX-License-Identifier: Apache-2.0 */
/* What bench/sync measures: for each line "KIND THREADS N" on standard input, THREADS threads that each acquire and
 * release one object N times, answered by the wall time in ns on standard output. Built with probe.h, so that
 * libvprof.so, when it is preloaded, is active; without it the same program is the plain one.
 *
 * One thread: nothing but the pairs. More: a little work inside and outside, so that they contend. With the argument
 * "threads" a second thread sleeps from the start: libc's locks are cheaper in a process that never had one.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define WORK_INSIDE 20
#define WORK_OUTSIDE 60

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t at_start;
static volatile unsigned long guarded;

static void work(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : : : "memory");
}

#define PAIRS(acquire, release)                                                                                        \
	for (long i = 0; i < r->n; i++) {                                                                              \
		acquire;                                                                                               \
		if (r->n_threads > 1) {                                                                                \
			guarded++;                                                                                     \
			work(WORK_INSIDE);                                                                             \
		}                                                                                                      \
		release;                                                                                               \
		if (r->n_threads > 1)                                                                                  \
			work(WORK_OUTSIDE);                                                                            \
	}

struct request {
	char kind[16];
	int n_threads;
	long n;
};

static void pairs(const struct request *r)
{
	if (strcmp(r->kind, "mutex") == 0)
		PAIRS(pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
	else if (strcmp(r->kind, "rdlock") == 0)
		PAIRS(pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
	else if (strcmp(r->kind, "wrlock") == 0)
		PAIRS(pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
	else
		PAIRS(sem_wait(&semaphore), sem_post(&semaphore))
}

static void *contend(void *arg)
{
	pthread_barrier_wait(&at_start);
	pairs(arg);
	return NULL;
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* ns, or -1 when the threads cannot be made. */
static double answer(struct request *r)
{
	pthread_t ids[THREADS_MAX];
	double start = now_ns();

	if (r->n_threads == 1) {
		pairs(r);
		return now_ns() - start;
	}
	pthread_barrier_init(&at_start, NULL, (unsigned)r->n_threads + 1);
	for (int i = 0; i < r->n_threads; i++)
		if (pthread_create(&ids[i], NULL, contend, r))
			return -1;
	start = now_ns();
	pthread_barrier_wait(&at_start);
	for (int i = 0; i < r->n_threads; i++)
		pthread_join(ids[i], NULL);
	start = now_ns() - start;
	pthread_barrier_destroy(&at_start);
	return start;
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t id;
	struct request r;
	char line[64];
	ssize_t n;

	sem_init(&semaphore, 0, 1);
	if (argc > 1 && strcmp(argv[1], "threads") == 0 && pthread_create(&id, NULL, sleep_on, NULL))
		return 1;
	while ((n = read(STDIN_FILENO, line, sizeof(line) - 1)) > 0) {
		double ns;

		line[n] = '\0';
		if (sscanf(line, "%15s %d %ld", r.kind, &r.n_threads, &r.n) != 3 || r.n_threads < 1 ||
		    r.n_threads > THREADS_MAX)
			return 2;
		ns = answer(&r);
		if (ns < 0)
			return 1;
		n = snprintf(line, sizeof(line), "%.0f\n", ns);
		if (write(STDOUT_FILENO, line, (size_t)n) != n)
			return 1;
	}
	return 0;
}
