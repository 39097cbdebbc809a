/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shared.h"

static NOINLINE void prepare(struct job *job)
{
	PLANT_SPIN(job->ns[PREPARE], job->took[PREPARE]);
}

static NOINLINE void use_device(struct job *job)
{
	PLANT_SPIN(job->ns[USE_DEVICE], job->took[USE_DEVICE]);
}

static NOINLINE void finish(struct job *job)
{
	PLANT_SPIN(job->ns[FINISH], job->took[FINISH]);
}

static NOINLINE void with_device(struct shared *s, struct plant_log *uses, struct job *job)
{
	job->interruptions = -PLANT_INTERRUPTIONS();
	job->wait_from = PLANT_NOW();
	sem_wait(&s->device);
	job->wait_to = PLANT_NOW();
	job->interruptions += PLANT_INTERRUPTIONS();
	PLANT_LOG(uses, PLANT_CALL(job->took[USE_DEVICE], use_device(job)));
	sem_post(&s->device);
}

NOINLINE void handle_job(struct shared *s, struct plant_log *uses, struct job *job)
{
	PLANT_CALL(job->took[PREPARE], prepare(job));
	PLANT_CALL(job->took[WITH_DEVICE], with_device(s, uses, job));
	PLANT_CALL(job->took[FINISH], finish(job));
}

uint64_t job_id(int worker, size_t place)
{
	return (uint64_t)(worker + 1) * 1000000 + place;
}

void run_worker(struct shared *s, int worker, uint64_t random)
{
	for (size_t i = 0; i < s->n_jobs; i++) {
		struct job *job = &s->jobs[(size_t)worker * s->n_jobs + i];

		job->id = job_id(worker, i);
		job->ns[PREPARE] = plant_uniform(&random, 50000, 550000);
		job->ns[USE_DEVICE] = plant_uniform(&random, 10000, 50000);
		job->ns[FINISH] = plant_uniform(&random, 50000, 550000);
		plant_sleep_us(plant_uniform(&random, 500, 1500));
		PLANT_CALL(job->took[REQUEST], handle_job(s, &s->uses[worker], job));
	}
}
