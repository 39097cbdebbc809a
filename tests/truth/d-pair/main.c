/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "message.h"

static const char *const names[N_FACTORS] = { "encode_body", "checksum_body", "route" };

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1000);
	struct truth_answer answer = { .a = "encode_body", .b = "checksum_body" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct message m = { .id = i + 1, .size = plant_uniform(&o.random, 100, 4000) };
		uint64_t begin;

		m.ns[ENCODE_BODY] = plant_uniform(&o.random, 20000, 120000);
		m.ns[CHECKSUM_BODY] = plant_uniform(&o.random, 20000, 120000);
		m.ns[ROUTE] = plant_uniform(&o.random, 50000, 750000);
		begin = PLANT_NOW();
		handle_message(&m);
		truth_add(&truth, PLANT_NOW() - begin, m.took);
	}
	answer.share = truth_pair_share(&truth, ENCODE_BODY, CHECKSUM_BODY);
	answer.also[0] = (struct truth_factor){ "encode_body", truth_share(&truth, ENCODE_BODY), 0 };
	answer.also[1] = (struct truth_factor){ "checksum_body", truth_share(&truth, CHECKSUM_BODY), 0 };
	return truth_write(&truth, &answer);
}
