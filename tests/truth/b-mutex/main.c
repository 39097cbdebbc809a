/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[N_FACTORS] = { "pthread_mutex_lock", "parse", "write_row", "reply", "compact_segment" };

static void fill_request(struct request *r, uint64_t id, uint64_t *random)
{
	*r = (struct request){ .id = id };
	r->ns[PARSE] = plant_uniform(random, 50000, 850000);
	r->ns[WRITE_ROW] = plant_uniform(random, 20000, 80000);
	r->ns[REPLY] = plant_uniform(random, 50000, 850000);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 700);
	struct truth_answer answer = { .a = "pthread_mutex_lock", .accept = { "compact_segment" } };
	struct request *requests = calloc(o.n, sizeof *requests);
	uint64_t *latencies = calloc(o.n, sizeof *latencies);
	struct compactor compactor;
	struct truth truth;

	if (!requests || !latencies) {
		perror("requests");
		return 1;
	}
	truth_open(&truth, N_FACTORS, names, o.n);
	compactor_start(&compactor, o.random + 1, 20 * o.n);
	for (size_t i = 0; i < o.n; i++) {
		uint64_t begin;

		fill_request(&requests[i], i + 1, &o.random);
		plant_sleep_us(plant_uniform(&o.random, 50, 600));
		begin = PLANT_NOW();
		handle_request(&requests[i]);
		latencies[i] = PLANT_NOW() - begin;
	}
	compactor_stop(&compactor);
	for (size_t i = 0; i < o.n; i++) {
		struct request *r = &requests[i];

		r->took[COMPACTION] = plant_log_overlap(&compactor.log, r->wait_from, r->wait_to);
		truth_add(&truth, latencies[i], r->took);
	}
	answer.share = truth_share(&truth, LOCK_WAIT);
	answer.also[0] = (struct truth_factor){ "compact_segment", truth_share(&truth, COMPACTION), 1 };
	free(compactor.log.stretches);
	free(latencies);
	free(requests);
	return truth_write(&truth, &answer);
}
