/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BlockGrace's phases. In each iteration the main thread prepares the work of two threads, one after the other, then
 * both fetch something (a sleep) and compute; the main thread waits until both are done.
 *
 * The cycle: main -> computing -> main. Remedy: parallel=1, each thread prepares its own half.
 *
 * With uneven=1 there is nothing to prepare and no main thread: the two meet at a barrier, and one of them has three
 * tasks of four, each time another. The knot: the computing threads. Remedy: even=1, two tasks for each.
 */
#include <stdio.h>

#include "planted.h"

#define N 2
#define PREPARE_NS (2500 * US) /* for one thread */
#define FETCH_NS (2 * MS)
#define COMPUTE_NS (2500 * US)
#define TASK_FETCH_NS (400 * US)
#define TASK_NS (1600 * US)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begins = PTHREAD_COND_INITIALIZER, ends = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static long phase, n_ready, is_parallel, is_even;
static int is_over;

static void *compute(void *arg)
{
	for (long next = 1;; next++) {
		pthread_mutex_lock(&mutex);
		while (phase < next && !is_over)
			pthread_cond_wait(&begins, &mutex);
		pthread_mutex_unlock(&mutex);
		if (phase < next)
			return arg;
		if (is_parallel)
			planted_work(PREPARE_NS);
		planted_sleep(FETCH_NS);
		planted_work(COMPUTE_NS);
		pthread_mutex_lock(&mutex);
		if (++n_ready == N)
			pthread_cond_signal(&ends);
		pthread_mutex_unlock(&mutex);
	}
}

static void lead(void)
{
	while (planted_goes_on()) {
		if (!is_parallel)
			planted_work(N * PREPARE_NS);
		pthread_mutex_lock(&mutex);
		n_ready = 0;
		phase++;
		pthread_cond_broadcast(&begins);
		while (n_ready < N)
			pthread_cond_wait(&ends, &mutex);
		pthread_mutex_unlock(&mutex);
		planted_done(1);
	}
	pthread_mutex_lock(&mutex);
	is_over = 1;
	pthread_cond_broadcast(&begins);
	pthread_mutex_unlock(&mutex);
}

static void *compute_tasks(void *arg)
{
	uint64_t own = (uint64_t)(intptr_t)arg;

	for (uint64_t i = 0; !is_over; i++) {
		for (int n = is_even ? 2 : i % 2 == own ? 3 : 1; n; n--) {
			planted_sleep(TASK_FETCH_NS);
			planted_work(TASK_NS);
		}
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
			planted_done(1);
			is_over = !planted_goes_on();
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int is_uneven;
	pthread_t threads[N];

	planted_start(argc, argv);
	is_parallel = planted_option("parallel", 0);
	is_uneven = (int)planted_option("uneven", 0);
	is_even = planted_option("even", 0);
	pthread_barrier_init(&barrier, NULL, N);
	for (long i = 0; i < N; i++) {
		char name[16];

		snprintf(name, sizeof name, "compute-%ld", i);
		threads[i] = planted_thread(name, is_uneven ? compute_tasks : compute, (void *)(intptr_t)i);
	}
	if (!is_uneven)
		lead();
	for (int i = 0; i < N; i++)
		planted_join(threads[i]);
	return planted_finish();
}
