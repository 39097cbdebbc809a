/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (i) Forked workers share a process-shared semaphore with a maintenance process that holds it for long. */
#ifndef SHARED_H
#define SHARED_H

#include <semaphore.h>

#include "plant.h"

#define N_WORKERS 2

enum { REQUEST, PREPARE, WITH_DEVICE, FINISH, DEVICE_WAIT, USE_DEVICE, MAINTENANCE, OTHERS, N_FACTORS };

struct job {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
	uint64_t wait_from, wait_to; /* ticks */
	long interruptions;	     /* meanwhile */
};

/* Lies in memory shared by all processes. */
struct shared {
	sem_t device;
	int stop;	      /* atomic */
	size_t n_jobs;	      /* of each worker */
	struct job *jobs;     /* [N_WORKERS * n_jobs] */
	struct plant_log log; /* of the maintenance process */
	struct plant_log uses[N_WORKERS];
};

uint64_t job_id(int worker, size_t place);
void handle_job(struct shared *s, struct plant_log *uses, struct job *job);
void run_worker(struct shared *s, int worker, uint64_t random);
void run_maintenance(struct shared *s, uint64_t random);

#endif
