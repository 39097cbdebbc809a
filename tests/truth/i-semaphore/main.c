/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[N_FACTORS] = { "sem_wait", "prepare", "use_device", "finish", "trim_device" };

static void *share(size_t n_bytes)
{
	void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

static struct shared *make_shared(size_t n_jobs)
{
	struct shared *s = share(sizeof *s);

	s->n_jobs = n_jobs;
	s->jobs = share(N_WORKERS * n_jobs * sizeof *s->jobs);
	s->log.capacity = 40 * n_jobs;
	s->log.stretches = share(s->log.capacity * sizeof *s->log.stretches);
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

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 900);
	struct truth_answer answer = { .a = "sem_wait", .accept = { "trim_device" } };
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
	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < N_WORKERS * s->n_jobs; i++) {
		struct job *job = &s->jobs[i];

		job->took[MAINTENANCE] = plant_log_overlap(&s->log, job->wait_from, job->wait_to);
		truth_add(&truth, job->latency, job->took);
	}
	answer.share = truth_share(&truth, DEVICE_WAIT);
	answer.also[0] = (struct truth_factor){ "trim_device", truth_share(&truth, MAINTENANCE), 1 };
	return truth_write(&truth, &answer);
}
