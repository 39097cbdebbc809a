/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render.h"

static void submit(struct queue *q, struct request *r)
{
	r->at.before = PLANT_NOW();
	vprof_begin("request", r->id);
	r->at.from = PLANT_NOW();
	queue_push(q, r);
	vprof_suspend("request", r->id);
}

/* Bursts of 1 to 8, then a pause that lets the queue run empty. */
void dispatch_all(struct queue *q, struct request *requests, size_t n, uint64_t random)
{
	for (size_t i = 0; i < n;) {
		size_t burst = plant_uniform(&random, 1, 9);

		for (; burst && i < n; burst--, i++)
			submit(q, &requests[i]);
		plant_sleep_us(plant_uniform(&random, 2500, 3500));
	}
}
