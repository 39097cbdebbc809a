/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, TRUTH_WAIT },
	[PARSE] = { "parse", REQUEST, 0 },
	[UPDATE_TABLE] = { "update_table", REQUEST, TRUTH_WAIT },
	[REPLY] = { "reply", REQUEST, 0 },
	[LOCK_WAIT] = { "pthread_mutex_lock", UPDATE_TABLE, TRUTH_PLANTED | TRUTH_WAIT },
	[WRITE_ROW] = { "write_row", UPDATE_TABLE, 0 },
	[LOAD] = { "load_chunk", LOCK_WAIT, TRUTH_PLANTED | TRUTH_BLAME },
	[ARCHIVE] = { "archive_rows", LOCK_WAIT, TRUTH_PLANTED | TRUTH_BLAME },
};

static void fill_request(struct request *r, uint64_t id, uint64_t *random)
{
	*r = (struct request){ .id = id };
	r->ns[PARSE] = plant_uniform(random, 20000, 60000);
	r->ns[WRITE_ROW] = plant_uniform(random, 20000, 80000);
	r->ns[REPLY] = plant_uniform(random, 50000, 850000);
}

/* Requests come while the loader is at work. */
static void await_load(struct holders *h)
{
	while (__atomic_load_n(&h->state, __ATOMIC_ACQUIRE) != LOADING)
		plant_sleep_us(50);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 250);
	struct truth_answer answer = { .interval = "request" };
	struct request *requests = calloc(o.n, sizeof *requests);
	struct holders holders;
	struct truth truth;

	if (!requests) {
		perror("requests");
		return 1;
	}
	truth_open(&truth, N_FACTORS, columns, o.n);
	holders_start(&holders, o.random + 1, 20 * o.n);
	for (size_t i = 0; i < o.n; i++) {
		fill_request(&requests[i], i + 1, &o.random);
		await_load(&holders);
		PLANT_CALL(requests[i].took[REQUEST], handle_request(&requests[i]));
	}
	holders_stop(&holders);
	for (size_t i = 0; i < o.n; i++) {
		struct request *r = &requests[i];
		struct plant_time loaded = plant_log_overlap(&holders.loads, r->wait_from, r->wait_to),
				  archived = plant_log_overlap(&holders.archives, r->wait_from, r->wait_to),
				  held = { loaded.low + archived.low, 0, loaded.away + archived.away };

		r->took[LOAD] = plant_held(loaded, r->interruptions);
		r->took[ARCHIVE] = plant_held(archived, r->interruptions);
		r->took[LOCK_WAIT] = plant_wait(r->wait_to - r->wait_from, held, r->interruptions);
		truth_add(&truth, r->took);
	}
	free(holders.loads.stretches);
	free(holders.archives.stretches);
	free(requests);
	return truth_write(&truth, &answer);
}
