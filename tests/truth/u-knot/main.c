/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>

static const struct truth_column columns[N_COLUMNS] = {
	[REQUEST] = { "request", -1, TRUTH_WAIT },
	[TABLE_WAIT] = { "table_lock", REQUEST, TRUTH_WAIT },
	[CACHE_WAIT] = { "cache_lock", REQUEST, TRUTH_WAIT },
};

static void fill_requests(struct worker *w, int asks_cache, uint64_t *random)
{
	for (size_t i = 0; i < w->n; i++)
		w->requests[i] = (struct request){ .id = i * N_WORKERS + (size_t)asks_cache,
						   .is_cached = asks_cache && plant_uniform(random, 0, 3) == 0,
						   .parse_ns = plant_uniform(random, 100000, 900000),
						   .update_ns = plant_uniform(random, 300000, 1500000) };
}

/* A waiter that came onto a processor long after the lock was released waited for that: no more than what was held is
 * sure. */
static struct plant_time lock_wait(const struct plant_log *others, uint64_t from, uint64_t to, long interruptions)
{
	struct plant_time held = plant_log_overlap(others, from, to), wait = plant_wait(to - from, held, interruptions);

	if (to - from > held.high + 500 * plant_away_ticks) /* 500 us */
		wait.low = wait.low < held.low ? wait.low : held.low;
	return wait;
}

/* Of one type (1: cached, 0: plain), or of all (-1), each in a file of its own. */
static int write_account(const struct worker *workers, const char *base, int type, const char *suffix)
{
	const struct truth_answer answer = { .interval = "request" };
	struct truth truth;
	char path[4096];

	snprintf(path, sizeof path, "%s%s", base && *base ? base : "truth.json", suffix);
	if (setenv("TRUTH_OUT", path, 1))
		return 1;
	truth_open(&truth, N_COLUMNS, columns, workers[0].n * N_WORKERS);
	for (int i = 0; i < N_WORKERS; i++)
		for (size_t k = 0; k < workers[i].n; k++)
			if (type < 0 || workers[i].requests[k].is_cached == type)
				truth_add(&truth, workers[i].requests[k].took);
	return truth_write(&truth, &answer);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 400);
	const char *out = getenv("TRUTH_OUT");
	struct worker workers[N_WORKERS];
	struct keeper keeper;
	char base[4096];

	snprintf(base, sizeof base, "%s", out ? out : "");
	for (int i = 0; i < N_WORKERS; i++) {
		workers[i] = (struct worker){ .n = o.n, .requests = calloc(o.n, sizeof *workers[i].requests) };
		if (!workers[i].requests) {
			perror("requests");
			return 1;
		}
		fill_requests(&workers[i], i == 0, &o.random);
	}
	keeper_start(&keeper, o.random + 1, 100 * o.n);
	for (int i = 0; i < N_WORKERS; i++)
		worker_start(&workers[i]);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	keeper_stop(&keeper);
	for (int i = 0; i < N_WORKERS; i++)
		for (size_t k = 0; k < o.n; k++) {
			struct request *r = &workers[i].requests[k];

			r->took[TABLE_WAIT] =
				lock_wait(&workers[!i].log, r->table_from, r->table_to, r->table_interruptions);
			r->took[CACHE_WAIT] =
				lock_wait(&keeper.log, r->cache_from, r->cache_to, r->cache_interruptions);
		}
	return write_account(workers, base, 1, "-cached") | write_account(workers, base, 0, "-plain") |
	       write_account(workers, base, -1, "");
}
