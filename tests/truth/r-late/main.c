/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[N_FACTORS] = { "pthread_mutex_lock", "parse",	   "write_row", "reply",
					      "load_chunk",	    "archive_rows" };

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
	struct plant_options o = plant_start(argc, argv, 500);
	struct truth_answer answer = { .a = "pthread_mutex_lock", .accept = { "load_chunk", "archive_rows" } };
	struct request *requests = calloc(o.n, sizeof *requests);
	uint64_t *latencies = calloc(o.n, sizeof *latencies);
	struct holders holders;
	struct truth truth;

	if (!requests || !latencies) {
		perror("requests");
		return 1;
	}
	truth_open(&truth, N_FACTORS, names, o.n);
	holders_start(&holders, o.random + 1, 20 * o.n);
	for (size_t i = 0; i < o.n; i++) {
		uint64_t begin;

		fill_request(&requests[i], i + 1, &o.random);
		await_load(&holders);
		begin = PLANT_NOW();
		handle_request(&requests[i]);
		latencies[i] = PLANT_NOW() - begin;
	}
	holders_stop(&holders);
	for (size_t i = 0; i < o.n; i++) {
		struct request *r = &requests[i];

		r->took[LOAD] = plant_log_overlap(&holders.loads, r->wait_from, r->wait_to);
		r->took[ARCHIVE] = plant_log_overlap(&holders.archives, r->wait_from, r->wait_to);
		truth_add(&truth, latencies[i], r->took);
	}
	answer.share = truth_share(&truth, LOCK_WAIT);
	answer.also[0] = (struct truth_factor){ "load_chunk", truth_share(&truth, LOAD), 1 };
	answer.also[1] = (struct truth_factor){ "archive_rows", truth_share(&truth, ARCHIVE), 1 };
	free(holders.loads.stretches);
	free(holders.archives.stretches);
	free(latencies);
	free(requests);
	return truth_write(&truth, &answer);
}
