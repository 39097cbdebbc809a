/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder.h"

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, 0 },
	[PARSE] = { "parse", REQUEST, 0 },
	[STORE_RECORD] = { "store_record", REQUEST, 0 },
	[REPLY] = { "reply", REQUEST, 0 },
	[FORMAT] = { "format", STORE_RECORD, 0 },
	[WRITE_DEVICE] = { "write_device", STORE_RECORD, 0 },
	[NANOSLEEP] = { "nanosleep", WRITE_DEVICE, TRUTH_PLANTED },
};

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 300);
	struct truth_answer answer = { .interval = "request" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r = { .id = i + 1 };

		r.ns[NANOSLEEP] = plant_uniform(&o.random, 100000, 2500000);
		r.ns[PARSE] = plant_uniform(&o.random, 50000, 750000);
		r.ns[FORMAT] = plant_uniform(&o.random, 20000, 420000);
		r.ns[REPLY] = plant_uniform(&o.random, 50000, 550000);
		PLANT_CALL(r.took[REQUEST], handle_request(&r));
		truth_add(&truth, r.took);
	}
	return truth_write(&truth, &answer);
}
