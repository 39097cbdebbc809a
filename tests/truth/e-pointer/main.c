/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "handlers.h"

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "serve_request", -1, 0, 3 },
	[DECODE] = { "decode", REQUEST, 0, 0 },
	[HANDLER + GET] = { "handle_get", REQUEST, 0, 0 },
	[HANDLER + PUT] = { "handle_put", REQUEST, 0, 0 },
	[HANDLER + SCAN] = { "handle_scan", REQUEST, 0, 0 },
	[ENCODE] = { "encode", REQUEST, 0, 0 },
	[SCAN_RANGE] = { "scan_range", HANDLER + SCAN, TRUTH_PLANTED, 0 },
};

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 350);
	struct truth_answer answer = { .interval = "request" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r = { .id = i + 1, .command = (int)plant_uniform(&o.random, 0, N_COMMANDS) };

		r.ns[HANDLER + GET] = plant_uniform(&o.random, 50000, 150000);
		r.ns[HANDLER + PUT] = plant_uniform(&o.random, 50000, 200000);
		r.ns[SCAN_RANGE] = plant_uniform(&o.random, 500000, 3000000);
		r.ns[DECODE] = plant_uniform(&o.random, 50000, 1250000);
		r.ns[ENCODE] = plant_uniform(&o.random, 50000, 1050000);
		PLANT_CALL(r.took[REQUEST], serve_request(&r));
		truth_add(&truth, r.took);
	}
	return truth_write(&truth, &answer);
}
