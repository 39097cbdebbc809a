/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "handlers.h"

static const char *const names[N_FACTORS] = { "handle_get", "handle_put", "handle_scan",
					      "scan_range", "decode",	  "encode" };

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1000);
	struct truth_answer answer = { .a = "scan_range", .accept = { "handle_scan" } };
	struct truth truth;

	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r = { .id = i + 1, .command = (int)plant_uniform(&o.random, 0, N_COMMANDS) };
		uint64_t begin;

		r.ns[GET] = plant_uniform(&o.random, 50000, 150000);
		r.ns[PUT] = plant_uniform(&o.random, 50000, 200000);
		r.ns[SCAN_RANGE] = plant_uniform(&o.random, 500000, 3000000);
		r.ns[DECODE] = plant_uniform(&o.random, 50000, 1250000);
		r.ns[ENCODE] = plant_uniform(&o.random, 50000, 1050000);
		begin = PLANT_NOW();
		serve_request(&r);
		r.took[SCAN] = r.took[SCAN_RANGE];
		truth_add(&truth, PLANT_NOW() - begin, r.took);
	}
	answer.share = truth_share(&truth, SCAN_RANGE);
	return truth_write(&truth, &answer);
}
