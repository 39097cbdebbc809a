/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shared.h"

static NOINLINE void trim_device(struct shared *s, uint32_t ns)
{
	PLANT_STRETCH(&s->log, ns);
}

void run_maintenance(struct shared *s, uint64_t random)
{
	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE) && s->log.n < s->log.capacity) {
		plant_sleep_us(plant_uniform(&random, 1000, 2000));
		sem_wait(&s->device);
		PLANT_LOG(&s->log, trim_device(s, plant_uniform(&random, 300000, 3000000)));
		sem_post(&s->device);
	}
}
