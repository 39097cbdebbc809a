/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_job", -1, TRUTH_WAIT },
	[PREPARE] = { "prepare", REQUEST, 0 },
	[WITH_DEVICE] = { "with_device", REQUEST, TRUTH_WAIT },
	[FINISH] = { "finish", REQUEST, 0 },
	[DEVICE_WAIT] = { "sem_wait", WITH_DEVICE, TRUTH_PLANTED | TRUTH_WAIT },
	[USE_DEVICE] = { "use_device", WITH_DEVICE, 0 },
	[MAINTENANCE] = { "trim_device", DEVICE_WAIT, TRUTH_PLANTED | TRUTH_BLAME },
	[OTHERS] = { "use_device", DEVICE_WAIT, TRUTH_BLAME },
};

/* Rows are in the order of workers. */
static uint64_t id_of(const struct truth *t, size_t row)
{
	size_t n = t->capacity / N_WORKERS;

	return job_id((int)(row / n), row % n);
}

static struct shared *make_shared(size_t n_jobs)
{
	struct shared *s = plant_share(sizeof *s);

	s->n_jobs = n_jobs;
	s->jobs = plant_share(N_WORKERS * n_jobs * sizeof *s->jobs);
	s->log.capacity = 40 * n_jobs;
	s->log.stretches = plant_share(s->log.capacity * sizeof *s->log.stretches);
	for (int i = 0; i < N_WORKERS; i++) {
		s->uses[i].capacity = n_jobs;
		s->uses[i].stretches = plant_share(n_jobs * sizeof *s->log.stretches);
	}
	if (sem_init(&s->device, 1, 1)) {
		perror("sem_init");
		exit(1);
	}
	return s;
}

/* Worker, or maintenance when `worker` is N_WORKERS. */
static pid_t start_process(struct shared *s, int worker, uint64_t random)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	if (pid)
		return pid;
	if (worker < N_WORKERS)
		run_worker(s, worker, random);
	else
		run_maintenance(s, random);
	exit(0);
}

static int has_failed(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) != pid || status;
}

/* Of the other workers. */
static struct plant_time used_by_others(const struct shared *s, int worker, const struct job *job)
{
	struct plant_time sum = { 0, 0 };

	for (int i = 0; i < N_WORKERS; i++) {
		struct plant_time one = plant_log_overlap(&s->uses[i], job->wait_from, job->wait_to);

		if (i == worker)
			continue;
		sum.low += one.low;
		sum.high += one.high;
	}
	return sum;
}

static struct plant_time device_wait(const struct job *job)
{
	struct plant_time held = job->took[MAINTENANCE];

	held.low += job->took[OTHERS].low;
	held.away += job->took[OTHERS].away;
	return plant_wait(job->wait_to - job->wait_from, held, job->interruptions);
}

/* A semaphore's tokens are alike, so the process whose post ended a wait explains all of it
 * (docs/design/critical-path.md, Holders). Where the other worker was quicker and used the device in between, that may
 * be the worker. */
static void blame_the_waker(struct job *job)
{
	job->took[MAINTENANCE] = plant_held(job->took[MAINTENANCE], job->interruptions);
	if (job->took[OTHERS].high)
		job->took[MAINTENANCE].low = job->took[OTHERS].low = 0;
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 450);
	struct truth_answer answer = { .interval = "request" };
	struct shared *s = make_shared(o.n / N_WORKERS);
	pid_t pids[N_WORKERS + 1];
	struct truth truth;
	int failed = 0;

	for (int i = N_WORKERS; i >= 0; i--)
		pids[i] = start_process(s, i, o.random + (uint64_t)i);
	for (int i = 0; i < N_WORKERS; i++)
		failed |= has_failed(pids[i]);
	__atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
	if (has_failed(pids[N_WORKERS]) || failed) {
		fputs("a process failed\n", stderr);
		return 1;
	}
	truth_open(&truth, N_FACTORS, columns, o.n);
	truth.id_of = id_of;
	for (size_t i = 0; i < N_WORKERS * s->n_jobs; i++) {
		struct job *job = &s->jobs[i];

		job->took[MAINTENANCE] = plant_log_overlap(&s->log, job->wait_from, job->wait_to);
		job->took[OTHERS] = used_by_others(s, (int)(i / s->n_jobs), job);
		job->took[DEVICE_WAIT] = device_wait(job);
		blame_the_waker(job);
		truth_add(&truth, job->took);
	}
	return truth_write(&truth, &answer);
}
