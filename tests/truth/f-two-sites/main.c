/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks.h"

static const char *const names[N_FACTORS] = { "decompress in load_page", "decompress in search_index", "sort_rows",
					      "match_key" };

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1000);
	struct truth_answer answer = { .a = "decompress" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r = { .id = i + 1 };
		uint64_t begin;

		r.ns[DECOMPRESS_PAGE] = plant_uniform(&o.random, 100000, 1300000);
		r.ns[DECOMPRESS_INDEX] = plant_uniform(&o.random, 100000, 1300000);
		r.ns[SORT_ROWS] = plant_uniform(&o.random, 100000, 1400000);
		r.ns[MATCH_KEY] = plant_uniform(&o.random, 20000, 320000);
		begin = PLANT_NOW();
		handle_request(&r);
		truth_add(&truth, PLANT_NOW() - begin, r.took);
	}
	/* Algorithm 1: the variances of the function's places are added. */
	answer.share = truth_share(&truth, DECOMPRESS_PAGE) + truth_share(&truth, DECOMPRESS_INDEX);
	answer.also[0] = (struct truth_factor){ "sort_rows", truth_share(&truth, SORT_ROWS), 0 };
	return truth_write(&truth, &answer);
}
