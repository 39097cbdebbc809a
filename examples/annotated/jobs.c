/* Handles jobs by two threads; the interval is marked in the code. One job in sixteen flushes its journal under the lock
 * that all jobs take: that is the cause, for the jobs that flush and for those that wait for them. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <vprof.h>

#define N_JOBS 1200
#define N_THREADS 2

struct job {
	int number;
	unsigned sum;
};

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned journal[256], n_entries;

static void flush_journal(void)
{
	struct timespec disk = { 0, 3000000 };

	nanosleep(&disk, NULL);
	n_entries = 0;
}

static void write_journal(const struct job *job)
{
	pthread_mutex_lock(&journal_lock);
	journal[n_entries++ % 256] = job->sum;
	if (n_entries == 16)
		flush_journal();
	pthread_mutex_unlock(&journal_lock);
}

static void compute(struct job *job)
{
	for (int i = 0; i < 20000 + job->number % 7 * 100; i++)
		job->sum = job->sum * 31 + (unsigned)i;
}

static void handle_job(struct job *job)
{
	vprof_begin("job", job);
	compute(job);
	write_journal(job);
	vprof_end("job", job);
}

static void *work(void *argument)
{
	struct job job = { 0 };

	(void)argument;
	for (job.number = 0; job.number < N_JOBS / N_THREADS; job.number++)
		handle_job(&job);
	return NULL;
}

int main(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d jobs\n", N_JOBS);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
