/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED 64 /* calls of a request, all of which are recorded */
#define NEAR 16	    /* calls at the start or the end */

static const char *const places[N_PLACES] = { [INLINE] = "inline", [CALLEE] = "callee", [SEVERAL] = "several",
					      [START] = "start",   [END] = "end",	[RECURSION] = "recursion" };

static int read_case(const char *text, uint32_t *one_in)
{
	for (int i = 0; i < N_PLACES; i++) {
		size_t n = strlen(places[i]);

		if (strncmp(text, places[i], n) || text[n] != '-')
			continue;
		place = (enum place)i;
		*one_in = (uint32_t)strtoul(text + n + 1, NULL, 10);
		return *one_in > 0;
	}
	return 0;
}

static uint32_t slow_call(uint64_t *random)
{
	if (place == START)
		return plant_uniform(random, RECORDED, RECORDED + NEAR);
	if (place == END)
		return plant_uniform(random, N_LOOKUPS - NEAR, N_LOOKUPS);
	return plant_uniform(random, 0, N_LOOKUPS);
}

/* Slow calls come as often as `one_in` says, and the rarer the longer: they take most of the program's time, so what
 * the machine does to the program falls on them, too. */
static void fill_request(struct request *q, uint64_t id, uint32_t one_in, uint64_t *random)
{
	uint32_t usual_ns = one_in <= 1000 ? 3000000 : one_in <= 10000 ? 4500000 : 15000000;

	q->id = id;
	q->ns[READ_QUERY] = plant_uniform(random, 4000, 12000);
	q->ns[WRITE_REPLY] = plant_uniform(random, 4000, 16000);
	q->slow_ns = plant_uniform(random, usual_ns, 2 * usual_ns);
	q->slow_compare = place == SEVERAL && plant_uniform(random, 0, 2);
	q->slow_at = plant_uniform(random, 0, one_in) < N_LOOKUPS ? slow_call(random) : N_LOOKUPS;
}

int main(int argc, char **argv)
{
	const char *rare = getenv("TRUTH_RARE");
	uint32_t one_in = 1000;
	struct plant_options o;
	struct truth_answer answer = { .interval = "request", .has_untimed = 1 };
	struct request *requests;
	struct truth truth;

	if (!read_case(rare ? rare : "inline-1000", &one_in)) {
		fprintf(stderr, "TRUTH_RARE=%s is not WHERE-ONE_IN\n", rare);
		return 2;
	}
	struct truth_column columns[N_FACTORS] = {
		[REQUEST] = { "serve", -1, 0 },
		[READ_QUERY] = { "read_query", REQUEST, 0 },
		[SEARCH] = { "search", REQUEST, 0 },
		[LOOKUP] = { "lookup", SEARCH, place == CALLEE ? 0 : TRUTH_PLANTED },
		[REFILL] = { "refill", LOOKUP, place == CALLEE ? TRUTH_PLANTED : 0 },
		[COMPARE] = { "compare", SEARCH, place == SEVERAL ? TRUTH_PLANTED : 0 },
		[WRITE_REPLY] = { "write_reply", REQUEST, 0 },
	};

	o = plant_start(argc, argv, one_in <= 1000 ? 600 : one_in <= 10000 ? 3000 : 8000);
	requests = calloc(o.n, sizeof *requests);
	if (!requests) {
		perror("requests");
		return 1;
	}
	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++)
		fill_request(&requests[i], i + 1, one_in, &o.random);
	for (size_t i = 0; i < o.n; i++) {
		PLANT_CALL(requests[i].took[REQUEST], serve(&requests[i]));
		requests[i].took[LOOKUP].low -= requests[i].callers[LOOKUP];
		requests[i].took[COMPARE].low -= requests[i].callers[COMPARE];
		truth_add(&truth, requests[i].took);
	}
	free(requests);
	return truth_write(&truth, &answer);
}
