/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder.h"

static const char *const names[N_FACTORS] = { "nanosleep", "parse", "format", "reply" };

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 800);
	struct truth_answer answer = { .a = "nanosleep" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct request r = { .id = i + 1 };
		uint64_t begin;

		r.ns[NANOSLEEP] = plant_uniform(&o.random, 100000, 2500000);
		r.ns[PARSE] = plant_uniform(&o.random, 50000, 750000);
		r.ns[FORMAT] = plant_uniform(&o.random, 20000, 420000);
		r.ns[REPLY] = plant_uniform(&o.random, 50000, 550000);
		begin = PLANT_NOW();
		handle_request(&r);
		truth_add(&truth, PLANT_NOW() - begin, r.took);
	}
	answer.share = truth_share(&truth, NANOSLEEP);
	return truth_write(&truth, &answer);
}
