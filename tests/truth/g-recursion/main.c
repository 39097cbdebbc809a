/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formula.h"

static const char *const names[N_FACTORS] = { "load_operand", "bodies of evaluate_all and evaluate_any",
					      "parse_formula" };

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 900);
	struct truth_answer answer = { .a = "load_operand" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct formula f = { .id = i + 1, .depth = (int)plant_uniform(&o.random, 2, 8) };
		uint64_t begin;

		f.ns[LOAD_OPERAND] = plant_uniform(&o.random, 100000, 2000000);
		f.ns[LEVELS] = plant_uniform(&o.random, 20000, 100000);
		f.ns[PARSE_FORMULA] = plant_uniform(&o.random, 50000, 650000);
		begin = PLANT_NOW();
		evaluate_formula(&f);
		truth_add(&truth, PLANT_NOW() - begin, f.took);
	}
	answer.share = truth_share(&truth, LOAD_OPERAND);
	return truth_write(&truth, &answer);
}
