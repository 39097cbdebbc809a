/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static const char *const names[N_FACTORS] = { "read_block", "parse_request", "choose_plan", "verify_row",
					      "send_reply" };

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
	struct plant_options o = plant_start(argc, argv, 900);
	struct truth_answer answer = { .a = "read_block" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r;
		uint64_t begin;

		fill_request(&r, i + 1, &o.random);
		begin = PLANT_NOW();
		handle_request(&r);
		truth_add(&truth, PLANT_NOW() - begin, r.took);
	}
	answer.share = truth_share(&truth, READ_BLOCK);
	return truth_write(&truth, &answer);
}
