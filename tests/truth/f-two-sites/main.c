/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks.h"

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, 0 },
	[ANSWER_QUERY] = { "answer_query", REQUEST, 0 },
	[SEARCH_INDEX] = { "search_index", ANSWER_QUERY, 0 },
	[LOAD_PAGE] = { "load_page", ANSWER_QUERY, 0 },
	[SORT_ROWS] = { "sort_rows", ANSWER_QUERY, 0 },
	[DECOMPRESS_PAGE] = { "decompress", LOAD_PAGE, TRUTH_PLANTED },
	[DECOMPRESS_INDEX] = { "decompress", SEARCH_INDEX, TRUTH_PLANTED },
	[MATCH_KEY] = { "match_key", SEARCH_INDEX, 0 },
};

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 350);
	struct truth_answer answer = { .interval = "request" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r = { .id = i + 1 };

		r.ns[DECOMPRESS_PAGE] = plant_uniform(&o.random, 100000, 1300000);
		r.ns[DECOMPRESS_INDEX] = plant_uniform(&o.random, 100000, 1300000);
		r.ns[SORT_ROWS] = plant_uniform(&o.random, 100000, 1400000);
		r.ns[MATCH_KEY] = plant_uniform(&o.random, 20000, 320000);
		PLANT_CALL(r.took[REQUEST], handle_request(&r));
		truth_add(&truth, r.took);
	}
	return truth_write(&truth, &answer);
}
