/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tiers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static NOINLINE void parse_request(struct job *job)
{
	PLANT_SPIN(job->ns[PARSE], job->took[PARSE]);
}

static NOINLINE void render(struct job *job)
{
	PLANT_SPIN(job->ns[RENDER], job->took[RENDER]);
}

static NOINLINE void handle_request(struct job *job, int orders)
{
	uint64_t reply = 0;

	PLANT_CALL(job->took[PARSE], parse_request(job));
	say(orders, job->id);
	job->front_interruptions = -PLANT_INTERRUPTIONS();
	job->front_from = PLANT_NOW();
	if (recv(orders, &reply, sizeof reply, MSG_WAITALL) != sizeof reply)
		reply = 0;
	job->front_to = PLANT_NOW();
	job->front_interruptions += PLANT_INTERRUPTIONS();
	if (reply != job->id) {
		fputs("tiers: another reply was expected\n", stderr);
		exit(1);
	}
	PLANT_CALL(job->took[RENDER], render(job));
}

void run_front(struct shared *s, int orders)
{
	for (size_t i = 0; i < s->n; i++)
		PLANT_CALL(s->jobs[i].took[REQUEST], handle_request(&s->jobs[i], orders));
}
