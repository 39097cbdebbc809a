/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

#include <stdlib.h>

static const char *const names[N_FACTORS] = { "parse_request", "lookup_key", "compact_log", "send_reply" };

static void fill_request(struct request *r, uint64_t id, uint64_t *random)
{
	int is_slow = id % 100 == 57;

	*r = (struct request){ .id = id };
	r->ns[PARSE_REQUEST] = plant_uniform(random, 20000, 60000);
	r->ns[LOOKUP_KEY] = plant_uniform(random, 100000, 400000);
	r->ns[COMPACT_LOG] = is_slow ? plant_uniform(random, 12000000, 16000000) : plant_uniform(random, 5000, 15000);
	r->ns[SEND_REPLY] = plant_uniform(random, 20000, 60000) + (is_slow ? 3000000 : 0);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 2500);
	struct truth_answer answer = { .a = "compact_log", .accept = { "send_reply" } };
	struct truth truth;
	double gap, mean;

	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r;
		uint64_t begin;

		fill_request(&r, i + 1, &o.random);
		begin = PLANT_NOW();
		handle_request(&r);
		truth_add(&truth, PLANT_NOW() - begin, r.took);
	}
	answer.share = truth_share(&truth, COMPACT_LOG);
	gap = truth_tail_ns(&truth, -1) - truth_rest_ns(&truth, -1);
	mean = truth_mean_ns(&truth, -1);
	for (int i = 0; i < N_FACTORS; i++) {
		answer.figures[2 * i] =
			(struct truth_figure){ "contributions", names[i], "gap_ns", gap,
					       (truth_tail_ns(&truth, i) - truth_rest_ns(&truth, i)) / gap };
		answer.figures[2 * i + 1] = (struct truth_figure){ "contributions", names[i], "mean_ns", mean,
								   truth_mean_ns(&truth, i) / mean };
	}
	answer.figures[8] = (struct truth_figure){ NULL, NULL, "tail_ns", truth_tail_ns(&truth, -1), 1 };
	answer.figures[9] = (struct truth_figure){ NULL, NULL, "rest_ns", truth_rest_ns(&truth, -1), 1 };
	return truth_write(&truth, &answer);
}
