/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue in memory that processes share, under a lock that they share: the parent pushes, a forked child pops. */
#include "flow_case.h"

#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct job {
	struct job *next;
	uint64_t value;
};

struct shared {
	pthread_mutex_t lock;
	sem_t filled;
	struct job *first;
	_Atomic uint64_t sum;
	char far_from_lock[512];
	struct job jobs[N_ITEMS];
};

static struct shared *shared;

static NOINLINE void push(struct job *job)
{
	pthread_mutex_lock(&shared->lock);
	job->next = shared->first;
	shared->first = job;
	pthread_mutex_unlock(&shared->lock);
}

static NOINLINE struct job *pop(void)
{
	struct job *job;

	pthread_mutex_lock(&shared->lock);
	job = shared->first;
	shared->first = job->next;
	pthread_mutex_unlock(&shared->lock);
	return job;
}

static void child(void)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		while (sem_wait(&shared->filled))
			;
		atomic_fetch_add(&shared->sum, pop()->value);
	}
	_exit(0);
}

int main(void)
{
	pthread_mutexattr_t a;
	pid_t pid;
	int status;

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->lock, &a);
	sem_init(&shared->filled, 1, 0);
	pid = fork();
	if (!pid)
		child();
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		shared->jobs[i - 1].value = i;
		push(&shared->jobs[i - 1]);
		sem_post(&shared->filled);
	}
	waitpid(pid, &status, 0);
	atomic_store(&sum, atomic_load(&shared->sum));
	truth("push", "pop", N_ITEMS);
	return checked(N_ITEMS);
}
