/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks whose functions are written in inline assembly, as a database's: nothing that a compiler or a library tells
 * says that they lock. Two queues under them, in memory that processes share: one of pointers, whose sections are long,
 * and one of numbers, which the consumer empties by one copy of all that is in it, from structures that are aligned to
 * four bytes. A lock that one thread acquires and another releases holds nobody's queue. */
#include "flow_case.h"

#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct lw_lock {
	volatile int state;
	char apart[508];
};

struct job {
	struct job *next;
	uint64_t value;
	char text[48];
};

struct request { /* 24 bytes, at multiples of 4 */
	int kind;
	int file[4];
	unsigned number;
};

struct shared {
	struct lw_lock job_lock, request_lock, turn;
	sem_t filled, drained;
	struct job *first;
	uint64_t history[64];
	_Atomic uint64_t sum;
	char apart[512];
	int n_requests;
	struct request requests[60];
	struct job jobs[N_ITEMS];
};

static struct shared *shared;

static inline int swap(volatile int *p, int value)
{
#if defined(__x86_64__)
	__asm__ __volatile__("	lock\n	xchgl %0, %1\n" : "+r"(value), "+m"(*p) : : "memory");
	return value;
#else
	return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);
#endif
}

static NOINLINE void lw_acquire(struct lw_lock *lock)
{
	while (swap(&lock->state, 1))
		usleep(50);
}

static NOINLINE void lw_release(struct lw_lock *lock)
{
	swap(&lock->state, 0);
}

/* Taken by one process, given back by another. */
static NOINLINE void turn_acquire(struct lw_lock *lock)
{
	while (swap(&lock->state, 1))
		usleep(50);
}

static NOINLINE void turn_release(struct lw_lock *lock)
{
	swap(&lock->state, 0);
}

static NOINLINE void push_job(struct job *job)
{
	lw_acquire(&shared->job_lock);
	job->next = shared->first;
	shared->first = job;
	for (int i = 0; i < 64; i++)
		shared->history[i] += (uint64_t)i;
	lw_release(&shared->job_lock);
}

static NOINLINE struct job *pop_job(void)
{
	struct job *job;

	lw_acquire(&shared->job_lock);
	for (int i = 0; i < 64; i++)
		shared->history[i]++;
	job = shared->first;
	shared->first = job->next;
	lw_release(&shared->job_lock);
	return job;
}

static NOINLINE void forward(const int *file, unsigned number)
{
	struct request *request;

	lw_acquire(&shared->request_lock);
	request = &shared->requests[shared->n_requests++];
	memcpy(request->file, file, 20);
	request->number = number;
	request->kind = 0;
	lw_release(&shared->request_lock);
}

static NOINLINE int absorb(struct request *local)
{
	int n;

	lw_acquire(&shared->request_lock);
	n = shared->n_requests;
	memcpy(local, shared->requests, (size_t)n * sizeof *local);
	shared->n_requests = 0;
	lw_release(&shared->request_lock);
	return n;
}

static void consume(void)
{
	struct request *local = malloc(sizeof shared->requests);
	uint64_t total = 0;

	for (unsigned taken = 0; taken < N_ITEMS;) {
		int n;

		while (sem_wait(&shared->filled))
			;
		for (unsigned i = 0; i < 60; i++, taken++)
			total += pop_job()->value;
		n = absorb(local);
		for (int i = 0; i < n; i++)
			total += local[i].number + (unsigned)local[i].file[0];
		turn_release(&shared->turn);
		sem_post(&shared->drained);
	}
	shared->sum = total;
	_exit(0);
}

int main(void)
{
	pid_t pid;
	int status;

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	sem_init(&shared->filled, 1, 0);
	sem_init(&shared->drained, 1, 0);
	pid = fork();
	if (!pid)
		consume();
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		const int file[5] = { 1, 1663, (int)i, 16384, 0 };

		shared->jobs[i - 1].value = i;
		push_job(&shared->jobs[i - 1]);
		forward(file, i - 1);
		if (i % 60)
			continue;
		turn_acquire(&shared->turn);
		sem_post(&shared->filled);
		while (sem_wait(&shared->drained))
			;
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	atomic_store(&sum, shared->sum - (uint64_t)N_ITEMS * (N_ITEMS + 1) / 2);
	truth("push_job", "pop_job", N_ITEMS);
	truth("forward", "absorb", N_ITEMS);
	return checked(N_ITEMS);
}
