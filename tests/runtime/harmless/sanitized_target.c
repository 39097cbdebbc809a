/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What test_harmless_preload.c runs, built with and without a sanitizer: threads, locks, conditions, a fork. No data
 * race, no leak: a sanitizer that reports something is wrong, and makes the status another one. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS 4
#define N 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static int n_done, started;

static void __attribute__((noinline)) call(void)
{
	VP_FUNCTION(0x141, 0xffffffffffffffffUL, 1)
}

static void start(void)
{
	started = 1;
}

static void *run(void *arg)
{
	pthread_once(&once, start);
	for (int i = 0; i < N; i++) {
		pthread_mutex_lock(&lock);
		n_done += started;
		call();
		if (i % 100 == 0)
			usleep(10);
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&lock);
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
	sem_post(&sem);
	return arg;
}

int main(void)
{
	pthread_t ids[N_THREADS];
	int status = 0;
	pid_t pid;

	sem_init(&sem, 0, 0);
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&ids[i], NULL, run, malloc(10)))
			return 1;
	pthread_mutex_lock(&lock);
	while (n_done < N_THREADS * N)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < N_THREADS; i++) {
		void *value = NULL;

		sem_wait(&sem);
		if (pthread_join(ids[i], &value))
			return 2;
		free(value);
	}
	pid = fork();
	if (pid == 0) {
		call();
		_exit(3);
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
		return 4;
	printf("done\n");
	return 42;
}
