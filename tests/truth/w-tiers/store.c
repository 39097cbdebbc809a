/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tiers.h"

#include <sys/socket.h>
#include <time.h>

static NOINLINE void look_up(struct shared *s, struct job *job)
{
	PLANT_STRETCH(&s->look_up, job->ns[LOOK_UP]);
}

static NOINLINE void rebuild_page(struct shared *s, struct job *job)
{
	struct timespec ts = { 0, (long)job->ns[NANOSLEEP] };

	s->rebuild.stretches[s->rebuild.n].from = PLANT_NOW();
	nanosleep(&ts, NULL);
	s->rebuild.stretches[s->rebuild.n].to = PLANT_NOW();
}

void run_store(struct shared *s, int orders)
{
	uint64_t id;

	while (recvfrom(orders, &id, sizeof id, MSG_WAITALL, NULL, NULL) == sizeof id && id && id <= s->n) {
		struct job *job = &s->jobs[id - 1];

		PLANT_LOG(&s->look_up, look_up(s, job));
		PLANT_LOG(&s->rebuild, rebuild_page(s, job));
		say(orders, id);
	}
}
