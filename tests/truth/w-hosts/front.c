/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static NOINLINE void parse_request(struct job *job)
{
	PLANT_SPIN(job->ns[PARSE], job->took[PARSE]);
}

static NOINLINE void ask(struct job *job, int store)
{
	struct asked asked = { job->id, job->ns[LOOK_UP], job->ns[NANOSLEEP] };

	if (send(store, &asked, sizeof asked, MSG_NOSIGNAL) != sizeof asked)
		exit(1);
}

static NOINLINE void check_reply(const struct job *job)
{
	if (job->told.id != job->id) {
		fputs("hosts: another reply was expected\n", stderr);
		exit(1);
	}
}

static NOINLINE void handle_request(struct job *job, int store)
{
	PLANT_CALL(job->took[PARSE], parse_request(job));
	ask(job, store);
	job->interruptions = -PLANT_INTERRUPTIONS();
	job->from = PLANT_NOW();
	if (read(store, &job->told, sizeof job->told) != sizeof job->told)
		exit(1);
	job->to = PLANT_NOW();
	job->interruptions += PLANT_INTERRUPTIONS();
	check_reply(job);
}

void run_front(struct job *jobs, size_t n, int store)
{
	for (size_t i = 0; i < n; i++)
		PLANT_CALL(jobs[i].took[REQUEST], handle_request(&jobs[i], store));
}
