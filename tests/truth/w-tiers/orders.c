/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tiers.h"

#include <sys/socket.h>
#include <unistd.h>

static NOINLINE void price_order(struct shared *s, struct job *job)
{
	PLANT_STRETCH(&s->price, job->ns[PRICE]);
}

void run_orders(struct shared *s, int front, int store)
{
	uint64_t id, reply;

	while (recvfrom(front, &id, sizeof id, MSG_WAITALL, NULL, NULL) == sizeof id && id && id <= s->n) {
		struct job *job = &s->jobs[id - 1];

		PLANT_LOG(&s->price, price_order(s, job));
		say(store, id);
		job->orders_interruptions = -PLANT_INTERRUPTIONS();
		job->orders_from = PLANT_NOW();
		if (read(store, &reply, sizeof reply) != sizeof reply)
			return;
		job->orders_to = PLANT_NOW();
		job->orders_interruptions += PLANT_INTERRUPTIONS();
		say(front, reply);
	}
}
