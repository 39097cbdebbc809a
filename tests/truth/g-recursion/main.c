/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formula.h"

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "evaluate_formula", -1, 0 },
	[PARSE_FORMULA] = { "parse_formula", REQUEST, 0 },
	[EVALUATE_ALL] = { "evaluate_all", REQUEST, TRUTH_WAIT },
	[EVALUATE_ANY] = { "evaluate_any", EVALUATE_ALL, TRUTH_WAIT },
	[LOAD_OPERAND] = { "load_operand", EVALUATE_ANY, TRUTH_PLANTED },
};

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 350);
	struct truth_answer answer = { .interval = "request" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct formula f = { .id = i + 1, .depth = (int)plant_uniform(&o.random, 2, DEPTH_MAX + 1) };

		f.ns[LOAD_OPERAND] = plant_uniform(&o.random, 100000, 2000000);
		f.ns[LEVELS] = plant_uniform(&o.random, 20000, 100000);
		f.ns[PARSE_FORMULA] = plant_uniform(&o.random, 50000, 650000);
		PLANT_CALL(f.took[REQUEST], evaluate_formula(&f));
		truth_add(&truth, f.took);
	}
	return truth_write(&truth, &answer);
}
