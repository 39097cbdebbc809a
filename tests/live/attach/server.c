/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server that serves itself until it gets SIGTERM: threads that hand requests to each other, a worker process, waits
 * of every length. Checks each answer, and prints at the end how many requests there were and how many failed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS 4
#define SLOW_EVERY 16
#define STACK_BYTES (256u << 10)
#define ROOM_BYTES ((size_t)512 << 20)

static atomic_int is_over;
static atomic_ulong n_done, n_failed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t shared;

__attribute__((noinline)) static uint64_t mix(uint64_t x, int n)
{
	for (int i = 0; i < n; i++)
		x = (x ^ x >> 29) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i;
	return x;
}

__attribute__((noinline)) static uint64_t look_up(uint64_t id)
{
	return mix(id, 200);
}

__attribute__((noinline)) static uint64_t write_back(uint64_t id)
{
	struct timespec t = { 0, 2000000 };
	uint64_t x = mix(id, 1000);

	nanosleep(&t, NULL);
	return x;
}

__attribute__((noinline)) static uint64_t change(uint64_t id)
{
	uint64_t x;

	pthread_mutex_lock(&lock);
	x = id % SLOW_EVERY ? mix(id, 50) : write_back(id);
	shared += x;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return x;
}

__attribute__((noinline)) uint64_t handle_request(uint64_t id)
{
	return look_up(id) + change(id);
}

static uint64_t answer_of(uint64_t id)
{
	return mix(id, 200) + (id % SLOW_EVERY ? mix(id, 50) : mix(id, 1000));
}

static void *serve(void *arg)
{
	const struct timespec t = { 0, 200000 };

	for (uint64_t id = (uint64_t)(uintptr_t)arg + 1; !is_over; id += N_THREADS) {
		n_failed += handle_request(id) != answer_of(id);
		n_done++;
		nanosleep(&t, NULL);
	}
	return NULL;
}

/* Waits for changes, for hours if need be. */
static void *watch(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!is_over)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void stop(int signal)
{
	(void)signal;
	is_over = 1;
}

static void run(void)
{
	pthread_t threads[N_THREADS + 1];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	pthread_create(&threads[N_THREADS], &small, watch, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], &small, serve, (void *)(uintptr_t)i);
	pthread_attr_destroy(&small);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(threads[N_THREADS], NULL);
}

/* As servers do that must not be paged out: whatever is mapped from now on is locked and filled, as far as the limits
 * allow it for the memory of a session. */
static void lock_memory(void)
{
	void *room;

	if (mlockall(MCL_FUTURE))
		return;
	room = mmap(NULL, ROOM_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		munlockall();
	else
		munmap(room, ROOM_BYTES);
}

static void tell(const char *who)
{
	printf("%s: %lu requests, %lu failed\n", who, n_done, n_failed);
	fflush(stdout);
}

int main(void)
{
	struct sigaction action = { .sa_handler = stop };
	pid_t worker;
	int status;

	sigaction(SIGTERM, &action, NULL);
	lock_memory(); /* of the server; a child's is not */
	worker = fork();
	if (!worker)
		prctl(PR_SET_PDEATHSIG, SIGTERM); /* however the server ends */
	run();
	if (!worker) {
		tell("worker");
		_exit(n_failed != 0);
	}
	kill(worker, SIGTERM);
	while (waitpid(worker, &status, 0) < 0)
		;
	tell("server");
	return n_failed || status;
}
