/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static NOINLINE void keep_books(struct job *j)
{
	struct plant_time took = { 0, 0 };

	PLANT_SPIN(j->ns[KEEP_BOOKS], took);
}

static NOINLINE void submit(int pipe_end, struct job *j, uint64_t place)
{
	j->at.before = PLANT_NOW();
	vprof_begin("job", j->id);
	j->at.from = PLANT_NOW();
	j->sent.low = PLANT_NOW();
	if (write(pipe_end, &place, sizeof place) != sizeof place) {
		perror("pipe");
		exit(1);
	}
	j->sent.high = PLANT_NOW();
	keep_books(j);
	vprof_suspend("job", j->id);
}

/* Bursts, then a pause that lets the pipe run empty. */
void spool_all(int pipe_end, struct job *jobs, size_t n, uint64_t random)
{
	for (size_t i = 0; i < n;) {
		size_t burst = plant_uniform(&random, 1, 9);

		for (; burst && i < n; burst--, i++)
			submit(pipe_end, &jobs[i], i);
		plant_sleep_us(plant_uniform(&random, 2500, 3500));
	}
}
