/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, 0 },
	[PARSE_REQUEST] = { "parse_request", REQUEST, 0 },
	[EXECUTE_QUERY] = { "execute_query", REQUEST, 0 },
	[SEND_REPLY] = { "send_reply", REQUEST, 0 },
	[CHOOSE_PLAN] = { "choose_plan", EXECUTE_QUERY, 0 },
	[SCAN_TABLE] = { "scan_table", EXECUTE_QUERY, 0 },
	[FETCH_ROW] = { "fetch_row", SCAN_TABLE, 0 },
	[VERIFY_ROW] = { "verify_row", SCAN_TABLE, 0 },
	[READ_BLOCK] = { "read_block", FETCH_ROW, TRUTH_PLANTED },
};

static void fill_request(struct request *r, uint64_t id, uint64_t *random)
{
	*r = (struct request){ .id = id };
	r->ns[READ_BLOCK] = plant_uniform(random, 100000, 1900000);
	r->ns[PARSE_REQUEST] = plant_uniform(random, 50000, 350000);
	r->ns[CHOOSE_PLAN] = plant_uniform(random, 50000, 550000);
	r->ns[VERIFY_ROW] = plant_uniform(random, 50000, 550000);
	r->ns[SEND_REPLY] = plant_uniform(random, 50000, 350000);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 350);
	struct truth_answer answer = { .interval = "request" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r;

		fill_request(&r, i + 1, &o.random);
		PLANT_CALL(r.took[REQUEST], handle_request(&r));
		truth_add(&truth, r.took);
	}
	return truth_write(&truth, &answer);
}
